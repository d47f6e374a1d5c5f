"""Which subtrees of two trees are the same, node for node, with their rows: by marks, without a walk."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from hornbeam.model import Tree

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
