"""Walks over a tree: orders of nodes, what a node asks, which categories it has, what lies below it.

A tree stores some categories in brief (docs/model-file.md): those of a default branch follow from above.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hornbeam.model.arrays import KIND_NAMES, NUMERIC, SUBSET, VALUE, Array

if TYPE_CHECKING:
    from hornbeam.model.tree import Tree


@dataclass(frozen=True, slots=True)
class Test:
    """What an inner node asks, in codes.

    A numeric test sends values up to `bound` to child 0 and the others to child 1; the bound of an integer
    attribute is its int64 code. A nominal test sends the codes `branches[k]` to child k. Missing values and
    codes that are in no branch go to child `default`.
    """

    kind: str
    attribute: int
    default: int
    bound: float | int = 0
    branches: tuple[tuple[int, ...], ...] = ()

    @property
    def is_numeric(self) -> bool:
        return self.kind == "numeric"


class Tests:
    """The tests of a tree by node: the one place beside the core that knows how they are stored."""

    def __init__(self, tree: Tree) -> None:
        self._tree, self._arrays = tree, tree.arrays
        self._real = [not attribute.is_integer for attribute in tree.schema.attributes]
        names = ("kind", "attribute", "n_children", "default_child", "branch_start")
        self._lists: dict[str, list[Any]] = {name: tree.arrays[name].tolist() for name in names}

    def __getitem__(self, node: int) -> Test:
        """The test of an inner node."""
        lists = self._lists
        kind, attribute = lists["kind"][node], lists["attribute"][node]
        name, default = KIND_NAMES[kind], lists["default_child"][node]
        if kind == NUMERIC:
            bounds = self._arrays["threshold" if self._real[attribute] else "threshold_integer"]
            return Test(name, attribute, default, bound=bounds[node].item())
        return Test(name, attribute, default, branches=self._branches(node))

    def _branches(self, node: int) -> tuple[tuple[int, ...], ...]:
        """The codes of each child, ascending; of a value test in brief none for child 1, its default."""
        if self._lists["kind"][node] == SUBSET:
            return tuple(tuple(self._tree.branch_codes(node, child).tolist()) for child in (0, 1))
        begin, end = self._lists["branch_start"][node : node + 2]
        child = self._arrays["branch_child"][begin:end]
        order = np.argsort(child, kind="stable")
        codes = self._arrays["branch_code"][begin:end][order].tolist()
        ends = np.searchsorted(child[order], np.arange(self._lists["n_children"][node] + 1)).tolist()
        return tuple(tuple(codes[a:b]) for a, b in itertools.pairwise(ends))


def preorder(tree: Tree) -> list[int]:
    """The nodes, each before its children, children in branch order."""
    first, n = tree.arrays["first_child"].tolist(), tree.arrays["n_children"].tolist()
    order: list[int] = []
    waiting = [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if n[node]:
            waiting.extend(range(first[node] + n[node] - 1, first[node] - 1, -1))
    return order


def leaves_below(tree: Tree) -> list[int]:
    """For each node the number of leaves of its subtree."""
    first, n = tree.arrays["first_child"].tolist(), tree.arrays["n_children"].tolist()
    leaves = [0] * tree.n_nodes
    for node in reversed(range(tree.n_nodes)):  # children come after their node
        leaves[node] = sum(leaves[first[node] : first[node] + n[node]]) if n[node] else 1
    return leaves


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
