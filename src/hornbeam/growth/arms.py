"""The records of a stability: a node beside the folds, a bifurcation and its arms, a band of thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hornbeam.growth.joint import Joint
from hornbeam.model import Tree
from hornbeam.model.arrays import LEAF, NUMERIC, Array
from hornbeam.model.json_form import shown_real
from hornbeam.model.text import DEEPEST_INDENT, Style, attribute_name, one_line, real_text
from hornbeam.table import Attribute

_STYLE = Style()


@dataclass(frozen=True, slots=True)
class ThresholdBand:
    """The thresholds of one arm: smallest and largest, exact.

    Floats and integers are numbers; of decimals, dates and times the numbers are those of the storage, and
    the texts say what they mean.
    """

    low: float | int
    high: float | int
    low_text: str
    high_text: str

    @property
    def text(self) -> str:
        """`2.45`, or `2.45 to 2.6`."""
        return self.low_text if self.low == self.high else f"{self.low_text} to {self.high_text}"

    def to_record(self) -> dict[str, Any]:
        ends = (shown_real(end) if isinstance(end, float) else end for end in (self.low, self.high))
        return {**dict(zip(("low", "high"), ends, strict=True)), "text": self.text}


@dataclass(frozen=True, slots=True)
class Arm:
    """Sets that do the same at a place: ask the same test, or stop."""

    test: str
    """`age <= 41.5`; `age <= 40 to 41.5` for several thresholds; `leaf: yes`; `leaf` for several answers."""
    folds: tuple[int, ...]
    final: bool = False
    """Whether the tree of all rows is among them."""
    attribute: str = ""
    """What it asks about, as the text begins; empty where it stops."""
    band: ThresholdBand | None = None

    @property
    def is_leaf(self) -> bool:
        return not self.attribute

    def to_record(self) -> dict[str, Any]:
        band = None if self.band is None else self.band.to_record()
        return {"test": self.test, "folds": list(self.folds), "final": self.final, "band": band}


@dataclass(frozen=True, slots=True)
class Bifurcation:
    """A place where sets that came together ask different things; those that stop there are an arm too."""

    path: str
    depth: int
    node: int | None
    """The node of the tree of all rows, or None where that tree has parted from these folds above."""
    rows: int
    """Of that node, or of the first fold that is here."""
    arms: tuple[Arm, ...]
    """The arm of the tree of all rows first, then by the number of folds."""

    def to_record(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in ("path", "depth", "node", "rows")}
        return {**plain, "arms": [arm.to_record() for arm in self.arms]}


@dataclass(frozen=True, slots=True)
class NodeStability:
    """A node of the tree of all rows beside the folds: same + others + leaves + gone = folds.

    At a leaf `same` counts the folds that also end there, and `leaves` is 0.
    """

    node: int
    depth: int
    path: str
    rows: int
    test: str
    """What it asks; empty at a leaf."""
    prediction: str
    folds: int
    here: int
    """Folds that arrive by the same tests."""
    same: int
    """Folds that go on with the same test, or end here as the tree does."""
    leaves: int
    """Folds that stop where the tree asks."""
    gone: int
    """Folds that parted above."""
    agreeing: int | None
    """At a leaf of a classification the folds that end here and give the same answer."""
    band: ThresholdBand | None
    """The thresholds of the tree and of the folds with the same test; None where it is not numeric."""
    means: ThresholdBand | None
    """At a leaf of a regression the means of the first target, over the tree and the folds that end here."""
    alternatives: tuple[Arm, ...]
    """What the other folds that are here do, the most folds first."""

    @property
    def others(self) -> int:
        """Folds that ask something else."""
        return self.here - self.same - self.leaves

    @property
    def is_leaf(self) -> bool:
        return not self.test

    def to_record(self) -> dict[str, Any]:
        record = {name: getattr(self, name) for name in self.__slots__}
        for name in ("band", "means"):
            record[name] = None if record[name] is None else record[name].to_record()
        record["alternatives"] = [arm.to_record() for arm in self.alternatives]
        return record


@dataclass(frozen=True, slots=True)
class LevelStability:
    """One level of the tree; the root is level 0."""

    level: int
    tests: int
    """Tests that the tree asks on it."""
    rows: int
    """Rows that meet them."""
    agreement: float
    """Share of folds with the same test, weighted by rows."""
    forest_tests: int
    """Different tests on this level, all trees together."""
    f: float
    """Those for each test of a single tree: f(i) of Blockeel and Struyf."""

    def to_record(self) -> dict[str, Any]:
        return asdict(self)


class Reader:
    """Turns places and arms of a joint walk into records."""

    def __init__(self, trees: Sequence[Tree], joint: Joint) -> None:
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
