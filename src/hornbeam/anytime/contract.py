"""Contracts: LSID3 with as many samples as counted work or time allow, where nobody names their number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from hornbeam.anytime.budget import Budget, Deadline, Stop
from hornbeam.anytime.effort import Effort, next_r
from hornbeam.anytime.lookahead import Lookahead
from hornbeam.anytime.sketch import Sketch

MOST_SAMPLES: Final = 2**31 - 1  # samples that the engine takes


@dataclass(frozen=True)
class Contract:
    """LSID3 of all rows of a table: its key, and the cuts that are drawn of numeric attributes."""

    lookahead: Lookahead
    key: int
    sample_fraction: float | None = None

    def grown(self, r: int, seconds: float = math.inf) -> Sketch | None:
        """LSID3(r); None where the seconds did not suffice."""
        rows = self.lookahead.all_rows
        return self.lookahead.lsid3(rows, self.key, r, sample_fraction=self.sample_fraction, seconds=seconds)

    def kept(self, budget: Budget) -> tuple[int, Sketch]:
        """The largest r that the work pays for, and its tree; with seconds the last of r = 0, 1, 2, 4, ...
        that was finished within them, the greedy tree at least."""
        most = MOST_SAMPLES if budget.work is None else self.paid_by(budget.work)
        if budget.seconds is None:
            return most, self.whole(most)
        deadline = Deadline(budget.seconds, Stop())
        r, sketch = 0, self.whole(0)
        while r < most and not deadline.is_over:
            following = min(next_r(r), most)
            found = self.grown(following, deadline.left)
            if found is None:
                break
            r, sketch = following, found
        return r, sketch

    def whole(self, r: int) -> Sketch:
        """LSID3(r), however long it takes."""
        sketch = self.grown(r)
        assert sketch is not None
        return sketch

    def paid_by(self, work: int) -> int:
        """The largest r whose cost, r m n^2 t, is at most this; 0 where not even one sample is."""
        rows = self.lookahead.table.n_rows
        effort = self.lookahead.effort(self.lookahead.all_rows)
        cost = self._tests(effort, rows) * effort.greedy_cost(rows)
        return min(work // cost, MOST_SAMPLES) if cost else 0

    def _tests(self, effort: Effort, rows: int) -> int:
        """The tests that are looked at below the root: all, or as many cuts as are drawn."""
        if self.sample_fraction is None:
            return effort.nominal_tests + sum(effort.cuts)
        drawn = max(1, math.ceil(self.sample_fraction * rows))
        return effort.nominal_tests + sum(drawn if cuts > 1 else 1 for cuts in effort.cuts)
