"""What one box of the tree shows: the question or the answer, the distribution, how many rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .records import Picture, PictureNode
from .svg import BOLD, N_DISTINCT, N_HUES, class_fill, element, label, rect, step_fill, text_line, tooltip
from .text import (
    clean,
    count_text,
    number_text,
    percent_text,
    shorten,
    shorten_middle,
    shorten_test,
    width_em,
)

BOX_HEIGHT = 60.0
LINE = 16.0
PAD = 10.0
STRIPE = 7.0
_BAR = 8.0
_HAIR = 0.8
# Classes that a box names where there are many, and the depth down to which nodes have a say in colours.
_LEADING = 2
_NEAR = 4


@dataclass(frozen=True)
class Legend:
    """Which colour each class has in one picture, and the range of a regression's means."""

    ranks: tuple[int, ...]
    low: float
    high: float

    @classmethod
    def of(cls, picture: Picture) -> Legend:
        """Classes keep their order while each has a look of its own; else those that win most come first."""
        order = list(range(len(picture.classes)))
        if len(order) > N_DISTINCT:
            wins = [0.0] * len(order)
            for node in picture.nodes:
                if node.depth <= _NEAR and node.shares:
                    wins[winner(node)] += 1
            shares = dict(picture.nodes[0].shares)
            order.sort(key=lambda index: (-wins[index], -shares.get(index, 0.0), index))
        ranks = [0] * len(order)
        for rank, index in enumerate(order):
            ranks[index] = rank
        return cls(tuple(ranks), *picture.range)

    def fill(self, node: PictureNode) -> str:
        """The colour of a node's prediction."""
        if node.shares:
            best = winner(node)
            return class_fill(best, self.ranks[best])
        return step_fill(self.position(node.means[0])) if node.means else "var(--hb-other)"

    def position(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5


def draw_box(
    picture: Picture, index: int, legend: Legend, x: float, y: float, width: float, height: float
) -> str:
    """One node with its upper left corner at x, y; a box with a line more has its test on two."""
    node = picture.nodes[index]
    room = width - 2 * PAD
    card = _card(node, legend.fill(node), x, y, width, height)
    return element(
        "g",
        tooltip(describe(picture, node)),
        card,
        draw_words(node, x + PAD, y + 19, room, height > BOX_HEIGHT),
        _bar(picture, node, legend, x + PAD, y + height - 33, room),
        label(x + PAD, y + height - 10, small_line(picture, node), room, 11, "s"),
        data_node=index,
    )


def is_broken(node: PictureNode, room: float) -> bool:
    """Whether the question takes two lines, its name and its condition, in the room there is."""
    return bool(node.condition) and width_em(clean(node.test)) * 12 * BOLD > room


def further_lines(node: PictureNode, broken: bool) -> int:
    """How many lines more than one the question takes."""
    return len(node.lines) - 1 if node.lines else int(broken and bool(node.condition))


def draw_words(node: PictureNode, x: float, y: float, room: float, broken: bool) -> str:
    """The answer, or the question on one line, on two or on lines of its own.

    Where something was shortened, the tooltip has the whole.
    """
    if not node.test:
        return label(x, y, node.prediction, room)
    room_em = room / 12 / BOLD
    if node.lines:
        shortened = [shorten(line, room_em) for line in node.lines]
        return "".join(text_line(x, y + LINE * k, line, node.test, "t") for k, line in enumerate(shortened))
    if not broken:
        return text_line(x, y, shorten_test(node.subject, node.condition, room_em), node.test, "t")
    lines = (
        (y, node.subject, shorten_middle(node.subject, room_em)),
        (y + LINE, node.condition, shorten(node.condition, room_em)),
    )
    return "".join(
        text_line(x, at, shown, whole if shown == whole else node.test, "t") for at, whole, shown in lines
    )


def branch_text(node: PictureNode, room_em: float) -> str:
    """What leads to a node, in the room there is: labels are left out and counted, never cut in the list."""
    whole = clean(node.branch)
    if width_em(whole) <= room_em or not node.labels:
        return shorten(node.branch, room_em)
    if node.others:
        return shorten(f"{node.n_labels} others", room_em)
    for kept in range(min(len(node.labels), node.n_labels - 1), 0, -1):
        shown = clean(f"{', '.join(node.labels[:kept])} +{node.n_labels - kept}")
        if width_em(shown) <= room_em:
            return shown
    if node.n_labels == 1:
        return shorten_middle(node.labels[0], room_em)
    more = f" +{node.n_labels - 1}"
    return shorten_middle(node.labels[0], room_em - width_em(more)) + more


def describe(picture: Picture, node: PictureNode) -> str:
    """The node as a sentence, for tooltips and for those who hear the picture."""
    asks = f"asks {node.test}" if node.test else f"leaf: {node.prediction}"
    if node.shares:
        spread = _spread_text(picture, sorted(node.shares, key=lambda pair: -pair[1])[:6])
    else:
        spread = ", ".join(
            f"mean {name} {number_text(mean)}"
            for name, mean in zip(picture.targets, node.means, strict=False)
        )
    missing = "; missing and never seen values arrive here" if node.takes_missing else ""
    return f"{asks}; {count_text(node.rows)} rows: {spread}{missing}"


def _spread_text(picture: Picture, shares: Iterable[tuple[int, float]]) -> str:
    return ", ".join(f"{picture.classes[index]} {percent_text(share)}" for index, share in shares)


def _card(node: PictureNode, fill: str, x: float, y: float, width: float, height: float) -> str:
    card = rect(x, y, width, height, 7, class_="b")
    return card if node.test else card + _tint(fill, x, y, width, height, 7.0)


def _tint(fill: str, x: float, y: float, width: float, height: float, rx: float) -> str:
    """A pale colour over a card, and an edge of that colour."""
    return rect(x, y, width, height, rx, style=f"fill:{fill};stroke:{fill}", fill_opacity=0.13)


def striped_card(
    node: PictureNode, fill: str, x: float, y: float, width: float, height: float, *, tinted: bool = False
) -> str:
    """A card with a stripe of a colour, and tinted with it if asked; a leaf has round ends."""
    rx = 7.0 if node.test else 14.0
    inset = rx * 0.45
    card = rect(x, y, width, height, rx, class_="b")
    tint = _tint(fill, x, y, width, height, rx) if tinted else ""
    return card + tint + rect(x + 1, y + inset, STRIPE, height - 2 * inset, 3, fill=fill)


def winner(node: PictureNode) -> int:
    """The class that a node predicts."""
    return max(node.shares, key=lambda pair: (pair[1], -pair[0]))[0]


def is_crowded(picture: Picture) -> bool:
    """Whether classes are too many to be told by their colours: then boxes name the leading ones."""
    return len(picture.classes) > N_HUES


def small_line(picture: Picture, node: PictureNode) -> str:
    """How many rows, and what most of them are."""
    rows = f"n = {count_text(node.rows)}"
    if is_crowded(picture) and node.shares:
        ordered = sorted(node.shares, key=lambda pair: (-pair[1], pair[0]))[:_LEADING]
        return f"{rows} · {_spread_text(picture, ordered)}"
    if node.shares:
        best = percent_text(max(share for _, share in node.shares))
        return f"{rows} · {best} {node.prediction}" if node.test else f"{rows} · {best}"
    if node.test and len(node.means) > 1:
        return f"{rows} · {node.prediction}"
    if node.test and node.means:
        return f"{rows} · mean {number_text(node.means[0])}"
    return f"{rows} · ± {number_text(node.spread)}" if len(node.means) == 1 else rows


def _bar(picture: Picture, node: PictureNode, legend: Legend, x: float, y: float, width: float) -> str:
    if not node.shares:
        return _mean_track(node, legend, x, y, width)
    return _class_bar(node, legend, x, y, width, is_crowded(picture))


def _class_bar(
    node: PictureNode, legend: Legend, x: float, y: float, width: float, largest_first: bool
) -> str:
    """How the rows divide; many classes stand in the order of their shares, a hair apart."""
    parts, at = [rect(x, y, width, _BAR, class_="k")], x
    for index, share in sorted(node.shares, key=lambda pair: (-pair[1] if largest_first else 0, pair[0])):
        shown = width * share - (_HAIR if largest_first and width * share > 2 * _HAIR else 0)
        parts.append(rect(at, y, shown, _BAR, fill=class_fill(index, legend.ranks[index])))
        at += width * share
    return "".join(parts)


def _mean_track(node: PictureNode, legend: Legend, x: float, y: float, width: float) -> str:
    """A track from the smallest to the largest mean of the tree, with this mean and one standard deviation to
    both sides."""
    track = rect(x, y, width, _BAR, 4, class_="k")
    if not node.means:
        return track
    centre = legend.position(node.means[0])
    half = node.spread / (legend.high - legend.low) if legend.high > legend.low else 0.0
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    fill = legend.fill(node)
    band = rect(
        x + low * width, y + 2, max(1.0, (high - low) * width), _BAR - 4, 2, fill=fill, fill_opacity=0.55
    )
    cx, style = x + 4 + centre * (width - 8), f"fill:{fill};stroke:var(--hb-card)"
    return track + band + element("circle", cx=cx, cy=y + _BAR / 2, r=5.0, stroke_width=1.5, style=style)
