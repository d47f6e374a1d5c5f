"""How stable a tree is: at each of its nodes, how many folds ask the same, and what the others do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hornbeam.arguments import shown
from hornbeam.errors import UsageError
from hornbeam.growth.joint_walk import JointWalk, walk_together
from hornbeam.growth.stability_records import (
    Arm,
    Bifurcation,
    LevelStability,
    NodeStability,
    ThresholdBand,
    TreeBesideFolds,
)
from hornbeam.model import Tree
from hornbeam.model.arrays import LEAF, NUMERIC, Array
from hornbeam.model.text import DEEPEST_INDENT, Style, attribute_name, one_line, real_text
from hornbeam.table import Attribute

if TYPE_CHECKING:
    from hornbeam.growth.stability_view import StabilityView


Floats = npt.NDArray[np.float64]


class Stability(TreeBesideFolds):
    """A tree of all rows beside the trees of folds. `stability[node]` is a record for a node of the tree."""

    tree: Tree

    def __init__(self, trees: Sequence[Tree]) -> None:
        super().__init__(trees)
        self._joint = walk_together(trees)
        self._reader = _StabilityReader(trees, self._joint)

    def _record(self, node: int) -> NodeStability:
        return self._reader.node(node)

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
            inner = (kind != LEAF) & (depth == level)
            records.append(
                LevelStability(
                    level=level,
                    tests=int(np.count_nonzero(inner)),
                    rows=int(self.tree.arrays["rows"][inner].sum()),
                    agreement=self._mean(inner),
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

    def to_text(self, max_depth: int | None = None) -> str:
        """A line for each node: what it asks, how many folds do too, and below it what the others do."""
        from hornbeam.growth.stability_view import to_text

        return to_text(self, max_depth)

    def show(self) -> StabilityView:
        """A picture for notebooks, and for files: `.save("stability.svg")` or `.save("stability.html")`."""
        from hornbeam.growth.stability_view import StabilityView

        return StabilityView(self)

    def _repr_html_(self) -> str:
        return self.show()._repr_html_()


def stability_of(trees: Sequence[Tree]) -> Stability:
    """The stability of the first tree, that of all rows, beside the others, those of the folds."""
    return Stability(trees)


def bifurcations_of(trees: Sequence[Tree]) -> tuple[Bifurcation, ...]:
    """Every place where trees that came together ask different things, level by level."""
    return _StabilityReader(trees, walk_together(trees)).bifurcations()


def tests_by_level(trees: Sequence[Tree]) -> Floats:
    """f(i) of Blockeel and Struyf (section 3.2) for each level on which any tree asks.

    The different tests at level i, the forest over, for each test that a single tree has there: 1 where all
    trees agree, their number where each goes its own way.
    """
    return tests_per_node(walk_together(trees))


def tests_per_node(joint: JointWalk) -> Floats:
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


_STYLE = Style()


class _StabilityReader:
    """Turns places and arms of a joint walk into records."""

    def __init__(self, trees: Sequence[Tree], joint: JointWalk) -> None:
        self._trees, self._joint = trees, joint
        self._parents: dict[int, tuple[Array, Array]] = {}
        self._steps: dict[tuple[int, int], str] = {}

    def node(self, node: int) -> NodeStability:
        tree, joint = self._trees[0], self._joint
        own, place = int(joint.first_arm[node]), int(joint.first_place[node])
        arms = sorted(
            (self.arm(a) for a in range(*joint.place_start[place : place + 2].tolist()) if a != own),
            key=lambda arm: (-len(arm.folds), arm.folds),
        )
        same = len(self._entries(own)[0]) - 1
        here = same + sum(len(arm.folds) for arm in arms)
        leaf = tree.is_leaf(node)
        return NodeStability(
            node=node,
            depth=int(joint.level[place]),
            path=self.path(0, node),
            rows=int(tree.arrays["rows"][node]),
            test="" if leaf else tree.test_text(node),
            prediction=_answer(tree, node),
            folds=joint.n_sets - 1,
            here=here,
            same=same,
            leaves=sum(len(arm.folds) for arm in arms if arm.is_leaf),
            gone=joint.n_sets - 1 - here,
            agreeing=self._agreeing(own) if leaf and tree.classes is not None else None,
            band=self.band(own),
            means=self._means(own) if leaf and tree.classes is None else None,
            alternatives=tuple(arms),
        )

    def bifurcations(self) -> tuple[Bifurcation, ...]:
        joint = self._joint
        first = joint.arm_start[:-1]
        asks = np.array([self._kind(e) != LEAF for e in first.tolist()], dtype=np.int64)
        tests = np.add.reduceat(asks, joint.place_start[:-1])
        return tuple(self._bifurcation(place) for place in np.flatnonzero(tests > 1).tolist())

    def _bifurcation(self, place: int) -> Bifurcation:
        joint = self._joint
        arms = [self.arm(a) for a in range(*joint.place_start[place : place + 2].tolist())]
        arms.sort(key=lambda arm: (not arm.final, -len(arm.folds), arm.folds))
        begin, end = joint.arm_start[joint.place_start[place : place + 2]].tolist()
        entry = begin + int(np.argmin(joint.set[begin:end]))
        i, node = int(joint.set[entry]), int(joint.node[entry])
        return Bifurcation(
            path=self.path(i, node),
            depth=int(joint.level[place]),
            node=node if i == 0 else None,
            rows=int(self._trees[i].arrays["rows"][node]),
            arms=tuple(arms),
        )

    def arm(self, arm: int) -> Arm:
        sets, nodes = self._entries(arm)
        tree, node = self._trees[sets[0]], nodes[0]
        folds, band = tuple(i for i in sets if i), self.band(arm)
        if tree.is_leaf(node):
            answers = {_answer(self._trees[i], n) for i, n in zip(sets, nodes, strict=True)}
            text = f"leaf: {answers.pop()}" if len(answers) == 1 else "leaf"
            return Arm(text, folds, sets[0] == 0)
        name = attribute_name(tree, node)
        text = f"{name} <= {band.text}" if band is not None else tree.test_text(node)
        return Arm(text, folds, sets[0] == 0, name, band)

    def band(self, arm: int) -> ThresholdBand | None:
        """The thresholds of an arm; None where it does not ask for a number."""
        if self._kind(int(self._joint.arm_start[arm])) != NUMERIC:
            return None
        attribute, thresholds = self.thresholds(arm)
        low, high = min(thresholds), max(thresholds)
        if attribute.is_integer:
            texts = (one_line(attribute.format(code)) for code in (low, high))
            return ThresholdBand(attribute.decode(int(low)), attribute.decode(int(high)), *texts)
        return ThresholdBand(low, high, real_text(low, _STYLE), real_text(high, _STYLE))

    def thresholds(self, arm: int) -> tuple[Attribute, list[float | int]]:
        """The threshold of each set of a numeric arm, in codes where the attribute is an integer one."""
        sets, nodes = self._entries(arm)
        tree = self._trees[sets[0]]
        attribute = tree.schema.attributes[tree.arrays["attribute"][nodes[0]]]
        name = "threshold_integer" if attribute.is_integer else "threshold"
        pairs = zip(sets, nodes, strict=True)
        return attribute, [self._trees[i].arrays[name][node].item() for i, node in pairs]

    def path(self, i: int, node: int) -> str:
        """The conditions from the root of tree i to a node; empty at the root, the first left out if many."""
        if i not in self._parents:
            self._parents[i] = _parents(self._trees[i])
        parent, place = self._parents[i]
        steps: list[str] = []
        while node:
            if len(steps) == DEEPEST_INDENT:
                steps.append(f"(the first {int(self._trees[i].node_depths[node])} conditions)")
                break
            above = int(parent[node])
            if (i, node) not in self._steps:
                self._steps[i, node] = self._trees[i].branch_text(above, int(place[node]))
            steps.append(self._steps[i, node])
            node = above
        return " and ".join(reversed(steps))

    def _entries(self, arm: int) -> tuple[list[int], list[int]]:
        begin, end = self._joint.arm_start[arm : arm + 2].tolist()
        return self._joint.set[begin:end].tolist(), self._joint.node[begin:end].tolist()

    def _kind(self, entry: int) -> int:
        tree = self._trees[self._joint.set[entry]]
        return int(tree.arrays["kind"][self._joint.node[entry]])

    def _agreeing(self, arm: int) -> int:
        sets, nodes = self._entries(arm)
        answers = [int(self._trees[i].leaf_class[n]) for i, n in zip(sets, nodes, strict=True)]
        return answers.count(answers[0]) - 1

    def _means(self, arm: int) -> ThresholdBand:
        sets, nodes = self._entries(arm)
        means = [float(self._trees[i].means[n, 0]) for i, n in zip(sets, nodes, strict=True)]
        low, high = min(means), max(means)
        return ThresholdBand(low, high, real_text(low, _STYLE), real_text(high, _STYLE))


def _answer(tree: Tree, node: int) -> str:
    if tree.classes is not None:
        return one_line(str(tree.classes[tree.leaf_class[node]]))
    return ", ".join(real_text(mean, _STYLE) for mean in tree.means[node].tolist())


def _parents(tree: Tree) -> tuple[Array, Array]:
    """(the parent of each node, which of its children it is)."""
    first, n = tree.arrays["first_child"], tree.arrays["n_children"]
    parent, place = np.full(tree.n_nodes, -1), np.zeros(tree.n_nodes, dtype=np.int64)
    inner = np.flatnonzero(n)
    if len(inner):
        owner, ends = np.repeat(inner, n[inner]), np.cumsum(n[inner])
        number = np.arange(ends[-1]) - np.repeat(ends - n[inner], n[inner])
        parent[first[owner] + number], place[first[owner] + number] = owner, number
    return parent, place
