"""The law of cross-validation: every tree of a forest is the tree that a lone fit to its rows would grow."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit, StratifiedKFold

from hornbeam import C45Classifier, TreeClassifier, TreeRegressor
from hornbeam.model_selection import cross_validate

ALGORITHMS = ["auto", "serial", "overlapping", "folds"]
CLASSIFIERS: list[dict[str, Any]] = [
    {"criterion": criterion, "nominal": nominal, "min_samples_leaf": least}
    for criterion, nominal, least in [
        ("gini", "subset", 1),
        ("entropy", "value", 2),
        ("gain_ratio", "multiway", 1),
        ("correlation", "subset", 0.05),
        ("c45", "multiway", 1),
    ]
]
WAYS: list[dict[str, Any]] = [
    {},
    {"prune": "error_based"},
    {"prune": "error_based", "confidence": 0.9, "class_weight": "balanced"},
    {"prune": "cost_complexity", "ccp_alpha": 0.01},
    {"prune": "reduced_error", "random_state": 3},
    {"cost_matrix": [[0, 2, 1], [1, 0, 4], [1, 1, 0]]},
    {"class_weight": {"u": 2.5}, "ccp_alpha": 0.02},
    {"min_objs": 2, "competitors": 2},
    {"max_depth": 3, "min_impurity_decrease": 0.01},
]


def some_rows(seed: int, n: int) -> tuple[pd.DataFrame, Any, Any, Any]:
    """A table full of ties, gaps and rare categories; classes, two targets, and weights, some of them 0."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "few": random.integers(0, 5, n),
            "ties": random.normal(size=n).round(1),
            "gaps": np.where(random.random(n) < 0.3, np.nan, random.integers(0, 30, n)),
            "text": random.choice(list("abcdefghijklmnopq"), n, p=[0.2] * 4 + [0.2 / 13] * 13),
            "same": np.zeros(n),
        }
    )
    labels = np.where(frame["ties"] > 0, "u", np.where(frame["few"] > 2, "v", "w"))
    labels = np.where(random.random(n) < 0.3, random.choice(["u", "v", "w"], n), labels)
    labels[:9] = ["u", "v", "w"] * 3
    targets = np.column_stack([frame["ties"] + random.normal(size=n), random.integers(0, 4, n)])
    return frame, labels, targets, random.integers(0, 4, n).astype(float) * 0.75


def splitter(kind: str, seed: int) -> Any:
    return {
        "folds": KFold(4, shuffle=True, random_state=seed),
        "repeats": RepeatedKFold(n_splits=3, n_repeats=2, random_state=seed),
        "sets": ShuffleSplit(4, test_size=0.4, random_state=seed),
        "many": KFold(70),
    }[kind]


def assert_lone(model: Any, X: Any, y: Any, cv: Any, weights: Any, algorithm: str) -> None:
    """Every tree, before and after pruning, is that of a clone fitted to the rows of its set."""
    params = {} if weights is None else {"sample_weight": weights}
    found = cross_validate(
        model, X, y, cv=cv, params=params, algorithm=algorithm, return_estimator=True, return_indices=True
    )
    everything = np.arange(len(X))
    for i, train in enumerate([everything, *found["indices"]["train"]]):
        part = {} if weights is None else {"sample_weight": weights[train]}
        lone = clone(model).fit(X.iloc[train], y[train], **part)
        assert found.forest.tree(i).digest == lone.tree_.digest
        assert found.forest.unpruned_tree(i).digest == lone.unpruned_tree_.digest
        fitted = found.estimator_ if i == 0 else found["estimator"][i - 1]
        assert fitted.tree_.digest == lone.tree_.digest
        assert fitted.tree_.arrays["impurity"].tobytes() == lone.tree_.arrays["impurity"].tobytes()


@given(
    st.integers(0, 10**6),
    st.sampled_from(CLASSIFIERS),
    st.sampled_from(WAYS),
    st.sampled_from(["folds", "repeats", "sets"]),
    st.booleans(),
    st.sampled_from(ALGORITHMS),
)
def test_a_tree_of_classes_is_that_of_a_lone_fit(
    seed: int, criterion: Any, way: Any, kind: str, weighed: bool, algorithm: str
) -> None:
    X, y, _, weights = some_rows(seed, 40 + seed % 90)
    if algorithm == "folds" and kind == "sets":
        algorithm = "auto"
    model = TreeClassifier(**criterion | way)
    assert_lone(model, X, y, splitter(kind, seed), weights if weighed else None, algorithm)


@given(
    st.integers(0, 10**6),
    st.sampled_from([{}, {"ccp_alpha": 0.05}, {"prune": "reduced_error", "random_state": 0}]),
    st.sampled_from(["subset", "value", "multiway"]),
    st.sampled_from(["folds", "repeats", "sets"]),
    st.booleans(),
    st.booleans(),
)
def test_a_tree_of_numbers_is_that_of_a_lone_fit(
    seed: int, way: Any, nominal: str, kind: str, weighed: bool, several: bool
) -> None:
    X, _, y, weights = some_rows(seed, 40 + seed % 90)
    model = TreeRegressor(nominal=nominal, min_samples_leaf=2, **way)
    y = y if several else y[:, 0]
    assert_lone(model, X, y, splitter(kind, seed), weights if weighed else None, "auto")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_more_folds_than_grow_together(algorithm: str) -> None:
    X, y, _, weights = some_rows(1, 140)
    assert_lone(C45Classifier(), X, y, splitter("many", 0), weights, algorithm)


def test_a_generator_draws_for_every_fold_what_a_clone_would() -> None:
    X, y, _, _ = some_rows(2, 120)
    model = TreeClassifier(prune="reduced_error", random_state=np.random.RandomState(4))
    assert_lone(model, X, y, KFold(3), None, "auto")
    np.random.seed(11)
    loose = TreeClassifier(prune="reduced_error")
    found = cross_validate(loose, X, y, cv=KFold(3), return_indices=True)
    np.random.seed(11)
    for i, train in enumerate(found["indices"]["train"], 1):
        assert found.forest.tree(i) == clone(loose).fit(X.iloc[train], y[train]).tree_


def test_a_fold_that_lacks_a_category_or_a_class_grows_as_if_there_were_none() -> None:
    X, y, _, _ = some_rows(5, 90)
    order = np.lexsort((X["text"], y))
    X, y = X.iloc[order].reset_index(drop=True), y[order]
    for model in (TreeClassifier(nominal="multiway"), C45Classifier(), TreeClassifier(prune="error_based")):
        assert_lone(model, X, y, KFold(3), None, "auto")


def test_the_forest_survives_a_pickle() -> None:
    X, y, _, _ = some_rows(6, 80)
    found = cross_validate(C45Classifier(), X, y, cv=StratifiedKFold(3))
    again = pickle.loads(pickle.dumps(found))
    assert again.estimator_.tree_ == found.estimator_.tree_
    assert [tree.digest for tree in again.forest.trees()] == [tree.digest for tree in found.forest.trees()]
    assert np.array_equal(again["test_score"], found["test_score"])
