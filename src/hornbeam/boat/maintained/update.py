"""One batch: rows that come and go stream down the kept tree, from the top down its tests are settled by what
is counted there, and what bounds cannot confirm is looked for among the present rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.boat.chunks import Chunks, EncodedChunk
from hornbeam.boat.maintained.chance import standard_errors
from hornbeam.boat.maintained.kept import Flags, KeptNode, KeptTree
from hornbeam.boat.meter import Meter
from hornbeam.boat.nodes import KEPT_PART
from hornbeam.boat.plan import PlaceRecord, Plan, Route
from hornbeam.boat.reading import Reading
from hornbeam.boat.spill import Spill
from hornbeam.boat.sweep import Family, Sweep
from hornbeam.errors import SourceChanged
from hornbeam.model import Tree

_MARGIN = 0.5  # times the square root of its gain by its rows: how near a bucket may come to a node's test
_MOST = 0.25  # of the rows of a node: where more are in doubt or move, it is grown anew

Cells = npt.NDArray[np.int64]
Watches = dict[int, Flags]
"""Buckets by attribute."""


class Spot(NamedTuple):
    """A node of the growing tree, and the kept one."""

    node: int
    kept: KeptNode


@dataclass(frozen=True)
class Want:
    """Rows of a kept node that are looked for: all, or those whose attribute has a key above `low` up to
    `high`."""

    kept: KeptNode
    attribute: int = -1
    low: int = 0
    high: int = 0


PresentRows = Callable[[Sequence[Want]], Reading]
"""The present rows, or such a part of them that has all which are wanted."""


class Update:
    """One batch. `rows` are those that are present when it is done."""

    def __init__(self, kept: KeptTree, rows: PresentRows, meter: Meter) -> None:
        self._tree, self._rows, self._meter, self._scan = kept, rows, meter, kept.scan
        self._pending: list[Spot] = []
        self._doubtful: list[tuple[Spot, _core.Settled]] = []
        self._moving: list[tuple[Spot, _core.Settled]] = []
        self._anew: list[Spot] = []
        self._foreseen: dict[KeptNode, _core.Settled] = {}
        self._before: dict[KeptNode, Route | None] = {}
        self._errors: dict[KeptNode, float] = {}
        self.errors: dict[int, float] = {}
        """By how many standard errors a new test is better than the one before, by node of the tree; of
        classes only."""

    def stream(self, deleted: Iterable[EncodedChunk], inserted: Iterable[EncodedChunk]) -> None:
        """Let rows go and come."""
        for chunk in deleted:
            chunk.add_to(self._scan, away=True)
        for chunk in inserted:
            chunk.add_to(self._scan)

    def settle(self) -> Tree:
        """The tree of the rows that were counted."""
        tree, root = self._tree, self._tree.root
        assert root is not None
        totals = self._scan.totals(root.place).astype(np.int64)
        tree.survey = replace(
            tree.survey,
            rows=int(totals.sum()),
            class_counts=totals if len(tree.survey.labels) else tree.survey.class_counts,
        )
        self._nodes = tree.nodes()
        self._nodes.open([totals], [self._scan.total_sums(root.place)] if tree.layout.sum_words else ())
        self._foresee(root)
        self._pending = [Spot(self._nodes.settling.open_root(0), root)]
        while self._pending or self._moving:
            while self._pending:
                self._visit(*self._pending.pop())
            self._look()
            self._move()
        if self._anew:
            self._grow_anew()
        grown = self._nodes.tree()
        self._count_new(self._number(grown), grown)
        if len(tree.survey.labels):
            self.errors = {kept.number: errors for kept, errors in self._errors.items()}
        return grown

    # ---- nodes, from the top down ----

    def _visit(self, node: int, kept: KeptNode) -> None:
        if node < 0:
            self._tree.close_below(kept)
        elif not kept.counted:
            self._anew.append(Spot(node, kept))
        else:
            settled = self._foreseen.get(kept)
            if settled is None:
                settled = self._nodes.settling.settle(node, self._scan, kept.place)
            self._follow(Spot(node, kept), settled)

    def _follow(self, spot: Spot, settled: _core.Settled) -> None:
        """Go on below a node that is settled, or wait for what is still wanted."""
        kept = spot.kept
        if settled.state == "open":
            self._doubtful.append((spot, settled))
        elif settled.state == "leaf":
            self._tree.close_below(kept)
        elif kept.route is None or not self._alike(kept, settled):
            self._anew.append(spot)
        elif self._parts_alike(kept, settled):
            self._errors[kept] = 0.0
            self._go_on(spot, settled)
        elif self._moved(kept, settled).sum() > _MOST * self._scan.totals(kept.place).sum():
            self._anew.append(spot)
        else:
            self._moving.append((spot, settled))

    def _go_on(self, spot: Spot, settled: _core.Settled) -> None:
        if not self._parts_alike(spot.kept, settled):  # what is counted is not what is present
            name = self._tree.task.reading.source.name
            raise SourceChanged(f"{name} has other rows than were counted; open it again")
        self._tree.lead(spot.kept, settled.route(self._tree.layout, self._places(spot.kept)))
        below = self._nodes.settling.split(spot.node, settled)
        self._pending += [Spot(n, child) for n, child in zip(below, spot.kept.children, strict=True)]

    @staticmethod
    def _places(kept: KeptNode) -> list[int]:
        return [child.place for child in kept.children]

    def _alike(self, kept: KeptNode, settled: _core.Settled) -> bool:
        """Whether a test asks the same of the same attribute, so that few rows take another way at most."""
        route = kept.route
        assert route is not None
        if settled.attribute != route["attribute"] or settled.n_children != len(kept.children):
            return False
        cells = self._cells(kept, settled.attribute)
        if settled.default_child != route["missing"] and cells[-1]:
            return False
        if settled.numeric:
            return bool(route["kind"] == "numeric")
        if route["kind"] == "numeric":
            return False
        child_of = settled.route(self._tree.layout, self._places(kept))["child_of"]
        present = np.flatnonzero(cells[:-1])
        return bool((np.array(child_of)[present] == np.array(route["child_of"])[present]).all())

    def _cells(self, kept: KeptNode, attribute: int) -> Cells:
        """The rows of a node by bucket, those without a value last."""
        counts = self._scan.counts(kept.place, attribute)
        cells: Cells = counts.reshape(self._tree.grid.size(attribute) + 1, -1).sum(axis=1, dtype=np.int64)
        return cells

    def _parts_alike(self, kept: KeptNode, settled: _core.Settled) -> bool:
        """Whether all rows go where they went before. A cut moves rows one way only: then their numbers
        tell."""
        return all(
            np.array_equal(self._scan.totals(child.place), settled.child_counts(i).astype(np.uint64))
            for i, child in enumerate(kept.children)
        )

    def _moved(self, kept: KeptNode, settled: _core.Settled) -> Cells:
        """The rows of each class that change sides where a cut moves."""
        before = self._scan.totals(kept.children[0].place).astype(np.int64)
        moved: Cells = np.abs(settled.child_counts(0) - before)
        return moved

    # ---- what is wanted of the present rows ----

    def _foresee(self, root: KeptNode) -> None:
        """Look into all nodes that would be open, were those above as they are: in one scan instead of one
        for each level. What comes near is looked into as well, for the batches to come."""
        settling, found = self._nodes.settling, dict[KeptNode, Watches]()
        for kept in root.walk():
            if not kept.counted or kept.route is None:
                continue
            counts = self._scan.totals(kept.place).astype(np.int64)
            node = settling.open_apart(0, counts.tolist(), self._scan.total_sums(kept.place))
            settled = settling.settle(node, self._scan, kept.place)
            if settled.state != "open":
                self._foreseen[kept] = settled
                continue
            margin = _MARGIN * math.sqrt(max(0.0, settled.quality) / max(1, int(counts.sum())))
            wide = settling.settle(node, self._scan, kept.place, margin=margin)
            watches = self._watches(kept, wide) or self._watches(kept, settled)
            if watches is not None:
                found[kept] = watches
        self._watch(found)

    def _look(self) -> None:
        """Find the values of the buckets that leave nodes open; where these are many, grow anew."""
        found, self._doubtful = self._doubtful, []
        watches = {spot: self._watches(spot.kept, settled) for spot, settled in found}
        self._anew += [spot for spot, wanted in watches.items() if wanted is None]
        looked = {spot: wanted for spot, wanted in watches.items() if wanted is not None}
        self._watch({spot.kept: wanted for spot, wanted in looked.items()})
        self._pending += looked

    def _watch(self, found: Mapping[KeptNode, Watches]) -> None:
        """Let nodes watch some more buckets, which one scan fills."""
        if not found:
            return
        plan, at = Plan(), dict[KeptNode, int]()
        wanted = {kept for node in found for kept in (node, *node.above())}

        def add(kept: KeptNode) -> int:
            if kept not in wanted:
                return -1
            record = PlaceRecord(watches=list(found.get(kept, {}).items()))
            at[kept] = plan.add(record)
            children = [add(child) for child in kept.children]
            if kept.route is not None and max(children) >= 0:
                record.tests = [kept.route | {"children": children}]
            return at[kept]

        root = self._tree.root
        assert root is not None
        add(root)
        first = [kept for kept in found if not any(node in found for node in kept.above())]
        probe = self._scanned(plan, [Want(kept) for kept in first])
        for kept, watches in found.items():
            self._scan.watch_as(kept.place, probe, at[kept])
            kept.watch(watches)

    def _watches(self, kept: KeptNode, settled: _core.Settled) -> Watches | None:
        """The buckets to look into by attribute; None: they have too many rows."""
        watches: Watches = {}
        for attribute, bucket in settled.alive:
            if attribute not in watches:
                watches[attribute] = np.zeros(self._tree.grid.size(attribute) + 1, dtype=np.uint8)
            # One of the two beside a cut may be known already.
            watches[attribute][bucket] = not kept.watches(attribute, bucket)
        rows = sum(int(self._cells(kept, a)[wanted != 0].sum()) for a, wanted in watches.items())
        return None if rows > _MOST * self._scan.totals(kept.place).sum() else watches

    def _move(self) -> None:
        """Let the rows between the old and the new cut of nodes change sides, as many as fit the memory."""
        room, moving = int(self._tree.task.budget * KEPT_PART), list[tuple[Spot, _core.Settled]]()
        while self._moving and (room > 0 or not moving):
            moving.append(self._moving.pop())
            room -= int(self._moved(moving[-1][0].kept, moving[-1][1]).sum()) * self._tree.layout.stride
        if not moving:
            return
        wants = [self._between(spot.kept, settled) for spot, settled in moving]
        probe, at = self._probe(wants, {want.kept: partial(_keeping, want) for want in wants})
        for spot, settled in moving:
            self._errors[spot.kept] = self._errors_of_move(spot.kept, settled)
            rows = probe.take_rows(at[spot.kept] + _KEPT)
            to_left = settled.lo > self._lo(spot.kept)
            left, right = self._places(spot.kept)
            self._scan.add_kept(rows, right if to_left else left, away=True)
            self._scan.add_kept(rows, left if to_left else right)
            for below in spot.kept.walk():
                self._foreseen.pop(below, None)  # it has other rows than was thought
            self._go_on(spot, settled)

    def _errors_of_move(self, kept: KeptNode, settled: _core.Settled) -> float:
        """How much better the new cut is: rows stay on the left, change sides, or stay on the right."""
        old = [self._scan.totals(child.place).astype(np.int64) for child in kept.children]
        new = [settled.child_counts(i) for i in range(2)]
        before, after = (1, 0) if settled.lo > self._lo(kept) else (0, 1)
        return standard_errors(
            [
                (0, 0, np.minimum(old[0], new[0])),
                (before, after, self._moved(kept, settled)),
                (1, 1, np.minimum(old[1], new[1])),
            ]
        )

    def _between(self, kept: KeptNode, settled: _core.Settled) -> Want:
        before = self._lo(kept)
        return Want(kept, settled.attribute, min(before, settled.lo), max(before, settled.lo))

    @staticmethod
    def _lo(kept: KeptNode) -> int:
        assert kept.route is not None
        lo: int = kept.route["lo"]
        return lo

    def _probe(
        self, wants: Sequence[Want], adding: Mapping[KeptNode, Callable[[Plan], int]]
    ) -> tuple[_core.SourceScan, dict[KeptNode, int]]:
        """A scan of the present rows down the kept tests to some nodes, which add their own places; the
        first of each."""
        plan, at = self._lead(adding)
        return self._scanned(plan, wants), at

    def _scanned(self, plan: Plan, wants: Sequence[Want]) -> _core.SourceScan:
        """A scan of the present rows down a plan."""
        scan = _core.SourceScan(self._tree.layout, self._tree.grid, [p.native() for p in plan.places])
        for chunk in self._chunks(self._rows(wants)):
            chunk.add_to(scan)
        return scan

    def _lead(self, adding: Mapping[KeptNode, Callable[[Plan], int]]) -> tuple[Plan, dict[KeptNode, int]]:
        plan, at = Plan(), dict[KeptNode, int]()
        root = self._tree.root
        assert root is not None

        def add(kept: KeptNode) -> int:
            at[kept] = adding[kept](plan)
            return at[kept]

        known = {kept.place: kept.route for kept in root.walk() if kept.route is not None}
        plan.lead(known, {kept.place: partial(add, kept) for kept in adding}, root.place)
        return plan, at

    def _chunks(self, reading: Reading) -> Chunks:
        return Chunks(reading, self._tree.survey)

    # ---- what is grown anew ----

    def _grow_anew(self) -> None:
        """Gather the rows of nodes whose tests are others now, and let the grower finish them."""
        for spot in self._anew:
            self._before[spot.kept] = spot.kept.route
            self._tree.close_below(spot.kept)
        plan, at = self._lead({spot.kept: _gathering for spot in self._anew})
        task = self._tree.task
        self._nodes.task = replace(task, reading=self._rows([Want(spot.kept) for spot in self._anew]))
        with Spill() as spill:
            sweep = Sweep(self._nodes, self._tree.grid, self._meter, spill, plan)
            sweep.settle_all("gathering", [Family(spot.node, at[spot.kept]) for spot in self._anew])

    def _number(self, grown: Tree) -> list[KeptNode]:
        """Tell the kept nodes their numbers in the new tree; those that have to be followed further."""
        arrays, open_ = grown.arrays, list[KeptNode]()
        root = self._tree.root
        assert root is not None
        root.number = 0
        for kept in root.walk():
            first = int(arrays["first_child"][kept.number])
            for i, child in enumerate(kept.children):
                child.number = first + i
            if kept.counted and not kept.children and arrays["n_children"][kept.number]:
                open_.append(kept)
        return open_

    def _count_new(self, nodes: Sequence[KeptNode], grown: Tree) -> None:
        """Places for the nodes that were grown anew, and counts of their rows."""
        if not nodes:
            return
        for kept in nodes:
            self._tree.build(kept, grown)
        tests = {kept: (self._before.get(kept), kept.route) for kept in nodes}
        plan, at = self._lead({kept: partial(_comparing, *both) for kept, both in tests.items()})
        scan = _core.SourceScan(self._tree.layout, self._tree.grid, [p.native() for p in plan.places])
        for chunk in self._chunks(self._rows([Want(kept) for kept in nodes])):
            chunk.add_to(scan)
            for kept in nodes:
                self._scan.send_kept(scan.take_rows(at[kept]), kept.place)
        for kept in nodes:
            self._errors[kept] = standard_errors(_compared(scan, plan, at[kept]))


_KEPT = 2  # places behind the first, where rows between two keys are kept


def _gathering(plan: Plan) -> int:
    return plan.add(PlaceRecord(keeps=True))


def _comparing(old: Route | None, new: Route | None, plan: Plan) -> int:
    """A place that keeps its rows, and others that count them by the branches of an old test, if there was
    one, and of the new one there."""
    at = plan.add(PlaceRecord(keeps=True))
    ends = [at]
    for route in (old, new):
        if route is None:
            continue
        below: list[int] = []
        for end in ends:
            children = [plan.add(PlaceRecord()) for _ in route["children"]]
            plan.places[end].tests = [route | {"children": children}]
            below += children
        ends = below
    return at


def _compared(scan: _core.SourceScan, plan: Plan, at: int) -> list[tuple[int, int, Cells]]:
    """The rows of a place by the branches of its old and new test."""
    found = []
    first = _branches(plan, at)
    for i, place in enumerate(first):
        second = _branches(plan, place)
        if not second:  # there was no old test
            found.append((0, i, scan.totals(place).astype(np.int64)))
        for j, below in enumerate(second):
            found.append((i, j, scan.totals(below).astype(np.int64)))
    return found


def _branches(plan: Plan, place: int) -> list[int]:
    tests = plan.places[place].tests
    return list(tests[0]["children"]) if tests else []


def _keeping(want: Want, plan: Plan) -> int:
    """Places where only the rows between two keys come through."""
    first = plan.add(PlaceRecord())
    upper, rows = plan.add(PlaceRecord()), plan.add(PlaceRecord(keeps=True))
    test: Route = {"kind": "numeric", "attribute": want.attribute, "missing": 0}
    plan.places[first].tests = [test | {"lo": want.low, "children": [-1, upper]}]
    plan.places[upper].tests = [test | {"lo": want.high, "children": [rows, -1]}]
    return first
