"""Scans of the present rows down the kept tests, to the nodes that want to know something of their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from hornbeam import _core
from hornbeam.boat.chunks import Chunks
from hornbeam.boat.plan import PlaceRecord, Route, ScanPlan
from hornbeam.boat.reading import Reading
from hornbeam.maintained.conditions import Want
from hornbeam.maintained.kept import KeptNode, KeptTree

BETWEEN = 2  # places behind the first of `rows_between`, where the rows are kept

ReadPresent = Callable[[Sequence[Want]], Reading]
"""The present rows, or such a part of them that has all which are wanted."""
AddPlaces = Callable[[ScanPlan], int]
"""Adds places to a plan; the number of the first."""


class Probes:
    """Scans down a kept tree. `read` gives the present rows that are wanted."""

    def __init__(self, kept: KeptTree, read: ReadPresent) -> None:
        self._kept, self.read = kept, read

    def plan(self, adding: Mapping[KeptNode, AddPlaces]) -> tuple[ScanPlan, dict[KeptNode, int]]:
        """A plan down the kept tests to some nodes, which add their own places; the first of each."""
        plan, at = ScanPlan(), dict[KeptNode, int]()

        def add(node: KeptNode) -> int:
            at[node] = adding[node](plan)
            return at[node]

        known = {node.place: node.route for node in self._kept.root.walk() if node.route is not None}
        plan.lead(known, {node.place: partial(add, node) for node in adding}, self._kept.root.place)
        return plan, at

    def prepare(self, plan: ScanPlan) -> _core.SourceScan:
        """A scan down a plan, before any row."""
        kept = self._kept
        return _core.SourceScan(kept.layout, kept.grid, [place.native() for place in plan.places])

    def chunks(self, wants: Sequence[Want]) -> Chunks:
        """The present rows that are wanted."""
        return Chunks(self.read(wants), self._kept.survey)

    def scan(self, plan: ScanPlan, wants: Sequence[Want]) -> _core.SourceScan:
        """A scan down a plan of the present rows that are wanted."""
        scan = self.prepare(plan)
        for chunk in self.chunks(wants):
            chunk.add_to(scan)
        return scan

    def look(self, found: Mapping[KeptNode, PlaceRecord]) -> tuple[_core.SourceScan, dict[KeptNode, int]]:
        """A scan that has what is asked of some nodes, and their places there."""
        plan, at = ScanPlan(), dict[KeptNode, int]()
        wanted = {node for asked in found for node in (asked, *asked.above())}

        def add(node: KeptNode) -> int:
            if node not in wanted:
                return -1
            record = found.get(node, PlaceRecord())
            at[node] = plan.add(record)
            children = [add(child) for child in node.children]
            if node.route is not None and max(children) >= 0:
                record.tests = [node.route | {"children": children}]
            return at[node]

        add(self._kept.root)
        first = [node for node in found if not any(above in found for above in node.above())]
        return self.scan(plan, [Want(node) for node in first]), at


def gather_rows(plan: ScanPlan) -> int:
    """A place that keeps its rows."""
    return plan.add(PlaceRecord(keeps=True))


def rows_between(attribute: int, low: int, high: int, plan: ScanPlan) -> int:
    """Places where only the rows between two keys come through."""
    first = plan.add(PlaceRecord())
    upper, rows = plan.add(PlaceRecord()), plan.add(PlaceRecord(keeps=True))
    test: Route = {"kind": "numeric", "attribute": attribute, "missing": 0}
    plan.places[first].tests = [test | {"lo": low, "children": [-1, upper]}]
    plan.places[upper].tests = [test | {"lo": high, "children": [rows, -1]}]
    return first


def compare_tests(old: Route | None, new: Route | None, plan: ScanPlan) -> int:
    """A place that keeps its rows, and others that count them by the branches of an old test, if there was
    one, and of the new one there."""
    at = gather_rows(plan)
    count_branches(old, new, plan, at)
    return at


def count_branches(old: Route | None, new: Route | None, plan: ScanPlan, at: int) -> None:
    """Further places that count the rows of one by the branches of both tests."""
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


def branches(plan: ScanPlan, place: int) -> list[int]:
    """The places that the first test of a place leads to."""
    tests = plan.places[place].tests
    return list(tests[0]["children"]) if tests else []
