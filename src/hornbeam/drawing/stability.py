"""A tree beside its folds: in each box how many folds ask the same, where their thresholds lie, what else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from .folds import (
    BAR,
    Agreement,
    StabilityPicture,
    ThresholdRange,
    alternative_head,
    alternative_text,
    draw_folds,
    draw_legend,
    draw_range,
    folds_text,
    sentence,
)
from .node import LINE, PAD, STRIPE, branch_text, draw_words, further_lines, is_broken, striped_card
from .places import LEGEND, MARGIN, PAGE_WIDTH, Box, Layout, across, boxes_down, right_edge
from .records import PictureNode, Shown, visible_part
from .svg import element, label, text_line, tooltip
from .text import clean, count_text, shorten, shorten_middle, width_em
from .tree import captioned, draw_parts

_ROW = 16.0
_MOST_ALTERNATIVES = 2  # alternatives that a box lists
_INDENT = "\u2003"
_WIDTHS = (252.0, 232.0, 214.0)
_WIDE = 232.0
_GAP_DOWN = 46.0
_WIDEST_GAP = 112.0


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
    body = draw_legend(stability, places.width) + drawn
    at_root = sentence(stability.agreements[0], not picture.nodes[0].test)
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
        head, whole = alternative_head(one, leaf), alternative_text(one, leaf)
        if not one.condition or width_em(clean(whole)) <= room_em:
            lines.append((shorten(whole, room_em), whole))
        else:
            lines.append((head + shorten_middle(one.subject, room_em - width_em(head)), whole))
            lines.append((_INDENT + shorten(one.condition, room_em - width_em(_INDENT)), whole))
    others = alternatives[len(listed) :]
    if others:
        whole = "; ".join(alternative_text(one, leaf) for one in others)
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
    return f"{asks}; {count_text(node.rows)} rows; {sentence(agreement, not node.test)}"


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
