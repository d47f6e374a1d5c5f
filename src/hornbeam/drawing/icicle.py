"""The whole tree at a glance: a level is a band, a node is as wide as its rows, its colour the prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .node import Legend, describe
from .records import Picture, PictureNode
from .svg import element, frame, rect, text_line
from .text import clean, escape, percent_text, shorten, shorten_middle, width_em

WIDTH = 1132.0
_MOST_HEIGHT = 420.0
_NARROWEST = 1.0
_MOST_STEPS = 8
# Slim blocks are many and hard to point at; the last steps of their path do, or a page grows by megabytes.
_SLIM = 8.0
_SLIM_STEPS = 2


@dataclass(frozen=True)
class Brush:
    """How a block is painted: its fill, how strongly, the class of its text, what its tooltip adds.

    With a plate the text has a background of its own: for fills of any lightness.
    """

    fill: str
    opacity: float
    look: str
    note: str = ""
    plate: bool = False


def draw_icicle(
    picture: Picture,
    *,
    inline: bool = False,
    title: str = "The whole tree at a glance",
    paint: Callable[[int], Brush] | None = None,
) -> str:
    """An SVG in which even thousands of nodes show their proportions; slivers become one grey block.

    `paint` gives the brush of a node; without it the colour is that of the prediction.
    """
    legend = Legend.of(picture)
    brush = paint or (lambda index: _by_prediction(picture.nodes[index], legend))
    levels = picture.depth + 1
    band = max(6.0, min(34.0, _MOST_HEIGHT / levels))
    start = _starts(picture)
    scale = WIDTH / picture.nodes[0].rows if picture.nodes[0].rows else 0.0
    blocks: list[str] = []
    slivers: list[tuple[int, float, float]] = []
    for index, node in enumerate(picture.nodes):
        x, width, y = start[index] * scale, node.rows * scale, node.depth * band
        if width < _NARROWEST:
            slivers.append((node.depth, x, width))
            continue
        blocks.append(_block(picture, index, brush(index), x, y, width, band))
    body = _joined(slivers, band) + "".join(blocks)
    described = (
        f"{picture.leaves_below[0]} leaves on {levels} levels; the width of a block is its share of the rows"
    )
    return frame(WIDTH, levels * band + 1, body, title, described, inline)


def _starts(picture: Picture) -> list[float]:
    """Rows that lie to the left of each node, on its own level."""
    start = [0.0] * len(picture.nodes)
    for index, node in enumerate(picture.nodes):
        at = start[index]
        for child in node.children:
            start[child] = at
            at += picture.nodes[child].rows
    return start


def _by_prediction(node: PictureNode, legend: Legend) -> Brush:
    purity = max((share for _, share in node.shares), default=1.0)
    # Inner nodes step back: the eye should find the leaves.
    strength = (0.25 + 0.55 * purity) if not node.children else 0.10 + 0.22 * purity
    if node.means:
        strength = 0.95 if not node.children else 0.35
    # On a dark block of a numeric prediction ink would drown: the halo of class l keeps it readable.
    return Brush(legend.fill(node), strength, "s" if node.shares else "l")


def _block(picture: Picture, index: int, brush: Brush, x: float, y: float, width: float, band: float) -> str:
    node = picture.nodes[index]
    path = _path_text(picture, index, _SLIM_STEPS if width < _SLIM else _MOST_STEPS)
    wide, rx = max(width - 0.8, 0.4), 2 if width >= _SLIM else None
    opacity = f"{brush.opacity:.2f}"
    block = rect(x, y, wide, band - 0.8, rx, fill=brush.fill, fill_opacity=opacity, data_node=index)
    parts = [element("title", escape(f"{path}; {brush.note}" if brush.note else path)), block]
    if width > 64 and band >= 16:
        text, shown = node.test or node.prediction, _short(node, (width - (20 if brush.plate else 12)) / 11)
        if brush.plate:
            wide, top = width_em(shown) * 11 + 8, y + band / 2 - 8
            parts.append(rect(x + 4, top, wide, 15.0, 3, fill="var(--hb-card);fill-opacity:.85"))
        parts.append(text_line(x + (8 if brush.plate else 6), y + band / 2 + 4, shown, text, brush.look))
    return element("g", "".join(parts))


def _short(node: PictureNode, room_em: float) -> str:
    """The question, or else the name of its attribute: a threshold without a name says nothing."""
    if not node.test:
        return shorten(node.prediction, room_em)
    whole = clean(node.test)
    return whole if width_em(whole) <= room_em else shorten_middle(node.subject, room_em)


def _path_text(picture: Picture, index: int, most_steps: int) -> str:
    steps: list[str] = []
    at = index
    while at > 0:
        node = picture.nodes[at]
        if len(steps) == most_steps:
            steps.append("…")
            break
        steps.append(shorten(f"{picture.nodes[node.parent].test}: {node.branch}", 36))
        at = node.parent
    share = percent_text(picture.nodes[index].rows / picture.nodes[0].rows) if picture.nodes[0].rows else ""
    return " → ".join([*reversed(steps), f"{describe(picture, picture.nodes[index])} ({share} of all)"])


def _joined(slivers: list[tuple[int, float, float]], band: float) -> str:
    """Blocks too narrow to see, merged where they touch, in a neutral grey."""
    runs: list[list[float]] = []
    for depth, x, width in sorted(slivers):
        if runs and runs[-1][0] == depth and x - (runs[-1][1] + runs[-1][2]) < 0.6:
            runs[-1][2] = x + width - runs[-1][1]
        else:
            runs.append([depth, x, width])
    blocks = [rect(x, depth * band, max(width, 0.4), band - 0.8) for depth, x, width in runs]
    return element("g", "".join(blocks), style="fill:var(--hb-other)", fill_opacity=0.6) if blocks else ""
