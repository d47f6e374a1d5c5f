"""How stable a tree is: at each of its nodes, how many folds ask the same, and what the others do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hornbeam.arguments import shown
from hornbeam.errors import UsageError
from hornbeam.growth.arms import Arm, Bifurcation, LevelStability, NodeStability, Reader
from hornbeam.growth.joint import Joint, walk_together
from hornbeam.model import Tree
from hornbeam.model.arrays import LEAF, NUMERIC
from hornbeam.model.text import share_text

if TYPE_CHECKING:
    from hornbeam.growth.show import StabilityView

Floats = npt.NDArray[np.float64]


class Stability:
    """A tree of all rows beside the trees of folds. `stability[node]` is a record for a node of the tree.

    Fold i is tree i of the forest, from 1. Iteration goes through the nodes in their order, the root first.
    """

    def __init__(self, trees: Sequence[Tree]) -> None:
        if len(trees) < 2:
            raise UsageError("stability needs the tree of all rows and that of at least one fold")
        self.trees = tuple(trees)
        self.tree: Tree = trees[0]
        self._joint = walk_together(trees)
        self._reader = Reader(trees, self._joint)

    @property
    def n_folds(self) -> int:
        return self._joint.n_sets - 1

    def __len__(self) -> int:
        return self.tree.n_nodes

    def __getitem__(self, node: int) -> NodeStability:
        if not isinstance(node, (int, np.integer)) or not 0 <= node < len(self):
            raise UsageError(
                f"{shown('node', node)}: the tree has the nodes 0 to {len(self) - 1}", parameter="node"
            )
        return self._reader.node(int(node))

    def __iter__(self) -> Iterator[NodeStability]:
        return map(self._reader.node, range(len(self)))

    def __repr__(self) -> str:
        return (
            f"<Stability: {self.n_folds} folds, {share_text(self.root_agreement)} agree at the root, "
            f"{share_text(self.agreement)} of the tests that a row meets>"
        )

    def thresholds(self, node: int) -> list[float | int]:
        """The threshold of the tree at a numeric node, then those of the folds with the same test.

        Those of dates, decimals and integers are codes, which `Attribute.decode` turns into numbers.
        """
        if self.tree.arrays["kind"][node] != NUMERIC:
            raise UsageError(f"{shown('node', node)} has no numeric test, so no thresholds", parameter="node")
        return self._reader.thresholds(int(self._joint.first_arm[node]))[1]

    # numbers of the whole tree

    @cached_property
    def same(self) -> npt.NDArray[np.int64]:
        """For each node the folds with the same test; for a leaf those that also end there."""
        sizes = np.diff(self._joint.arm_start)
        return sizes[self._joint.first_arm] - 1

    @cached_property
    def here(self) -> npt.NDArray[np.int64]:
        """For each node the folds that arrive by the same tests."""
        ends = self._joint.arm_start[self._joint.place_start]
        return np.diff(ends)[self._joint.first_place] - 1

    @property
    def root_agreement(self) -> float:
        """The share of folds that ask at the root what the tree asks."""
        return int(self.same[0]) / self.n_folds

    @cached_property
    def agreement(self) -> float:
        """Of the tests that a row meets on its way down the tree, the share that a fold asks there too.

        The mean over rows and folds; 1 where every fold has the tests of the tree. A single leaf counts by
        the folds that are a single leaf too.
        """
        inner = self.tree.arrays["kind"] != LEAF
        return self._mean(inner if inner.any() else ~inner)

    def _mean(self, chosen: npt.NDArray[np.bool_]) -> float:
        weight, same = self.tree.arrays["weight"][chosen], self.same[chosen] / self.n_folds
        # Weights may be too small for their sum to be told from 0.
        return float(np.average(same, weights=weight) if weight.sum() > 0 else same.mean())

    @cached_property
    def by_level(self) -> tuple[LevelStability, ...]:
        """A record for each level on which the tree asks."""
        kind, depth = self.tree.arrays["kind"], self.tree.node_depths
        f, records = tests_per_node(self._joint), []
        for level in range(self.tree.depth):
            asking = (kind != LEAF) & (depth == level)
            records.append(
                LevelStability(
                    level=level,
                    tests=int(np.count_nonzero(asking)),
                    rows=int(self.tree.arrays["rows"][asking].sum()),
                    agreement=self._mean(asking),
                    forest_tests=int(self._joint.tests[level]),
                    f=float(f[level]),
                )
            )
        return tuple(records)

    @cached_property
    def bifurcations(self) -> tuple[Bifurcation, ...]:
        """Every place where sets that came together ask different things."""
        return self._reader.bifurcations()

    # faces

    def table(self) -> list[dict[str, Any]]:
        """A dict for each node, for a data frame; folds and bands are plain lists and numbers."""
        return [record.to_record() for record in self]

    def to_record(self) -> dict[str, Any]:
        """What `to_json` writes."""
        return {
            "n_folds": self.n_folds,
            "agreement": self.agreement,
            "root_agreement": self.root_agreement,
            "levels": [asdict(level) for level in self.by_level],
            "nodes": self.table(),
            "bifurcations": [record.to_record() for record in self.bifurcations],
        }

    def to_json(self) -> str:
        return json.dumps(self.to_record(), allow_nan=False)

    def to_text(self, max_depth: int | None = None) -> str:
        """A line for each node: what it asks, how many folds do too, and below it what the others do."""
        from hornbeam.growth.stability_text import to_text

        return to_text(self, max_depth)

    def show(self) -> StabilityView:
        """A picture for notebooks, and for files: `.save("stability.svg")` or `.save("stability.html")`."""
        from hornbeam.growth.show import StabilityView

        return StabilityView(self)

    def _repr_html_(self) -> str:
        return self.show()._repr_html_()


def stability_of(trees: Sequence[Tree]) -> Stability:
    """The stability of the first tree, that of all rows, beside the others, those of the folds."""
    return Stability(trees)


def bifurcations_of(trees: Sequence[Tree]) -> tuple[Bifurcation, ...]:
    """Every place where trees that came together ask different things, level by level."""
    return Reader(trees, walk_together(trees)).bifurcations()


def tests_by_level(trees: Sequence[Tree]) -> Floats:
    """f(i) of Blockeel and Struyf (section 3.2) for each level on which any tree asks.

    The different tests at level i, the forest over, for each test that a single tree has there: 1 where all
    trees agree, their number where each goes its own way.
    """
    return tests_per_node(walk_together(trees))


def tests_per_node(joint: Joint) -> Floats:
    asking = joint.asked > 0
    return joint.tests[asking] * joint.n_sets / joint.asked[asking]


def nodes_by_level(trees: Sequence[Tree]) -> npt.NDArray[np.int64]:
    """The nodes of the forest at each level: [levels, 2], its different tests and its different leaves."""
    joint = walk_together(trees)
    return np.stack([joint.tests, joint.leaves], axis=1)


__all__ = [
    "Arm",
    "Bifurcation",
    "LevelStability",
    "NodeStability",
    "Stability",
    "bifurcations_of",
    "nodes_by_level",
    "stability_of",
    "tests_by_level",
]
