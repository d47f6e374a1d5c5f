"""Growth: from a table, a target and parameters to a tree, by the native grower."""

from hornbeam.growth.costs import ClassCosts, check_class_weight
from hornbeam.growth.grow import ClassTarget, NumericTarget, grow_forest, grow_tree
from hornbeam.growth.parameters import CRITERIA, MAX_THREADS, Engine, Parameters

__all__ = [
    "CRITERIA",
    "MAX_THREADS",
    "ClassCosts",
    "ClassTarget",
    "Engine",
    "NumericTarget",
    "Parameters",
    "check_class_weight",
    "grow_forest",
    "grow_tree",
]
