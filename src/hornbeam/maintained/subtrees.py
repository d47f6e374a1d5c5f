"""Subtrees of two trees that are the same, by marks; and subtrees that a batch leaves as they are."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from hornbeam.boat.nodes import Nodes
from hornbeam.growth.memory import least_rows
from hornbeam.model import Tree
from hornbeam.model.arrays import LEAF

Marks = npt.NDArray[np.uint64]
Sizes = npt.NDArray[np.int64]

_BY_NODE = ("kind", "attribute", "default_child", "n_children", "threshold", "threshold_integer")
_LISTS = (("count_start", "count_class", "count"), ("branch_start", "branch_code", "branch_child"))


class Subtrees:
    """The subtrees of a tree, by their roots."""

    def __init__(self, tree: Tree) -> None:
        self._tree, self._arrays = tree, tree.arrays

    @cached_property
    def marks(self) -> Marks:
        """A number each: unequal where two subtrees differ, but for one chance in 2^64."""
        arrays = self._arrays
        found = np.zeros(self._tree.n_nodes, dtype=np.uint64)
        for name in (*_BY_NODE, "rows", "weight"):
            found = _mixed(found ^ _bits(arrays[name]))
        for column in arrays["mean"].reshape(self._tree.n_nodes, -1).T:
            found = _mixed(found ^ _bits(column))
        for lists in _LISTS:
            found = _mixed(found ^ self._of_lists(*lists))
        for level in reversed(self._levels):
            for child, inner in _children(self._tree, level):
                found[inner] = _mixed(found[inner] ^ found[child])
        return found

    def _of_lists(self, start: str, *columns: str) -> Marks:
        """Of the entries that each node has."""
        first = self._arrays[start]
        if not len(first):  # trees of numbers may have none
            return np.zeros(self._tree.n_nodes, dtype=np.uint64)
        entries = np.zeros(len(self._arrays[columns[0]]), dtype=np.uint64)
        for name in columns:
            entries = _mixed(entries ^ _bits(self._arrays[name]))
        upto = np.insert(np.cumsum(entries, dtype=np.uint64), 0, 0)
        return upto[first[1:]] - upto[first[:-1]]

    @cached_property
    def sizes(self) -> Sizes:
        """How many nodes each has."""
        found = np.ones(self._tree.n_nodes, dtype=np.int64)
        for level in reversed(self._levels):
            for child, inner in _children(self._tree, level):
                found[inner] += found[child]
        return found

    @cached_property
    def _levels(self) -> list[Sizes]:
        level, found = np.zeros(1, dtype=np.int64), list[Sizes]()
        while len(level):
            found.append(level)
            level = np.concatenate([child for child, _ in _children(self._tree, level)] or [level[:0]])
        return found


def parents(tree: Tree) -> Sizes:
    """The node above each; -1 above the root."""
    found = np.full(tree.n_nodes, -1, dtype=np.int64)
    for child, inner in _children(tree, np.arange(tree.n_nodes)):
        found[child] = inner
    return found


def _children(tree: Tree, nodes: Sizes) -> list[tuple[Sizes, Sizes]]:
    """The first children of nodes and these, the second ones and these, ..."""
    first, n = tree.arrays["first_child"], tree.arrays["n_children"]
    found = []
    for i in range(int(n[nodes].max(initial=0))):
        inner = nodes[n[nodes] > i]
        found.append((first[inner].astype(np.int64) + i, inner))
    return found


def _bits(values: npt.NDArray[np.generic]) -> Marks:
    wide = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
    return wide.view(np.uint64)


def _mixed(numbers: Marks) -> Marks:
    """Every bit depends on all others (the finaliser of splitmix64)."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


_SURE = 1e-9  # relative: what is nearer to min_impurity_decrease is looked at again
_IMPURITY_BOUNDS = ("gini", "entropy", "gain_ratio", "variance")  # no gain is above the impurity

Flagged = npt.NDArray[np.bool_]


def unaffected(before: Tree, nodes: Nodes) -> Flagged | None:
    """By node of the tree before: whether the rules say the same of it and of all below as they said then,
    were their rows the same. None: of no node."""
    if nodes.task.parameters.criterion == "c45":  # which looks at the whole table, and prunes what it grew
        return None
    rules = _Rules(before, nodes)
    if rules.sizes_differ or rules.classes_differ:
        return None
    if rules.same_mass or nodes.task.parameters.min_impurity_decrease <= 0:
        return np.ones(before.n_nodes, dtype=np.bool_)
    # Classes that weigh differently: the tree has sums of weights, and not what its tests were judged by.
    return None if nodes.costs_differ else ~_anywhere_below(before, rules.in_doubt())


class _Rules:
    """What depends on all rows, before and now."""

    def __init__(self, before: Tree, nodes: Nodes) -> None:
        self._before, self._nodes = before.arrays, nodes
        self._parameters = nodes.task.parameters
        _, self._weight, *_ = nodes.settling.whole(0)
        self._weight_before = float(self._before["weight"][0])

    @property
    def sizes_differ(self) -> bool:
        """Shares of all rows are as many rows as before?"""
        p = self._parameters
        rows = int(self._before["rows"][0]), self._nodes.rows
        return any(
            least_rows(size, rows[0]) != least_rows(size, rows[1])
            for size in (p.min_samples_split, p.min_samples_leaf)
        )

    @property
    def classes_differ(self) -> bool:
        """Balanced classes weigh otherwise after every batch, and costs go with the classes present."""
        if not self._nodes.costs_differ:
            return False
        known = self._before["count_class"][: self._before["count_start"][1]]
        return self._nodes.balanced or not np.array_equal(known, np.flatnonzero(self._nodes.counts))

    @property
    def same_mass(self) -> bool:
        return self._weight == self._weight_before and self._nodes.rows == int(self._before["rows"][0])

    def in_doubt(self) -> Flagged:
        """Tests that may gain too little now, leaves that a test may gain enough for."""
        arrays, least = self._before, self._parameters.min_impurity_decrease
        share = arrays["weight"] / self._weight
        leaf = arrays["kind"] == LEAF
        doubt: Flagged = ~leaf & (share * arrays["gain"] < least * (1 + _SURE))
        if self._weight >= self._weight_before:  # what gained too little gains less now
            return doubt
        gain = arrays["impurity"] if self._parameters.criterion in _IMPURITY_BOUNDS else np.inf
        pure = arrays["impurity"] == 0.0
        doubt |= leaf & ~pure & (share * gain >= least * (1 - _SURE))
        return doubt


def _anywhere_below(tree: Tree, flags: Flagged) -> Flagged:
    """Whether a node or one below has a flag."""
    found, parent = flags.copy(), parents(tree)
    waiting = np.flatnonzero(found)
    while len(waiting):
        above = np.unique(parent[waiting])
        waiting = above[(above >= 0) & ~found[above]]
        found[waiting] = True
    return found
