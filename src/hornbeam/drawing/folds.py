"""The folds at each node of a tree: the records, what they say in words, their bar and their thresholds."""

from __future__ import annotations

from dataclasses import dataclass

from .places import MARGIN
from .records import Picture
from .svg import N_STEPS, circle, label, path, rect, step_fill, step_scale, swatch
from .text import width_em

BAR = 9.0
_MOST_CELLS = 25  # folds drawn one by one; more are a continuous bar
KINDS = (
    ("same", "var(--hb-c0)", "same test or leaf", "Asks the same of the same attribute, or ends here too."),
    ("astray", "var(--hb-c3)", "same leaf, other answer", "Ends at the same leaf, but gives another answer."),
    (
        "others",
        "var(--hb-c1)",
        "asks something else",
        "Arrived by the same questions, and asks something else.",
    ),
    (
        "leaves",
        "var(--hb-other)",
        "stops here",
        "Arrived by the same questions, and stops where this tree asks.",
    ),
    ("gone", "", "parted above", "Parted from this tree further up, so it has no such place."),
)
"""What a fold may do at a node: its name, its colour, its words in the key, and a sentence for the page."""


@dataclass(frozen=True)
class ThresholdRange:
    """Where thresholds lie on the scale of their attribute: 0 is its smallest threshold, 1 its largest."""

    own: float
    low: float
    high: float
    ticks: tuple[float, ...]
    """The thresholds of the folds, each place once."""
    text: str


@dataclass(frozen=True)
class Alternative:
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
    thresholds: ThresholdRange | None = None
    alternatives: tuple[Alternative, ...] = ()
    """What the others that are here do, the most folds first."""

    @property
    def folds(self) -> int:
        return self.same + self.others + self.leaves + self.gone

    @property
    def share(self) -> float:
        return self.same / self.folds

    @property
    def counts(self) -> dict[str, int]:
        """Folds by what they do; those that end at the same leaf with another answer on their own."""
        return {
            "same": self.same - self.astray,
            "astray": self.astray,
            "others": self.others,
            "leaves": self.leaves,
            "gone": self.gone,
        }

    @property
    def fill(self) -> str:
        """From pale (no fold) to dark (every fold): a scale of one hue, so it holds on grey paper too."""
        return step_fill(self.share)

    @property
    def spread(self) -> ThresholdRange | None:
        """The thresholds, where they differ."""
        found = self.thresholds
        return found if found and found.low != found.high else None


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
    arms: tuple[Alternative, ...]
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


def alternative_head(alternative: Alternative, leaf: bool) -> str:
    """How many folds do it: at a leaf those that go on asking."""
    asks = "asks" if alternative.folds == 1 else "ask"
    return f"{folds_text(alternative.folds)} {asks} " if leaf else f"{folds_text(alternative.folds)}: "


def alternative_text(alternative: Alternative, leaf: bool) -> str:
    return alternative_head(alternative, leaf) + alternative.text


def sentence(agreement: Agreement, leaf: bool) -> str:
    """What the folds do at a node, for tooltips and for those who hear the picture."""
    did = "end here too" if leaf else "ask the same"
    parts = [f"{agreement.same} of {folds_text(agreement.folds)} {did}"]
    if agreement.astray:
        parts.append(f"{agreement.astray} of them with another answer")
    parts += [alternative_text(one, leaf) for one in agreement.alternatives]
    if agreement.gone:
        parts.append(f"{folds_text(agreement.gone)} parted above")
    if agreement.spread:
        parts.append(f"thresholds {agreement.spread.text}")
    return "; ".join(parts)


def draw_folds(agreement: Agreement, x: float, y: float, width: float) -> str:
    """A cell for each fold while there are few, else stretches; folds that parted above are empty."""
    few = agreement.folds <= _MOST_CELLS
    step, at, parts = width / agreement.folds, 0, []
    for name, fill, *_ in KINDS:
        count = agreement.counts[name]
        many, folds_each = (count, 1) if few else (min(count, 1), count)
        for _ in range(many):
            wide = max(step * folds_each - (1.2 if few else 0.0), 0.6)
            parts.append(rect(x + at * step, y, wide, BAR, 1.5, fill=fill, class_=None if fill else "b"))
            at += folds_each
    return "".join(parts)


def draw_range(thresholds: ThresholdRange, x: float, y: float, width: float) -> str:
    """A tick a fold and a dot for the tree itself on the scale of the attribute, centred on y."""

    def at(share: float) -> float:
        return x + 3 + (width - 6) * share

    low, high = at(thresholds.low), at(thresholds.high)
    ticks = "".join(f"M{at(tick):.1f} {y - 4:.1f}v8" for tick in thresholds.ticks)
    return (
        path(f"M{x:.1f} {y:.1f}h{width:.1f}", class_="e")
        + rect(low - 1, y - 4, high - low + 2, 8, 2, fill="var(--hb-c0)", fill_opacity=0.3)
        + path(ticks or "M0 0", style="stroke:var(--hb-c0)", stroke_width=1.2)
        + circle(at(thresholds.own), y, 3.2, "fill:var(--hb-ink)")
    )


def draw_legend(stability: StabilityPicture, width: float) -> str:
    """What the cells mean, those that occur; then the scale of the stripe, where there is room."""
    seen = {name for agreement in stability.agreements for name, n in agreement.counts.items() if n}
    parts, x = [], MARGIN
    for name, fill, text, _ in KINDS:
        if name in seen:
            drawn, x = swatch(x, 26, text, fill, small=True)
            parts.append(drawn)
    folds = folds_text(stability.folds)
    wide = 62.0 + 11 * N_STEPS + width_em(folds) * 11
    if x + wide > width - MARGIN:
        return "".join(parts)
    start = width - MARGIN - wide
    left = label(start + 44, 26, "no fold", 60, 11, "s", "end")
    right = label(start + 50 + 11.0 * N_STEPS + 6, 26, folds, 90, 11, "s")
    return "".join([*parts, left, step_scale(start + 50, 17, 11.0, 10), right])
