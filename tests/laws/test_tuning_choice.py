"""The choice among settings is the oracle's: folds, means, standard errors and ties, in exact numbers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.model_selection import TreeSearchCV
from hornbeam.validation.selection import SelectionRule, trimmed_mean
from hornbeam.validation.selection import SettingScores as RoomScores
from tests.agreement import agree_by
from tests.laws.reading import frame, target_array
from tests.laws.test_folds import some_rows
from tests.laws.tuning_cases import QUIET
from tests.oracle.search import Search, choose, dealt
from tests.oracle.table import AllParameters, Classes, Column, Label
from tests.strategies import Case

pytestmark = pytest.mark.filterwarnings(*QUIET)
EXAMPLES = settings.default.max_examples  # type: ignore[union-attr]
SEED = st.integers(0, 2**32 - 1)

GRIDS: list[list[dict[str, Any]]] = [
    [{"min_samples_split": m} for m in (2, 4, 6, 9, 15, 99)],
    [{"min_samples_leaf": m} for m in (1, 2, 3, 5, 8, 99)],
    [{"min_objs": m} for m in (1.0, 2.0, 3.0, 5.0, 99.0)],
    [{"max_depth": d} for d in (1, 2, 3, None)],
    [{"min_impurity_decrease": g} for g in (0.0, 0.01, 0.03, 0.2)],
    [{"ccp_alpha": a} for a in (0.0, 0.01, 0.03, 0.2)],
    [{"prune": "error_based", "confidence": c} for c in (0.001, 0.25, 0.9)],
    [{"prune": "error_based", "min_objs": m, "criterion": "c45"} for m in (1.0, 2.0, 4.0)],
    [{"criterion": c, "nominal": n} for c in ("gini", "c45", "correlation") for n in ("subset", "multiway")],
    [{"max_depth": 2}, {"max_depth": 2}, {"max_depth": None}, {"min_samples_split": 99}, {"max_depth": 1}],
]


def small_case(source: random.Random, rows: int | None = None) -> Case:
    """So small that many settings tie."""
    n = rows or source.choice([12, 16, 20, 24, 30])
    columns = (
        Column("x", "integer", tuple(source.randrange(6) for _ in range(n))),
        Column("f", "float", tuple(source.choice([None, 0.5, 1.0, 2.5, 7.0]) for _ in range(n))),
        Column("c", "nominal", tuple(source.choice("abcd") for _ in range(n))),
    )
    first = columns[0].values
    labels = ["q" if int(v or 0) > 2 else "p" for v in first]
    labels = [source.choice("pqr") if source.random() < 0.35 else label for label in labels]
    labels[:6] = list("ppqqrr")
    return Case(columns, Classes(tuple(labels)), AllParameters())


def lists(grid: Sequence[Mapping[str, Any]]) -> list[dict[str, list[Any]]]:
    return [{name: [value] for name, value in setting.items()} for setting in grid]


def classes_of(case: Case) -> Classes:
    assert isinstance(case.target, Classes)
    return case.target


def labels_of(case: Case) -> tuple[Label, ...]:
    return classes_of(case).labels


class Figures(NamedTuple):
    """Of each setting: its scores, their mean, its standard error, the leaves of its tree."""

    scores: list[list[float]]
    means: list[float]
    errors: list[float]
    leaves: list[int]


def figures(results: Sequence[Any]) -> Figures:
    return Figures(
        [list(map(float, result.scores)) for result in results],
        [float(result.score) for result in results],
        [float(result.error) for result in results],
        [int(result.leaves) for result in results],
    )


def dealt_folds(case: Case, k: int, repeats: int, state: int) -> list[list[list[int]]]:
    """Of each repetition: scikit-learn's folds where there is one, C4.5's where there are more."""
    if repeats == 1:
        return [[test.tolist() for _, test in StratifiedKFold(k).split(np.zeros(case.n), labels_of(case))]]
    shuffle = np.random.RandomState(state)
    return [dealt(labels_of(case), shuffle.permutation(case.n).tolist(), k) for _ in range(repeats)]


@pytest.mark.agreed
@given(
    SEED,
    st.sampled_from(range(len(GRIDS))),
    st.sampled_from([1, 2, 3, 5]),
    st.sampled_from(["mean", "trimmed"]),
    st.sampled_from(["best", "1se", "smallest"]),
)
def test_the_choice_is_the_oracles(seed: int, which: int, repeats: int, how: str, select: str) -> None:
    source = random.Random(seed)
    case, k = small_case(source), source.choice([2, 3, 4, 7])
    grid, state = GRIDS[which], source.randrange(10**6)
    if repeats == 1:
        k = min(k, max(Counter(labels_of(case)).values()))
    folds = dealt_folds(case, k, repeats, state)
    found = TreeSearchCV(
        TreeClassifier(),
        lists(grid),
        cv=k,
        repeats=repeats,
        mean=how,
        select=select,
        random_state=state,
    ).fit(frame(case.columns), target_array(case))
    record, results = found.search_, figures(found.search_.results)

    def judge() -> None:
        marks = Search(case.columns, classes_of(case), AllParameters(), tuple(grid)).marks(folds)
        assert results.scores == [list(map(float, m.folds)) for m in marks]
        assert results.means == pytest.approx([float(m.estimate(how)) for m in marks], rel=1e-14)
        squares = [error**2 for error in results.errors]
        assert squares == pytest.approx([float(m.squared_error()) for m in marks], rel=1e-9, abs=1e-30)
        assert results.leaves == [m.leaves for m in marks]
        assert record.best == choose(marks, how)
        assert record.chosen == choose(marks, how, select)
        event("tie" if len({m.estimate(how) for m in marks}) < len(marks) else "no tie")

    agree_by((case, grid, folds, how, select), (results, record.best, record.chosen), judge)
    assert record.chosen == found.best_index_
    assert (record.folds, record.repeats, record.mean, record.select) == (k, repeats, how, select)
    event("other than the best" if record.chosen != record.best else "the best")


@pytest.mark.agreed
@settings(max_examples=max(10, EXAMPLES // 2))
@given(SEED, st.sampled_from([1, 3]), st.sampled_from(["mean", "trimmed"]))
def test_with_a_cost_matrix_the_score_is_what_answers_cost(seed: int, repeats: int, how: str) -> None:
    """Costs are whole numbers and folds have four rows, so that doubles tell the scores exactly."""
    source = random.Random(seed)
    case = small_case(source, 16)
    matrix = tuple(tuple(0.0 if i == j else float(source.randint(1, 9)) for j in range(3)) for i in range(3))
    weights = [source.choice([0.5, 1.0, 2.0]) for _ in range(case.n)] if source.random() < 0.4 else None
    grid, state = source.choice(GRIDS), source.randrange(10**6)
    folds = dealt_folds(case, 4, repeats, state)
    found = TreeSearchCV(
        TreeClassifier(cost_matrix=matrix), lists(grid), cv=4, repeats=repeats, mean=how, random_state=state
    ).fit(frame(case.columns), target_array(case), sample_weight=weights)
    record, results = found.search_, figures(found.search_.results)
    best = float(found.best_score_)

    def judge() -> None:
        shared = AllParameters(cost_matrix=matrix)
        weighs = None if weights is None else tuple(weights)
        marks = Search(case.columns, classes_of(case), shared, tuple(grid), weighs).marks(folds)
        assert results.scores == [list(map(float, m.folds)) for m in marks]
        assert results.leaves == [m.leaves for m in marks]
        assert record.chosen == choose(marks, how)
        assert best == pytest.approx(float(marks[record.chosen].estimate(how)), rel=1e-14)

    assert record.measure == "cost"
    agree_by((case, matrix, weights, grid, folds, how), (results, record.chosen, best), judge)


@pytest.mark.agreed
@settings(max_examples=max(10, EXAMPLES // 2))
@given(
    SEED,
    st.sampled_from([1, 1, 2]),
    st.sampled_from(["mean", "trimmed"]),
    st.sampled_from(["best", "1se", "smallest"]),
)
def test_the_nested_choice_is_the_oracles(seed: int, repeats: int, how: str, select: str) -> None:
    """Of each outer fold of each partition: what the other folds choose, and how that does."""
    source = random.Random(seed)
    case, state = small_case(source, source.choice([16, 20, 24])), source.randrange(10**6)
    most = max(Counter(labels_of(case)).values())
    k, inner = source.choice([3, 4, 5]), source.choice([2, 3, 4])
    k, inner = (min(k, most), min(inner, most)) if repeats == 1 else (k, inner)
    grid = source.choice(GRIDS)
    outer = nested_folds(case, k, inner, repeats, state)
    final = dealt_folds(case, inner, repeats, state)
    found = TreeSearchCV(
        TreeClassifier(),
        lists(grid),
        cv=inner,
        nested=k,
        repeats=repeats,
        mean=how,
        select=select,
        random_state=state,
    ).fit(frame(case.columns), target_array(case))
    record = found.search_.nested
    assert record is not None
    params, scores, chosen = list(record.params), list(map(float, record.scores)), int(found.best_index_)

    def judge() -> None:
        oracle = Search(case.columns, classes_of(case), AllParameters(), tuple(grid))
        expected = [choice for folds in outer for choice in oracle.nested(folds, how, select)]
        assert params == [grid[s] for s, _ in expected]
        assert scores == [float(score) for _, score in expected]
        # nesting changes nothing of the final choice
        assert chosen == choose(oracle.marks(final), how, select)

    agree_by((case, grid, outer, final, how, select), (params, scores, chosen), judge)
    assert record.score == found.nested_score_ == pytest.approx(np.mean(record.scores), rel=1e-14)
    assert record.error == pytest.approx(np.std(record.scores, ddof=1) / np.sqrt(k), rel=1e-12)


def nested_folds(case: Case, k: int, inner: int, repeats: int, state: int) -> list[list[list[int]]]:
    """The outer folds: dealt after those of the search, or the same where they are as many."""
    if repeats == 1 or k == inner:
        return dealt_folds(case, k, repeats, state)
    shuffle = np.random.RandomState(state)
    orders = [shuffle.permutation(case.n).tolist() for _ in range(2 * repeats)]
    return [dealt(labels_of(case), order, k) for order in orders[repeats:]]


def test_one_standard_error_is_met_exactly() -> None:
    """Nine and seven of ten: 0.8 with an error of 0.1, so that 0.7 is just near enough."""
    right = np.array([[9, 7], [7, 7], [7, 6]])
    marks = RoomScores(right / 10, np.array([10, 10]), 1, right)
    rule = SelectionRule([{"m": m} for m in (1, 2, 3)], "score", "accuracy", "mean", "1se")
    choice = rule.choose(rule.estimates(marks, [9, 3, 3]))
    assert (choice.best, choice.chosen) == (0, 1)


@pytest.mark.parametrize(("mean", "repeats"), [("mean", 1), ("mean", 2), ("trimmed", 2)])
def test_equal_estimates_tie_though_their_doubles_do_not(mean: str, repeats: int) -> None:
    """One and two of ten are as much as three and none; (0.1 + 0.2) / 2 is above 0.3 / 2."""
    assert np.mean([0.1, 0.2]) > np.mean([0.3, 0.0])
    right = np.array([[1, 2], [3, 0], [2, 1]])
    rule = SelectionRule([{"m": m} for m in (1, 2, 3)], "score", "accuracy", mean, "best")
    estimates = rule.estimates(RoomScores(right / 10, np.array([10, 10]), repeats, right), [9, 3, 3])
    assert rule.choose(estimates).chosen == 1


def test_the_trimmed_mean_knows_this() -> None:
    assert trimmed_mean(tuple(map(Fraction, (1, 2, 3, 4, 100)))) == 3
    assert trimmed_mean((1.0, 2.0, 3.0, 4.0, 100.0)) == 3.0
    assert trimmed_mean(tuple(map(Fraction, (1, 2, 3, 10)))) == 4


@given(SEED, st.integers(2, 9), st.integers(1, 3))
def test_folds_are_dealt_as_c45_deals_them(seed: int, k: int, repeats: int) -> None:
    """The rows of every fold, by a scorer that sees only them; classes may be rarer than folds."""
    source = random.Random(seed)
    n = source.randint(k, 40)
    labels = [source.choice("ppppqqr") for _ in range(n)]
    labels[:2] = ["p", "q"]
    case = Case((Column("x", "integer", tuple(range(n))),), Classes(tuple(labels)), AllParameters())
    found = TreeSearchCV(
        TreeClassifier(), {"max_depth": [1]}, cv=k, repeats=repeats + 1, random_state=seed, scoring=rows_seen
    ).fit(frame(case.columns), target_array(case))
    expected = [fold for folds in dealt_folds(case, k, repeats + 1, seed) for fold in folds]
    assert [found.cv_results_[f"split{i}_test_score"][0] for i in range(k * (repeats + 1))] == [
        float(sum(2**row for row in fold)) for fold in expected
    ]


def rows_seen(model: Any, X: Any, y: Any) -> float:
    """The rows as bits, exact in a double up to 52 of them: their only attribute is their number."""
    return float(sum(2 ** int(row) for row in np.asarray(X)[:, 0]))


def test_rows_with_numbers_are_shuffled_and_dealt() -> None:
    X = frame((Column("x", "integer", tuple(range(17))),))
    found = TreeSearchCV(
        TreeRegressor(), {"max_depth": [1]}, cv=4, repeats=2, random_state=3, scoring=rows_seen
    ).fit(X, np.arange(17.0))
    shuffle = np.random.RandomState(3)
    folds = [fold for _ in range(2) for fold in dealt(None, shuffle.permutation(17).tolist(), 4)]
    assert [found.cv_results_[f"split{i}_test_score"][0] for i in range(8)] == [
        float(sum(2**row for row in fold)) for fold in folds
    ]


def test_a_size_beyond_the_rows_gives_one_leaf() -> None:
    X, y, _, _ = some_rows(1, 60)
    grid = [{name: [61, 10**9]} for name in ("min_samples_split", "min_samples_leaf", "min_objs")]
    found = TreeSearchCV(TreeClassifier(), grid, cv=3).fit(X, y)
    assert [(result.leaves, result.depth) for result in found.search_.results] == [(1, 0)] * 6
    assert found.best_index_ == 0
    assert found.best_estimator_.tree_.n_nodes == 1
