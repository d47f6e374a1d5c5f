"""sample_weight, class_weight and cost_matrix of the estimators and the command: meaning, refusals, files."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import hornbeam
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.cli import main
from hornbeam.errors import DataError, HornbeamError, UsageError
from hornbeam.model import Tree

X = np.array([[1.0], [2.0], [2.0], [2.0], [3.0], [3.0]])
Y = np.array(["a", "a", "b", "b", "a", "b"])
COSTS = [[0.0, 5.0], [1.0, 0.0]]


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1, 1, -1, 1, 1, 1], "row 2 is -1"),
        ([1, 1, np.nan, 1, 1, 1], "row 2 is nan"),
        ([1, 1, 1, 1, 1, np.inf], "row 5 is inf"),
        ([0, 0, 0, 0, 0, 0], "zero for every row"),
        ([1, 1, 1], "3 weights for 6 rows"),
        (np.ones((6, 2)), r"shape \(6, 2\)"),
        (["much"] * 6, "not a list of numbers"),
        ([1e308] * 6, "range of doubles"),
    ],
)
def test_weights_that_mean_nothing_are_refused_in_one_line(weights: Any, said: str) -> None:
    with pytest.raises(DataError, match=said) as caught:
        TreeClassifier().fit(X, Y, sample_weight=weights)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"class_weight": {"c": 2.0}}, "names the class 'c'; classes are 'a', 'b'"),
        ({"class_weight": {"a": 0.0}}, "of the class 'a' is 0.0; a finite number above 0"),
        ({"class_weight": {"a": "much"}}, "a finite number above 0"),
        ({"class_weight": "even"}, "use 'balanced', a dict"),
        ({"class_weight": 3}, "use 'balanced', a dict"),
        ({"cost_matrix": [[0, 1]]}, r"shape \(1, 2\).*classes are 'a', 'b'"),
        ({"cost_matrix": [[0, 1, 1], [1, 0, 1], [1, 1, 0]]}, r"shape \(3, 3\)"),
        ({"cost_matrix": [[1, 1], [1, 0]]}, r"cost_matrix\[0\]\[0\] = 1"),
        ({"cost_matrix": [[0, 0], [1, 0]]}, r"cost_matrix\[0\]\[1\] = 0"),
        ({"cost_matrix": [[0, np.nan], [1, 0]]}, r"cost_matrix\[0\]\[1\] = nan"),
        ({"cost_matrix": "dear"}, "not a table of numbers"),
    ],
)
def test_class_weights_and_costs_that_mean_nothing_are_refused(parameters: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        TreeClassifier(**parameters).fit(X, Y)
    assert "\n" not in str(caught.value)


def test_a_regressor_has_no_class_weight() -> None:
    with pytest.raises(TypeError, match="numbers have no classes"):
        TreeRegressor(class_weight="balanced")


def test_weights_of_one_and_rows_of_weight_zero_change_nothing() -> None:
    data, target = load_iris(return_X_y=True)
    plain = TreeClassifier().fit(data, target)
    assert TreeClassifier().fit(data, target, sample_weight=np.ones(150)).tree_ == plain.tree_
    twice, weights = np.concatenate([data, data + 0.3]), np.repeat([1.0, 0.0], 150)
    other = TreeClassifier().fit(twice, np.concatenate([target, target[::-1]]), sample_weight=weights)
    assert other.tree_ == plain.tree_
    assert other.tree_.arrays["rows"].tolist() == plain.tree_.arrays["rows"].tolist()


def test_the_tree_holds_weights_and_rows() -> None:
    model = TreeClassifier().fit(X, Y, sample_weight=[0.5, 0.25, 1, 1, 2, 0])
    root = model.tree_
    assert (root.arrays["weight"][0], root.arrays["rows"][0]) == (4.75, 5)
    assert root.counts(0).tolist() == [2.75, 2.0]
    assert "n=5 weight=4.75" in root.to_text()


def test_importances_go_by_weight_as_scikit_learns() -> None:
    rng = np.random.default_rng(3)
    data = rng.normal(size=(300, 4)).astype(np.float32).astype(np.float64)
    noise = rng.normal(size=300)
    target = (data[:, 0] + data[:, 1] + noise > 0).astype(int) + (data[:, 3] + noise > 1)
    weights = rng.random(300) + 0.1
    for given in (None, "balanced", {0: 2.0, 1: 0.5}):
        ours = TreeClassifier(max_depth=4, class_weight=given).fit(data, target, sample_weight=weights)
        balanced = given
        if given == "balanced":  # ours counts weights, scikit-learn's rows
            total = np.bincount(target, weights)
            balanced = dict(enumerate(total.sum() / (3 * total)))
        peer = DecisionTreeClassifier(max_depth=4, class_weight=balanced, random_state=0)
        peer.fit(data, target, sample_weight=weights)
        np.testing.assert_allclose(ours.feature_importances_, peer.feature_importances_, rtol=1e-9)
        np.testing.assert_allclose(ours.predict_proba(data), peer.predict_proba(data), rtol=1e-9)
    ours, peer = TreeRegressor(max_depth=4), DecisionTreeRegressor(max_depth=4, random_state=0)
    y = data @ [1.0, 2.0, 0.5, 0.0]
    ours.fit(data, y, sample_weight=weights)
    peer.fit(data, y, sample_weight=weights)
    np.testing.assert_allclose(ours.predict(data), peer.predict(data), rtol=1e-9)
    np.testing.assert_allclose(ours.feature_importances_, peer.feature_importances_, rtol=1e-9)


@pytest.mark.parametrize(
    "parameters",
    [{"class_weight": "balanced"}, {"class_weight": {"a": 3.0}}, {"cost_matrix": COSTS}, {}],
)
def test_costs_survive_files_json_and_pickle(parameters: Any, tmp_path: Path) -> None:
    model = TreeClassifier(max_depth=1, **parameters).fit(X, Y, sample_weight=[1, 1, 1, 1, 1, 3])
    hornbeam.save(model, tmp_path / "m")
    for other in (hornbeam.load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        assert other.predict(X).tolist() == model.predict(X).tolist()
        assert other.predict_proba(X).tolist() == model.predict_proba(X).tolist()
        assert other.get_params() == model.get_params()
        assert other.tree_.costs == model.tree_.costs
    assert Tree.from_json(model.tree_.to_json()).costs == model.tree_.costs
    refitted = hornbeam.load(tmp_path / "m").fit(X, Y, sample_weight=[1, 1, 1, 1, 1, 3])
    assert refitted.tree_ == model.tree_


def test_the_dear_class_is_said_where_it_is_cheaper() -> None:
    plain = TreeClassifier(max_depth=1).fit(X, Y)
    dear = TreeClassifier(max_depth=1, cost_matrix=COSTS).fit(X, Y)
    assert set(plain.predict(X)) == {"a", "b"}
    assert set(dear.predict(X)) == {"a"}
    assert dear.tree_.to_text().count("a (") == 3
    assert dear.tree_.counts(0).tolist() == plain.tree_.counts(0).tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    "change",
    [
        {"class_weight": [1.0]},
        {"class_weight": [1.0, 0.0]},
        {"class_weight": [1.0, "x"]},
        {"class_weight": None},
        {"cost_matrix": [[0.0, 1.0]]},
        {"cost_matrix": [[0.0, 1.0], [0.0, 0.0]]},
        {"cost_matrix": 3},
    ],
)
def test_forged_costs_are_refused(change: Any) -> None:
    record = TreeClassifier(cost_matrix=COSTS).fit(X, Y).tree_.to_record()
    with pytest.raises(HornbeamError, match=next(iter(change))):
        Tree.from_record(record | change)
    del record[next(iter(change))]
    with pytest.raises(HornbeamError, match="one is absent"):
        Tree.from_record(record)


def run(*arguments: str) -> Any:
    return CliRunner().invoke(main, [*arguments])


def test_the_command_weighs_rows_and_classes(tmp_path: Path) -> None:
    path = str(tmp_path / "d.csv")
    weights = [0.5, 1.0, 2.0, 0.0, 1.0, 4.0]
    pd.DataFrame({"x": X[:, 0], "w": weights, "y": Y}).to_csv(path, index=False)
    result = run("fit", path, "--target", "y", "--weight", "w", "--class-weight", "balanced", "--json")
    assert result.exit_code == 0, result.output
    model = TreeClassifier(class_weight="balanced").fit(
        pd.DataFrame({"x": X[:, 0]}), Y, sample_weight=weights
    )
    assert json.loads(result.stdout)["digest"] == model.tree_.digest
