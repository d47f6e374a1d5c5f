"""The tree of the present rows with what is counted at its nodes: rows that come or go stream down it.

Nodes of many rows are `counted`, from the root on: bounds tell whether their tests are
still the best. What is below is a family, grown anew from its rows by a batch that touches it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.boat.layout import Keys, bucket_number, counts_bytes, edges_of, layout_of, sample_keys
from hornbeam.boat.nodes import Nodes
from hornbeam.boat.plan import PlaceRecord, Route
from hornbeam.boat.survey import Exponents, Range, Survey
from hornbeam.boat.task import SourceTask
from hornbeam.model import Tree
from hornbeam.model.arrays import LEAF, NUMERIC

_PLACE_PART, _COUNTS_PART, _ALL_PART = 1 / 16, 0.5, 0.75  # of the memory: counts of a place, of all, values
_TIMES_ROWS, _MORE_BITS = 4, 12  # what the layout has room for beside the rows that were counted
# To settle a node costs as much as to grow so many rows; more nodes than that would cost more than all rows.
_ROWS_EACH, _LEAST_COUNTED = 4000, 64
_ROWS_PART = 2  # times the size of its rows: a node whose counts take more is grown anew sooner than settled


Flags = npt.NDArray[np.uint8]


@dataclass(eq=False)
class KeptNode:
    """A node and its place in the scan. `number` is that of the tree that it was last part of; a node
    without children may have some there, if it is not counted."""

    place: int
    number: int
    counted: bool
    route: Route | None = None
    children: list[KeptNode] = field(default_factory=list)
    parent: KeptNode | None = None
    depth: int = 0
    watched: dict[int, Flags] = field(default_factory=dict)
    """Buckets whose values are counted one by one, by attribute."""
    looked: list[tuple[int, Flags]] = field(default_factory=list)
    """The same, watch by watch, as the scan has them."""

    @property
    def lo(self) -> int:
        """The highest key that goes left."""
        assert self.route is not None
        key: int = self.route["lo"]
        return key

    def watch(self, more: Mapping[int, Flags]) -> None:
        """Some more buckets are watched."""
        for attribute, wanted in more.items():
            self.watched[attribute] = wanted | self.watched.get(attribute, np.uint8(0))
            self.looked.append((attribute, wanted))

    def watches(self, attribute: int, bucket: int) -> bool:
        """Whether a bucket is watched."""
        return attribute in self.watched and bool(self.watched[attribute][bucket])

    def above(self) -> Iterator[KeptNode]:
        """The nodes on the way to the root."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def walk(self) -> Iterator[KeptNode]:
        """The node and all below, from the top."""
        yield self
        for child in self.children:
            yield from child.walk()


class KeptTree:
    """All counted nodes of a tree. `room` says how many rows may be present: sums have bits for so many.
    `edges` are those of the grid's buckets."""

    root: KeptNode

    def __init__(self, task: SourceTask, survey: Survey, room: int, edges: Sequence[Keys | None]) -> None:
        self.task, self.survey, self.room, self.edges = task, survey, room, edges
        self.deep = False
        """Whether nodes that are not counted are followed too, down to the leaves."""
        self.layout = layout_of(replace(survey, rows=room), task.n_targets)
        self.grid = _core.Grid(self.layout, list(edges))
        n_classes, words = len(survey.row_counts), self.layout.sum_words
        self._counts = counts_bytes(self.grid, len(edges), n_classes, words)
        self.scan = _core.SourceScan(self.layout, self.grid, [PlaceRecord().native()])
        self._free: list[int] = [0]
        self.n_counted = 0
        self._turn = count()

    @classmethod
    def over(cls, task: SourceTask, surveyed: Survey) -> KeptTree:
        """A tree of one node. The layout has room for values outside the survey's ranges."""
        survey, room = _widened(surveyed), _TIMES_ROWS * surveyed.rows
        layout = layout_of(replace(survey, rows=room), task.n_targets)
        nominal = [attribute.kind == "nominal" for attribute in survey.schema.attributes]
        n_classes, memory = len(survey.row_counts), task.budget * _PLACE_PART
        buckets = bucket_number(task.sampling.buckets, n_classes, layout.sum_words, len(nominal), memory)
        edges = edges_of(layout, sample_keys(layout, survey.sample), nominal, buckets)
        kept = cls(task, survey, room, edges)
        kept.root = kept.open(0, survey.rows)
        return kept

    @property
    def n_places(self) -> int:
        """Of the scan, those that nobody has at present too."""
        return sum(1 for _ in self.root.walk()) + len(self._free)

    @property
    def n_rows(self) -> int:
        """Of those that were counted."""
        return int(self.scan.totals(self.root.place).sum())

    def restore(self, root: KeptNode, n_places: int) -> None:
        """Take nodes over whose rows were counted before, by another scan of as many places."""
        records = [PlaceRecord() for _ in range(n_places)]
        for node in root.walk():
            tests = [] if node.route is None else [node.route]
            counted = range(len(self.survey.schema)) if node.counted else ()
            records[node.place] = PlaceRecord(counted, list(node.looked), tests=tests)
        taken = {node.place for node in root.walk()}
        self.root, self._free = root, [place for place in range(n_places) if place not in taken]
        self.n_counted = sum(node.counted for node in root.walk())
        self.scan = _core.SourceScan(self.layout, self.grid, [record.native() for record in records])

    def open_nodes(self) -> Nodes:
        """What settles the tree of the rows that are counted; the survey is of these from now on."""
        totals, survey = self.scan.totals(self.root.place).astype(np.int64), self.survey
        class_counts = totals if len(survey.labels) else survey.class_counts
        self.survey = replace(survey, rows=int(totals.sum()), class_counts=class_counts)
        nodes = Nodes(self.task, self.survey, self.layout)
        nodes.open([totals], [self.scan.total_sums(self.root.place)] if self.layout.sum_words else ())
        return nodes

    # ---- places ----

    def open(self, number: int, rows: int, parent: KeptNode | None = None) -> KeptNode:
        """A new node; it is counted if it has many rows and there is room, and always if it is the root."""
        depth = 0 if parent is None else parent.depth + 1
        counted = parent is None or (parent.counted and depth != self.task.parameters.max_depth)
        if parent is not None and counted:
            room = self.task.budget * _COUNTS_PART // self._counts
            worth = max(_LEAST_COUNTED, self.survey.rows // _ROWS_EACH)
            counted = (
                self.n_counted < min(room, worth) and _ROWS_PART * rows * self.layout.stride >= self._counts
            )
        record = PlaceRecord(range(len(self.survey.schema)) if counted else ())
        self.n_counted += counted
        if self._free:
            place = self._free.pop()
            self.scan.replace_place(place, record.native())
        else:
            place = self.scan.add_place(record.native())
        return KeptNode(place, number, counted, parent=parent, depth=depth)

    def follows(self, node: KeptNode) -> bool:
        """Whether the nodes below one are kept, so that rows go on to them."""
        return node.counted or self.deep

    def close_below(self, node: KeptNode) -> None:
        """A node has no children any more."""
        for child in node.children:
            for gone in child.walk():
                self.scan.replace_place(gone.place, PlaceRecord().native())
                self._free.append(gone.place)
                self.n_counted -= gone.counted
        node.children, node.route = [], None
        self.scan.lead(node.place, None)

    def make_room(self) -> None:
        """Where values take too much memory, forget all of them: those in doubt are looked up again."""
        if self.scan.bytes > self.task.budget * _ALL_PART:
            for node in self.root.walk():
                self.scan.forget_watches(node.place)
                node.watched, node.looked = {}, []

    def watch(self, node: KeptNode, watches: Mapping[int, Flags], probe: _core.SourceScan, at: int) -> None:
        """Let a node watch some more buckets, whose values a place of another scan has found."""
        self.scan.watch_as(node.place, probe, at)
        node.watch(watches)

    def move(self, node: KeptNode, rows: _core.KeptRows, lo: int) -> None:
        """Let rows of a node change sides, those between its cut and a new one."""
        left, right = (child.place for child in node.children)
        before, after = (right, left) if lo > node.lo else (left, right)
        self.scan.add_kept(rows, before, away=True)
        self.scan.add_kept(rows, after)

    def lead(self, node: KeptNode, route: Route) -> None:
        """Rows of a node go on by a test from now on."""
        node.route = route | {"children": [child.place for child in node.children]}
        self.scan.lead(node.place, node.route)

    def lead_as(self, node: KeptNode, tree: Tree) -> None:
        """Rows of a node go on as its test in a tree says, whatever values are present."""
        route = self.route_of(tree, node.number)
        if route is not None:
            self.lead(node, route)

    def build(self, node: KeptNode, tree: Tree) -> list[KeptNode]:
        """Nodes for those of a tree below one of it that are counted, and for the families there; all that
        are new."""
        arrays, new = tree.arrays, list[KeptNode]()
        pending = [(0, next(self._turn), node)]
        while pending:  # where there is no room for all, nodes of many rows are counted
            *_, above = heappop(pending)
            if not self.follows(above) or arrays["kind"][above.number] == LEAF:
                continue
            route = self.route_of(tree, above.number)
            if route is None:
                continue
            first = int(arrays["first_child"][above.number])
            for child in range(first, first + int(arrays["n_children"][above.number])):
                above.children.append(self.open(child, int(arrays["rows"][child]), above))
            self.lead(above, route)
            new += above.children
            for below in above.children:
                heappush(pending, (-int(arrays["rows"][below.number]), next(self._turn), below))
        return new

    def number(self, grown: Tree) -> list[KeptNode]:
        """Tell the nodes their numbers in a new tree; those that have to be followed further."""
        arrays, open_ = grown.arrays, list[KeptNode]()
        self.root.number = 0
        for node in self.root.walk():
            first = int(arrays["first_child"][node.number])
            for i, child in enumerate(node.children):
                child.number = first + i
            if self.follows(node) and not node.children and arrays["n_children"][node.number]:
                open_.append(node)
        return open_

    def route_of(self, tree: Tree, number: int) -> Route | None:
        """The test of a tree's node, which leads nowhere yet; the tree may have other labels than the survey.
        None: all values that there may be are on one side."""
        arrays = tree.arrays
        attribute = int(arrays["attribute"][number])
        route: Route = {
            "attribute": attribute,
            "missing": int(arrays["default_child"][number]),
            "children": [-1] * int(arrays["n_children"][number]),
        }
        if arrays["kind"][number] == NUMERIC:
            lo = self._key(arrays, number, attribute)
            return None if lo is None else route | {"kind": "numeric", "lo": lo}
        labels = self.survey.schema.attributes[attribute].labels
        before, (begin, end) = (
            tree.schema.attributes[attribute].labels,
            arrays["branch_start"][number : number + 2],
        )
        codes, children = (
            arrays["branch_code"][begin:end].tolist(),
            arrays["branch_child"][begin:end].tolist(),
        )
        # In brief, a category that no row has is listed without a child.
        child_of = {before[code]: child for code, child in zip(codes, children, strict=True) if child >= 0}
        return route | {
            "kind": "nominal",
            "child_of": [child_of.get(label, route["missing"]) for label in labels] or [route["missing"]],
        }

    def _key(self, arrays: Any, number: int, attribute: int) -> int | None:
        """The highest key that goes left."""
        whole, span = self.survey.schema.attributes[attribute].is_integer, self.survey.ranges[attribute]
        threshold = arrays["threshold_integer" if whole else "threshold"][number : number + 1]
        if not span.lowest <= threshold[0] < span.highest:
            return None
        return int(self.layout.keys(attribute, threshold, None)[0])


def _widened(survey: Survey) -> Survey:
    """The survey with room for new values in its ranges and exponents."""
    weights, targets = survey.weight_exponents, survey.target_exponents
    return replace(
        survey,
        ranges=tuple(_ranges(survey)),
        weight_exponents=_more(weights) if survey.weighted else weights,
        target_exponents=_more(targets),
    )


def _more(exponents: Exponents | None) -> Exponents | None:
    return None if exponents is None else (exponents[0] - _MORE_BITS, exponents[1] + _MORE_BITS)


def _ranges(survey: Survey) -> Iterator[Range]:
    """All floats, whole numbers as far again on both sides, and missing values."""
    for attribute, span in zip(survey.schema.attributes, survey.ranges, strict=True):
        missing = max(1, span.missing)  # a value may be missing later
        if attribute.kind == "nominal":
            yield Range(None, None, missing)
        elif not attribute.is_integer:
            yield Range(-np.inf, np.inf, missing)
        elif span.lowest is None or span.highest is None:
            yield Range(-1, 1, missing)
        else:
            more = max(1, int(span.highest) - int(span.lowest))
            lowest, highest = max(-(2**62), int(span.lowest) - more), min(2**62, int(span.highest) + more)
            ends = min(lowest, int(span.lowest)), max(highest, int(span.highest))
            yield Range(*ends, missing, span.unused)
