"""The prover: a second task of a search for sizes. It raises what no tree can be below, on small tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from hornbeam.anytime.budget import Deadline
from hornbeam.anytime.effort import Effort
from hornbeam.anytime.incumbent import Incumbent
from hornbeam.anytime.lookahead import Lookahead
from hornbeam.anytime.objectives import Objective

MOST_ROWS: Final = 4096
MOST_TESTS: Final = 2048
_FIRST, _FACTOR = 256, 4  # sets of rows that the first attempt remembers, and how many times more the next
MOST_ATTEMPTS: Final = 7  # the last one remembers a million sets
_SHARE: Final = 2  # remembering a set costs rows times tests, divided by this, in units of work; measured


@dataclass(frozen=True)
class Prover:
    """Attempts at a proof for all rows, each larger than the last. What they cost is counted, and an attempt
    is due when the rebuilds have cost as much as all attempts with this one: so the two share the time."""

    lookahead: Lookahead
    objective: Objective
    takes_trees: bool = True

    def is_due(self, now: Incumbent, effort: Effort) -> bool:
        if not self.takes(now, effort) or now.proofs >= MOST_ATTEMPTS:
            return False
        return now.sketch.n_leaves != now.floor and now.proof_work + self._cost(now, effort) <= now.work

    @staticmethod
    def takes(now: Incumbent, effort: Effort) -> bool:
        """Whether the table is small enough."""
        return len(now.sketch.order) <= MOST_ROWS and 0 < effort.tests(MOST_TESTS) <= MOST_TESTS

    def shown_again(self, now: Incumbent, deadline: Deadline) -> Incumbent | None:
        """What the last attempt shows, made anew and counted once; None where time was up. It had more room
        than those before it, so nothing that they showed is missing."""
        before = replace(now, proofs=now.proofs - 1)
        proof = self.lookahead.prove(
            self.lookahead.all_rows, _sets(before), now.sketch.n_leaves, deadline.left
        )
        if deadline.is_over:
            return None
        least = now.least.copy()
        least[0] = proof.lower
        return replace(now, floor=proof.lower, least=least)

    def _cost(self, now: Incumbent, effort: Effort) -> int:
        """The work that the next attempt costs."""
        return _sets(now) * len(now.sketch.order) * effort.tests(MOST_TESTS) // _SHARE

    def attempt(self, now: Incumbent, effort: Effort, deadline: Deadline) -> Incumbent | None:
        """The incumbent after one more attempt; None where time was up. A smaller tree that the attempt finds
        is a smallest one."""
        rows = self.lookahead.all_rows
        proof = self.lookahead.prove(rows, _sets(now), now.sketch.n_leaves, deadline.left)
        if deadline.is_over:
            return None
        after = replace(now, proofs=now.proofs + 1, proof_work=now.proof_work + self._cost(now, effort))
        if proof.sketch is not None and self.takes_trees:
            part = Incumbent.of(proof.sketch, self.objective.values(proof.sketch), int(now.last_r[0]))
            after = after.grafted(0, part, self.objective)
        least = after.least.copy()
        least[0] = floor = max(proof.lower, now.floor or 0)
        return replace(after, floor=floor, least=least)


def _sets(now: Incumbent) -> int:
    """How many sets of rows the next attempt remembers."""
    return int(_FIRST * _FACTOR**now.proofs)
