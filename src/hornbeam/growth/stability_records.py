"""The records of a stability: a node beside the folds, a bifurcation and its arms, a band of thresholds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hornbeam.model.json_form import shown_real
from hornbeam.model.text import Style

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
