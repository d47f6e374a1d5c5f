"""By how much new tests are better than those before, on the rows of their nodes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.boat.plan import PlaceRecord, Route, ScanPlan
from hornbeam.maintained.chance import Moments, Stats, errors_of
from hornbeam.maintained.changes import KEPT, matched, same_subtrees
from hornbeam.maintained.conditions import Want
from hornbeam.maintained.kept import KeptNode, KeptTree
from hornbeam.maintained.probes import Probes, branches, count_branches
from hornbeam.maintained.subtrees import parents
from hornbeam.model import Tree

_MOST = 2000  # tests inside of families that are compared, those of most rows first

Tests = tuple[Route | None, Route]
"""The old and the new test of a node; a leaf had none."""


class ComparedTests:
    """Standard errors of the tests of a kept tree, as `errors_of` has them."""

    def __init__(self, kept: KeptTree, probes: Probes) -> None:
        self._kept, self._probes = kept, probes

    def of_move(self, node: KeptNode, settled: _core.Settled) -> float:
        """How much better the new cut is: rows stay on the left, change sides, or stay on the right."""
        old = [self._at(self._kept.scan, child.place) for child in node.children]
        new = [self._read(settled.child_counts(i), settled.child_sums(i)) for i in range(2)]
        less, more = (old, new) if settled.lo > node.lo else (new, old)
        before, after = (1, 0) if less is old else (0, 1)
        return errors_of([(0, 0, less[0]), (before, after, more[0] - less[0]), (1, 1, more[1])])

    def of_tests(self, scan: _core.SourceScan, plan: ScanPlan, at: int) -> float:
        """How much better the new test is, by rows that `count_branches` has counted."""
        found = []
        for i, place in enumerate(branches(plan, at)):
            second = branches(plan, place)
            if not second:  # there was no old test
                found.append((0, i, self._at(scan, place)))
            found += [(i, j, self._at(scan, below)) for j, below in enumerate(second)]
        return errors_of(found)

    def _at(self, scan: _core.SourceScan, place: int) -> Stats:
        """The rows of a place."""
        return self._read(scan.totals(place).astype(np.int64), scan.total_sums(place))

    def _read(self, counts: npt.NDArray[np.int64], sums: npt.NDArray[np.uint64]) -> Stats:
        if len(self._kept.survey.labels):
            return counts
        return Moments.read(int(counts.sum()), sums, self._kept.layout.sum_fields)

    def inside(self, before: Tree, grown: Tree, known: Mapping[int, float]) -> dict[int, float]:
        """The same of tests below the nodes that are kept, which are others than before and not known yet, by
        node of the grown tree."""
        tests = self._changed(before, grown, known)
        if not tests:
            return {}
        parent, plan, wanted = parents(grown), ScanPlan(), set(tests)
        for node in tests:
            while node > 0 and (node := int(parent[node])) not in wanted:
                wanted.add(node)
        place = {node: plan.add(PlaceRecord()) for node in sorted(wanted)}
        for node, at in place.items():
            if node in tests:
                count_branches(*tests[node], plan, at)
            children = [place.get(child, -1) for child in grown.children(node)]
            if max(children) >= 0:
                route = self._kept.route_of(grown, node)
                assert route is not None
                plan.places[at].tests = [*plan.places[at].tests, route | {"children": children}]
        scan = self._probes.scan(plan, [Want(node) for node in self._nearest(tests, parent)])
        return {node: self.of_tests(scan, plan, place[node]) for node in tests}

    def _changed(self, before: Tree, grown: Tree, known: Mapping[int, float]) -> dict[int, Tests]:
        pairs = [
            (new, old)
            for old, new, _, state in matched(before, grown, same_subtrees(before, grown))
            if state != KEPT and new not in known and not grown.is_leaf(new)
        ]
        pairs.sort(key=lambda pair: -int(grown.arrays["rows"][pair[0]]))
        found: dict[int, Tests] = {}
        for new, old in pairs[:_MOST]:
            was = None if before.is_leaf(old) else self._kept.route_of(before, old)
            now = self._kept.route_of(grown, new)
            if now is not None and (was is not None or before.is_leaf(old)):
                found[new] = was, now
        return found

    def _nearest(self, nodes: Mapping[int, object], parent: npt.NDArray[np.int64]) -> list[KeptNode]:
        """The kept nodes at or above some nodes of the tree, none of them above another."""
        by_number = {node.number: node for node in self._kept.root.walk()}
        found = set[KeptNode]()
        for node in nodes:
            while node not in by_number:
                node = int(parent[node])
            found.add(by_number[node])
        return [node for node in found if not any(above in found for above in node.above())]
