"""The outer estimate is that of choices made by fits of their own, without the rows that judge them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import UsageError
from hornbeam.model_selection import TreeSearchCV
from hornbeam.validation import search as drive

X, Y = load_iris(return_X_y=True)
X = X[:, :2]
GRID = {"max_depth": [1, 2, 3, None], "min_samples_leaf": [1, 4]}


def choices_by_hand(folds: list[Any]) -> list[tuple[dict[str, Any], float]]:
    """Inside each fold a search of its own over the others, ties by leaves."""
    found = []
    for i, held in enumerate(folds):
        rows = np.setdiff1d(np.arange(len(Y)), held)
        place = {row: k for k, row in enumerate(rows.tolist())}
        others = [[place[row] for row in fold.tolist()] for j, fold in enumerate(folds) if j != i]
        inner = [(np.setdiff1d(np.arange(len(rows)), test), test) for test in others]
        search = GridSearchCV(TreeClassifier(), GRID, cv=inner, refit=False).fit(X[rows], Y[rows])
        models = [TreeClassifier(**params).fit(X[rows], Y[rows]) for params in search.cv_results_["params"]]
        order = [
            (-round(float(score), 12), model.get_n_leaves(), k)
            for k, (score, model) in enumerate(
                zip(search.cv_results_["mean_test_score"], models, strict=True)
            )
        ]
        chosen = min(order)[-1]
        found.append((search.cv_results_["params"][chosen], models[chosen].score(X[held], Y[held])))
    return found


@pytest.mark.parametrize("cv", [4, 5])
def test_outer_folds_judge_choices_that_never_saw_them(cv: int) -> None:
    nested = TreeSearchCV(TreeClassifier(), GRID, cv=cv, nested=4).fit(X, Y)
    record = nested.search_.nested
    expected = choices_by_hand([test for _, test in StratifiedKFold(4).split(X, Y)])
    assert list(record.params) == [params for params, _ in expected]
    assert list(record.scores) == [score for _, score in expected]
    assert nested.nested_score_ == record.score == pytest.approx(np.mean(record.scores))
    assert record.error == pytest.approx(np.std(record.scores, ddof=1) / 2)
    plain = TreeSearchCV(TreeClassifier(), GRID, cv=cv).fit(X, Y)
    assert nested.search_.results == plain.search_.results
    assert not hasattr(plain, "nested_score_")


def test_a_tree_without_two_folds_serves_both(monkeypatch: pytest.MonkeyPatch) -> None:
    grown: list[int] = []
    examine = drive.FamilyGrowth.__init__

    def counted(self: Any, task: Any, *rest: Any) -> None:
        grown.append(task.sets.n_sets)
        examine(self, task, *rest)

    monkeypatch.setattr(drive.FamilyGrowth, "__init__", counted)
    k = 5
    for repeats in (1, 3):
        TreeSearchCV(TreeClassifier(), {"max_depth": [1, 2]}, cv=k, nested=k, repeats=repeats).fit(X, Y)
        assert grown.pop() == repeats * (k * (k - 1) // 2 + k) + 1


def test_repetitions_judge_from_outside_too() -> None:
    search = TreeSearchCV(
        TreeClassifier(), GRID, cv=3, nested=4, repeats=2, mean="trimmed", select="1se", random_state=0
    ).fit(X, Y)
    record = search.search_.nested
    assert len(record.scores) == len(record.params) == 8
    assert all(params in search.cv_results_["params"] for params in record.params)


def test_outer_folds_know_no_groups() -> None:
    search = TreeSearchCV(TreeClassifier(), GRID, cv=GroupKFold(3), nested=3)
    with pytest.raises(UsageError, match="nested with groups"):
        search.fit(X, Y, groups=np.arange(len(Y)) % 7)


def test_no_row_of_an_outer_fold_touches_its_choice() -> None:
    """Where the numbers of an outer fold are others, the same is chosen without them, and judged by them."""
    order = np.random.default_rng(0).permutation(len(Y))
    numbers, values = X[order], X[order, 0] * Y[order]
    search = TreeSearchCV(TreeRegressor(), GRID, cv=4, nested=3)
    before = search.fit(numbers, values).search_.nested
    train, test = list(KFold(3).split(numbers))[1]
    values[test] = -(values[test] ** 2)
    after = search.fit(numbers, values).search_.nested
    assert after.params[1] == before.params[1]
    model = TreeRegressor(**after.params[1]).fit(numbers[train], values[train])
    assert after.scores[1] == model.score(numbers[test], values[test]) != before.scores[1]


def test_a_path_is_that_of_the_rows_that_the_choice_may_see() -> None:
    def chosen(X: NDArray[np.float64]) -> tuple[Any, ...]:
        search = TreeSearchCV(TreeClassifier(), {"ccp_alpha": "path"}, cv=5, nested=4).fit(X, Y)
        return search.search_.nested.params

    held = [test for _, test in StratifiedKFold(4).split(X, Y)]
    before = chosen(X)
    for i, rows in enumerate(held):
        changed = X.copy()
        changed[rows] = np.random.default_rng(i).permutation(changed[rows])
        assert chosen(changed)[i] == before[i]


def test_outer_folds_leave_the_path_of_the_search_alone() -> None:
    nested = TreeSearchCV(TreeClassifier(), {"ccp_alpha": "path"}, cv=5, nested=4).fit(X, Y)
    plain = TreeSearchCV(TreeClassifier(), {"ccp_alpha": "path"}, cv=5).fit(X, Y)
    assert nested.search_.results == plain.search_.results
    assert nested.cv_results_["params"] == plain.cv_results_["params"]
    assert nested.best_estimator_.tree_.digest == plain.best_estimator_.tree_.digest
