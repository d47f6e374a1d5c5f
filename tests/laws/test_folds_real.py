"""On every real set all trees of a cross-validation equal lone fits; of the larger sets a sample is taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from hornbeam import C45Classifier, TreeClassifier, TreeRegressor
from hornbeam.model_selection import cross_validate
from tests import real_data

MOST_ROWS, MOST_COLUMNS = 700, 40
FOLDER = real_data.find_folder()
NAMES = [
    file.removesuffix(".csv.gz")
    for file in ({} if FOLDER is None else real_data.read_schema(FOLDER))
    if "/" not in file  # sets of several tables are another matter
]
MODELS: list[Any] = [
    TreeClassifier(min_samples_leaf=10),
    C45Classifier(),
    TreeClassifier(criterion="entropy", nominal="value", prune="reduced_error", random_state=0),
]


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("name", NAMES)
def test_every_tree_is_that_of_a_lone_fit(real_set: Callable[[str], real_data.RealSet], name: str) -> None:
    real = real_set(name)
    rows = np.random.default_rng(0).permutation(len(real.target))[:MOST_ROWS]
    X, y = real.table.iloc[rows, :MOST_COLUMNS], real.target.iloc[rows]
    numeric = y.dtype.kind == "f"
    models = [TreeRegressor(min_samples_leaf=10), TreeRegressor(ccp_alpha=0.01)] if numeric else MODELS
    cv: Any = KFold(5, shuffle=True, random_state=1) if numeric else StratifiedKFold(5)
    for model in models:
        for algorithm in ("folds", "overlapping"):
            found = cross_validate(model, X, y, cv=cv, algorithm=algorithm, return_indices=True)
            assert found.estimator_.tree_ == clone(model).fit(X, y).tree_
            for i, train in enumerate(found["indices"]["train"], 1):
                assert found.forest.tree(i) == clone(model).fit(X.iloc[train], y.iloc[train]).tree_
