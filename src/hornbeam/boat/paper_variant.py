"""BOAT to the letter of paper 002, for experiments: a family on which the bootstraps disagree waits for the
next scan, and an alarm discards all that is below its node.

As it stands the paper's recursion need not end: the same sample fails at the same node again and again. So
the AVC-sets of a node that bootstraps do not agree on, or whose guess failed, are counted by the next scan.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from hornbeam.boat.guessing import Guessing
from hornbeam.boat.nodes import avc_buffer
from hornbeam.boat.plan import CoarseNode, PlaceRecord, Route, Rows, ScanPlan
from hornbeam.boat.requests import Step
from hornbeam.boat.scans import ScanContext
from hornbeam.boat.sweep import Family, Sweep, roots
from hornbeam.growth import Parameters


class PaperVariant:
    """One growth: scans with fresh guesses for all nodes that are still open, until none is."""

    def __init__(self, guessing: Guessing, context: ScanContext) -> None:
        self.guessing, self.nodes, self.context = guessing, guessing.nodes, context
        layout, grid = guessing.layout, guessing.grid
        self._values = [layout.missing_key(i) for i in range(len(guessing.survey.schema))]
        self._large = [i for i, values in enumerate(self._values) if grid.size(i) < values]
        self._buffer = avc_buffer(guessing.task, guessing.survey, layout)
        self._turn = 0
        self._failed: set[int] = set()

    def run(self) -> None:
        """Settle the whole tree."""
        wanted, known = roots(self.nodes) if self.nodes.opened else None, dict[int, Route]()
        while wanted is None or wanted:
            with self.context.meter.phase("bootstraps"):
                plan, families = self._plan(wanted, known)
            sweep = _PaperSweep(self.nodes, self.guessing.grid, self.context, plan)
            sweep.settle_all("further scan" if self._turn else "cleanup scan", families)
            wanted, known = sweep.reopened, sweep.routes
            self._failed |= sweep.failed
            self._turn += 1

    def _plan(
        self, wanted: list[Family] | None, known: Mapping[int, Route]
    ) -> tuple[ScanPlan, list[Family] | None]:
        """What the next scan does for all nodes that are open; None: for the root, which nobody knows yet."""
        plan, families = ScanPlan(), list[Family]()
        self._room, self._entries = self.guessing.room, self._buffer
        if wanted is None:
            task = self.guessing.task
            self._add(plan, task.parameters, self.guessing.survey.rows, 0, self.guessing.sampled)
            return plan, None

        def add(node: int, rows: Rows) -> int:
            below, size = self.nodes.below(0, node), int(self.nodes.settling.counts(node).sum())
            depth, failed = self.nodes.settling.depth(node), node in self._failed
            families.append(Family(node, self._add(plan, below, size, depth, rows, failed=failed)))
            return families[-1].place

        sampled = self._sampled(known)
        plan.lead(known, {f.place: partial(add, f.node, sampled[f.place]) for f in wanted})
        return plan, families

    def _sampled(self, known: Mapping[int, Route]) -> dict[int, Rows]:
        """The sampled rows that come to each place of the last scan by tests that are known."""
        sampled, pending = {0: self.guessing.sampled}, [0]
        while pending:
            place = pending.pop()
            if place in known:
                children = known[place]["children"]
                parts = self.guessing.part(sampled[place], known[place])
                below = {child: rows for child, rows in zip(children, parts, strict=True) if child >= 0}
                sampled |= below
                pending += below
        return sampled

    def _add(
        self, plan: ScanPlan, below: Parameters, size: int, depth: int, rows: Rows, *, failed: bool = False
    ) -> int:
        """Places for an open node: it is collected, guessed, counted exactly, or waits for another scan."""
        if not failed and not self.nodes.too_large(size):
            return plan.add(PlaceRecord(keeps=True))
        if not failed and len(rows) >= self.guessing.least:
            guess = self.guessing.guess(below, rows, self._turn)
            if guess.agreed:
                followed = self.guessing.followed(guess, self._room)
                self._room -= len(followed)
                return self.guessing.add(plan, guess, depth, followed, self._end)
        return plan.add(self._exact(size))

    def _end(self, node: CoarseNode) -> PlaceRecord:
        """Where a guess ends: a family is collected if it is small."""
        return PlaceRecord(keeps=not self.nodes.too_large(self.guessing.rows_of(node.rows)))

    def _exact(self, rows: int) -> PlaceRecord:
        """A place whose AVC-sets are exact, if the buffer has room for them; one always is."""
        entries = sum(min(rows, values) for values in self._values)
        if entries > self._entries and self._entries < self._buffer:
            return PlaceRecord()
        self._entries -= entries
        place = self.nodes.counting()
        place.watches = [(i, None) for i in self._large]
        return place


class _PaperSweep(Sweep):
    """A scan whose alarms discard what is below a node; `failed` are the nodes that need exact counts."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.failed: set[int] = set()

    def _settle_guessed(self, node: int, place: int) -> Step[list[Family]]:
        settled = self._settling.settle(node, self.scan, place)
        if settled.state == "leaf":
            self._drop(place)
            return []
        if settled.state != "open" and self._confirms(self._guesses[place], settled):
            return (yield from self._split(node, place, settled, self._children[place]))
        self._meter.alarms += 1
        return self._fail(node, place)

    def _settle_let_go(self, node: int, place: int) -> None:
        if not self.scan.counted(place):
            self.reopened.append(Family(node, place))
            return
        settled = self._settling.settle(node, self.scan, place)
        if settled.state == "leaf":
            self._drop(place)
        else:
            self._reopen_children(node, place, settled)

    def _settle_family(self, node: int, place: int) -> Step[list[Family]]:
        """More rows than were expected: there is no room to grow from them."""
        yield from ()
        return self._fail(node, place)

    def _fail(self, node: int, place: int) -> list[Family]:
        self._drop(place)
        self.failed.add(node)
        self.reopened.append(Family(node, place))
        return []
