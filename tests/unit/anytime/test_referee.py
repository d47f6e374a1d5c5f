"""The referee agrees with what chance hardly explains, and what it tells of errors is not told too well."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hornbeam import AnytimeTreeClassifier
from hornbeam.anytime import OBJECTIVES, Budget, Improvement, Lookahead
from hornbeam.anytime.referee import Referee, Verdict
from hornbeam.growth import ClassTarget
from hornbeam.table import from_data


def verdict(gained: int, lost: int, both: int = 3) -> Verdict:
    """The old side alone missed `gained` rows, the new one alone `lost`."""
    old = [True] * gained + [False] * lost + [True] * both + [False]
    new = [False] * gained + [True] * lost + [True] * both + [False]
    return Verdict(np.array(old), np.array(new))


@pytest.mark.parametrize(
    ("gained", "lost", "agrees"),
    [
        (0, 0, False),
        (3, 0, False),
        (4, 0, True),  # 4 * 4 >= 4 * 4
        (0, 4, False),
        (7, 2, False),  # 25 < 36
        (8, 2, False),  # 36 < 40
        (9, 2, True),  # 49 >= 44
        (50, 50, False),
        (60, 40, True),  # 400 >= 400
        (40, 60, False),
    ],
)
def test_a_verdict_goes_by_two_standard_errors(gained: int, lost: int, agrees: bool) -> None:
    assert verdict(gained, lost).agrees is agrees


def noisy(rows: int, hidden: int, noise: float, seed: int = 0) -> tuple[Any, Any]:
    """Bits whose class is the parity of the first ones, or something else where there is noise."""
    random = np.random.default_rng(seed)
    bits = random.integers(0, 2, (rows, 8))
    wrong = random.random(rows) < noise
    return bits.astype(float), (bits[:, :hidden].sum(axis=1) + wrong) % 2


def referee_of(table: Any, classes: Any) -> Referee:
    lookahead = Lookahead(from_data(table), ClassTarget(classes.astype(np.int32), np.arange(2)))
    return Referee(lookahead, OBJECTIVES["error"], 0)


def test_folds_that_agree_are_asked_once_more() -> None:
    referee = referee_of(*noisy(200, 3, 0.0))
    rows = referee.lookahead.all_rows
    taken = referee.opinion(rows, 0, 0, 4)
    assert taken is not None
    assert (taken.agrees, taken.asked) == (True, 2)
    assert taken.new < taken.old
    refused = referee.opinion(rows, 0, 4, 4)
    assert refused is not None
    assert (refused.agrees, refused.asked, refused.old, refused.new) == (False, 1, 0, 0)


def test_a_concept_behind_noise_is_let_through() -> None:
    table, classes = noisy(300, 3, 0.05)
    model = AnytimeTreeClassifier(referee="cv", max_iter=12, max_time=None, random_state=0)
    model.fit(table, classes)
    fresh, truth = noisy(2000, 3, 0.0, seed=1)
    assert model.score(fresh, truth) > 0.9
    last = model.course_.last
    assert last.cv_error is not None
    assert 0.02 < last.cv_error < 0.25


@pytest.mark.parametrize("objective", ["size", "error"])
def test_of_mere_chance_no_search_however_long_tells_few_errors(objective: str) -> None:
    """Classes that nothing explains are wrong every second time, whatever was rebuilt and looked better."""
    told = []
    for seed in range(4):
        random = np.random.default_rng(seed)
        table, classes = random.normal(size=(80, 3)), random.integers(0, 2, 80)
        model = AnytimeTreeClassifier(
            objective=objective, referee="cv", max_iter=14, max_time=None, random_state=seed
        ).fit(table, classes)
        told.append(model.course_.last.cv_error)
        free = AnytimeTreeClassifier(objective=objective, max_iter=14, max_time=None, random_state=seed).fit(
            table, classes
        )
        assert len(free.profile_) >= len(model.profile_)
    assert all(error is not None for error in told)
    assert 0.4 < np.mean(told) < 0.6  # type: ignore[arg-type]


def test_asking_twice_is_counted_and_never_exceeds_the_work() -> None:
    table, classes = noisy(200, 3, 0.0)
    lookahead = Lookahead(from_data(table), ClassTarget(classes.astype(np.int32), np.arange(2)))
    search = Improvement.begin(lookahead, OBJECTIVES["error"], seed=0, referee=True)
    before = search.now.work
    cost = search.chooser.cost(search.now, 0)
    asking = search._asking(0, 0, 1)
    limit = before + cost + 2 * asking
    *_, last = search.run(Budget(work=limit))
    assert last.work <= limit
    assert last.status in ("work", "exhausted")
