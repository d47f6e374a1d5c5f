"""RainForest (Gehrke, Ramakrishnan & Ganti, 1998): trees level by level from exact counts, AVC-sets.

One scan counts every value of every attribute at as many nodes as the buffer has room for; the trees of all
folds and of all rows grow in the same scans (paper 000, section 3.2.2). RF-Read scans the source for every
level; RF-Write writes the rows of each child to a partition of its own; RF-Hybrid reads as long as a level
fits the buffer, then writes partitions; RF-Vertical builds large AVC-sets one at a time from rows on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any

import numpy as np

from hornbeam import _core
from hornbeam.boat.bags import Finish, Growing, Run, grow_alone, grow_bags
from hornbeam.boat.buffer import Spill
from hornbeam.boat.layout import layout_of
from hornbeam.boat.meter import Meter
from hornbeam.boat.nodes import KEPT_PART, Counts, Nodes, avc_buffer, family_bytes, too_large
from hornbeam.boat.plan import PlaceRecord, Route
from hornbeam.boat.requests import LookUp
from hornbeam.boat.scans import BufferedScan, ScanContext, scanner_of
from hornbeam.boat.survey import Survey
from hornbeam.boat.task import LEAST_MEMORY, SourceTask, check_folds
from hornbeam.errors import DataError
from hornbeam.growth.memory import text_of
from hornbeam.model import Tree

_SMALL = 4096  # values of an attribute up to which they are counted wherever they are


class Duty(Enum):
    """What a scan does for a joint node."""

    count = "count"
    collect = "collect"
    write = "write"
    vertical = "vertical"


@dataclass(eq=False)
class JointNode:
    """A place in the trees: the nodes that are there, by training set, and how many rows come to it."""

    nodes: dict[int, int]
    rows: int
    tests: list[tuple[Route, list[JointNode | None]]] = field(default_factory=list)


def grow_rainforest(way: str) -> Callable[[SourceTask, Survey, Meter], list[Tree]]:
    """One of the four ways."""

    def grow(task: SourceTask, survey: Survey, meter: Meter) -> list[Tree]:
        with Spill() as spill:
            if task.bags is not None:
                return grow_bags(task, survey, meter, partial(RainForest, spill=spill, way=way))
            return grow_alone(RainForest(task, survey, meter, spill, way).grow(), meter)

    return grow


class RainForest:
    """One growth of all training sets."""

    def __init__(
        self,
        task: SourceTask,
        survey: Survey,
        meter: Meter,
        spill: Spill,
        way: str,
        *,
        rows: int | None = None,
    ) -> None:
        self.task, self.survey, self.meter, self.way = task, survey, meter, way
        self._rows = survey.rows if rows is None else rows
        self.folds = task.folds or 1
        self.layout = layout_of(survey, task.n_targets, self.folds)
        self._classes = len(survey.row_counts)
        attributes = survey.schema.attributes
        values = [self.layout.missing_key(i) for i in range(len(attributes))]
        counted = [a.kind == "nominal" or n <= _SMALL for a, n in zip(attributes, values, strict=True)]
        self._values = values
        self._small = [i for i, small in enumerate(counted) if small]
        self._large = [i for i, small in enumerate(counted) if not small]
        edges = [None if counted[i] else np.array([n - 1], dtype=np.uint64) for i, n in enumerate(values)]
        self.grid = _core.Grid(self.layout, edges)
        self._context = ScanContext(task, survey, self.layout, meter, spill)
        self.entries = avc_buffer(task, survey, self.layout)

    def grow(self) -> Growing[list[Tree]]:
        """The trees of all rows and of the folds."""
        root = JointNode({}, self._rows)
        # The sizes of the training sets are not known before this scan, nor which categories they have.
        nominal = [i for i in self._small if self.survey.schema.attributes[i].kind == "nominal"]
        duty = self._duty(root, ()) or Duty.count
        found = yield from self._scan(None, root, {root: duty}, also=nominal)
        self.nodes = self._open(found, root)
        if root.nodes:
            yield from self._grow(None, root, (yield from self._serve(found)))
        return [self.nodes.tree(i) for i in range(1 if self.folds == 1 else self.folds + 1)]

    def _open(self, found: _Found, root: JointNode) -> Nodes:
        """The roots of all training sets."""
        by_fold = found.buffered.scan.totals(0).astype(np.int64).reshape(self.folds, self._classes)
        wholes: list[Counts] = [by_fold.sum(axis=0)]
        if not wholes[0].any():
            name = self.task.reading.source.name
            raise DataError(f"{name}: a bag has no row of it; give more rows, or a larger max_samples")
        if self.folds > 1:
            check_folds(self.task, by_fold.sum(axis=1).tolist())
            wholes += [wholes[0] - by_fold[i] for i in range(self.folds)]
        sums = [
            found.buffered.scan.total_sums(0, i - 1)
            for i in range(len(wholes) if self.layout.sum_words else 0)
        ]
        nodes = Nodes(self.task, self.survey, self.layout)
        nodes.open(wholes, sums, self._present(found, len(wholes)))
        for i in range(len(wholes)):
            node = nodes.settling.open_root(i)
            if node >= 0:
                root.nodes[i] = node
        return nodes

    def _present(self, found: _Found, n_sets: int) -> list[list[int]]:
        """How many categories of each attribute every training set has; 0 for numeric ones."""
        present = [[0] * len(self.survey.schema) for _ in range(n_sets)]
        k = self._classes
        for i, attribute in enumerate(self.survey.schema.attributes):
            if attribute.kind != "nominal":
                continue
            counts = (
                found.buffered.scan.counts(0, i)
                .reshape(-1, self.folds, k)[: len(attribute.labels)]
                .sum(axis=2)
            )
            for s in range(n_sets):
                of_set = counts.sum(axis=1) - (counts[:, s - 1] if s else 0)
                present[s][i] = int(np.count_nonzero(of_set))
        return present

    # ---- levels ----

    def _grow(self, partition: Any, top: JointNode, frontier: list[JointNode]) -> Growing[None]:
        """Everything below some joint nodes, whose rows come through `top`: all of the source, or a partition
        that was written."""
        while frontier:
            duties: dict[JointNode, Duty] = {}
            for joint in sorted(frontier, key=lambda joint: joint.rows):
                duty = self._duty(joint, list(duties.items()), writes=joint is not top)
                if duty is not None:
                    duties[joint] = duty
            waiting = [joint for joint in frontier if joint not in duties]
            found = yield from self._scan(partition, top, duties)
            frontier = waiting + (yield from self._serve(found))

    def _duty(
        self, joint: JointNode, others: Sequence[tuple[JointNode, Duty]], *, writes: bool = False
    ) -> Duty | None:
        """What the next scan does for a joint node beside others; None: nothing yet. RF-Write writes the rows
        of all of them but the first of a partition."""
        kept = sum(other.rows for other, duty in others if duty is Duty.collect) * self.layout.stride
        if not self._too_large(joint.rows, kept):
            room = kept + joint.rows * self.layout.stride <= self.task.budget * KEPT_PART
            return Duty.collect if room or not others else None
        entries = self._entries(joint)
        used = sum(self._entries(other) for other, duty in others if duty is Duty.count)
        if self.way == "rf_write" and writes:
            return Duty.write
        if entries + used <= self.entries:
            return Duty.count
        if self.way == "rf_read":
            return None if used else Duty.count
        return Duty.vertical if entries > self.entries else Duty.write

    def _too_large(self, rows: int, kept: float) -> bool:
        return too_large(self.task, family_bytes(self.survey, self.layout, self.folds), rows, kept)

    def _entries(self, joint: JointNode) -> int:
        """How many values there are to count at a joint node, at most."""
        return sum(min(joint.rows, values) for values in self._values)

    # ---- scans ----

    def _scan(
        self, partition: Any, top: JointNode, duties: dict[JointNode, Duty], also: Sequence[int] = ()
    ) -> Growing[_Found]:
        """One scan of the source or a partition of it, from the joint node at its top to those that something
        is done for."""
        plan: list[PlaceRecord] = []
        places: dict[JointNode, int] = {}

        def add(joint: JointNode | None) -> int:
            if joint is None:
                return -1
            at = len(plan)
            if joint in duties:
                plan.append(self._record(duties[joint], also))
                places[joint] = at
                return at
            plan.append(PlaceRecord())
            for route, below in joint.tests:
                children = [add(child) for child in below]
                if any(child >= 0 for child in children):
                    plan[at].tests.append(route | {"children": children})
            if plan[at].tests:
                return at
            del plan[at:]
            return -1

        add(top)
        buffered = scanner_of(self.task).prepare(self._context, self.grid, plan, self._check_room)
        if partition is None:
            yield Run(buffered)
        else:
            with self.meter.phase("partitions"):
                buffered.run_partition(partition)
        return _Found(buffered, places, duties)

    def _check_room(self, scan: _core.SourceScan) -> None:
        """Refuse values that the memory has no room for: no AVC-set can be put away while it is counted."""
        if scan.bytes > max(self.task.budget, LEAST_MEMORY):
            raise DataError(self._no_room(), named=("memory_limit", "algorithm"))

    def _no_room(self) -> str:
        limit, name = self.task.memory_limit, self.task.reading.source.name
        room = "half of the memory that is free" if limit is None else f"memory_limit={text_of(limit)}"
        if self.task.bags is not None:
            room = f"the {text_of(self.task.budget)} that each bag has"
        boat = ", or use algorithm='boat'" if self.task.verifiable and self.task.several is None else ""
        return (
            f"{name}: the distinct values of columns do not fit {room}, and algorithm={self.way!r} counts "
            f"all of them; allow more{boat}"
        )

    def _record(self, duty: Duty, also: Sequence[int]) -> PlaceRecord:
        if duty is Duty.count:
            return PlaceRecord(self._small, [(i, None) for i in self._large])
        if duty is Duty.vertical:
            return PlaceRecord(self._small, keeps=True)
        return PlaceRecord(also, keeps=True)

    # ---- what a scan brought ----

    def _serve(self, found: _Found) -> Growing[list[JointNode]]:
        """Settle, finish and split the nodes of a scan; those that the same rows still have to come to."""
        frontier: list[JointNode] = []
        buffered = found.buffered
        with self.meter.phase("settling"):
            for joint, place in found.of(Duty.count):
                frontier += self._settle(joint, self._judge_counts(buffered.scan, place))
                buffered.scan.forget_watches(place)
        collected = {place: joint.nodes for joint, place in found.of(Duty.collect)}
        if collected:
            yield Finish(buffered, self.nodes, collected)
        for joint, place in found.of(Duty.write):
            yield from self._grow(buffered.partition(place), joint, [joint])
        for joint, place in found.of(Duty.vertical):
            judge = self._judge_large(buffered, joint, place)
            yield from self._grow(buffered.partition(place), joint, self._settle(joint, judge))
        return frontier

    def _judge_counts(self, scan: _core.SourceScan, place: int) -> _Judge:
        return lambda of_set, node: self.nodes.settling.settle(node, scan, place, of_set - 1)

    def _judge_large(self, buffered: BufferedScan, joint: JointNode, place: int) -> _Judge:
        """By one AVC-set at a time, large ones from the rows that were written."""
        settling, scan = self.nodes.settling, buffered.scan
        best: dict[int, list[_core.Settled]] = {of_set: [] for of_set in joint.nodes}
        buffered.spill(place)
        for attribute in range(len(self.survey.schema)):
            if attribute in self._large:
                buffered.serve([LookUp(place, {attribute: None}, [place])])
            for of_set, node in joint.nodes.items():
                best[of_set].append(settling.look(node, scan, place, attribute, of_set - 1))
            scan.forget_watches(place)
        return lambda of_set, node: settling.choose(node, best[of_set])

    def _settle(self, joint: JointNode, judge: _Judge) -> list[JointNode]:
        """The tests of all training sets at a joint node, and those below: one for all sets that agree."""
        groups: list[_Group] = []
        for of_set, node in joint.nodes.items():
            settled = judge(of_set, node)
            if settled.state == "leaf":
                continue
            group = next((group for group in groups if group.takes(settled)), None)
            if group is None:
                group = _Group(settled, settled.route(self.layout, [-1] * settled.n_children))
                groups.append(group)
            group.join(of_set, node, settled)
        below: list[JointNode] = []
        for group in groups:
            children = self._split(group)
            joint.tests.append((group.route, children))
            below += [child for child in children if child is not None]
        return below

    def _split(self, group: _Group) -> list[JointNode | None]:
        nodes: list[dict[int, int]] = [{} for _ in range(group.first.n_children)]
        rows = [0] * len(nodes)
        for of_set, (node, settled) in group.members.items():
            # A set that leaves a fold out does not tell how many rows come along with its own.
            share = self.folds / (self.folds - 1) if of_set else 1.0
            for i, child in enumerate(self.nodes.settling.split(node, settled)):
                if child >= 0:
                    nodes[i][of_set] = child
                rows[i] = max(rows[i], round(float(settled.child_counts(i).sum()) * share))
        return [JointNode(found, n) if found else None for found, n in zip(nodes, rows, strict=True)]


_Judge = Callable[[int, int], _core.Settled]
"""The test of a training set at one of its nodes."""


@dataclass(eq=False)
class _Group:
    """Training sets whose rows the same test parts alike."""

    first: _core.Settled
    route: Route
    members: dict[int, tuple[int, _core.Settled]] = field(default_factory=dict)

    def takes(self, settled: _core.Settled) -> bool:
        """Whether rows of both go the same way: cuts between the same rows need not be the same."""
        first = self.first
        same = (settled.attribute, settled.numeric, settled.default_child, settled.n_children) == (
            first.attribute,
            first.numeric,
            first.default_child,
            first.n_children,
        )
        if not same:
            return False
        if not settled.numeric:
            return settled.branches == first.branches
        others = [one for _, one in self.members.values()] + [settled]
        return max(one.lo for one in others) < min(one.hi for one in others)

    def join(self, of_set: int, node: int, settled: _core.Settled) -> None:
        self.members[of_set] = node, settled
        if settled.numeric:
            self.route["lo"] = max(one.lo for _, one in self.members.values())


@dataclass(frozen=True, eq=False)
class _Found:
    """What a scan brought: the places of the joint nodes that something was done for."""

    buffered: BufferedScan
    places: dict[JointNode, int]
    duties: dict[JointNode, Duty]

    def of(self, duty: Duty) -> list[tuple[JointNode, int]]:
        """The joint nodes that this was done for, and their places."""
        return [(joint, place) for joint, place in self.places.items() if self.duties[joint] is duty]
