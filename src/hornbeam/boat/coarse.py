"""Coarse splitting criteria (paper 002, section 3.2): what trees of bootstrap samples agree on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.boat.layout import Keys
from hornbeam.growth import Parameters, TableGrower, Target
from hornbeam.growth.memory import least_rows
from hornbeam.model import Tree
from hornbeam.table import Table

Rows = npt.NDArray[np.int64]

HELD = -1  # as the core says it
_MOST_HELD = 0.2  # of the rows of a node: with more in doubt, its guess is not worth following
_NUMERIC, _SUBSET, _VALUE = 1, 2, 3  # kinds of tests, as trees number them


@dataclass(frozen=True)
class Sampling:
    """How a guess is made. The tree does not depend on it; scans and memory do."""

    sample: int = 200_000
    """Rows that are drawn in the first scan, where they take but a part of the memory."""
    bootstraps: int = 20
    rows: int = 50_000
    """Of each bootstrap sample."""
    depth: int = 6
    """Of the bootstrap trees: below, they rarely agree."""
    buckets: int = 4096
    """Of a numeric attribute, where there are two classes; with more classes there are fewer."""
    least: int = 2000
    """Sampled rows of a node that its bootstraps may still speak for."""
    sure: int = 10_000
    """Sampled rows of a node, all of one class, that make it seem a leaf."""


@dataclass(eq=False)
class CoarseNode:
    """A node as the bootstrap trees see it, and the sampled rows that come to it. Without an attribute they
    do not agree, or it is too small to ask them."""

    rows: Rows
    attribute: int = -1
    first: int = 1
    """Numeric: rows in buckets before it go left,"""
    last: int = 0
    """and those in buckets after it right; the others, and missing values, are held."""
    child_of: npt.NDArray[np.int32] | None = None
    """Nominal: by category."""
    children: list[CoarseNode] = field(default_factory=list)
    gains: tuple[float, ...] = ()
    """Of the bootstrap trees."""

    @property
    def agreed(self) -> bool:
        return self.attribute >= 0

    def walk(self) -> Iterator[CoarseNode]:
        """The node and all below."""
        yield self
        for child in self.children:
            yield from child.walk()


class Drawn(NamedTuple):
    """Trees of bootstrap samples, and how often each sampled row was drawn for each of them."""

    trees: Sequence[Tree]
    times: npt.NDArray[np.uint8]


def grow_bootstraps(
    table: Table,
    target: Target,
    parameters: Parameters,
    rows: int,
    how: Sampling,
    seed: int,
    threads: int,
    among: Rows | None = None,
    turn: int = 0,
) -> Drawn:
    """Trees of draws with replacement from a sample of so many rows, or from those `among` it, grown
    together; each turn draws anew.

    Sizes shrink as the rows do: a leaf of as many rows would be a much larger share of the draw.
    """
    random, there = np.random.default_rng([seed, 0xB007, turn]), table.n_rows if among is None else len(among)
    drawn = min(how.rows, there)
    times = np.zeros((table.n_rows, how.bootstraps), dtype=np.uint8)
    for i in range(how.bootstraps):
        picked = np.bincount(random.integers(there, size=drawn), minlength=there)
        times[slice(None) if among is None else among, i] = np.minimum(picked, 255)
    share = drawn / rows
    scaled = replace(
        parameters,
        max_depth=how.depth if parameters.max_depth is None else min(how.depth, parameters.max_depth),
        min_samples_split=max(2, round(least_rows(parameters.min_samples_split, rows) * share)),
        min_samples_leaf=max(1, round(least_rows(parameters.min_samples_leaf, rows) * share)),
        min_objs=None if parameters.min_objs is None else max(1.0, parameters.min_objs * share),
    )
    grower = TableGrower(table, target, scaled, threads=threads)
    forest = grower.grow(times)
    return Drawn([grower.tree(forest, i, collapse=False) for i in range(how.bootstraps)], times)


class CoarseTree:
    """What bootstrap trees agree on, from their root, where `rows` of the sample are, down to nodes of
    `least` sampled rows."""

    def __init__(
        self,
        drawn: Drawn,
        keys: list[Keys],
        layout: _core.RowLayout,
        grid: _core.Grid,
        least: int,
        rows: Rows,
    ) -> None:
        self._trees, self._times = drawn
        self._keys, self._layout, self._grid, self._least = keys, layout, grid, least
        self.root = self._agree([0] * len(self._trees), rows)

    def _agree(self, at: list[int], rows: Rows) -> CoarseNode:
        node = CoarseNode(rows)
        trees = self._trees
        attributes = {int(tree.arrays["attribute"][i]) for tree, i in zip(trees, at, strict=True)}
        kinds = {int(tree.arrays["kind"][i]) for tree, i in zip(trees, at, strict=True)}
        if len(rows) < self._least or len(attributes) > 1 or len(kinds) > 1 or 0 in kinds:
            return node
        attribute, kind = attributes.pop(), kinds.pop()
        found = (
            self._agree_on_cut(node, attribute, at)
            if kind == _NUMERIC
            else kind in (_SUBSET, _VALUE) and self._agree_on_side(node, attribute, at)
        )
        if not found:
            return node
        node.attribute = attribute
        node.gains = tuple(float(tree.arrays["gain"][i]) for tree, i in zip(trees, at, strict=True))
        side = self._sides(node)
        for child in (0, 1):
            below = [int(tree.arrays["first_child"][i]) + child for tree, i in zip(trees, at, strict=True)]
            node.children.append(self._agree(below, rows[side == child]))
        return node

    def _agree_on_cut(self, node: CoarseNode, attribute: int, at: list[int]) -> bool:
        """The interval reaches from the value left of the lowest cut to that right of the highest, of those
        that each bootstrap sample itself has."""
        keys = self._keys[attribute][node.rows]
        missing = self._layout.missing_key(attribute)
        order = np.argsort(keys, kind="stable")
        order = order[: np.searchsorted(keys[order], missing)]
        if not len(order):
            return False
        ends = [
            self._ends(keys[order], self._times[node.rows[order], j], cut)
            for j, cut in enumerate(self._cut_keys(attribute, at))
        ]
        left, right = min(low for low, _ in ends), max(high for _, high in ends)
        if left == right:  # all rows on one side of the cuts were held above
            return False
        first, last = self._grid.of(attribute, np.array([left, right], dtype=np.uint64)).tolist()
        # The cut is neither before the value on its left nor after that on its right.
        node.first = first + 1 if self._grid.single(attribute, first) else first
        node.last = last - 1 if self._grid.single(attribute, last) else last
        buckets = self._grid.of(attribute, keys)
        held = np.count_nonzero((buckets >= node.first) & (buckets <= node.last))
        return bool(held <= _MOST_HELD * len(keys))

    def _cut_keys(self, attribute: int, at: list[int]) -> Keys:
        """Where the trees cut, as keys that need not occur."""
        exact = self._trees[0].schema.attributes[attribute].storage.family != "float"
        name = "threshold_integer" if exact else "threshold"
        cuts = np.array([tree.arrays[name][i] for tree, i in zip(self._trees, at, strict=True)])
        return self._layout.keys(attribute, cuts)

    @staticmethod
    def _ends(keys: Keys, times: npt.NDArray[np.uint8], cut: np.uint64) -> tuple[int, int]:
        """The values next to a cut, of those that were drawn; the sampled ones where rows of this node were
        held above and so are not here."""
        place = int(np.searchsorted(keys, cut, side="right"))
        left = right = place
        while left > 0 and not times[left - 1]:
            left -= 1
        while right < len(keys) and not times[right]:
            right += 1
        low, high = max(left - 1, 0), min(right, len(keys) - 1)
        return int(keys[low]), int(keys[high])

    def _agree_on_side(self, node: CoarseNode, attribute: int, at: list[int]) -> bool:
        """Categories that all trees which have them send to the same side; others are held."""
        keys = self._keys[attribute][node.rows]
        n = len(self._trees[0].schema.attributes[attribute].labels)
        votes = np.zeros((2, n), dtype=np.int64)
        for tree, i in zip(self._trees, at, strict=True):
            for side in (0, 1):
                votes[side, tree.branch_codes(i, side)] += 1
        if not (votes.min(axis=0) == 0).any():
            return False
        child_of = np.where(votes[0] > 0, 0, 1).astype(np.int32)
        child_of[votes.min(axis=0) > 0] = HELD
        child_of[votes.max(axis=0) == 0] = HELD
        node.child_of = child_of
        known = keys[keys < n].astype(np.int64)
        held = np.count_nonzero(child_of[known] == HELD)
        return bool(held <= _MOST_HELD * len(keys)) and {0, 1} <= set(child_of[known].tolist())

    def _sides(self, node: CoarseNode) -> npt.NDArray[np.int32]:
        """The child that each sampled row of the node goes to; HELD where it is in doubt."""
        keys = self._keys[node.attribute][node.rows]
        missing = keys == self._layout.missing_key(node.attribute)
        if node.child_of is not None:
            side = node.child_of[np.where(missing, 0, keys).astype(np.int64)]
        else:
            buckets = self._grid.of(node.attribute, keys).astype(np.int64)
            side = np.where(buckets < node.first, 0, np.where(buckets > node.last, 1, HELD)).astype(np.int32)
        side[missing] = HELD
        return side
