"""A tree beside its folds: the records of what folds do at each node, and the picture that shows them.

In each box stand how many folds ask the same, where their thresholds lie, and what the others do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from .node import LINE, PAD, STRIPE, branch_text, draw_words, further_lines, is_broken, striped_card
from .places import LEGEND, MARGIN, PAGE_WIDTH, Box, Layout, across, boxes_down, right_edge
from .records import Picture, PictureNode, Shown, visible_part
from .svg import (
    N_STEPS,
    circle,
    element,
    label,
    path,
    rect,
    step_fill,
    step_scale,
    swatch,
    text_line,
    tooltip,
)
from .text import clean, count_text, shorten, shorten_middle, width_em
from .tree import captioned, draw_parts

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
_ROW = 16.0
_MOST_ALTERNATIVES = 2  # alternatives that a box lists
_INDENT = "\u2003"
_WIDTHS = (252.0, 232.0, 214.0)
_WIDE = 232.0
_GAP_DOWN = 46.0
_WIDEST_GAP = 112.0


@dataclass(frozen=True)
class ThresholdRange:
    """The places of thresholds on the scale of their attribute: 0 is its smallest threshold, 1 its
    largest."""

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

    def head(self, leaf: bool) -> str:
        """How many folds do it: at a leaf those that go on asking."""
        asks = "asks" if self.folds == 1 else "ask"
        return f"{folds_text(self.folds)} {asks} " if leaf else f"{folds_text(self.folds)}: "

    def says(self, leaf: bool) -> str:
        return self.head(leaf) + self.text


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
    """How many folds of `same` give another answer; 0 where the tree asks."""
    thresholds: ThresholdRange | None = None
    alternatives: tuple[Alternative, ...] = ()
    """What the other folds that arrive here do, that of the most folds first."""

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
        """The colour of the share, from pale (no fold) to dark (every fold). The scale has one hue, so it
        holds on grey paper too."""
        return step_fill(self.share)

    @property
    def spread(self) -> ThresholdRange | None:
        """The thresholds where those of the folds differ, else None."""
        found = self.thresholds
        return found if found and found.low != found.high else None

    def sentence(self, leaf: bool) -> str:
        """What the folds do at a node, for tooltips and for those who hear the picture."""
        did = "end here too" if leaf else "ask the same"
        parts = [f"{self.same} of {folds_text(self.folds)} {did}"]
        if self.astray:
            parts.append(f"{self.astray} of them with another answer")
        parts += [one.says(leaf) for one in self.alternatives]
        if self.gone:
            parts.append(f"{folds_text(self.gone)} parted above")
        if self.spread:
            parts.append(f"thresholds {self.spread.text}")
        return "; ".join(parts)


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
    """How many bifurcations there are altogether."""
    text: str = ""

    @property
    def folds(self) -> int:
        return self.agreements[0].folds


def folds_text(count: int) -> str:
    return f"{count} fold" if count == 1 else f"{count} folds"


def draw_stability(
    stability: StabilityPicture,
    depth: int | None = 4,
    *,
    inline: bool = False,
    title: str = "Stability of the tree",
) -> str:
    """An SVG of the tree down to a depth, each box beside its folds; what is hidden is counted."""
    picture = stability.picture
    shown = visible_part(picture, depth)
    places = _place(stability, shown)
    drawn = draw_parts(picture, shown, places, partial(_box, stability))
    body = _legend(stability, places.width) + drawn
    at_root = stability.agreements[0].sentence(not picture.nodes[0].test)
    described = f"{picture.leaves_below[0]} leaves, depth {picture.depth}; at the root {at_root}"
    return captioned(picture, shown, places, body, title, described, inline)


# places


def _place(stability: StabilityPicture, shown: Sequence[Shown]) -> Layout:
    """Top-down while it fits a page, else the way that is less wide."""
    for width in _WIDTHS:
        down = _down(stability, shown, width)
        if down.width <= PAGE_WIDTH:
            return down
    right = _right(stability, shown)
    return down if down.width < right.width else right


def _down(stability: StabilityPicture, shown: Sequence[Shown], width: float) -> Layout:
    sizes = [_height(stability, node, width) for node in shown]
    tall = [0.0] * (1 + max(node.depth for node in shown))
    for node, size in zip(shown, sizes, strict=True):
        tall[node.depth] = max(tall[node.depth], size)
    tops = [MARGIN + LEGEND]
    for size in tall:
        tops.append(tops[-1] + size + _GAP_DOWN)
    boxes, whole = boxes_down(shown, width, sizes, tops, 560.0)
    marker = 30.0 if any(node.hidden_leaves for node in shown) else 0.0
    return Layout(boxes, whole, tops[-1] - _GAP_DOWN + MARGIN + marker, True)


def _right(stability: StabilityPicture, shown: Sequence[Shown]) -> Layout:
    sizes = [_height(stability, node, _WIDE) for node in shown]
    middle = across(shown, sizes, 12.0)
    texts = [stability.picture.nodes[node.index] for node in shown[1:] if node.index >= 0]
    most = (_WIDEST_GAP - 30) / 11
    gap = max(52.0, max((width_em(branch_text(node, most)) for node in texts), default=0.0) * 11 + 30)
    boxes = tuple(
        Box(MARGIN + node.depth * (_WIDE + gap), MARGIN + LEGEND + m - size / 2, _WIDE, size)
        for node, m, size in zip(shown, middle, sizes, strict=True)
    )
    height = MARGIN + max(box.y + box.height for box in boxes)
    return Layout(boxes, right_edge(shown, boxes), height, False)


def _height(stability: StabilityPicture, shown: Shown, width: float) -> float:
    if shown.index < 0:
        return 50.0
    node, agreement = stability.picture.nodes[shown.index], stability.agreements[shown.index]
    lines = (1 if agreement.spread else 0) + len(_lines(agreement, not node.test, _room(width) / 11))
    further = further_lines(node, is_broken(node, _room(width)))
    return 52.0 + LINE * further + _ROW * lines + (2.0 if lines else 0.0)


def _lines(agreement: Agreement, leaf: bool, room_em: float) -> list[tuple[str, str]]:
    """(what fits, the whole) for what the other folds do; the last line counts those that have none.

    Where name and condition do not fit on one line the condition has the next: a threshold is never cut off.
    """
    alternatives = agreement.alternatives
    few = len(alternatives) <= _MOST_ALTERNATIVES
    listed = alternatives if few else alternatives[: _MOST_ALTERNATIVES - 1]
    lines: list[tuple[str, str]] = []
    for one in listed:
        head, whole = one.head(leaf), one.says(leaf)
        if not one.condition or width_em(clean(whole)) <= room_em:
            lines.append((shorten(whole, room_em), whole))
        else:
            lines.append((head + shorten_middle(one.subject, room_em - width_em(head)), whole))
            lines.append((_INDENT + shorten(one.condition, room_em - width_em(_INDENT)), whole))
    others = alternatives[len(listed) :]
    if others:
        whole = "; ".join(one.says(leaf) for one in others)
        lines.append((f"{folds_text(sum(one.folds for one in others))}: {len(others)} other ways", whole))
    return lines


def _room(width: float) -> float:
    return width - STRIPE - 2 * PAD


# boxes


def _box(stability: StabilityPicture, shown: Shown, place: Box) -> str:
    node, agreement = stability.picture.nodes[shown.index], stability.agreements[shown.index]
    x, y, room = place.x + STRIPE + PAD, place.y + 19, _room(place.width)
    fill = agreement.fill
    card = striped_card(node, fill, place.x, place.y, place.width, place.height)
    broken = is_broken(node, room)
    parts = [tooltip(_described(node, agreement)), card, draw_words(node, x, y, room, broken)]
    y += LINE * further_lines(node, broken)
    parts.append(_fold_line(agreement, node, x, y + 9, room))
    y += 22.0
    if agreement.spread:
        y += _ROW
        parts.append(_range(agreement.spread, x, y, room))
    for line, whole in _lines(agreement, not node.test, room / 11):
        y += _ROW
        parts.append(text_line(x, y, line, whole, "s"))
    return element("g", "".join(parts), data_node=shown.index)


def _described(node: PictureNode, agreement: Agreement) -> str:
    asks = f"asks {node.test}" if node.test else f"leaf: {node.prediction}"
    return f"{asks}; {count_text(node.rows)} rows; {agreement.sentence(not node.test)}"


def _fold_line(agreement: Agreement, node: PictureNode, x: float, y: float, room: float) -> str:
    """The folds as a bar, and how many agree."""
    same = f"{agreement.same} of {folds_text(agreement.folds)}"
    rows = f"n = {count_text(node.rows)}"
    wide, after = width_em(same) * 11 + 1, width_em(rows) * 11 + 1
    bar = min(90.0, max(room - wide - after - 14, 40.0))
    return (
        draw_folds(agreement, x, y, bar)
        + label(x + bar + 7, y + BAR - 0.5, same, wide, 11, "s")
        + label(x + room, y + BAR - 0.5, rows, after, 11, "s", "end")
    )


def _range(thresholds: ThresholdRange, x: float, y: float, room: float) -> str:
    """The range of thresholds on the scale of the attribute, and in words."""
    wide = min(94.0, max(36.0, room - width_em(thresholds.text) * 11 - 9))
    text = label(x + wide + 8, y, thresholds.text, room - wide - 8, 11, "s")
    return draw_range(thresholds, x, y - 4, wide) + text


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


def _legend(stability: StabilityPicture, width: float) -> str:
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
