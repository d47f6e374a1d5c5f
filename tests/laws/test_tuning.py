"""The law of tuning: every score and every tree is that of an independent fit, setting by setting."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid, StratifiedKFold

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.model_selection import TreeSearchCV
from tests.laws.test_folds import some_rows
from tests.laws.tuning_cases import (
    QUIET,
    VALUES,
    assert_close_results,
    assert_same_results,
    classifier,
    exact,
    fingerprint,
    independent,
    some_cv,
    some_grid,
    split_scores,
    splits_of,
    without_alphas_for_c45,
)
from tests.oracle.search import choose

pytestmark = pytest.mark.filterwarnings(*QUIET)
EXAMPLES = settings.default.max_examples  # type: ignore[union-attr]
SEED = st.integers(0, 2**32 - 1)
FEWER = settings(max_examples=max(10, EXAMPLES // 2))


@FEWER
@given(SEED)
def test_scores_and_choice_of_classes_are_those_of_independent_fits(seed: int) -> None:
    source = random.Random(seed)
    X, y, _, weights = some_rows(seed, source.randint(40, 110))
    model, cv = classifier(source), some_cv(source, len(X))
    grid = without_alphas_for_c45(model, some_grid(source, "classification"))
    params = {"sample_weight": weights + 0.25} if source.random() < 0.4 else {}
    train_too = source.random() < 0.3
    expected = GridSearchCV(model, grid, cv=cv, refit=False, return_train_score=train_too).fit(X, y, **params)
    found = TreeSearchCV(model, grid, cv=cv, return_train_score=train_too).fit(X, y, **params)
    assert_same_results(found.cv_results_, expected.cv_results_)
    splits = [test for _, test in splits_of(cv, X, y)]
    alone = [independent(model, p, X, y, params.get("sample_weight")) for p in ParameterGrid(grid)]
    leaves = [one.get_n_leaves() for one in alone]
    assert [result.leaves for result in found.search_.results] == leaves
    assert [result.depth for result in found.search_.results] == [one.get_depth() for one in alone]
    assert found.best_index_ == found.search_.chosen == found.search_.best
    if params:  # accuracy is weighted then, as scikit-learn has it: no longer a count of rows
        assert found.best_score_ == pytest.approx(expected.cv_results_["mean_test_score"].max(), rel=1e-12)
    else:
        marks = exact(split_scores(expected.cv_results_), [len(test) for test in splits], leaves)
        assert found.best_index_ == choose(marks)
    assert found.best_params_ == expected.cv_results_["params"][found.best_index_]
    assert found.best_score_ == expected.cv_results_["mean_test_score"][found.best_index_]
    assert found.best_estimator_.tree_.digest == alone[found.best_index_].tree_.digest
    assert found.best_estimator_.unpruned_tree_.digest == alone[found.best_index_].unpruned_tree_.digest
    event(f"settings {len(leaves) // 5 * 5}")


@FEWER
@given(SEED)
def test_trees_of_all_settings_and_folds_are_those_of_independent_fits(seed: int) -> None:
    """By their fingerprints, before and after pruning."""
    source = random.Random(seed)
    X, y, targets, weights = some_rows(seed, source.randint(30, 80))
    task = source.choice(["classification", "classification", "regression"])
    model = classifier(source) if task == "classification" else TreeRegressor(random_state=3)
    y = y if task == "classification" else targets
    grid, cv = without_alphas_for_c45(model, some_grid(source, task)), some_cv(source, len(X))
    if task == "regression" and isinstance(cv, StratifiedKFold):
        cv = 3
    params = {"sample_weight": weights + 0.25} if source.random() < 0.4 else {}
    expected = GridSearchCV(model, grid, cv=cv, refit=False, scoring=fingerprint).fit(X, y, **params)
    found = TreeSearchCV(model, grid, cv=cv, refit=False, scoring=fingerprint).fit(X, y, **params)
    assert_same_results(found.cv_results_, expected.cv_results_)
    event(f"different trees {len(np.unique(split_scores(expected.cv_results_))) // 10 * 10}")


@settings(max_examples=max(10, EXAMPLES // 4))
@given(SEED)
def test_scores_of_numbers_are_those_of_independent_fits(seed: int) -> None:
    source = random.Random(seed)
    X, _, targets, weights = some_rows(seed, source.randint(40, 100))
    y = targets if source.random() < 0.5 else targets[:, 0]
    model, cv = (
        TreeRegressor(random_state=source.randrange(99)),
        KFold(3, shuffle=True, random_state=seed % 99),
    )
    grid = some_grid(source, "regression")
    params = {"sample_weight": weights + 0.25} if source.random() < 0.4 else {}
    scoring = source.choice([None, None, "r2", "neg_mean_squared_error"])
    expected = GridSearchCV(model, grid, cv=cv, scoring=scoring, refit=False).fit(X, y, **params)
    found = TreeSearchCV(model, grid, cv=cv, scoring=scoring).fit(X, y, **params)
    assert_close_results(found.cv_results_, expected.cv_results_)
    alone = independent(model, found.best_params_, X, y, params.get("sample_weight"))
    assert found.best_estimator_.tree_.digest == alone.tree_.digest
    top = np.nanmax(expected.cv_results_["mean_test_score"])
    assert found.best_score_ == pytest.approx(top, rel=1e-12)


ALONE = [*VALUES.items(), ("min_samples_split", [30, 4, 9]), ("min_samples_split", [0.3, 0.04, 0.1])]
ALONE += [("max_depth", [3, 1, 2]), ("min_impurity_decrease", [0.02, 0.004, 0.01])]


@pytest.mark.parametrize(("name", "values"), ALONE)
def test_every_parameter_alone(name: str, values: list[Any]) -> None:
    """On a table where it matters: fingerprints of the trees differ, and all are those of lone fits. The
    laxest value of a limit is grown, wherever it is in the list."""
    X, y, _, _ = some_rows(7, 140)
    also: dict[str, Any] = {"random_state": 1, "min_samples_leaf": 2} if name == "prune" else {}
    if name == "confidence":
        also = {"prune": "error_based"}
    model, grid = TreeClassifier(**also), {name: values}
    expected = GridSearchCV(model, grid, cv=4, refit=False, scoring=fingerprint).fit(X, y)
    found = TreeSearchCV(model, grid, cv=4, refit=False, scoring=fingerprint).fit(X, y)
    assert_same_results(found.cv_results_, expected.cv_results_)
    assert len(np.unique(split_scores(expected.cv_results_)[:, 0])) >= (2 if name == "prune" else 3)
    accuracy = GridSearchCV(model, grid, cv=4, refit=False).fit(X, y)
    assert_same_results(TreeSearchCV(model, grid, cv=4).fit(X, y).cv_results_, accuracy.cv_results_)


@pytest.mark.parametrize("folds", [9, 10, 20, 90])
def test_means_of_many_folds_are_added_up_as_scikit_learn_does(folds: int) -> None:
    """To the last bit, or ranks would part settings that share a mean."""
    X, y, _, _ = some_rows(4, 90)
    grid = {"min_samples_leaf": [1, 3, 9], "max_depth": [None, 2]}
    for scoring in (None, fingerprint):
        expected = GridSearchCV(TreeClassifier(), grid, cv=KFold(folds), refit=False, scoring=scoring)
        found = TreeSearchCV(TreeClassifier(), grid, cv=KFold(folds), scoring=scoring, refit=False)
        assert_same_results(found.fit(X, y).cv_results_, expected.fit(X, y).cv_results_)


def test_sets_of_any_kind() -> None:
    """Rows several times, in any order, from the end; sets of weight 0, which no tree has."""
    X, y, _, _ = some_rows(4, 40)
    splits = [
        (np.array([0, 0, 1, 5, 5, 9, 9, 9, 12, 13]), np.array([2, 2, 3])),
        (np.arange(20)[::-1], np.arange(25, 40)),
        (-np.arange(1, 20), np.arange(15)),
    ]
    grid = {"min_samples_leaf": [1, 3], "max_depth": [2, None], "criterion": ["c45", "gini"]}
    for scoring in (None, fingerprint):
        expected = GridSearchCV(TreeClassifier(), grid, cv=splits, refit=False, scoring=scoring)
        found = TreeSearchCV(TreeClassifier(), grid, cv=splits, scoring=scoring, refit=False)
        assert_same_results(found.fit(X, y).cv_results_, expected.fit(X, y).cv_results_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:One or more")
def test_sets_without_a_tree_score_what_error_score_says() -> None:
    X, y, _, _ = some_rows(4, 14)
    weights = np.array([1.0] * 5 + [0.0] * 9)
    splits = [(np.arange(5, 14), np.arange(5)), (np.arange(9), np.arange(9, 14))]
    grid = {"max_depth": [1, 2], "min_samples_leaf": [1, 2]}
    expected = GridSearchCV(TreeClassifier(), grid, cv=splits, refit=False, scoring=fingerprint)
    found = TreeSearchCV(TreeClassifier(), grid, cv=splits, scoring=fingerprint, refit=False)
    found.fit(X, y, sample_weight=weights)
    assert_same_results(found.cv_results_, expected.fit(X, y, sample_weight=weights).cv_results_)


@pytest.mark.parametrize("algorithm", ["auto", "serial", "overlapping", "folds"])
def test_the_way_of_growing_changes_nothing(algorithm: str) -> None:
    X, y, _, weights = some_rows(3, 120)
    grid = [
        {"min_samples_leaf": [1, 4, 9], "max_depth": [None, 3]},
        {"prune": ["error_based"], "min_objs": [2, 5]},
    ]
    expected = GridSearchCV(TreeClassifier(), grid, cv=4, refit=False, scoring=fingerprint)
    expected.fit(X, y, sample_weight=weights)
    for also in ({}, {"memory_limit": "32MB"}, {"n_jobs": 2}):
        found = TreeSearchCV(
            TreeClassifier(), grid, cv=4, scoring=fingerprint, refit=False, algorithm=algorithm, **also
        )
        assert_same_results(found.fit(X, y, sample_weight=weights).cv_results_, expected.cv_results_)


@pytest.mark.parametrize(
    "scoring",
    [
        "accuracy",
        "balanced_accuracy",
        "neg_log_loss",
        "f1_macro",
        ["accuracy", "neg_log_loss"],
        {"right": "accuracy", "tree": fingerprint},
    ],
)
def test_any_scorer(scoring: Any) -> None:
    X, y, _, _ = some_rows(5, 120)
    grid = {"min_samples_split": [2, 10, 40], "criterion": ["gini", "c45"], "max_depth": [2, None]}
    expected = GridSearchCV(
        TreeClassifier(), grid, cv=4, refit=False, scoring=scoring, return_train_score=True
    )
    found = TreeSearchCV(TreeClassifier(), grid, cv=4, refit=False, scoring=scoring, return_train_score=True)
    if isinstance(scoring, str) and scoring in ("neg_log_loss", "f1_macro", "balanced_accuracy"):
        assert_close_results(found.fit(X, y).cv_results_, expected.fit(X, y).cv_results_)
        return
    found.fit(X, y), expected.fit(X, y)
    for name, values in expected.cv_results_.items():
        if name.startswith(("split", "mean_t", "std_t")) and not name.endswith("_time"):
            np.testing.assert_allclose(found.cv_results_[name], values, rtol=1e-11, err_msg=name)


def test_a_generator_draws_for_every_fold_what_a_clone_would() -> None:
    """scikit-learn copies the generator for every fit, so that all of them draw alike."""
    X, y, _, _ = some_rows(2, 100)
    model = TreeClassifier(random_state=np.random.RandomState(4))
    grid = {"prune": ["reduced_error", None], "max_depth": [None, 3]}
    expected = GridSearchCV(model, grid, cv=3, refit=False, scoring=fingerprint).fit(X, y)
    found = TreeSearchCV(model, grid, cv=3, scoring=fingerprint).fit(X, y)
    assert_same_results(found.cv_results_, expected.cv_results_)


def test_the_path_of_alphas_has_a_setting_for_every_tree_of_it() -> None:
    """All prunings of the tree of all rows, each once, and scores that are those of these alphas."""
    X, y, _, _ = some_rows(9, 120)
    model = TreeClassifier(min_samples_leaf=2)
    found = TreeSearchCV(model, {"ccp_alpha": "path"}, cv=3).fit(X, y)
    alphas = [params["ccp_alpha"] for params in found.cv_results_["params"]]
    steps = np.unique(model.cost_complexity_pruning_path(X, y).ccp_alphas)
    assert alphas == sorted({0.0, *alphas})
    whole = [result.leaves for result in found.search_.results]
    assert whole == sorted({1, *whole}, reverse=True)
    assert len(alphas) == len(np.union1d([0.0], steps[steps > 0]))
    expected = GridSearchCV(model, {"ccp_alpha": alphas}, cv=3, refit=False).fit(X, y)
    assert_same_results(found.cv_results_, expected.cv_results_)
