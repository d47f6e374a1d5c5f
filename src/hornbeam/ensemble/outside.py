"""Out of bag: what trees say of the rows that they were not grown from, a fair estimate without test rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam.ensemble.bags import Bags
from hornbeam.ensemble.committee import Committee, Numbers
from hornbeam.table import Table
from hornbeam.table.sources.draws import RowDraws

Score = Callable[[npt.NDArray[np.int64], npt.NDArray[Any]], float]


@dataclass(frozen=True, eq=False)
class Outside:
    """Of each row the mean answer of the trees whose bags do not have it, NaN where every bag has it."""

    answers: Numbers
    """[rows, classes or targets]."""
    trees: npt.NDArray[np.int64]
    """How many trees were asked of each row."""
    alone: Numbers
    """What each tree scores alone on the rows outside its bag; NaN where there is none, or nobody asked."""

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which rows some bag lacks."""
        return self.trees > 0


def ask_outside(
    committee: Committee, bags: Bags, table: Table, *, threads: int = 1, score: Score | None = None
) -> Outside:
    """What the trees of the bags say of the rows of their table that each of them has not drawn.

    `score` takes some rows and the class codes, or the numbers, that one tree alone says of them.
    """
    total = np.zeros((table.n_rows, committee.width))
    asked = np.zeros(table.n_rows, dtype=np.int64)
    alone = np.full(len(bags), np.nan)
    for i, (tree, leaves) in enumerate(committee.leaves(table, threads)):
        rows = np.flatnonzero(bags.times(i) == 0)
        if len(rows) == 0:
            continue
        committee.add(total, tree, leaves[rows], rows)
        asked[rows] += 1
        if score is not None:
            said = tree.means if tree.classes is None else tree.leaf_class
            alone[i] = score(rows, said[leaves[rows]])
    with np.errstate(invalid="ignore"):
        answers = total / asked[:, None]
    return Outside(answers, asked, alone)


class OutsideSums:
    """What rows outside of bags say of the trees of these, added up as the rows of a source go by: how many
    of those that some bag lacks are answered rightly; or, of each target, sums about the first tree's mean,
    and the least and greatest value. Sums of parts merge."""

    def __init__(self, committee: Committee, draws: RowDraws, threads: int = 1) -> None:
        self.committee, self.draws, self._threads = committee, draws, threads
        self.rows = self.known = self._right = 0
        n_targets = 0 if committee.trees[0].classes is not None else committee.width
        self._sums: Numbers = np.zeros((3, n_targets))
        self._ends: Numbers = np.stack([np.full(n_targets, np.inf), np.full(n_targets, -np.inf)])

    def fresh(self) -> OutsideSums:
        """The same before any row, for one thread."""
        return OutsideSums(self.committee, self.draws)

    def add(self, rows: tuple[Table, npt.NDArray[Any], npt.NDArray[np.uint64]]) -> None:
        """Take rows in: a table, the class codes or numbers that are true, and the words bags go by."""
        table, true, words = rows
        committee = self.committee
        total = np.zeros((table.n_rows, committee.width))
        asked = np.zeros(table.n_rows, dtype=np.int64)
        for i, (tree, leaves) in enumerate(committee.leaves(table, self._threads)):
            outside = np.flatnonzero(self.draws.times(words, i) == 0)
            committee.add(total, tree, leaves[outside], outside)
            asked[outside] += 1
        known = asked > 0
        answers = total[known] / asked[known, None]
        self.rows, self.known = self.rows + table.n_rows, self.known + int(known.sum())
        if committee.trees[0].classes is not None:
            self._right += int(np.count_nonzero(committee.codes(answers) == true[known]))
        elif known.any():
            self._add_numbers(true[known], answers)

    def _add_numbers(self, true: Numbers, answers: Numbers) -> None:
        left, apart = true - answers, true - self.committee.trees[0].means[0]
        self._sums += np.stack([(left**2).sum(axis=0), apart.sum(axis=0), (apart**2).sum(axis=0)])
        self._reach(true.min(axis=0), true.max(axis=0))

    def _reach(self, lowest: Numbers, highest: Numbers) -> None:
        self._ends = np.stack([np.minimum(self._ends[0], lowest), np.maximum(self._ends[1], highest)])

    @property
    def found(self) -> list[float]:
        """What `merge` takes."""
        counts = [self.rows, self.known, self._right]
        return [*counts, *self._sums.ravel().tolist(), *self._ends.ravel().tolist()]

    def merge(self, found: Sequence[float]) -> None:
        """Take in what another part has found."""
        rows, known, right = map(int, found[:3])
        self.rows, self.known, self._right = self.rows + rows, self.known + known, self._right + right
        numbers = np.array(found[3:]).reshape(5, -1)
        self._sums += numbers[:3]
        self._reach(numbers[3], numbers[4])

    @property
    def score(self) -> float:
        """Accuracy, or R² averaged over targets, of the rows that some bag lacks; NaN where there is none."""
        if not self.known:
            return float("nan")
        if self.committee.trees[0].classes is not None:
            return self._right / self.known
        left, total, squares = self._sums
        whole = squares - total**2 / self.known
        constant = (self._ends[0] == self._ends[1]) | (whole <= 0)
        ratio = 1.0 - left / np.where(constant, 1.0, whole)
        return float(np.where(constant, np.where(left == 0, 1.0, 0.0), ratio).mean())
