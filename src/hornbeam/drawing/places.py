"""Where boxes stand and how large they are: wide enough for their tests, within a page where it can be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .layout import Shown, across
from .node import BOX_HEIGHT, LINE, PAD, branch_text, small_line
from .records import Picture, PictureNode
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
class Place:
    """One box: its upper left corner and its size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Places:
    """Every box of a picture, and the size of the whole."""

    boxes: tuple[Place, ...]
    width: float
    height: float
    down: bool
    """Top-down; else from left to right."""


def place_boxes(shown: Sequence[Shown], picture: Picture) -> Places:
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
    return [BOX_HEIGHT + LINE * (_further_lines(node, broken) if node else 0) for node in nodes]


def _further_lines(node: PictureNode, broken: bool) -> int:
    return len(node.lines) - 1 if node.lines else int(broken and bool(node.condition))


def test_width(node: PictureNode, broken: bool) -> float:
    """What a box needs to show its test without shortening it."""
    lines = node.lines or ((node.subject, node.condition) if broken else (node.test,))
    return max(width_em(clean(line)) for line in lines) * 12 * BOLD + 2 * PAD + 1


def _box_width(node: PictureNode, broken: bool, picture: Picture) -> float:
    """What a box needs for all that it shows."""
    answer = 0.0 if node.test else width_em(clean(node.prediction)) * 12 * BOLD
    small = width_em(clean(small_line(picture, node))) * 11
    return max(test_width(node, broken) if node.test else 0.0, max(answer, small) + 2 * PAD + 1)


def _place_down(shown: Sequence[Shown], width: float, heights: Sequence[float]) -> Places:
    step = max(heights) + 50.0
    middle = across(shown, width, 16.0)
    natural = max(middle) + width / 2 + 2 * MARGIN
    whole = max(natural, 420.0)
    left = MARGIN + (whole - natural) / 2 - width / 2
    boxes = tuple(
        Place(left + m, MARGIN + LEGEND + node.depth * step, width, height)
        for node, m, height in zip(shown, middle, heights, strict=True)
    )
    return Places(boxes, whole, _bottom(shown, boxes, _MARKER_BELOW), True)


def _place_right(
    shown: Sequence[Shown], picture: Picture, nodes: Sequence[PictureNode | None], broken: bool
) -> Places:
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
) -> Places:
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
        Place(starts[node.depth], MARGIN + LEGEND + m - height / 2, columns[node.depth], height)
        for node, m, height in zip(shown, middle, heights, strict=True)
    )
    whole = MARGIN + max(
        box.x + box.width + (MARKER if node.hidden_leaves and node.index >= 0 else 0.0)
        for node, box in zip(shown, boxes, strict=True)
    )
    return Places(boxes, whole, _bottom(shown, boxes, 0.0), False)


def _running(columns: Sequence[float], gaps: Sequence[float]) -> Iterator[float]:
    """Where columns begin; a gap is as wide as what is written on the branches there."""
    at = MARGIN
    for column, gap in zip(columns, (*gaps[1:], 0.0), strict=True):
        yield at
        at += column + gap


def _bottom(shown: Sequence[Shown], boxes: Sequence[Place], marker: float) -> float:
    return MARGIN + max(
        box.y + box.height + (marker if node.hidden_leaves else 0.0)
        for node, box in zip(shown, boxes, strict=True)
    )
