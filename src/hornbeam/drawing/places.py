"""Where boxes are and how large: siblings as close as their outlines allow, a parent over their middle, boxes
wide enough for their tests, all within a page where it can be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .node import BOX_HEIGHT, LINE, PAD, branch_text, further_lines, small_line
from .records import Picture, PictureNode, Shown
from .svg import BOLD
from .text import clean, width_em

PAGE_WIDTH = 1112.0
MARGIN = 14.0
LEGEND = 34.0
MARKER = 124.0
_MARKER_BELOW = 30.0
WIDEST = 210.0
NARROWEST = 120.0
_WIDEST_GAP = 150.0
_LEAST_TEXT = 22.0


@dataclass(frozen=True)
class Box:
    """One box: its upper left corner and its size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Layout:
    """Every box of a picture, and the size of the whole."""

    boxes: tuple[Box, ...]
    width: float
    height: float
    down: bool
    """Whether the tree grows top-down, rather than from left to right."""


def place_boxes(shown: Sequence[Shown], picture: Picture) -> Layout:
    """Top-down while every test is read in full on a page, on one line or on two; else from left to right."""
    nodes = [picture.nodes[node.index] if node.index >= 0 else None for node in shown]
    for broken, widths in ((False, (230.0, 210.0, 190.0, 172.0)), (True, (210.0, 190.0, 172.0, 156.0))):
        least = max((test_width(node, broken) for node in nodes if node), default=0.0)
        least = min(least, WIDEST) if broken else least
        for width in widths:
            if width >= least:
                down = _place_down(shown, width, _heights(nodes, broken))
                if down.width <= PAGE_WIDTH:
                    return down
    right = _place_right(shown, picture, nodes, False)
    whole = all(test_width(node, False) <= WIDEST for node in nodes if node)
    return right if whole and right.width <= PAGE_WIDTH else _place_right(shown, picture, nodes, True)


def _heights(nodes: Sequence[PictureNode | None], broken: bool) -> list[float]:
    return [BOX_HEIGHT + LINE * (further_lines(node, broken) if node else 0) for node in nodes]


def test_width(node: PictureNode, broken: bool) -> float:
    """What a box needs to show its test without shortening it."""
    lines = node.lines or ((node.subject, node.condition) if broken else (node.test,))
    return max(width_em(clean(line)) for line in lines) * 12 * BOLD + 2 * PAD + 1


def _box_width(node: PictureNode, broken: bool, picture: Picture) -> float:
    """What a box needs for all that it shows."""
    answer = 0.0 if node.test else width_em(clean(node.prediction)) * 12 * BOLD
    small = width_em(clean(small_line(picture, node))) * 11
    return max(test_width(node, broken) if node.test else 0.0, max(answer, small) + 2 * PAD + 1)


def _place_down(shown: Sequence[Shown], width: float, heights: Sequence[float]) -> Layout:
    step = max(heights) + 50.0
    tops = [MARGIN + LEGEND + depth * step for depth in range(1 + max(node.depth for node in shown))]
    boxes, whole = boxes_down(shown, width, heights, tops, 420.0)
    return Layout(boxes, whole, _bottom(shown, boxes, _MARKER_BELOW), True)


def boxes_down(
    shown: Sequence[Shown], width: float, heights: Sequence[float], tops: Sequence[float], least: float
) -> tuple[tuple[Box, ...], float]:
    """Boxes of one width, a row for each level that begins at its top, in a picture of at least some width;
    and the width of the picture."""
    middle = across(shown, width, 16.0)
    natural = max(middle) + width / 2 + 2 * MARGIN
    whole = max(natural, least)
    left = MARGIN + (whole - natural) / 2 - width / 2
    boxes = tuple(
        Box(left + m, tops[node.depth], width, height)
        for node, m, height in zip(shown, middle, heights, strict=True)
    )
    return boxes, whole


def _place_right(
    shown: Sequence[Shown], picture: Picture, nodes: Sequence[PictureNode | None], broken: bool
) -> Layout:
    widths = [max(NARROWEST, _box_width(node, broken, picture) if node else 0.0) for node in nodes]
    heights = _heights(nodes, broken)
    return place_columns(shown, nodes, widths, heights, across(shown, max(heights), 12.0))


def place_columns(
    shown: Sequence[Shown],
    nodes: Sequence[PictureNode | None],
    widths: Sequence[float],
    heights: Sequence[float],
    middle: Sequence[float],
    spare: float = 30.0,
) -> Layout:
    """From left to right: a column for each level, as wide as its widest box needs; `middle` is where each
    box lies from top to bottom, `spare` what a branch has beside its text."""
    levels = 1 + max(node.depth for node in shown)
    most = (_WIDEST_GAP - spare) / 11
    columns, gaps = [0.0] * levels, [spare + _LEAST_TEXT] * levels
    for place, node, width in zip(shown, nodes, widths, strict=True):
        columns[place.depth] = min(WIDEST, max(columns[place.depth], width))
        branch = width_em(branch_text(node, most)) * 11 + spare if node else 0.0
        gaps[place.depth] = max(gaps[place.depth], branch)
    starts = list(_running(columns, gaps))
    boxes = tuple(
        Box(starts[node.depth], MARGIN + LEGEND + m - height / 2, columns[node.depth], height)
        for node, m, height in zip(shown, middle, heights, strict=True)
    )
    return Layout(boxes, right_edge(shown, boxes), _bottom(shown, boxes, 0.0), False)


def _running(columns: Sequence[float], gaps: Sequence[float]) -> Iterator[float]:
    """Where columns begin; a gap is as wide as what is written on the branches there."""
    at = MARGIN
    for column, gap in zip(columns, (*gaps[1:], 0.0), strict=True):
        yield at
        at += column + gap


def right_edge(shown: Sequence[Shown], boxes: Sequence[Box]) -> float:
    return MARGIN + max(
        box.x + box.width + (MARKER if node.hidden_leaves and node.index >= 0 else 0.0)
        for node, box in zip(shown, boxes, strict=True)
    )


def _bottom(shown: Sequence[Shown], boxes: Sequence[Box], marker: float) -> float:
    return MARGIN + max(
        box.y + box.height + (marker if node.hidden_leaves else 0.0)
        for node, box in zip(shown, boxes, strict=True)
    )


def across(shown: Sequence[Shown], extent: float | Sequence[float], gap: float) -> list[float]:
    """The middle of each box on the axis along which siblings lie; the leftmost box starts at 0.

    Follows Reingold and Tilford: a subtree is an outline by level, siblings are pushed until outlines
    stand a gap apart. `extent` is that of every box, or of each.
    """
    half = [(extent if isinstance(extent, float | int) else extent[place]) / 2 for place in range(len(shown))]
    offset = [0.0] * len(shown)  # of a node's box relative to its parent's
    low: list[list[float]] = [[] for _ in shown]
    high: list[list[float]] = [[] for _ in shown]
    for place in range(len(shown) - 1, -1, -1):
        low[place], high[place] = [-half[place]], [half[place]]
        children = shown[place].children
        if children:
            _join(children, offset, low, high, gap)
            low[place] += low[children[0]]
            high[place] += high[children[0]]
    middle = [0.0] * len(shown)
    for place, node in enumerate(shown):
        if node.parent >= 0:
            middle[place] = middle[node.parent] + offset[place]
    least = min(value - own for value, own in zip(middle, half, strict=True))
    return [value - least for value in middle]


def _join(
    children: tuple[int, ...],
    offset: list[float],
    low: list[list[float]],
    high: list[list[float]],
    gap: float,
) -> None:
    """Place children side by side; the first is left with the outline of all, seen from the parent."""
    at = [0.0]
    joined_low, joined_high = list(low[children[0]]), list(high[children[0]])
    for child in children[1:]:
        levels = min(len(joined_high), len(low[child]))
        shift = max(joined_high[level] - low[child][level] for level in range(levels)) + gap
        at.append(shift)
        joined_high[:levels] = [shift + value for value in high[child][:levels]]
        joined_high += [shift + value for value in high[child][levels:]]
        joined_low += [shift + value for value in low[child][len(joined_low) :]]
        high[child], low[child] = [], []
    centre = (at[0] + at[-1]) / 2
    for child, place in zip(children, at, strict=True):
        offset[child] = place - centre
    low[children[0]] = [value - centre for value in joined_low]
    high[children[0]] = [value - centre for value in joined_high]
