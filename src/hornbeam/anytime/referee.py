"""The referee: inner folds that say whether a rebuilt subtree answers rows that it has not seen as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

import numpy as np
import numpy.typing as npt

from hornbeam.anytime.budget import Deadline
from hornbeam.anytime.effort import Effort
from hornbeam.anytime.lookahead import Lookahead, fold_key, mix
from hornbeam.anytime.objectives import Objective
from hornbeam.anytime.sketch import Rows, Sketch
from hornbeam.validation import deal_classes

Missed = npt.NDArray[np.bool_]

FOLDS: Final = 5
STANDARD_ERRORS: Final = 2
_SEEDS: Final = 2**32


@dataclass(frozen=True)
class Verdict:
    """Which rows of a node both ways of growing got wrong in the folds."""

    old: Missed
    new: Missed

    @property
    def agrees(self) -> bool:
        """The new way is better by two standard errors of the difference: rows that one side alone got wrong
        are so many more of the old one that chance hardly explains it."""
        gained = int(np.count_nonzero(self.old & ~self.new))
        lost = int(np.count_nonzero(self.new & ~self.old))
        return gained > lost and (gained - lost) ** 2 >= STANDARD_ERRORS**2 * (gained + lost)


@dataclass(frozen=True)
class Opinion:
    """Whether the folds agree, how often they were asked, and what both ways got wrong when they were asked
    once more: of the folds that agreed this would be judged too well."""

    agrees: bool
    asked: int
    old: int = 0
    new: int = 0


@dataclass(frozen=True)
class Referee:
    """Five folds of a node's rows. Each side grows from four of them and answers the fifth."""

    lookahead: Lookahead
    objective: Objective
    seed: int

    def cost(self, effort: Effort, class_rows: Sequence[float], *sides: int) -> int:
        """What asking counts as at a node with so many rows of each class: for every side and fold a growth
        from the other folds."""
        rows, many = int(sum(class_rows)), _folds_of(int(max(class_rows)))
        grown = sum(effort.cost(rows, r) if r else effort.greedy_cost(rows) for r in sides)
        return (many - 1) * grown

    def opinion(
        self, rows: Rows, iteration: int, old_r: int, new_r: int, deadline: Deadline | None = None
    ) -> Opinion | None:
        """LSID3(new_r) against LSID3(old_r), or the first tree where old_r is 0; None: time was up."""
        verdict = self._verdict(rows, iteration, (old_r, new_r), 0, deadline)
        if verdict is None or not verdict.agrees:
            return None if verdict is None else Opinion(False, 1)
        again = self._verdict(rows, iteration, (old_r, new_r), 1, deadline)
        if again is None:
            return None
        return Opinion(True, 2, int(again.old.sum()), int(again.new.sum()))

    def _verdict(
        self, rows: Rows, iteration: int, sides: tuple[int, int], deal: int, deadline: Deadline | None
    ) -> Verdict | None:
        old = self.missed(rows, iteration, sides[0], 2 * deal, deadline)
        new = None if old is None else self.missed(rows, iteration, sides[1], 2 * deal + 1, deadline)
        return None if old is None or new is None else Verdict(old, new)

    def missed(
        self, rows: Rows, iteration: int, r: int, side: int = 0, deadline: Deadline | None = None
    ) -> Missed | None:
        """The rows that trees of the other folds get wrong. Two sides in a row are dealt the same folds."""
        codes = self.lookahead.target.codes[rows]
        missed = np.zeros(len(rows), dtype=bool)
        many = _folds_of(int(np.bincount(codes).max()))
        if many < 2:  # too few rows to ask
            return missed
        folds = deal_classes(codes, many, fold_key(self.seed, iteration, FOLDS + side // 2) % _SEEDS)
        for fold in range(many):
            key = mix(fold_key(self.seed, iteration, fold), side)
            sketch = self._grown(rows[folds != fold], key, r, deadline)
            if sketch is None:
                return None
            out = folds == fold
            missed[out] = self.lookahead.answers(sketch, rows[out]) != codes[out]
        return missed

    def _grown(self, rows: Rows, key: int, r: int, deadline: Deadline | None) -> Sketch | None:
        seconds = inf if deadline is None else deadline.left
        if seconds == 0.0:
            return None
        if r == 0:
            return self.objective.first(self.lookahead, rows)
        return self.objective.rebuilt(self.lookahead, rows, key, r, seconds)


def _folds_of(largest: int) -> int:
    """How many folds judge: no more than the largest class has rows."""
    return min(FOLDS, largest)
