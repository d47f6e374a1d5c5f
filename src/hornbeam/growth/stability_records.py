"""The records of a stability: a node beside the folds, a bifurcation and its arms, a band of thresholds.

`TreeBesideFolds` is what the stabilities of trees of every kind have in common.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hornbeam.arguments import refuse
from hornbeam.errors import UsageError
from hornbeam.model.json_form import shown_real
from hornbeam.model.text import Style, share_text

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


class TreeBesideFolds(ABC):
    """A tree of all rows beside the trees of folds: `stability[node]` is a record for a node of the tree.

    Fold i is tree i of the forest, from 1. Iteration goes through the nodes in their order, the root first.
    """

    tree: Any
    rows, met = "rows", "a row meets"
    """What the trees were grown from, and which tests the agreement is a share of."""

    def __init__(self, trees: Sequence[Any]) -> None:
        if len(trees) < 2:
            raise UsageError(f"stability needs the tree of all {self.rows} and that of at least one fold")
        self.trees = tuple(trees)
        self.tree = trees[0]

    @property
    def n_folds(self) -> int:
        return len(self.trees) - 1

    def __len__(self) -> int:
        return int(self.tree.n_nodes)

    def __getitem__(self, node: int) -> NodeStability:
        if not isinstance(node, int | np.integer) or not 0 <= node < len(self):
            refuse("node", node, f"the tree has the nodes 0 to {len(self) - 1}")
        return self._record(int(node))

    def __iter__(self) -> Iterator[NodeStability]:
        return map(self._record, range(len(self)))

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {self.n_folds} folds, {share_text(self.root_agreement)} agree at the "
            f"root, {share_text(self.agreement)} of the tests that {self.met}>"
        )

    @abstractmethod
    def _record(self, node: int) -> NodeStability: ...

    @property
    def root_agreement(self) -> float:
        """The share of folds that ask at the root what the tree asks."""
        return self[0].same / self.n_folds

    @property
    @abstractmethod
    def agreement(self) -> float:
        """Of the tests that a row meets on its way down the tree, the share that a fold asks there too."""

    @abstractmethod
    def to_record(self) -> dict[str, Any]:
        """Plain values, for JSON."""

    def table(self) -> list[dict[str, Any]]:
        """A dict for each node, for a data frame; folds and bands are plain lists and numbers."""
        return [record.to_record() for record in self]

    def to_json(self) -> str:
        return json.dumps(self.to_record(), allow_nan=False)
