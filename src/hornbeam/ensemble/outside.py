"""Out of bag: what trees say of the rows that they were not grown from, a fair estimate without test rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam.ensemble.bags import Bags
from hornbeam.ensemble.committee import Committee, Leaves, Numbers
from hornbeam.model import Tree
from hornbeam.table import Table
from hornbeam.table.sources.draws import RowDraws
from hornbeam.validation.scores import sums_of

Score = Callable[[npt.NDArray[np.int64], npt.NDArray[Any]], float]


@dataclass(frozen=True, eq=False)
class Outside:
    """The mean answer for each row of the trees whose bags do not have it; NaN where every bag has the
    row."""

    answers: Numbers
    """The answers as an array [rows, classes or targets]."""
    trees: npt.NDArray[np.int64]
    """How many trees were asked of each row."""
    alone: Numbers
    """What each tree scores alone on the rows outside its bag; NaN where there is none, or nobody asked."""

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """The rows that some bag lacks, as a mask."""
        return self.trees > 0


def ask_outside(
    committee: Committee, bags: Bags, table: Table, *, threads: int = 1, score: Score | None = None
) -> Outside:
    """What the trees of the bags say of the rows of their table that each of them has not drawn.

    `score` takes some rows and the class codes, or the numbers, that one tree alone answers.
    """
    alone = np.full(len(bags), np.nan)

    def judge(i: int, tree: Tree, leaves: Leaves, rows: npt.NDArray[np.int64]) -> None:
        if score is not None and len(rows):
            answers = tree.means if tree.classes is None else tree.leaf_class
            alone[i] = score(rows, answers[leaves[rows]])

    total, asked = _add_outside(committee, bags.times, table, threads, judge)
    with np.errstate(invalid="ignore"):
        answers = total / asked[:, None]
    return Outside(answers, asked, alone)


def _add_outside(
    committee: Committee,
    times: Callable[[int], npt.NDArray[Any]],
    table: Table,
    threads: int,
    visit: Callable[[int, Tree, Leaves, npt.NDArray[np.int64]], None] | None = None,
) -> tuple[Numbers, npt.NDArray[np.int64]]:
    """(The sum of what the trees answer to each row that their bags lack, how many trees these are);
    `times(i)` says how often bag i has each row."""
    total = np.zeros((table.n_rows, committee.width))
    asked = np.zeros(table.n_rows, dtype=np.int64)
    for i, (tree, leaves) in enumerate(committee.leaves(table, threads)):
        rows = np.flatnonzero(times(i) == 0)
        if visit is not None:
            visit(i, tree, leaves, rows)
        committee.add(total, tree, leaves[rows], rows)
        asked[rows] += 1
    return total, asked


class OutsideSums:
    """What rows outside of bags say of the trees of these, added up as the rows of a source go by: the score
    of those that some bag lacks. Sums of parts merge."""

    def __init__(self, committee: Committee, draws: RowDraws, threads: int = 1) -> None:
        self.committee, self.draws, self._threads = committee, draws, threads
        self.rows, self._sums = 0, sums_of(committee.trees[0])

    def fresh(self) -> OutsideSums:
        """Sums over the same trees and bags that have seen no row yet, for another thread."""
        return OutsideSums(self.committee, self.draws)

    def add(self, rows: tuple[Table, npt.NDArray[Any], npt.NDArray[np.uint64]]) -> None:
        """Take rows in: a table, the class codes or numbers that are true, and the words bags go by."""
        table, true, words = rows
        committee, times = self.committee, partial(self.draws.times, words)
        total, asked = _add_outside(committee, times, table, self._threads)
        known = asked > 0
        self.rows += table.n_rows
        self._sums.add(true[known], committee.predictions(total[known] / asked[known, None]))

    @property
    def known(self) -> int:
        """The number of rows that some bag lacks."""
        return self._sums.rows

    @property
    def found(self) -> list[int]:
        """The sums as numbers that `merge` takes."""
        return [self.rows, *self._sums.found]

    def merge(self, found: Sequence[int]) -> None:
        """Take in what another part has found."""
        self.rows += found[0]
        self._sums.merge(found[1:])

    @property
    def score(self) -> float:
        """Accuracy, or R² averaged over targets, of the rows that some bag lacks; NaN where there is none."""
        return self._sums.score
