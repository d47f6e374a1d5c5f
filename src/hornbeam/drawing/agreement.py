"""What a picture of stability is drawn from: beside each node of a tree, what the folds do there."""

from __future__ import annotations

from dataclasses import dataclass

from .records import Picture


@dataclass(frozen=True)
class Mark:
    """Where thresholds lie on the scale of their attribute: 0 is its smallest threshold, 1 its largest."""

    own: float
    low: float
    high: float
    ticks: tuple[float, ...]
    """The thresholds of the folds, each place once."""
    text: str


@dataclass(frozen=True)
class Way:
    """What some folds do: ask something of an attribute, or stop; then the subject says so by itself."""

    folds: int
    subject: str
    condition: str = ""

    @property
    def text(self) -> str:
        return f"{self.subject} {self.condition}".rstrip()


@dataclass(frozen=True)
class Agreement:
    """What the folds do at a node: same + others + leaves + gone is the number of folds."""

    same: int
    """Folds that ask the same; at a leaf those that end here too."""
    others: int
    """Folds that ask something else."""
    leaves: int
    """Folds that stop where the tree asks."""
    gone: int
    """Folds that parted above."""
    astray: int = 0
    """At a leaf: folds of `same` that give another answer."""
    mark: Mark | None = None
    alternatives: tuple[Way, ...] = ()
    """What the others that are here do, the most folds first."""

    @property
    def folds(self) -> int:
        return self.same + self.others + self.leaves + self.gone

    @property
    def share(self) -> float:
        return self.same / self.folds


@dataclass(frozen=True)
class LevelRow:
    """One level of the tree, for the table of levels."""

    level: int
    tests: int
    agreement: float
    forest_tests: int
    f: float


@dataclass(frozen=True)
class Parting:
    """A bifurcation: where it is, and what each arm does, that of the final tree first."""

    path: str
    rows: int
    arms: tuple[Way, ...]
    final: bool
    """Whether the tree of all rows is here; then its arm is the first."""


@dataclass(frozen=True)
class StabilityPicture:
    """A tree and what the folds do at each of its nodes."""

    picture: Picture
    agreements: tuple[Agreement, ...]
    agreement: float
    levels: tuple[LevelRow, ...] = ()
    partings: tuple[Parting, ...] = ()
    """The bifurcations to be listed, those that touch the most rows first."""
    n_partings: int = 0
    """How many there are altogether."""
    text: str = ""

    @property
    def folds(self) -> int:
        return self.agreements[0].folds


def folds_text(count: int) -> str:
    return f"{count} fold" if count == 1 else f"{count} folds"


def way_head(way: Way, leaf: bool) -> str:
    """Who goes a way: at a leaf those that go on asking."""
    asks = "asks" if way.folds == 1 else "ask"
    return f"{folds_text(way.folds)} {asks} " if leaf else f"{folds_text(way.folds)}: "


def sentence(agreement: Agreement, leaf: bool) -> str:
    """What the folds do at a node, for tooltips and for those who hear the picture."""
    did = "end here too" if leaf else "ask the same"
    parts = [f"{agreement.same} of {folds_text(agreement.folds)} {did}"]
    if agreement.astray:
        parts.append(f"{agreement.astray} of them with another answer")
    parts += [way_head(way, leaf) + way.text for way in agreement.alternatives]
    if agreement.gone:
        parts.append(f"{folds_text(agreement.gone)} parted above")
    if agreement.mark and agreement.mark.low != agreement.mark.high:
        parts.append(f"thresholds {agreement.mark.text}")
    return "; ".join(parts)
