"""Walks over a tree that every face of it shares: orders of nodes, what a node asks, what lies below it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hornbeam.model.arrays import KIND_NAMES, NUMERIC, SUBSET

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
            held = "threshold" if self._real[attribute] else "threshold_integer"
            return Test(name, attribute, default, bound=self._arrays[held][node].item())
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
