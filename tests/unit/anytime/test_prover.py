"""The prover's share of the work: what its attempts count as, when one is due, and when there is none."""

from __future__ import annotations

import numpy as np
import pytest

from hornbeam.anytime import OBJECTIVES, Budget, Improvement, Lookahead, prover
from hornbeam.growth import ClassTarget
from hornbeam.table import from_data

ROWS, COLUMNS = 120, 8


def noise(rows: int = ROWS) -> Lookahead:
    """Bits that say little: the proof takes long."""
    random = np.random.default_rng(5)
    codes = random.integers(0, 2, rows).astype(np.int32)
    bits = random.integers(0, 2, (rows, COLUMNS)).astype(float)
    return Lookahead(from_data(bits), ClassTarget(codes, np.arange(2)))


def counted(attempts: int) -> int:
    """What so many attempts count as, by the law: sets times rows times tests, halved."""
    return sum(256 * 4**i * ROWS * COLUMNS // 2 for i in range(attempts))


def test_attempts_are_made_while_they_count_no_more_than_the_work() -> None:
    search = Improvement.begin(noise(), OBJECTIVES["size"])
    made = []
    for state in search.run(Budget(iterations=25)):
        made.append(search.now.proofs)
        assert search.now.proof_work == counted(made[-1]) <= state.work
        if state.status == "running":
            assert counted(made[-1] + 1) > state.work
    assert made == sorted(made)
    assert made[-1] > 1


def test_a_table_that_is_too_large_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prover, "MOST_ROWS", ROWS - 1)
    search = Improvement.begin(noise(), OBJECTIVES["size"])
    *_, last = search.run(Budget(iterations=25))
    assert last.work > counted(1)
    assert search.now.proofs == 0


def test_there_is_a_last_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prover, "MOST_ATTEMPTS", 1)
    search = Improvement.begin(noise(), OBJECTIVES["size"])
    *_, last = search.run(Budget(iterations=25))
    assert last.work > counted(2)
    assert search.now.proofs == 1
