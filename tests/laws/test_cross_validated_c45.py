"""CVC4.5 chooses the m that the oracle chooses: by both rules of m, in one run or the smallest of several."""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from hornbeam import C45Classifier, CrossValidatedC45
from tests.agreement import agree_by
from tests.laws.reading import frame, target_array
from tests.laws.test_tuning_choice import classes_of, labels_of, small_case
from tests.oracle.search import Search, choose, dealt
from tests.oracle.table import AllParameters

EXAMPLES = settings.default.max_examples  # type: ignore[union-attr]
SEED = st.integers(0, 2**32 - 1)
VALUES = (1, 2, 3, 5, 8, 40)


def settings_of(rule: str, confidence: float) -> tuple[Mapping[str, Any], ...]:
    """The grid as the oracle has it: with m rows to split, 1 and 2 are the same."""
    if rule == "min_objs":
        values: tuple[float, ...] = tuple(map(float, VALUES))
    else:
        values = VALUES[1:]
    return tuple({rule: m, "prune": "error_based", "confidence": confidence} for m in values)


@pytest.mark.agreed
@settings(max_examples=max(12, EXAMPLES // 2))
@given(SEED, st.sampled_from(["min_objs", "min_samples_split"]), st.booleans(), st.sampled_from([0.25, 0.6]))
def test_m_is_the_oracles(seed: int, rule: str, small: bool, confidence: float) -> None:
    """Folds dealt anew for each repetition of each run, the middle three of five repetitions averaged."""
    source = random.Random(seed)
    case, k, runs = small_case(source), source.choice([2, 3, 5]), 3 if small else 1
    shared = AllParameters("c45", "multiway")
    shuffle = np.random.RandomState(seed % 1000)
    folds = [
        [dealt(labels_of(case), shuffle.permutation(case.n).tolist(), k) for _ in range(5)]
        for _ in range(runs)
    ]
    grid = settings_of(rule, confidence)
    model = CrossValidatedC45(
        min_objs=VALUES,
        rule=rule,
        cv=k,
        small=small,
        runs=3,
        confidence=confidence,
        random_state=seed % 1000,
    ).fit(frame(case.columns), target_array(case))
    chosen = model.best_params_[rule]
    places = [record.chosen for record in model.searches_]
    run = next(i for i, search in enumerate(model.searches_) if search is model.search_)
    leaves, score = model.tree_.n_leaves, float(model.best_score_)

    def judge() -> None:
        oracle = Search(case.columns, classes_of(case), shared, grid)
        found: list[tuple[int, Fraction, int, int]] = []
        for i, of_run in enumerate(folds):
            marks = oracle.marks(of_run)
            s = choose(marks, "trimmed")
            found.append((marks[s].leaves, -marks[s].estimate("trimmed"), i, s))
        fewest, estimate, first, s = min(found)
        assert (run, leaves, chosen) == (first, fewest, oracle.grid[s][rule])
        assert score == pytest.approx(float(-estimate), rel=1e-14)
        assert places == [place for *_, place in found]

    agree_by((case, grid, folds), (chosen, score, places, run, leaves), judge)
    assert model.best_params_ == {rule: chosen}
    alone = C45Classifier(confidence=confidence, **{"min_objs": None, rule: chosen})
    assert model.tree_.digest == alone.fit(frame(case.columns), target_array(case)).tree_.digest
    event("smaller than the first" if run else "the first")


def test_the_values_of_the_paper_are_twenty_two() -> None:
    paper = [*range(1, 11), 12, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100]
    assert list(CrossValidatedC45().min_objs) == paper
    assert len(paper) == 22


@pytest.mark.parametrize("rule", ["min_objs", "min_samples_split"])
def test_m_beyond_the_rows_gives_one_leaf(rule: str) -> None:
    case = small_case(random.Random(1), 24)
    model = CrossValidatedC45(min_objs=[500], rule=rule, cv=4, random_state=0)
    model.fit(frame(case.columns), target_array(case))
    assert model.tree_.n_leaves == 1
