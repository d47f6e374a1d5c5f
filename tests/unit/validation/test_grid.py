"""A grid is read in scikit-learn's order, and whatever means nothing in it is refused before any work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import make_pipeline

from hornbeam import BaggedTreesClassifier, TreeClassifier, TreeRegressor
from hornbeam.errors import UsageError
from hornbeam.validation.grid import TUNABLE, Grid, between


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({}, "param_grid is empty: name a parameter"),
        ([], "param_grid is empty"),
        ([{"max_depth": [1]}, {}], "param_grid is empty"),
        ({"max_depth": []}, r"param_grid\['max_depth'\] has no values: give at least one"),
        ({"max_depth": 3}, r"param_grid\['max_depth'\]=3: give a list of values, such as \[3\]"),
        ({"criterion": "gini"}, r"param_grid\['criterion'\]='gini': give a list of values"),
        ({"max_depth": [[1, 2], [3]]}, r"max_depth=\[1, 2\]: a whole number from 1"),
        ({"max_depth": np.ones((2, 2))}, "give a list of values"),
        ({"max_dept": [1]}, "names 'max_dept', which is not tuned here: .*; did you mean 'max_depth'"),
        ({"random_state": [1]}, "use ccp_alpha, .*, prune$"),
        ("max_depth", "give a dict of parameter to list of values"),
        ({"max_depth": [2, 0]}, "max_depth=0: a whole number from 1"),
        ({"min_samples_leaf": [0.7]}, "min_samples_leaf=0.7"),
        ({"confidence": [0.0]}, "confidence=0.0"),
        ({"ccp_alpha": [0.1], "prune": ["error_based"]}, "an alpha belongs to prune='cost_complexity'"),
        ({"ccp_alpha": "path", "prune": ["error_based"]}, "an alpha belongs to prune='cost_complexity'"),
        ({"ccp_alpha": "all"}, "give a list of values"),
        ({"criterion": ["variance"]}, "criterion='variance' for classification: use 'gini'"),
    ],
)
def test_what_means_nothing_is_refused_in_one_line(grid: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        Grid(TreeClassifier(), grid)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "estimator", [BaggedTreesClassifier(), make_pipeline(TreeClassifier()), TreeClassifier, 3]
)
def test_only_trees_are_tuned(estimator: Any) -> None:
    with pytest.raises(
        UsageError, match=r"cannot be tuned in one growth: .* or use scikit-learn's GridSearchCV"
    ):
        Grid(estimator, {"max_depth": [1]})


def test_settings_come_in_the_order_of_scikit_learn() -> None:
    grid = [{"min_samples_leaf": (1, 5), "criterion": ["gini", "log_loss"]}, {"max_depth": np.arange(1, 4)}]
    candidates = Grid(TreeClassifier(min_samples_split=7), grid).candidates()
    assert list(candidates.params) == list(ParameterGrid(grid))
    first, *_, last = candidates.settings
    assert (first.parameters.criterion, first.parameters.min_samples_leaf) == ("gini", 1)
    assert candidates.settings[3].parameters.criterion == "entropy"
    assert (last.parameters.max_depth, last.parameters.min_samples_split, last.parameters.criterion) == (
        3,
        7,
        "gini",
    )


def test_the_ten_parameters_are_all_there() -> None:
    assert set(TUNABLE) <= set(TreeClassifier().get_params())
    assert len(set(TUNABLE)) == 10
    assert set(TUNABLE) <= set(TreeRegressor().get_params())


def test_an_alpha_is_taken_between_those_at_which_the_tree_changes() -> None:
    assert between(np.array([0.0, 0.25, 1.0, 4.0])) == [0.0, 0.5, 2.0, 8.0]
    assert between(np.array([0.0, 0.25])) == [0.0, 0.5]
    assert between(np.array([0.0])) == [0.0]


def test_a_grid_says_whether_it_needs_a_path() -> None:
    grid = Grid(TreeClassifier(), {"ccp_alpha": "path", "max_depth": [1, 2]})
    assert grid.asks_path
    found = [params["ccp_alpha"] for params in grid.candidates((0.0, 0.5)).params]
    assert found == [0.0, 0.0, 0.5, 0.5]
    assert not Grid(TreeClassifier(), {"ccp_alpha": [0.1]}).asks_path
