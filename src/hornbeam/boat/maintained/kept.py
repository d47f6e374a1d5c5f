"""The tree of the present rows with what is counted at its nodes: rows that come or go stream down it.

Nodes of many rows are `counted`, from the root on: bounds tell whether their tests are
still the best. What is below is a family, grown anew from its rows by every batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.boat.layout import bucket_number, counts_bytes, grid_of, layout_of, sample_keys
from hornbeam.boat.nodes import Nodes
from hornbeam.boat.plan import PlaceRecord, Route
from hornbeam.boat.ranges import Range
from hornbeam.boat.survey import Exponents, Survey
from hornbeam.boat.task import SourceTask
from hornbeam.model import Tree
from hornbeam.model.arrays import LEAF, NUMERIC

_PLACE_PART, _COUNTS_PART, _ALL_PART = 1 / 16, 0.5, 0.75  # of the memory: counts of a place, of all, values
_TIMES_ROWS, _MORE_BITS = 4, 12  # what the layout has room for beside the rows that were counted
_ROWS_PART = 16  # times the size of its rows: a node whose counts take more is not counted


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

    def watch(self, more: Mapping[int, Flags]) -> None:
        """Some more buckets are watched."""
        for attribute, wanted in more.items():
            self.watched[attribute] = wanted | self.watched.get(attribute, np.uint8(0))

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
    """All counted nodes of a tree. The layout has room for values outside the survey's ranges."""

    def __init__(self, task: SourceTask, survey: Survey) -> None:
        self.task = task
        self.survey = _widened(survey)
        self.room = _TIMES_ROWS * survey.rows
        """How many rows may be present: sums have bits for so many."""
        self.layout = layout_of(replace(self.survey, rows=self.room), task.n_targets)
        nominal = [attribute.kind == "nominal" for attribute in survey.schema.attributes]
        n_classes, words = len(survey.row_counts), self.layout.sum_words
        room = task.budget * _PLACE_PART
        buckets = bucket_number(task.sampling.buckets, n_classes, words, len(nominal), room)
        self.grid = grid_of(self.layout, sample_keys(self.layout, survey.sample), nominal, buckets)
        self._counts = counts_bytes(self.grid, len(nominal), n_classes, words)
        self.scan = _core.SourceScan(self.layout, self.grid, [PlaceRecord().native()])
        self._free: list[int] = [0]
        self.n_counted = 0
        self.root: KeptNode | None = None

    def nodes(self) -> Nodes:
        """What settles a tree of the present rows."""
        return Nodes(self.task, self.survey, self.layout)

    # ---- places ----

    def open(self, number: int, rows: int, parent: KeptNode | None = None) -> KeptNode:
        """A new node; it is counted if it has many rows and there is room, and always if it is the root."""
        depth = 0 if parent is None else parent.depth + 1
        counted = parent is None or (parent.counted and depth != self.task.parameters.max_depth)
        if parent is not None and counted:
            room = self.task.budget * _COUNTS_PART // self._counts
            counted = self.n_counted < room and _ROWS_PART * rows * self.layout.stride >= self._counts
        record = PlaceRecord(range(len(self.survey.schema)) if counted else ())
        self.n_counted += counted
        if self._free:
            place = self._free.pop()
            self.scan.replace_place(place, record.native())
        else:
            place = self.scan.add_place(record.native())
        return KeptNode(place, number, counted, parent=parent, depth=depth)

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
        if self.root is not None and self.scan.bytes > self.task.budget * _ALL_PART:
            for node in self.root.walk():
                self.scan.forget_watches(node.place)
                node.watched = {}

    def lead(self, node: KeptNode, route: Route) -> None:
        """Rows of a node go on by a test from now on."""
        node.route = route | {"children": [child.place for child in node.children]}
        self.scan.lead(node.place, node.route)

    def build(self, node: KeptNode, tree: Tree) -> list[KeptNode]:
        """Nodes for those of a tree below one of it that are counted, and for the families there; all that
        are new."""
        arrays, new = tree.arrays, list[KeptNode]()
        pending = [node]
        while pending:
            above = pending.pop()
            if not above.counted or arrays["kind"][above.number] == LEAF:
                continue
            route = self._route(tree, above.number)
            if route is None:
                continue
            first = int(arrays["first_child"][above.number])
            for child in range(first, first + int(arrays["n_children"][above.number])):
                above.children.append(self.open(child, int(arrays["rows"][child]), above))
            self.lead(above, route)
            new += above.children
            pending += above.children
        return new

    def _route(self, tree: Tree, number: int) -> Route | None:
        """The test of a tree's node; the tree may have other labels than the survey. None: all values that
        there may be are on one side."""
        arrays = tree.arrays
        attribute = int(arrays["attribute"][number])
        route: Route = {"attribute": attribute, "missing": int(arrays["default_child"][number])}
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
        child_of = {before[code]: child for code, child in zip(codes, children, strict=True)}
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
            yield Range(min(lowest, int(span.lowest)), max(highest, int(span.highest)), missing)
