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
from hornbeam.boat.buffer import Spill
from hornbeam.boat.chunks import Chunks, EncodedChunk
from hornbeam.boat.meter import Meter
from hornbeam.boat.nodes import KEPT_PART
from hornbeam.boat.plan import PlaceRecord, Route, ScanPlan
from hornbeam.boat.reading import Reading
from hornbeam.boat.sweep import Family, Sweep
from hornbeam.errors import SourceChanged
from hornbeam.maintained.asking import KEPT_PLACE, branches, comparing, gathering, keeping
from hornbeam.maintained.chance import Moments, Stats, errors_of
from hornbeam.maintained.families import changed_inside
from hornbeam.maintained.kept import Flags, KeptNode, KeptTree
from hornbeam.maintained.standing import Standing, standing
from hornbeam.model import Tree

_MARGIN = 0.5  # times the square root of its gain by its rows: how near a bucket may come to a node's test
MOST_WANTS = 16  # that are found one by one: for more, all rows are read
_SCANS = 8  # of all rows cost as much as to grow them
_ONE_BY_ONE = 80_000  # rows are scanned while the database finds those of one node
_FEW = 4  # nodes are never grown only because that is quicker: what is found of them helps later batches
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
    """One batch. `rows` are those that are present when it is done, and `before` is the tree of those that
    were present until then: what no row came to or left is taken from it. Without it all is settled anew.
    With `foresee_all` nodes that stand are looked into as well, for the batches to come."""

    def __init__(
        self,
        kept: KeptTree,
        rows: PresentRows,
        meter: Meter,
        before: Tree | None,
        *,
        foresee_all: bool = False,
    ) -> None:
        self._tree, self._rows, self._meter, self._scan = kept, rows, meter, kept.scan
        self._old, self._foresee_all = before, foresee_all
        self._stands: Standing | None = None
        self._kept: list[tuple[int, int]] = []
        """Nodes whose subtrees stand, and their numbers in the tree before."""
        self._pending: list[Spot] = []
        self._doubtful: list[tuple[Spot, _core.Settled]] = []
        self._moving: list[tuple[Spot, _core.Settled]] = []
        self._anew: list[Spot] = []
        self._foreseen: dict[KeptNode, _core.Settled] = {}
        self._before: dict[KeptNode, Route | None] = {}
        self._errors: dict[KeptNode, float] = {}
        self.errors: dict[int, float] = {}
        """By how many standard errors a new test is better than the one before, by node of the tree."""

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
        if self._old is not None:
            self._stands = standing(self._old, self._nodes)
        self._foresee(root)
        self._pending = [Spot(self._nodes.settling.open_root(0), root)]
        while self._pending or self._waits:
            while self._pending:
                self._visit(*self._pending.pop())
            self._serve()
        if self._anew:
            self._grow_anew()
        if self._kept:
            assert self._old is not None
            self._nodes.settling.graft_kept(self._old.native(), self._kept)
        grown = self._nodes.tree()
        self._count_new(self._number(grown), grown)
        self.errors = {kept.number: errors for kept, errors in self._errors.items()}
        if self._anew:
            self._compare_inside(grown)
        return grown

    # ---- nodes, from the top down ----

    @property
    def _waits(self) -> bool:
        """Whether nodes that are settled wait for rows."""
        return bool(self._moving)

    def _serve(self) -> None:
        """Bring what visited nodes wait for."""
        self._look()
        self._move()

    def _visit(self, node: int, kept: KeptNode) -> None:
        if node < 0:
            self._tree.close_below(kept)
        elif self._stays(kept):
            self._kept.append((node, kept.number))
        elif not kept.counted:
            self._anew.append(Spot(node, kept))
        else:
            settled = self._foreseen.get(kept)
            if settled is None:
                settled = self._nodes.settling.settle(node, self._scan, kept.place)
            self._follow(Spot(node, kept), settled)

    def _stays(self, kept: KeptNode) -> bool:
        """Whether a node has the subtree that it had: no row came there or went, also by a cut above."""
        if self._stands is None or self._scan.touched(kept.place):
            return False
        return bool(self._stands[kept.number])

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
        self._tree.lead(spot.kept, self._route(spot.kept, settled))
        self._go_below(spot, settled)

    def _go_below(self, spot: Spot, settled: _core.Settled) -> None:
        below = self._nodes.settling.split(spot.node, settled)
        self._pending += [Spot(n, child) for n, child in zip(below, spot.kept.children, strict=True)]

    def _route(self, kept: KeptNode, settled: _core.Settled) -> Route:
        return settled.route(self._tree.layout, self._places(kept))

    @staticmethod
    def _places(kept: KeptNode) -> list[int]:
        return [child.place for child in kept.children]

    def _alike(self, kept: KeptNode, settled: _core.Settled) -> bool:
        """Whether a test asks the same of the same attribute, so that few rows take another way at most."""
        route = kept.route
        assert route is not None
        if settled.attribute != route["attribute"] or settled.n_children != len(kept.children):
            return False
        if settled.default_child != route["missing"] and self._may_miss(kept, settled.attribute):
            return False
        if settled.numeric or route["kind"] == "numeric":
            return bool(settled.numeric and route["kind"] == "numeric")
        return all(route["child_of"][code] == child for code, child in settled.branches)

    def _may_miss(self, kept: KeptNode, attribute: int) -> bool:
        """Whether rows of a node may have no value of an attribute."""
        return bool(self._cells(kept, attribute)[-1])

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
        waiting = [root]
        while waiting:
            kept = waiting.pop()
            if not kept.counted or kept.route is None or (not self._foresee_all and self._stays(kept)):
                continue
            counts = self._scan.totals(kept.place).astype(np.int64)
            node = settling.open_apart(0, counts.tolist(), self._scan.total_sums(kept.place))
            settled = settling.settle(node, self._scan, kept.place)
            if settled.state == "open" or (settled.state == "test" and self._alike(kept, settled)):
                waiting += kept.children  # else nothing below will stay
            if settled.state != "open":
                self._foreseen[kept] = settled
                continue
            margin = _MARGIN * math.sqrt(max(0.0, settled.quality) / max(1, int(counts.sum())))
            wide = settling.settle(node, self._scan, kept.place, margin=margin)
            watches = self._watches(kept, wide) or self._watches(kept, settled)
            if watches is not None:
                found[kept] = watches
        if self._foresee_all or not self._sooner_grown(list(found)):
            self._watch(found)

    def _look(self) -> None:
        """Find the values of the buckets that leave nodes open; where these are many, grow anew."""
        found, self._doubtful = self._worth_a_scan(self._doubtful), []
        watches = {spot: self._watches(spot.kept, settled) for spot, settled in found}
        self._anew += [spot for spot, wanted in watches.items() if wanted is None]
        looked = {spot: wanted for spot, wanted in watches.items() if wanted is not None}
        self._watch({spot.kept: wanted for spot, wanted in looked.items()})
        self._pending += looked

    def _worth_a_scan(self, found: list[tuple[Spot, _core.Settled]]) -> list[tuple[Spot, _core.Settled]]:
        """Nodes that something is wanted of. Those that are grown sooner than that is found are grown anew:
        one scan in the end gathers the rows of all of them."""
        if not self._sooner_grown([spot.kept for spot, _ in found]):
            return found
        self._anew += [spot for spot, _ in found]
        return []

    def _sooner_grown(self, nodes: Sequence[KeptNode]) -> bool:
        """Whether to find something of several nodes takes longer than to grow them: by a scan of all rows,
        or one by one."""
        rows = sum(int(self._scan.totals(kept.place).sum()) for kept in nodes)
        found = min(self._tree.survey.rows, len(nodes) * _ONE_BY_ONE)
        return len(nodes) > _FEW and rows * _SCANS <= found

    def _watch(self, found: Mapping[KeptNode, Watches]) -> None:
        """Let nodes watch some more buckets, which one scan fills."""
        if not found:
            return
        records = {kept: PlaceRecord(watches=list(watches.items())) for kept, watches in found.items()}
        probe, at = self._looked(records)
        for kept, watches in found.items():
            self._scan.watch_as(kept.place, probe, at[kept])
            kept.watch(watches)

    def _looked(self, found: Mapping[KeptNode, PlaceRecord]) -> tuple[_core.SourceScan, dict[KeptNode, int]]:
        """A scan that has what is asked of some nodes, and their places there."""
        plan, at = ScanPlan(), dict[KeptNode, int]()
        wanted = {kept for node in found for kept in (node, *node.above())}

        def add(kept: KeptNode) -> int:
            if kept not in wanted:
                return -1
            record = found.get(kept, PlaceRecord())
            at[kept] = plan.add(record)
            children = [add(child) for child in kept.children]
            if kept.route is not None and max(children) >= 0:
                record.tests = [kept.route | {"children": children}]
            return at[kept]

        root = self._tree.root
        assert root is not None
        add(root)
        first = [kept for kept in found if not any(node in found for node in kept.above())]
        return self._scanned(plan, [Want(kept) for kept in first]), at

    def _watches(self, kept: KeptNode, settled: _core.Settled) -> Watches | None:
        """The buckets to look into by attribute; None: they have too many rows."""
        watches: Watches = {}
        for attribute, bucket in settled.alive:
            if attribute not in watches:
                watches[attribute] = np.zeros(self._tree.grid.size(attribute) + 1, dtype=np.uint8)
            # One of the two beside a cut may be known already.
            watches[attribute][bucket] = not kept.watches(attribute, bucket)
        rows = sum(int(self._cells(kept, a)[wanted != 0].sum()) for a, wanted in watches.items())
        return None if rows > self._most_in_doubt(kept) else watches

    def _most_in_doubt(self, kept: KeptNode) -> float:
        """How many rows a node may have in buckets that are looked into."""
        return _MOST * float(self._scan.totals(kept.place).sum())

    def _move(self) -> None:
        """Let the rows between the old and the new cut of nodes change sides, as many as fit the memory."""
        self._moving = self._worth_a_scan(self._moving)
        room, moving = int(self._tree.task.budget * KEPT_PART), list[tuple[Spot, _core.Settled]]()
        while self._moving and (room > 0 or not moving):
            moving.append(self._moving.pop())
            room -= int(self._moved(moving[-1][0].kept, moving[-1][1]).sum()) * self._tree.layout.stride
        if not moving:
            return
        wants = [self._between(spot.kept, settled) for spot, settled in moving]
        probe, at = self._probe(
            wants, {want.kept: partial(keeping, want.attribute, want.low, want.high) for want in wants}
        )
        for spot, settled in moving:
            self._errors[spot.kept] = self._errors_of_move(spot.kept, settled)
            rows = probe.take_rows(at[spot.kept] + KEPT_PLACE)
            to_left = settled.lo > self._lo(spot.kept)
            left, right = self._places(spot.kept)
            self._scan.add_kept(rows, right if to_left else left, away=True)
            self._scan.add_kept(rows, left if to_left else right)
            for below in spot.kept.walk():
                self._forget(below)
            self._go_on(spot, settled)

    def _forget(self, kept: KeptNode) -> None:
        """A node has other rows than was thought."""
        self._foreseen.pop(kept, None)

    def _errors_of_move(self, kept: KeptNode, settled: _core.Settled) -> float:
        """How much better the new cut is: rows stay on the left, change sides, or stay on the right."""
        old, new = self._stats_of_children(kept), self._stats_of_settled(settled)
        less, more = (old, new) if settled.lo > self._lo(kept) else (new, old)
        before, after = (1, 0) if less is old else (0, 1)
        return errors_of([(0, 0, less[0]), (before, after, more[0] - less[0]), (1, 1, more[1])])

    def _stats_of_children(self, kept: KeptNode) -> list[Stats]:
        return [self._stats(self._scan, child.place) for child in kept.children]

    def _stats_of_settled(self, settled: _core.Settled) -> list[Stats]:
        return [self._read(settled.child_counts(i), settled.child_sums(i)) for i in range(settled.n_children)]

    def _stats(self, scan: _core.SourceScan, place: int) -> Stats:
        """The rows of a place, as they are compared."""
        return self._read(scan.totals(place).astype(np.int64), scan.total_sums(place))

    def _read(self, counts: Cells, sums: npt.NDArray[np.uint64]) -> Stats:
        if len(self._tree.survey.labels):
            return counts
        return Moments.read(int(counts.sum()), sums, self._tree.layout.sum_fields)

    def _between(self, kept: KeptNode, settled: _core.Settled) -> Want:
        before = self._lo(kept)
        return Want(kept, settled.attribute, min(before, settled.lo), max(before, settled.lo))

    @staticmethod
    def _lo(kept: KeptNode) -> int:
        assert kept.route is not None
        lo: int = kept.route["lo"]
        return lo

    def _probe(
        self, wants: Sequence[Want], adding: Mapping[KeptNode, Callable[[ScanPlan], int]]
    ) -> tuple[_core.SourceScan, dict[KeptNode, int]]:
        """A scan of the present rows down the kept tests to some nodes, which add their own places; the
        first of each."""
        plan, at = self._lead(adding)
        return self._scanned(plan, wants), at

    def _scanned(self, plan: ScanPlan, wants: Sequence[Want]) -> _core.SourceScan:
        """A scan of the present rows down a plan."""
        scan = _core.SourceScan(self._tree.layout, self._tree.grid, [p.native() for p in plan.places])
        for chunk in self._chunks(self._rows(wants)):
            chunk.add_to(scan)
        return scan

    def _lead(
        self, adding: Mapping[KeptNode, Callable[[ScanPlan], int]]
    ) -> tuple[ScanPlan, dict[KeptNode, int]]:
        plan, at = ScanPlan(), dict[KeptNode, int]()
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
        plan, at = self._lead({spot.kept: gathering for spot in self._anew})
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
            if self._tree.follows(kept) and not kept.children and arrays["n_children"][kept.number]:
                open_.append(kept)
        return open_

    def _count_new(self, nodes: Sequence[KeptNode], grown: Tree) -> None:
        """Places for the nodes that were grown anew, and counts of their rows."""
        if not nodes:
            return
        for kept in nodes:
            self._tree.build(kept, grown)
        tests = {kept: (self._before.get(kept), kept.route) for kept in nodes}
        plan, at = self._lead({kept: partial(comparing, *both) for kept, both in tests.items()})
        scan = _core.SourceScan(self._tree.layout, self._tree.grid, [p.native() for p in plan.places])
        for chunk in self._chunks(self._rows([Want(kept) for kept in nodes])):
            chunk.add_to(scan)
            for kept in nodes:
                self._scan.send_kept(scan.take_rows(at[kept]), kept.place)
        for kept in nodes:
            self._errors[kept] = errors_of(self._compared(scan, plan, at[kept]))

    def _compared(self, scan: _core.SourceScan, plan: ScanPlan, at: int) -> list[tuple[int, int, Stats]]:
        """The rows of a place by the branches of its old and new test."""
        found = []
        for i, place in enumerate(branches(plan, at)):
            second = branches(plan, place)
            if not second:  # there was no old test
                found.append((0, i, self._stats(scan, place)))
            for j, below in enumerate(second):
                found.append((i, j, self._stats(scan, below)))
        return found

    def _compare_inside(self, grown: Tree) -> None:
        """Tests that changed below the nodes that are kept."""
        asked = None if self._old is None else changed_inside(self._tree, self._old, grown, self.errors)
        if asked is None:
            return
        scan = self._scanned(asked.plan, [Want(kept) for kept in asked.among])
        for number, at in asked.at.items():
            self.errors[number] = errors_of(self._compared(scan, asked.plan, at))
