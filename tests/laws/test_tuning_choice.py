"""The choice among settings is the oracle's: folds, means, standard errors and ties, in exact numbers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold

from hornbeam import TreeClassifier
from hornbeam.model_selection import TreeSearchCV
from tests.laws.reading import frame, target_array
from tests.laws.test_folds import some_rows
from tests.laws.tuning_cases import QUIET
from tests.oracle.search import Search, choose, dealt
from tests.oracle.table import AllParameters, Classes, Column
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


def small_case(source: random.Random) -> Case:
    """So small that many settings tie."""
    n = source.choice([12, 16, 20, 24, 30])
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


def as_lists(setting: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {name: [value] for name, value in setting.items()}


@settings(max_examples=2 * EXAMPLES)
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
    X, y = frame(case.columns), target_array(case)
    if repeats == 1:
        k = min(k, max(Counter(case.target.labels).values()))
        order = [test.tolist() for _, test in StratifiedKFold(k).split(X, y)]
        folds = [order]
    else:
        shuffle = np.random.RandomState(state)
        folds = [dealt(case.target.labels, shuffle.permutation(case.n).tolist(), k) for _ in range(repeats)]
    oracle = Search(case.columns, case.target, AllParameters(), tuple(grid))
    marks = oracle.marks(folds)
    found = TreeSearchCV(
        TreeClassifier(),
        [as_lists(setting) for setting in grid],
        cv=k,
        repeats=repeats,
        mean=how,
        select=select,
        random_state=state,
    ).fit(X, y)
    record = found.search_
    assert [list(result.scores) for result in record.results] == [list(map(float, m.folds)) for m in marks]
    assert [result.score for result in record.results] == pytest.approx(
        [float(m.estimate(how)) for m in marks], rel=1e-14
    )
    assert [result.error**2 for result in record.results] == pytest.approx(
        [float(m.squared_error()) for m in marks], rel=1e-9, abs=1e-30
    )
    assert [result.leaves for result in record.results] == [m.leaves for m in marks]
    assert record.best == choose(marks, how)
    assert record.chosen == found.best_index_ == choose(marks, how, select)
    assert (record.folds, record.repeats, record.mean, record.select) == (k, repeats, how, select)
    event("tie" if len({m.estimate(how) for m in marks}) < len(marks) else "no tie")
    event("other than the best" if record.chosen != record.best else "the best")


def test_a_size_beyond_the_rows_gives_one_leaf() -> None:
    X, y, _, _ = some_rows(1, 60)
    grid = [{name: [61, 10**9]} for name in ("min_samples_split", "min_samples_leaf", "min_objs")]
    found = TreeSearchCV(TreeClassifier(), grid, cv=3).fit(X, y)
    assert [(result.leaves, result.depth) for result in found.search_.results] == [(1, 0)] * 6
    assert found.best_index_ == 0
    assert found.best_estimator_.tree_.n_nodes == 1
