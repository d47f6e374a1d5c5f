"""Pruning by the estimators: other settings without regrowth, files, scikit-learn's path, refusals."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import hornbeam
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import DataError, UsageError
from hornbeam.growth import complexity_path
from hornbeam.model import Tree
from hornbeam.model.arrays import DTYPES
from hornbeam.table import from_data

X, Y = load_breast_cancer(return_X_y=True)
NUMBERS = load_diabetes(return_X_y=True)


def noisy(n: int = 400, seed: int = 0) -> tuple[Any, Any]:
    source = np.random.default_rng(seed)
    table = source.integers(0, 12, (n, 5)).astype(np.float64)
    return table, (table[:, 0] > 5).astype(int) ^ (source.random(n) < 0.25)


def test_a_pruned_tree_is_smaller_and_the_grown_one_is_kept() -> None:
    table, labels = noisy()
    grown = TreeClassifier().fit(table, labels)
    assert grown.unpruned_tree_ is grown.tree_
    for options in (
        {"prune": "error_based"},
        {"prune": "cost_complexity", "ccp_alpha": 0.01},
        {"ccp_alpha": 0.01},
        {"prune": "reduced_error", "random_state": 0},
    ):
        model = TreeClassifier(**options).fit(table, labels)
        assert model.get_n_leaves() < model.unpruned_tree_.n_leaves
        assert (model.unpruned_tree_ == grown.tree_) == ("random_state" not in options)
        assert model.score(table, labels) > 0.65


def test_other_settings_need_no_regrowth() -> None:
    table, labels = noisy()
    model = TreeClassifier(prune="error_based").fit(table, labels)
    for confidence in (0.01, 0.1, 1.0):
        again = model.pruned(table, labels, confidence=confidence)
        fresh = TreeClassifier(prune="error_based", confidence=confidence).fit(table, labels)
        assert again.tree_.digest == fresh.tree_.digest
        assert again.get_params() == fresh.get_params()
        assert again.unpruned_tree_ is model.unpruned_tree_
        assert np.array_equal(again.predict(table), fresh.predict(table))
    for alpha in model.cost_complexity_pruning_path().ccp_alphas[::5]:
        fresh = TreeClassifier(prune="cost_complexity", ccp_alpha=alpha).fit(table, labels)
        assert model.pruned(prune="cost_complexity", ccp_alpha=alpha).tree_ == fresh.tree_
    assert model.pruned(prune=None).tree_ is model.unpruned_tree_
    judged = model.pruned(*noisy(200, seed=1), prune="reduced_error")
    assert judged.get_n_leaves() < model.unpruned_tree_.n_leaves
    assert model.get_params() == TreeClassifier(prune="error_based").get_params()


def test_text_classes_and_columns_are_pruned_alike() -> None:
    pd = pytest.importorskip("pandas")
    table, labels = noisy()
    frame = pd.DataFrame({"a": table[:, 0], "b": [f"k{int(v)}" for v in table[:, 1]], "c": table[:, 2]})
    words = np.where(labels == 1, "yes", "no")
    model = TreeClassifier(prune="error_based", nominal="multiway").fit(frame, words)
    coded = TreeClassifier(prune="error_based", nominal="multiway").fit(frame, labels)
    assert model.tree_.n_nodes == coded.tree_.n_nodes
    again = model.pruned(frame[["c", "b", "a"]], words, confidence=0.25)  # columns by name
    assert again.tree_ == model.tree_


def from_sklearn(theirs: Any) -> Tree:
    """Their tree in our numbering: breadth first, the children of a node side by side."""
    known, order = theirs.tree_, [0]
    first_child = []
    for node in order:
        below = [int(side[node]) for side in (known.children_left, known.children_right) if side[node] >= 0]
        first_child.append(len(order) if below else -1)
        order += below
    inner = np.array(first_child) > 0
    n, many = len(order), known.n_outputs
    arrays: dict[str, Any] = {name: np.zeros(n, dtype) for name, dtype in DTYPES.items()}
    arrays |= {name: np.zeros(0, DTYPES[name]) for name in ("branch_code", "branch_child", "mean")}
    arrays |= {"branch_start": np.zeros(n + 1, np.int64), "count_start": np.arange(n + 1)}
    arrays |= {"count_class": np.zeros(n, np.int32), "count": known.weighted_n_node_samples[order]}
    arrays["kind"] = inner.astype(np.uint8)
    arrays["first_child"] = np.array(first_child, np.int32)
    arrays["n_children"] = 2 * inner.astype(np.int32)
    arrays["default_child"] = inner.astype(np.int32) - 1
    arrays["attribute"] = np.where(inner, known.feature[order], -1).astype(np.int32)
    arrays["weight"], arrays["impurity"] = known.weighted_n_node_samples[order], known.impurity[order]
    if isinstance(theirs, DecisionTreeRegressor):
        arrays |= {"count_class": np.zeros(0, np.int32), "count": np.zeros(0), "mean": np.zeros(n * many)}
        arrays["count_start"] = np.zeros(n + 1, np.int64)
    labels = {"targets": ("y",)} if isinstance(theirs, DecisionTreeRegressor) else {"classes": (0, 1)}
    schema = from_data(np.zeros((1, theirs.n_features_in_))).schema
    return Tree(schema, arrays, **labels)  # type: ignore[arg-type]


TABLES = {
    "breast": load_breast_cancer(return_X_y=True),
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "diabetes": NUMBERS,
    **{f"noisy {seed}": noisy(300, seed) for seed in range(5)},
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_on_the_same_tree_the_path_is_scikit_learns(name: str, criterion: str) -> None:
    table, target = TABLES[name]
    numbers = criterion == "squared_error"
    theirs = (DecisionTreeRegressor if numbers else DecisionTreeClassifier)(
        criterion=criterion, random_state=0
    )
    path = theirs.fit(table, target).cost_complexity_pruning_path(table, target)
    alphas, impurities = complexity_path(from_sklearn(theirs))
    scale = max(1.0, float(path.impurities[-1]))
    assert alphas == pytest.approx(path.ccp_alphas, abs=1e-9 * scale)
    assert impurities == pytest.approx(path.impurities, abs=1e-9 * scale)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_on_the_same_weighted_tree_the_path_is_scikit_learns(name: str, criterion: str) -> None:
    table, target = TABLES[name]
    numbers = criterion == "squared_error"
    source = np.random.default_rng(4)
    for weights in (source.integers(1, 5, len(table)).astype(float), source.random(len(table)) + 0.1):
        theirs = (DecisionTreeRegressor if numbers else DecisionTreeClassifier)(
            criterion=criterion, random_state=0
        )
        path = theirs.fit(table, target, weights).cost_complexity_pruning_path(table, target, weights)
        alphas, impurities = complexity_path(from_sklearn(theirs))
        scale = max(1.0, float(path.impurities[-1]))
        assert alphas == pytest.approx(path.ccp_alphas, abs=1e-9 * scale)
        assert impurities == pytest.approx(path.impurities, abs=1e-9 * scale)


@pytest.mark.parametrize("class_weight", [None, {0: 1.0, 1: 3.5}])
@pytest.mark.parametrize("numbers", [False, True])
def test_the_path_of_a_weighted_table_is_scikit_learns(numbers: bool, class_weight: Any) -> None:
    """Continuous values, so that both grow one tree; weights of few bits, as else scikit-learn finds dust of
    rounding in pure nodes and splits them."""
    source = np.random.default_rng(5)
    table = source.normal(size=(2000, 4)).astype(np.float32).astype(np.float64)
    target = table[:, 0] + table[:, 1] ** 2 + source.normal(size=2000)
    weights = source.integers(1, 8, 2000) / 2
    if numbers:
        ours, theirs = (
            TreeRegressor(min_samples_leaf=20),
            DecisionTreeRegressor(min_samples_leaf=20, random_state=0),
        )
    else:
        target = (target > 1).astype(int)
        options = {"min_samples_leaf": 20, "class_weight": class_weight}
        ours, theirs = TreeClassifier(**options), DecisionTreeClassifier(**options, random_state=0)
    path, known = (
        model.cost_complexity_pruning_path(table, target, sample_weight=weights) for model in (ours, theirs)
    )
    assert path.ccp_alphas == pytest.approx(known.ccp_alphas, abs=1e-9)
    assert path.impurities == pytest.approx(known.impurities, abs=1e-9)


def test_weights_are_pruned_by_and_have_to_be_given_again(tmp_path: Path) -> None:
    table, labels = noisy()
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.5], len(table))
    for options in ({}, {"class_weight": "balanced"}, {"cost_matrix": [[0, 3], [1, 0]]}):
        model = TreeClassifier(prune="error_based", **options).fit(table, labels, sample_weight=weights)
        assert 1 < model.get_n_leaves() < model.unpruned_tree_.n_leaves
        hornbeam.save(model, tmp_path / "model.hornbeam")
        again = hornbeam.load(tmp_path / "model.hornbeam").pruned(table, labels, weights)
        assert again.tree_ == model.tree_
        assert again.tree_.costs == model.unpruned_tree_.costs
        kept = TreeClassifier(prune="reduced_error", random_state=0, **options)
        assert kept.fit(table, labels, sample_weight=weights).get_n_leaves() >= 1
        absent = weights > 0  # a row of weight 0 is no row: not drawn either
        fewer = clone(kept).fit(table[absent], labels[absent], sample_weight=weights[absent])
        assert fewer.tree_ == kept.tree_
    with pytest.raises(DataError, match=r"grown from: leaf .* has others; give the sample_weight"):
        model.pruned(table, labels)
    plain = TreeClassifier(prune="error_based").fit(table, labels)
    with pytest.raises(DataError, match="leave sample_weight out, as there"):
        plain.pruned(table, labels, weights + 1)


@pytest.mark.parametrize("numbers", [False, True])
def test_the_path_of_a_table_is_scikit_learns(numbers: bool) -> None:
    """Continuous values and leaves of many rows: no two tests are equally good, so both grow one tree."""
    source = np.random.default_rng(3)
    table = source.normal(size=(2000, 4)).astype(np.float32).astype(np.float64)
    target = table[:, 0] + table[:, 1] ** 2 + source.normal(size=2000)
    ours, theirs = (
        (TreeRegressor(min_samples_leaf=20), DecisionTreeRegressor(min_samples_leaf=20, random_state=0))
        if numbers
        else (
            TreeClassifier(min_samples_leaf=20),
            DecisionTreeClassifier(min_samples_leaf=20, random_state=0),
        )
    )
    target = target if numbers else (target > 1).astype(int)
    path, known = (model.cost_complexity_pruning_path(table, target) for model in (ours, theirs))
    assert path.ccp_alphas == pytest.approx(known.ccp_alphas, abs=1e-9)
    assert path.impurities == pytest.approx(known.impurities, abs=1e-9)
    again = ours.fit(table, target).cost_complexity_pruning_path()
    assert np.array_equal(again.ccp_alphas, path.ccp_alphas)


def test_the_rows_that_judge_are_drawn_by_the_seed_within_each_class() -> None:
    table, labels = noisy()
    first, again, other = (
        TreeClassifier(prune="reduced_error", random_state=seed).fit(table, labels) for seed in (0, 0, 1)
    )
    assert first.unpruned_tree_ == again.unpruned_tree_
    assert first.unpruned_tree_ != other.unpruned_tree_
    rows = np.bincount(labels)
    kept = first.unpruned_tree_.counts(0)
    assert kept.tolist() == (rows - (rows * 0.33 + 0.5).astype(int)).tolist()
    assert np.array_equal(first.classes_, [0, 1])


def test_numbers_are_pruned_too() -> None:
    table, target = NUMBERS
    for options in ({"ccp_alpha": 50.0}, {"prune": "reduced_error", "random_state": 0}):
        model = TreeRegressor(**options).fit(table, target)
        assert 1 < model.get_n_leaves() < model.unpruned_tree_.n_leaves
    several = np.column_stack([target, -2 * target])
    model = TreeRegressor(prune="reduced_error", random_state=0).fit(table, several)
    assert model.predict(table).shape == several.shape
    with pytest.raises(DataError, match="y has 1 columns; the tree predicts 2"):
        model.pruned(table, target)


def test_files_and_pickles_keep_both_trees(tmp_path: Path) -> None:
    table, labels = noisy()
    model = TreeClassifier(prune="error_based", confidence=0.1).fit(table, labels)
    hornbeam.save(model, tmp_path / "model.hornbeam")
    for read in (hornbeam.load(tmp_path / "model.hornbeam"), pickle.loads(pickle.dumps(model))):
        assert read.tree_ == model.tree_
        assert read.unpruned_tree_ == model.unpruned_tree_
        assert read.get_params() == model.get_params()
        assert (
            read.pruned(table, labels, confidence=1.0).tree_
            == model.pruned(table, labels, confidence=1.0).tree_
        )
    plain = TreeClassifier().fit(table, labels)
    hornbeam.save(plain, tmp_path / "plain.hornbeam")
    assert b'"unpruned"' not in (tmp_path / "plain.hornbeam").read_bytes()
    read = hornbeam.load(tmp_path / "plain.hornbeam")
    assert read.unpruned_tree_ is read.tree_
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prune": "best"}, "prune='best' for classification: use 'error_based', 'cost_complexity' or"),
        ({"prune": 3}, "prune=3 for classification"),
        ({"confidence": 0}, "confidence=0: a number above 0 up to 1 is allowed"),
        ({"confidence": 1.5}, "confidence=1.5: a number above 0 up to 1"),
        ({"confidence": float("nan")}, "confidence=nan"),
        ({"confidence": True}, "confidence=True"),
        ({"ccp_alpha": -0.1}, "ccp_alpha=-0.1: a number from 0 is allowed"),
        ({"ccp_alpha": "0.1"}, "ccp_alpha='0.1'"),
        (
            {"ccp_alpha": 0.1, "prune": "error_based"},
            "ccp_alpha=0.1 with prune='error_based': an alpha belongs to prune='cost_complexity'",
        ),
        ({"ccp_alpha": 0.1, "prune": "reduced_error"}, "ccp_alpha=0.1 with prune='reduced_error'"),
        ({"validation_fraction": 0}, "validation_fraction=0: a share between 0 and 1"),
        ({"validation_fraction": 1.0}, "validation_fraction=1.0: a share between 0 and 1"),
    ],
)
def test_a_wrong_option_is_one_clear_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        TreeClassifier(**options).fit(X, Y)
    assert "\n" not in str(caught.value)


def test_errors_are_for_classes_only() -> None:
    with pytest.raises(UsageError, match="prune='error_based' for regression: use 'cost_complexity' or"):
        TreeRegressor(prune="error_based").fit(*NUMBERS)


def test_what_pruned_cannot_do_it_says() -> None:
    model = TreeClassifier(prune="error_based").fit(X, Y)
    with pytest.raises(UsageError, match="pruned has no option 'max_depth'"):
        model.pruned(max_depth=3)
    with pytest.raises(
        UsageError, match="prune='error_based' needs rows: give X and y, those that the tree was"
    ):
        model.pruned(confidence=0.1)
    with pytest.raises(UsageError, match="prune='reduced_error' needs rows: give X and y, those kept out"):
        model.pruned(prune="reduced_error")
    with pytest.raises(DataError, match="cannot prune: the rows are not those that the tree was grown from"):
        model.pruned(X[1:], Y[1:])
    with pytest.raises(DataError, match="y has the class 2, which the tree has never seen"):
        model.pruned(X, Y + 1)
    with pytest.raises(DataError):
        model.pruned(X, Y[1:])
    with pytest.raises(DataError, match="of n_samples=2 leaves no row to validate on"):
        TreeClassifier(prune="reduced_error").fit(X[:2], [0, 1])
