"""Tests that changed below the nodes that are kept: by how much the new ones are better, on their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hornbeam.boat.plan import PlaceRecord, Route, ScanPlan
from hornbeam.maintained.alike import parents
from hornbeam.maintained.asking import count_branches
from hornbeam.maintained.changes import KEPT, matched, same_subtrees
from hornbeam.maintained.kept import KeptNode, KeptTree
from hornbeam.model import Tree

_MOST = 2000  # tests that are compared, those of most rows first


class Asked(NamedTuple):
    """A plan by which rows go down a tree, the places of the nodes that are asked about, by number, and the
    kept nodes that have all of their rows."""

    plan: ScanPlan
    at: Mapping[int, int]
    among: Sequence[KeptNode]


def changed_inside(kept: KeptTree, before: Tree, grown: Tree, known: Mapping[int, float]) -> Asked | None:
    """What to ask of the rows about tests of the grown tree that are others than before and of which nothing
    is known; None: there are none."""
    tests = _changed(kept, before, grown, known)
    if not tests:
        return None
    parent, plan = parents(grown), ScanPlan()
    wanted = set(tests)
    for node in tests:
        while node > 0 and (node := int(parent[node])) not in wanted:
            wanted.add(node)
    place = {node: plan.add(PlaceRecord()) for node in sorted(wanted)}
    for node, at in place.items():
        if node in tests:
            count_branches(*tests[node], plan, at)
        children = [place.get(child, -1) for child in grown.children(node)]
        if max(children) >= 0:
            route = kept.route_of(grown, node)
            assert route is not None
            plan.places[at].tests = [*plan.places[at].tests, route | {"children": children}]
    return Asked(plan, {node: place[node] for node in tests}, _nearest(kept, tests, parent))


def _changed(
    kept: KeptTree, before: Tree, grown: Tree, known: Mapping[int, float]
) -> dict[int, tuple[Route | None, Route]]:
    """The old and the new test of nodes; a leaf had none."""
    pairs = [
        (new, old)
        for old, new, _, state in matched(before, grown, same_subtrees(before, grown))
        if state != KEPT and new not in known and not grown.is_leaf(new)
    ]
    pairs.sort(key=lambda pair: -int(grown.arrays["rows"][pair[0]]))
    found: dict[int, tuple[Route | None, Route]] = {}
    for new, old in pairs[:_MOST]:
        was, now = (None if t.is_leaf(n) else kept.route_of(t, n) for t, n in ((before, old), (grown, new)))
        if now is not None and (was is not None or before.is_leaf(old)):
            found[new] = was, now
    return found


def _nearest(kept: KeptTree, nodes: Mapping[int, object], parent: npt.NDArray[np.int64]) -> list[KeptNode]:
    """The kept nodes at or above some nodes of the tree, none of them above another."""
    assert kept.root is not None
    by_number = {node.number: node for node in kept.root.walk()}
    found = set[KeptNode]()
    for node in nodes:
        while node not in by_number:
            node = int(parent[node])
        found.add(by_number[node])
    return [node for node in found if not any(above in found for above in node.above())]
