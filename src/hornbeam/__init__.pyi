from hornbeam.distributed.opening import source as source
from hornbeam.estimators.anytime import AnytimeTreeClassifier as AnytimeTreeClassifier
from hornbeam.estimators.bagging import BaggedTreesClassifier as BaggedTreesClassifier
from hornbeam.estimators.bagging import BaggedTreesRegressor as BaggedTreesRegressor
from hornbeam.estimators.cross_validated_c45 import CrossValidatedC45 as CrossValidatedC45
from hornbeam.estimators.lookahead import LookaheadTreeClassifier as LookaheadTreeClassifier
from hornbeam.estimators.maintained import MaintainedTree as MaintainedTree
from hornbeam.estimators.relational_bagging import RelationalBagging as RelationalBagging
from hornbeam.estimators.relational_tree import RelationalTreeClassifier as RelationalTreeClassifier
from hornbeam.estimators.relational_tree import RelationalTreeRegressor as RelationalTreeRegressor
from hornbeam.estimators.store import load as load
from hornbeam.estimators.store import save as save
from hornbeam.estimators.trees import C45Classifier as C45Classifier
from hornbeam.estimators.trees import TreeClassifier as TreeClassifier
from hornbeam.estimators.trees import TreeRegressor as TreeRegressor
from hornbeam.model import Tree as Tree
from hornbeam.relational.data import RelationalData as RelationalData
from hornbeam.relational.tree import RelationalTree as RelationalTree

__version__: str
