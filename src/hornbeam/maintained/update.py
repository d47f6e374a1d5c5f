"""One batch: rows that come and go stream down the kept tree, from the top down its tests are settled by what
is counted there, and what bounds cannot confirm is looked for among the present rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.boat.buffer import Spill
from hornbeam.boat.chunks import EncodedChunk
from hornbeam.boat.meter import Meter
from hornbeam.boat.nodes import KEPT_PART
from hornbeam.boat.plan import PlaceRecord, Route
from hornbeam.boat.scans import ScanContext
from hornbeam.boat.sweep import Family, Sweep
from hornbeam.errors import SourceChanged
from hornbeam.maintained.comparison import ComparedTests
from hornbeam.maintained.conditions import Want
from hornbeam.maintained.kept import Flags, KeptNode, KeptTree
from hornbeam.maintained.probes import BETWEEN, Probes, ReadPresent, compare_tests, gather_rows, rows_between
from hornbeam.maintained.subtrees import Flagged, unaffected
from hornbeam.model import Tree

_MARGIN = 0.5  # times the square root of its gain by its rows: how near a bucket may come to a node's test
_SCANS = 8  # of all rows cost as much as to grow them
_ONE_BY_ONE = 80_000  # rows are scanned while the database finds those of one node
_FEW = 4  # nodes are never grown only because that is quicker: what is found of them helps later batches
_MOST = 0.25  # of the rows of a node: where more are in doubt or move, it is grown anew

Cells = npt.NDArray[np.int64]
Watches = dict[int, Flags]
"""Buckets by attribute."""


class NodePair(NamedTuple):
    """A node of the growing tree, and the kept one."""

    node: int
    kept: KeptNode


class Update:
    """One batch. `rows` are those that are present when it is done, and `before` is the tree of those that
    were present until then: what no row came to or left is taken from it. Without it all is settled anew.
    With `foresee_all` nodes that stand are looked into as well, for the batches to come."""

    def __init__(
        self,
        kept: KeptTree,
        read: ReadPresent,
        meter: Meter,
        before: Tree | None,
        *,
        foresee_all: bool = False,
    ) -> None:
        self._tree, self._meter, self._scan, self._probes = kept, meter, kept.scan, Probes(kept, read)
        self._comparison = ComparedTests(kept, self._probes)
        self._old, self._foresee_all = before, foresee_all
        self._stands: Flagged | None = None
        self._kept: list[tuple[int, int]] = []
        """Nodes whose subtrees stand, and their numbers in the tree before."""
        self._pending: list[NodePair] = []
        self._doubtful: list[tuple[NodePair, _core.Settled]] = []
        self._moving: list[tuple[NodePair, _core.Settled]] = []
        self._anew: list[NodePair] = []
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
        root, self._nodes = self._tree.root, self._tree.open_nodes()
        if self._old is not None:
            self._stands = unaffected(self._old, self._nodes)
        self._foresee(root)
        self._pending = [NodePair(self._nodes.settling.open_root(0), root)]
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
        self._count_new(self._tree.number(grown), grown)
        self.errors = {kept.number: errors for kept, errors in self._errors.items()}
        if self._anew and self._old is not None:
            self.errors |= self._comparison.inside(self._old, grown, self.errors)
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
            self._anew.append(NodePair(node, kept))
        else:
            settled = self._foreseen.get(kept)
            if settled is None:
                settled = self._nodes.settling.settle(node, self._scan, kept.place)
            self._follow(NodePair(node, kept), settled)

    def _stays(self, kept: KeptNode) -> bool:
        """Whether a node has the subtree that it had: no row came there or went, also by a cut above."""
        if self._stands is None or self._scan.touched(kept.place):
            return False
        return bool(self._stands[kept.number])

    def _follow(self, pair: NodePair, settled: _core.Settled) -> None:
        """Go on below a node that is settled, or wait for what is still wanted."""
        kept = pair.kept
        if settled.state == "open":
            self._doubtful.append((pair, settled))
        elif settled.state == "leaf":
            self._tree.close_below(kept)
        elif kept.route is None or not self._same_test(kept, settled):
            self._anew.append(pair)
        elif self._same_split(kept, settled):
            self._errors[kept] = 0.0
            self._go_on(pair, settled)
        elif self._moved(kept, settled).sum() > _MOST * self._scan.totals(kept.place).sum():
            self._anew.append(pair)
        else:
            self._moving.append((pair, settled))

    def _go_on(self, pair: NodePair, settled: _core.Settled) -> None:
        if not self._same_split(pair.kept, settled):  # what is counted is not what is present
            name = self._tree.task.reading.source.name
            raise SourceChanged(f"{name} has other rows than were counted; open it again")
        self._tree.lead(pair.kept, self._route(pair.kept, settled))
        self._go_below(pair, settled)

    def _go_below(self, pair: NodePair, settled: _core.Settled) -> None:
        below = self._nodes.settling.split(pair.node, settled)
        self._pending += [NodePair(n, child) for n, child in zip(below, pair.kept.children, strict=True)]

    def _route(self, kept: KeptNode, settled: _core.Settled) -> Route:
        return settled.route(self._tree.layout, self._places(kept))

    @staticmethod
    def _places(kept: KeptNode) -> list[int]:
        return [child.place for child in kept.children]

    def _same_test(self, kept: KeptNode, settled: _core.Settled) -> bool:
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

    def _same_split(self, kept: KeptNode, settled: _core.Settled) -> bool:
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
            if settled.state == "open" or (settled.state == "test" and self._same_test(kept, settled)):
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
        watches = {pair: self._watches(pair.kept, settled) for pair, settled in found}
        self._anew += [pair for pair, wanted in watches.items() if wanted is None]
        looked = {pair: wanted for pair, wanted in watches.items() if wanted is not None}
        self._watch({pair.kept: wanted for pair, wanted in looked.items()})
        self._pending += looked

    def _worth_a_scan(
        self, found: list[tuple[NodePair, _core.Settled]]
    ) -> list[tuple[NodePair, _core.Settled]]:
        """Nodes that something is wanted of. Those that are grown sooner than that is found are grown anew:
        one scan in the end gathers the rows of all of them."""
        if not self._sooner_grown([pair.kept for pair, _ in found]):
            return found
        self._anew += [pair for pair, _ in found]
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
        probe, at = self._probes.look(records)
        for kept, watches in found.items():
            self._tree.watch(kept, watches, probe, at[kept])

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
        room, moving = int(self._tree.task.budget * KEPT_PART), list[tuple[NodePair, _core.Settled]]()
        while self._moving and (room > 0 or not moving):
            moving.append(self._moving.pop())
            room -= int(self._moved(moving[-1][0].kept, moving[-1][1]).sum()) * self._tree.layout.stride
        if not moving:
            return
        wants = [
            Want(pair.kept, settled.attribute, *sorted((pair.kept.lo, settled.lo)))
            for pair, settled in moving
        ]
        plan, at = self._probes.plan(
            {want.kept: partial(rows_between, want.attribute, want.low, want.high) for want in wants}
        )
        probe = self._probes.scan(plan, wants)
        for pair, settled in moving:
            self._errors[pair.kept] = self._comparison.of_move(pair.kept, settled)
            self._tree.move(pair.kept, probe.take_rows(at[pair.kept] + BETWEEN), settled.lo)
            for below in pair.kept.walk():
                self._forget(below)
            self._go_on(pair, settled)

    def _forget(self, kept: KeptNode) -> None:
        """A node has other rows than was thought."""
        self._foreseen.pop(kept, None)

    # ---- what is grown anew ----

    def _grow_anew(self) -> None:
        """Gather the rows of nodes whose tests are others now, and let the grower finish them."""
        for pair in self._anew:
            self._before[pair.kept] = pair.kept.route
            self._tree.close_below(pair.kept)
        tree = self._tree
        plan, at = self._probes.plan({pair.kept: gather_rows for pair in self._anew})
        task = replace(tree.task, reading=self._probes.read([Want(pair.kept) for pair in self._anew]))
        with Spill() as spill:
            context = ScanContext(task, tree.survey, tree.layout, self._meter, spill)
            sweep = Sweep(self._nodes, tree.grid, context, plan)
            sweep.settle_all("gathering", [Family(pair.node, at[pair.kept]) for pair in self._anew])

    def _count_new(self, nodes: Sequence[KeptNode], grown: Tree) -> None:
        """Places for the nodes that were grown anew, and counts of their rows."""
        if not nodes:
            return
        for kept in nodes:
            self._tree.build(kept, grown)
        tests = {kept: (self._before.get(kept), kept.route) for kept in nodes}
        plan, at = self._probes.plan({kept: partial(compare_tests, *both) for kept, both in tests.items()})
        scan = self._probes.prepare(plan)
        for chunk in self._probes.chunks([Want(kept) for kept in nodes]):
            chunk.add_to(scan)
            for kept in nodes:
                self._scan.send_kept(scan.take_rows(at[kept]), kept.place)
        for kept in nodes:
            self._errors[kept] = self._comparison.of_tests(scan, plan, at[kept])
