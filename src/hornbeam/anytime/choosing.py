"""CHOOSE-NODE: the subtree whose rebuild promises most for what it costs, none of them too small."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
import numpy.typing as npt

from hornbeam.anytime.effort import Effort, next_r
from hornbeam.anytime.incumbent import Chosen, Incumbent
from hornbeam.anytime.lookahead import Lookahead
from hornbeam.anytime.objectives import Objective

Look = Callable[[], object]  # called between what is counted; it may end that
_NEAR: Final = 1e-9  # doubles that close are compared as exact numbers


@dataclass(frozen=True)
class Chooser:
    """A table, what is made smaller, and the granularity: the least share of the root's cost.

    NEXT-R and EXPECTED-COST are methods of their own, so that a subclass may have others; a cost must not
    fall as attributes, tests, rows or samples become more.
    """

    lookahead: Lookahead
    objective: Objective
    granularity: Fraction

    def effort(self, now: Incumbent, node: int) -> Effort:
        """The counts from which EXPECTED-COST of the paper follows at a node; they are made when first asked
        for."""
        known = now.efforts[node]
        if known is None:
            known = now.efforts[node] = self.lookahead.effort(now.sketch.rows_of(node))
        return known

    def next_r(self, last_r: int) -> int:
        """The samples of the next rebuild (NEXT-R of the paper): one, then twice as many each time."""
        return next_r(last_r)

    def cost_of(self, effort: Effort, rows: int, r: int) -> int:
        """The expected cost of a rebuild with r samples."""
        return effort.cost(rows, r)

    def cost(self, now: Incumbent, node: int) -> int:
        """The expected cost of the next rebuild of a node."""
        r, rows = self.next_r(int(now.last_r[node])), int(now.sketch["rows"][node])
        return self.cost_of(self.effort(now, node), rows, r)

    def least(self, now: Incumbent, node: int) -> float:
        known = float(now.least[node])
        if np.isnan(known):
            effort = self.effort(now, node)
            known = now.least[node] = self.objective.least(self.lookahead, now.sketch, node, effort)
        return known

    def choose(self, now: Incumbent, look: Look = bool) -> Chosen | None:
        """The eligible node of the highest utility, then of most rows, then the first; None: no node is."""
        nodes, costs = self._affordable(now, look)
        if len(nodes) == 0:
            return None
        self._count(now, nodes[np.isnan(now.least[nodes])], self.least, look)
        least = now.least[nodes]
        benefits = self.objective.benefits(now.values[nodes], least)
        utilities = benefits / costs.astype(np.float64)
        best = float(utilities.max())
        if not best > 0.0:
            return None
        near = np.flatnonzero((utilities >= best * (1.0 - _NEAR)) & (benefits > 0))

        def rank(i: int) -> tuple[Fraction | float, int, int]:
            node = int(nodes[i])
            utility = self.objective.utility(float(benefits[i]), costs[i])
            return utility, int(now.sketch["rows"][node]), -node

        i = max(near.tolist(), key=rank)
        return Chosen(int(nodes[i]), self.next_r(int(now.last_r[nodes[i]])), costs[i])

    @staticmethod
    def _count(
        now: Incumbent, nodes: Iterable[int], count: Callable[[Incumbent, int], object], look: Look
    ) -> None:
        """Count something for many nodes, with a look at the time before each: that may take long."""
        for node in nodes:
            look()
            count(now, int(node))

    def _affordable(
        self, now: Incumbent, look: Look
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.object_]]:
        """The nodes that may be rebuilt and cost enough, with what they cost; the root always does."""
        open_ = self.objective.rebuildable(now.sketch)
        if self.granularity >= 1:  # a node may cost more than the root, but only the root is chosen
            nodes = np.flatnonzero(open_[:1])
        else:
            nodes = np.flatnonzero(open_ & self._may_cost_enough(now))
        unknown = [node for node in nodes.tolist() if now.efforts[node] is None]
        self._count(now, unknown, self.effort, look)
        whole = self.cost(now, 0)
        costs = np.array([self.cost(now, node) for node in nodes.tolist()], dtype=object)
        wanted = self.granularity * whole
        enough = [cost > 0 and (node == 0 or cost >= wanted) for node, cost in zip(nodes, costs, strict=True)]
        kept = np.flatnonzero(enough)
        return nodes[kept], costs[kept]

    def _may_cost_enough(self, now: Incumbent) -> npt.NDArray[np.bool_]:
        """Nodes that would cost enough if their rows had the attributes and tests of the whole table."""
        top, wanted = self.effort(now, 0).at_most, self.granularity * self.cost(now, 0)
        may = np.zeros(now.sketch.n_nodes, dtype=bool)
        for last_r in np.unique(now.last_r).tolist():
            here = np.flatnonzero(now.last_r == last_r)
            r = self.next_r(last_r)
            counts, place = np.unique(now.sketch["rows"][here], return_inverse=True)
            may[here] = np.array([self.cost_of(top, rows, r) >= wanted for rows in counts.tolist()])[place]
        return may
