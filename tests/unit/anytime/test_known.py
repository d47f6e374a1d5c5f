"""What is known of sets of rows: asked once, forgotten in order, and nothing where it is switched off."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from hornbeam.anytime import Lookahead
from hornbeam.anytime.lookahead import Known
from hornbeam.growth import ClassTarget
from hornbeam.table import from_data


class Asked:
    """Counts how often somebody had to look."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, rows: Any) -> int:
        self.times += 1
        return int(rows.sum())


def test_a_set_of_rows_is_looked_at_once_for_each_question() -> None:
    known, find = Known(), Asked()
    rows = np.arange(5)
    assert [known.answer("sum", rows, find) for _ in range(3)] == [10, 10, 10]
    assert (find.times, known.hits, known.misses) == (1, 2, 1)
    known.answer("another", rows, find)
    known.answer("sum", np.arange(4), find)
    assert find.times == 3
    assert known.answer("sum", np.arange(5, dtype=np.int32), find) == 10  # the same rows
    assert find.times == 3


def test_the_longest_unused_is_forgotten_first() -> None:
    known, find = Known(2 * 320), Asked()
    for rows in (1, 2, 1, 3):
        known.answer("sum", np.arange(rows), find)
    assert len(known) == 2
    assert known.bytes <= known.most_bytes
    known.answer("sum", np.arange(1), find)
    assert find.times == 3
    known.answer("sum", np.arange(2), find)
    assert find.times == 4


@pytest.mark.parametrize("room", [0, 10])
def test_without_room_nothing_is_known(room: int) -> None:
    known, find = Known(room), Asked()
    for _ in range(3):
        assert known.answer("sum", np.arange(3), find) == 3
    assert (find.times, len(known), known.bytes) == (3, 0, 0)


def test_an_interrupt_leaves_nothing_half_known() -> None:
    def interrupted(rows: Any) -> int:
        raise KeyboardInterrupt

    known = Known()
    with pytest.raises(KeyboardInterrupt):
        known.answer("sum", np.arange(3), interrupted)
    assert known.answer("sum", np.arange(3), Asked()) == 3


def test_bounds_and_efforts_are_known_and_no_part_of_a_pickle() -> None:
    random = np.random.default_rng(0)
    table = from_data(random.integers(0, 3, (60, 4)).astype(float))
    target = ClassTarget(random.integers(0, 2, 60).astype(np.int32), np.arange(2))
    mine, other = Lookahead(table, target), Lookahead(table, target, known_bytes=0)
    for rows in (np.arange(60), np.arange(0, 60, 3), np.arange(0, 60, 3)):
        assert mine.effort(rows) == other.effort(rows)
        assert mine.bound(rows) == other.bound(rows)
        assert mine.searched_bound(rows, 64) == other.searched_bound(rows, 64)
    assert (mine.known.hits, mine.known.misses) == (3, 6)
    assert len(other.known) == 0
    assert len(pickle.loads(pickle.dumps(mine)).known) == 0
