"""The referee: inner folds that say whether a rebuilt subtree answers rows that it has not seen as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

import numpy as np

from hornbeam.anytime.budget import Deadline
from hornbeam.anytime.effort import Effort
from hornbeam.anytime.keys import fold_key, mix
from hornbeam.anytime.lookahead import Lookahead
from hornbeam.anytime.objectives import Objective
from hornbeam.anytime.sketch import Rows, Sketch
from hornbeam.validation import deal_classes

FOLDS: Final = 5
_SEEDS: Final = 2**32


@dataclass(frozen=True)
class Verdict:
    """How many rows of a node both ways of growing got wrong in the folds."""

    old: int
    new: int

    @property
    def agrees(self) -> bool:
        return self.new <= self.old


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

    def judge(
        self, rows: Rows, iteration: int, old_r: int, new_r: int, deadline: Deadline | None = None
    ) -> Verdict | None:
        """LSID3(new_r) against LSID3(old_r), or the first tree where old_r is 0; None: time was up."""
        sides = []
        for side, r in enumerate((old_r, new_r)):
            wrong = self.wrong(rows, iteration, r, side, deadline)
            if wrong is None:
                return None
            sides.append(wrong)
        return Verdict(*sides)

    def wrong(
        self, rows: Rows, iteration: int, r: int, side: int = 0, deadline: Deadline | None = None
    ) -> int | None:
        """The rows that trees of the other folds get wrong."""
        codes = self.lookahead.target.codes[rows]
        many = _folds_of(int(np.bincount(codes).max()))
        if many < 2:  # too few rows to ask
            return 0
        seed = fold_key(self.seed, iteration, FOLDS) % _SEEDS
        folds = deal_classes(codes, many, seed)
        total = 0
        for fold in range(many):
            key = mix(fold_key(self.seed, iteration, fold), side)
            sketch = self._grown(rows[folds != fold], key, r, deadline)
            if sketch is None:
                return None
            out = rows[folds == fold]
            total += int(np.count_nonzero(self.lookahead.answers(sketch, out) != codes[folds == fold]))
        return total

    def _grown(self, rows: Rows, key: int, r: int, deadline: Deadline | None) -> Sketch | None:
        seconds = inf if deadline is None else deadline.left
        if seconds == 0.0:
            return None
        if r == 0:
            return self.objective.first(self.lookahead, rows)
        return self.objective.rebuilt(self.lookahead, rows, key, r, seconds)


def _folds_of(largest: int) -> int:
    """As many folds as there are, but no more than the rows of the largest class."""
    return min(FOLDS, largest)
