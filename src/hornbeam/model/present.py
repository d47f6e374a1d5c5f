"""The categories present at each node, also where the tree stores them in brief (docs/model-file.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hornbeam.model.arrays import SUBSET, VALUE, Array

if TYPE_CHECKING:
    from hornbeam.model.tree import Tree

Branches = tuple[Array, Array]  # category codes, ascending, and the child each goes to


def brief_nodes(tree: Tree) -> Array:
    """Subset and value tests that list no category for their default child: those follow from above."""
    start, child = tree.arrays["branch_start"], tree.arrays["branch_child"]
    default = np.repeat(tree.arrays["default_child"], np.diff(start))
    listed = np.concatenate([[0], np.cumsum(child == default)])
    binary = np.isin(tree.arrays["kind"], (SUBSET, VALUE))
    nodes: Array = np.flatnonzero(binary & (listed[start[1:]] == listed[start[:-1]]))
    return nodes


class BriefPaths:
    """The categories that single tests send to their children, found by going up where a test is in brief."""

    MOST = 64  # arrays remembered: who goes through the nodes in order asks for the next ones soon

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._brief = frozenset(brief_nodes(tree).tolist())
        self._default = tree.arrays["default_child"].tolist()
        self._attribute = tree.arrays["attribute"].tolist()
        self._parent_and_place = [(-1, 0)] * tree.n_nodes
        if self._brief:
            for node in range(tree.n_nodes):
                for place, child in enumerate(tree.children(node)):
                    self._parent_and_place[child] = node, place
        self._recent: dict[tuple[int, int], Array] = {}

    def branch_codes(self, node: int, child: int) -> Array:
        asked, gone = (node, child), []
        attribute = self._attribute[node]
        while node in self._brief and child == self._default[node] and (node, child) not in self._recent:
            gone.append(listed(self._tree, node)[0])
            node, child = self._parent_and_place[node]
            while self._attribute[node] != attribute:  # up to the test before
                node, child = self._parent_and_place[node]
        codes = self._recent.get((node, child))
        if codes is None:
            known, children = listed(self._tree, node)
            codes = known[children == child]
        if gone:
            codes = _without(codes, np.concatenate(gone))
            if len(self._recent) == self.MOST:
                del self._recent[next(iter(self._recent))]
            self._recent[asked] = codes
        return codes


def listed(tree: Tree, node: int) -> Branches:
    """What the arrays say: in brief, -1 marks a category that is no longer present."""
    begin, end = tree.arrays["branch_start"][node : node + 2]
    return tree.arrays["branch_code"][begin:end], tree.arrays["branch_child"][begin:end]


def _without(codes: Array, gone: Array) -> Array:
    kept: Array = codes[~np.isin(codes, gone)] if len(gone) else codes
    return kept
