"""The tree as scikit-learn's own estimator: the same answers, and a count of those float32 leads astray."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_text
from sklearn.utils.validation import check_is_fitted

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import ExportWarning, UsageError
from hornbeam.model import Tree
from hornbeam.model.sklearn_form import make_nodes, tree_arguments
from hornbeam.table import Attribute, Schema
from tests.unit.model.builder import float_schema, mixed_schema, plain_arrays, random_tree
from tests.unit.model.test_canonical import stump

COLOURS = ["red", "green", "blue", None]


def people(n: int = 400) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "height": rng.normal(1.7, 0.1, n),
            "colour": rng.choice(np.array(COLOURS, dtype=object), n),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 10**9, n), unit="s"),
        }
    )
    frame.loc[rng.random(n) < 0.1, "height"] = np.nan
    score = (
        frame["age"] / 30 + (frame["colour"] == "red") * 2 + (frame["since"] > "2035-01-01") + rng.random(n)
    )
    return frame, np.where(score > 3.4, "yes", np.where(score > 2.5, "maybe", "no"))


def quiet(tree: Tree, X: Any = None) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return tree.to_sklearn(X)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio"])
def test_a_classifier_of_numbers_is_scikit_learns_classifier(criterion: str) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    ours = TreeClassifier(criterion=criterion).fit(X, y)
    theirs = quiet(ours.tree_, X)
    assert type(theirs) is DecisionTreeClassifier
    check_is_fitted(theirs)
    assert theirs.changed_rows_ == 0
    assert theirs.criterion == ("gini" if criterion == "gini" else "entropy")
    assert np.array_equal(theirs.predict(X), ours.predict(X))
    assert np.array_equal(theirs.predict_proba(X), ours.predict_proba(X))
    assert (theirs.get_depth(), theirs.get_n_leaves()) == (ours.get_depth(), ours.get_n_leaves())
    assert theirs.feature_importances_ == pytest.approx(ours.feature_importances_)
    assert list(theirs.feature_names_in_) == list(X.columns)
    assert np.array_equal(pickle.loads(pickle.dumps(theirs)).predict(X), ours.predict(X))


@pytest.mark.parametrize("n_targets", [1, 2])
def test_a_regressor_of_numbers_is_scikit_learns_regressor(n_targets: int) -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    Y = y if n_targets == 1 else np.column_stack([y, X["bmi"]])
    ours = TreeRegressor(max_depth=5).fit(X, Y)
    theirs = quiet(ours.tree_, X)
    assert type(theirs) is DecisionTreeRegressor
    assert np.array_equal(theirs.predict(X), ours.predict(X))
    assert theirs.feature_importances_ == pytest.approx(ours.feature_importances_)
    peer = DecisionTreeRegressor(max_depth=5, random_state=0).fit(X, Y)
    assert theirs.tree_.impurity[0] == pytest.approx(peer.tree_.impurity[0])
    assert theirs.tree_.value.shape[1:] == (n_targets, 1)


@pytest.mark.parametrize("nominal", ["subset", "value", "multiway"])
def test_other_attributes_become_columns_of_a_pipeline(nominal: str) -> None:
    X, y = people()
    ours = TreeClassifier(nominal=nominal, min_samples_leaf=4).fit(X, y)
    theirs = quiet(ours.tree_, X)
    assert isinstance(theirs, Pipeline)
    check_is_fitted(theirs)
    assert np.array_equal(theirs.predict(X), ours.predict(X))
    assert theirs.predict_proba(X) == pytest.approx(ours.predict_proba(X))
    names = list(theirs[0].get_feature_names_out())
    assert names[:2] == ["age", "height"]
    assert any(name.startswith("since <= 20") for name in names)
    assert len(set(names)) == len(names)
    assert "colour" in export_text(theirs[-1], feature_names=names)
    strange = X.head(3).assign(colour=["never", None, "red"], height=[math.inf, -math.inf, np.nan])
    assert np.array_equal(theirs.predict(strange), ours.predict(strange))
    shuffled = strange[["since", "colour", "height", "age"]]
    assert np.array_equal(theirs.predict(shuffled), ours.predict(strange))
    again = pickle.loads(pickle.dumps(theirs))
    assert np.array_equal(again.predict(X), ours.predict(X))
    assert clone(theirs[0]).get_params() == theirs[0].get_params()


def test_weights_of_a_branch_chain_add_up() -> None:
    X, y = people()
    ours = TreeClassifier(nominal="multiway", criterion="gain_ratio", max_depth=4).fit(X, y)
    tree = ours.tree_.to_sklearn()[-1].tree_
    inner = np.flatnonzero(tree.children_left >= 0)
    left, right = tree.children_left[inner], tree.children_right[inner]
    assert np.array_equal(tree.n_node_samples[inner], tree.n_node_samples[left] + tree.n_node_samples[right])
    shares = tree.value[:, 0] * tree.weighted_n_node_samples[:, None]
    assert shares[inner] == pytest.approx(shares[left] + shares[right])
    assert np.all(tree.impurity >= 0)
    assert np.all(np.diff([tree.children_left[node] for node in inner]) > 0)


def test_a_regression_keeps_its_variance_through_a_branch_chain() -> None:
    X, _ = people()
    ours = TreeRegressor(nominal="multiway", max_depth=3).fit(X[["colour"]], X["age"])
    theirs = quiet(ours.tree_, X[["colour"]])
    tree = theirs[-1].tree_
    assert np.array_equal(theirs.predict(X[["colour"]]), ours.predict(X[["colour"]]))
    inner = np.flatnonzero(tree.children_left >= 0)
    weights, sums = tree.weighted_n_node_samples, tree.impurity + tree.value[:, 0, 0] ** 2
    for node in inner:
        both = [tree.children_left[node], tree.children_right[node]]
        assert weights[both] @ sums[both] / weights[node] == pytest.approx(sums[node])


def test_rows_that_float32_cannot_tell_apart_are_counted() -> None:
    X = np.array([[1.0], [1.0 + 1e-9], [1.0 + 2e-9], [5.0]])
    tree = TreeClassifier().fit(X, [0, 1, 1, 1]).tree_
    with pytest.warns(
        ExportWarning, match="1 of 4 rows change leaf, because scikit-learn rounds X to float32"
    ):
        model = tree.to_sklearn(X)
    assert model.changed_rows_ == 1
    assert model.predict(X).tolist() == [1, 1, 1, 1]
    assert quiet(tree).changed_rows_ is None
    other = TreeClassifier().fit(X[:3], [0, 0, 1]).tree_
    with pytest.warns(ExportWarning, match="1 of 3 rows"):
        assert other.to_sklearn(X[:3]).predict(X[:3]).tolist() == [0, 0, 0]


def test_without_rows_a_threshold_is_exact_for_numbers_of_float32() -> None:
    for bound in (0.1, 2.45, 16777217.0, 1e-40, -0.3, 1e300):
        tree = stump(["no", "yes"], bound)
        near = np.float32(np.clip(bound, -3e38, 3e38))
        X = np.array(
            [[x] for x in (np.nextafter(near, np.float32(-9)), near, np.nextafter(near, np.float32(9)))]
        )
        expected = ["no" if float(x) <= bound else "yes" for x in X[:, 0]]
        model = tree.to_sklearn()
        del model.feature_names_in_
        assert model.predict(X).tolist() == expected


@pytest.mark.parametrize(("type_", "code"), [("int64", 2**53 + 1), ("uint64", 2**63 - 1), ("int64", -7)])
def test_bounds_of_integers_are_the_doubles_below(type_: str, code: int) -> None:
    arrays = plain_arrays(stump(["no", "yes"]))
    arrays["threshold_integer"][0] = code
    attribute = Attribute("x", "numeric", type_)
    tree = Tree(Schema((attribute,)), arrays, classes=["no", "yes"])
    bound = tree.to_sklearn().tree_.threshold[0]
    assert int(bound) <= attribute.decode(code) < int(np.nextafter(bound, np.inf)) or bound == code


def test_rows_that_scikit_learn_refuses_are_counted() -> None:
    X = np.array([[1.0], [2.0], [math.inf], [1e300]])
    tree = TreeClassifier().fit(X, [0, 1, 1, 1]).tree_
    with pytest.warns(ExportWarning, match="2 of 4 rows, infinite or beyond float32, are refused"):
        assert tree.to_sklearn(X).changed_rows_ == 2


def test_leaves_that_weigh_costs_are_told() -> None:
    tree = stump(["no", "yes"])
    tree.__dict__["leaf_class"] = np.array([1, 1, 1], dtype=np.int32)
    with pytest.warns(ExportWarning, match="1 of 2 leaves predict a class that is not their most frequent"):
        tree.to_sklearn()


def test_a_tree_that_asks_nothing_is_exported() -> None:
    X = pd.DataFrame({"colour": ["red", "blue", "red"]})
    ours = TreeClassifier(max_depth=1, min_samples_split=9).fit(X, ["a", "b", "a"])
    assert quiet(ours.tree_, X).predict(X).tolist() == ["a", "a", "a"]
    numbers = TreeRegressor(min_samples_split=9).fit([[1.0], [2.0]], [1.0, 3.0])
    assert quiet(numbers.tree_).predict([[5.0]]).tolist() == [2.0]


def test_impurities_are_recomputed_where_the_criterion_is_another() -> None:
    tree = random_tree(np.random.default_rng(0), float_schema(2), 6)  # its impurities are random numbers
    model = tree.to_sklearn()
    shares = tree.probabilities([0])[0]
    assert model.criterion == "gini"
    assert model.tree_.impurity[0] == pytest.approx(1 - shares @ shares)


def test_deep_trees_and_many_kinds_of_tests_are_exported() -> None:
    tree = random_tree(np.random.default_rng(1), mixed_schema(), 300, breadth_first=False)
    model = quiet(tree)
    assert model[-1].get_n_leaves() == tree.n_leaves


@pytest.mark.house
def test_importing_the_model_does_not_import_scikit_learn() -> None:
    code = "import sys, hornbeam.model; print('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def specimen(fields: list[tuple[Any, ...]]) -> np.ndarray[Any, Any]:
    return np.zeros(3, dtype=np.dtype(fields))


COMMON: list[tuple[Any, ...]] = [
    *((name, np.intp) for name in ("left_child", "right_child", "feature", "n_node_samples")),
    *((name, np.float64) for name in ("impurity", "weighted_n_node_samples")),
    ("missing_go_to_left", np.uint8),
]


@pytest.mark.parametrize(
    "fields",
    [
        [("threshold", np.float64)],
        [("threshold", np.float64), ("left_cat_bitset", np.uint32, (8,)), ("split_kind", np.int8)],
        [
            ("split_value", [("threshold", np.float64), ("left_cat_bitset", np.uint32, (8,))]),
            ("split_kind", np.int8),
        ],
    ],
)
def test_layouts_of_later_versions_are_filled(fields: list[tuple[Any, ...]]) -> None:
    tree = stump(["no", "yes"])
    known = specimen([*COMMON, *fields])
    if len(fields) > 1:
        known["split_kind"] = (0, -1, -1)
    nodes = make_nodes(tree.binary, [30.0, -2.0, -2.0], np.zeros(3), known)
    bounds = (
        nodes["threshold"] if "threshold" in (nodes.dtype.names or ()) else nodes["split_value"]["threshold"]
    )
    assert bounds.tolist() == [30.0, -2.0, -2.0]
    assert nodes["left_child"].tolist() == [1, -1, -1]
    if len(fields) > 1:
        assert nodes["split_kind"].tolist() == [0, -1, -1]


@pytest.mark.parametrize(
    "fields",
    [
        [("threshold", np.float64), ("colour", np.int8)],
        [("bound", np.float64)],
        [("split_value", np.float64)],
    ],
)
def test_an_unknown_layout_is_refused_in_one_line(fields: list[tuple[Any, ...]]) -> None:
    with pytest.raises(UsageError, match="keeps trees in a way that this Hornbeam does not know"):
        make_nodes(stump(["no", "yes"]).binary, [30.0, -2.0, -2.0], np.zeros(3), specimen([*COMMON, *fields]))


def test_trees_made_of_other_arguments_are_filled_or_refused() -> None:
    sizes = np.array([2], dtype=np.intp)
    assert len(tree_arguments((1, sizes, 1), 5, sizes)) == 3
    made = tree_arguments((1, sizes, 1, np.array([-1])), 5, sizes)
    assert made[3].tolist() == [-1] * 5
    with pytest.raises(UsageError, match="are made of 5 arguments"):
        tree_arguments((1, sizes, 1, np.array([-1]), 0), 5, sizes)
