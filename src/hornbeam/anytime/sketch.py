"""Sketch: a tree under improvement. Nodes in preorder, so that a subtree is a slice and a graft a splice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from hornbeam.model import Tree
from hornbeam.model.arrays import DTYPES, LEAF, rows_of
from hornbeam.model.walk import preorder
from hornbeam.table import Schema

Array = npt.NDArray[Any]
Rows = npt.NDArray[np.int64]

# Arrays with an entry for each node that a tree has under the same names.
SHARED: Final = (
    "kind",
    "attribute",
    "threshold",
    "threshold_integer",
    "default_child",
    "n_children",
    "rows",
    "impurity",
    "gain",
)
# Lists of each node: where they begin, and what they hold.
LISTS: Final = {"branch_start": ("branch_code", "branch_child"), "count_start": ("count_class", "count")}


@dataclass(frozen=True, eq=False)
class Sketch:
    """`nodes` are the arrays of a tree in preorder, with `span`, the nodes of each subtree, `leaves`, its
    leaves, and `start`, where its rows begin in `order`: the rows of the whole, leaf after leaf.

    Nothing in it is ever written to; a change gives another sketch.
    """

    nodes: Mapping[str, Array]
    order: Rows

    @property
    def n_nodes(self) -> int:
        return len(self.nodes["kind"])

    @property
    def n_leaves(self) -> int:
        return int(self.nodes["leaves"][0])

    def __getitem__(self, name: str) -> Array:
        return self.nodes[name]

    @cached_property
    def is_leaf(self) -> npt.NDArray[np.bool_]:
        leaf: npt.NDArray[np.bool_] = self.nodes["kind"] == LEAF
        return leaf

    def rows_of(self, node: int) -> Rows:
        """The rows that reach a node, ascending."""
        start = int(self.nodes["start"][node])
        return np.sort(self.order[start : start + int(self.nodes["rows"][node])])

    def end_of(self, node: int) -> int:
        """The first node after a subtree."""
        return node + int(self.nodes["span"][node])

    def children(self, node: int) -> Iterator[int]:
        child = node + 1
        for _ in range(int(self.nodes["n_children"][node])):
            yield child
            child = self.end_of(child)

    def ancestors(self, node: int) -> npt.NDArray[np.int64]:
        """The nodes above a node, from the root down."""
        before = np.arange(node)
        return np.flatnonzero(before + self.nodes["span"][:node] > node)

    def counts_of(self, node: int) -> tuple[list[int], list[float]]:
        """The classes present at a node, ascending, and how many rows each has."""
        begin, end = self.nodes["count_start"][node : node + 2]
        return self.nodes["count_class"][begin:end].tolist(), self.nodes["count"][begin:end].tolist()

    def graft(self, node: int, part: Sketch) -> Sketch:
        """The tree with a part of the same rows in the place of a node and all below it."""
        end, start = self.end_of(node), int(self.nodes["start"][node])
        above = self.ancestors(node)
        nodes = {
            name: splice(self.nodes[name], node, end, part.nodes[name])
            for name in (*SHARED, "span", "leaves", "start")
        }
        nodes["start"][node : node + part.n_nodes] += start
        for name in ("span", "leaves"):
            nodes[name][above] += part.nodes[name][0] - self.nodes[name][node]
        for begins, held in LISTS.items():
            nodes |= self._spliced_lists(node, end, part, begins, held)
        order = self.order.copy()
        order[start : start + len(part.order)] = part.order
        return Sketch(nodes, order)

    def _spliced_lists(
        self, node: int, end: int, part: Sketch, begins: str, held: Sequence[str]
    ) -> dict[str, Array]:
        mine, yours = self.nodes[begins], part.nodes[begins]
        first, last = int(mine[node]), int(mine[end])
        moved = int(yours[-1]) - (last - first)
        starts = np.concatenate((mine[:node], yours[:-1] + first, mine[end:] + moved))
        return {
            begins: starts,
            **{name: splice(self.nodes[name], first, last, part.nodes[name]) for name in held},
        }

    @cached_property
    def depths(self) -> npt.NDArray[np.int64]:
        """How many nodes are above each."""
        inner = np.flatnonzero(~self.is_leaf)
        steps = np.zeros(self.n_nodes + 1, dtype=np.int64)
        np.add.at(steps, inner + 1, 1)
        np.add.at(steps, inner + self.nodes["span"][inner], -1)
        return np.cumsum(steps[:-1])

    @cached_property
    def by_level(self) -> npt.NDArray[np.int64]:
        """The nodes in the order in which a tree keeps them: level by level, children side by side."""
        return np.argsort(self.depths, kind="stable")

    def to_tree(self, schema: Schema, classes: Sequence[Any]) -> Tree:
        """The immutable tree."""
        by_level = self.by_level
        place = np.empty_like(by_level)
        place[by_level] = np.arange(self.n_nodes)
        arrays = {name: self.nodes[name][by_level] for name in SHARED}
        first = np.full(self.n_nodes, -1, dtype=np.int32)
        inner = np.flatnonzero(~self.is_leaf[by_level])
        first[inner] = place[by_level[inner] + 1]
        arrays |= {"first_child": first, "weight": arrays["rows"].astype(np.float64), "mean": np.empty(0)}
        for begins, held in LISTS.items():
            arrays |= lists_of(self.nodes, by_level, begins, held)
        kept = {name: np.ascontiguousarray(arrays[name], dtype) for name, dtype in DTYPES.items()}
        return Tree.trusted(schema, kept, classes=classes)

    @classmethod
    def of_native(cls, found: Mapping[str, Array]) -> Sketch:
        """The sketch of the arrays that the engine gives."""
        nodes: dict[str, Array] = {name: found[name] for name in SHARED}
        nodes |= {name: found[name].astype(np.int64) for name in ("rows", "span", "leaves", "start")}
        for begins, held in LISTS.items():
            lengths = found["n_branches" if begins == "branch_start" else "n_counts"]
            nodes[begins] = starting(lengths)
            nodes |= {name: found[name] for name in held}
        return cls(nodes, found["order"].astype(np.int64))

    @classmethod
    def of(cls, tree: Tree, rows: Rows, leaves: Array) -> Sketch:
        """The sketch of a tree and the rows that it was grown from; `leaves` has the leaf of each row."""
        nodes = np.array(preorder(tree), dtype=np.int64)
        place = np.empty_like(nodes)
        place[nodes] = np.arange(len(nodes))
        kept: dict[str, Array] = {name: tree.arrays[name][nodes] for name in SHARED}
        for begins, held in LISTS.items():
            kept |= lists_of(tree.arrays, nodes, begins, held)
        kept |= sizes_of(kept["n_children"])
        kept["start"] = starts_of(kept)
        ends = place[leaves]
        return cls(kept, rows[np.argsort(ends, kind="stable")])


def splice(whole: Array, begin: int, end: int, part: Array) -> Array:
    """An array with something else in the place of a stretch of it."""
    return np.concatenate((whole[:begin], part, whole[end:]))


def lists_of(arrays: Mapping[str, Array], nodes: Array, begins: str, held: Sequence[str]) -> dict[str, Array]:
    """The lists of some nodes, in their order."""
    start = arrays[begins]
    _, position = rows_of(start, nodes)
    starts = starting(start[nodes + 1] - start[nodes])
    return {begins: starts, **{name: arrays[name][position] for name in held}}


def starting(lengths: Array) -> Rows:
    """The places at which lists of these lengths begin, one after the other, and the end of the last one."""
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)))


def sizes_of(n_children: Array) -> dict[str, Array]:
    """The nodes and the leaves of each subtree, from how many children the nodes have, in preorder."""
    children = n_children.tolist()
    span, leaves = [1] * len(children), [0 if count else 1 for count in children]
    for node in reversed(range(len(children))):
        child = node + 1
        for _ in range(children[node]):
            span[node] += span[child]
            leaves[node] += leaves[child]
            child += span[child]
    return {"span": np.array(span, dtype=np.int64), "leaves": np.array(leaves, dtype=np.int64)}


def starts_of(nodes: Mapping[str, Array]) -> Rows:
    """The place at which the rows of each node begin: behind the rows of the leaves before it."""
    at_leaves = np.where(nodes["kind"] == LEAF, nodes["rows"], 0)
    starts: Rows = np.cumsum(at_leaves) - at_leaves
    return starts
