"""A tree beside its folds: in each box how many folds ask the same, where their thresholds lie, what else."""

from __future__ import annotations

from collections.abc import Sequence

from .agreement import Agreement, Mark, StabilityPicture, folds_text, sentence, way_head
from .folds import BAR, agreement_fill, draw_folds, draw_legend, draw_mark
from .layout import Shown, across, visible_part
from .node import LINE, PAD, STRIPE, branch_text, draw_test, striped_card
from .places import LEGEND, MARGIN, MARKER, PAGE_WIDTH, Place, Places
from .records import PictureNode
from .svg import BOLD, element, frame, label, text_line
from .text import clean, count_text, escape, shorten, shorten_middle, width_em
from .tree import caption_of, draw_edge, draw_hidden, draw_left_out

_ROW = 16.0
_MOST_WAYS = 2  # alternatives that a box lists
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
    shown = visible_part(picture, depth) if depth is not None else visible_part(picture, None, None)
    places = _place(stability, shown)
    edges = [draw_edge(picture, shown, places, place) for place in range(1, len(shown))]
    boxes = [
        _box(stability, node, place, places.down) for node, place in zip(shown, places.boxes, strict=True)
    ]
    body = draw_legend(stability, places.width) + "".join(edges) + "".join(boxes)
    at_root = sentence(stability.agreements[0], not picture.nodes[0].test)
    described = f"{picture.leaves_below[0]} leaves, depth {picture.depth}; at the root {at_root}"
    caption = caption_of(picture, shown)
    if not caption:
        return frame(places.width, places.height, body, title, described, inline)
    body += label(MARGIN, places.height + 8, caption, places.width - 2 * MARGIN, 11, "s")
    return frame(places.width, places.height + 22, body, title, described, inline)


# places


def _place(stability: StabilityPicture, shown: Sequence[Shown]) -> Places:
    """Top-down while it fits a page, else the way that is less wide."""
    for width in _WIDTHS:
        down = _down(stability, shown, width)
        if down.width <= PAGE_WIDTH:
            return down
    right = _right(stability, shown)
    return down if down.width < right.width else right


def _down(stability: StabilityPicture, shown: Sequence[Shown], width: float) -> Places:
    sizes = [_height(stability, node, width) for node in shown]
    middle = across(shown, width, 16.0)
    natural = max(middle) + width / 2 + 2 * MARGIN
    whole = max(natural, 560.0)
    left = MARGIN + (whole - natural) / 2 - width / 2
    tall = [0.0] * (1 + max(node.depth for node in shown))
    for node, size in zip(shown, sizes, strict=True):
        tall[node.depth] = max(tall[node.depth], size)
    top = [MARGIN + LEGEND]
    for size in tall:
        top.append(top[-1] + size + _GAP_DOWN)
    boxes = tuple(
        Place(left + m, top[node.depth], width, size)
        for node, m, size in zip(shown, middle, sizes, strict=True)
    )
    marker = 30.0 if any(node.hidden_leaves for node in shown) else 0.0
    return Places(boxes, whole, top[-1] - _GAP_DOWN + MARGIN + marker, True)


def _right(stability: StabilityPicture, shown: Sequence[Shown]) -> Places:
    sizes = [_height(stability, node, _WIDE) for node in shown]
    middle = across(shown, sizes, 12.0)
    texts = [stability.picture.nodes[node.index] for node in shown[1:] if node.index >= 0]
    most = (_WIDEST_GAP - 30) / 11
    gap = max(52.0, max((width_em(branch_text(node, most)) for node in texts), default=0.0) * 11 + 30)
    boxes = tuple(
        Place(MARGIN + node.depth * (_WIDE + gap), MARGIN + LEGEND + m - size / 2, _WIDE, size)
        for node, m, size in zip(shown, middle, sizes, strict=True)
    )
    width = MARGIN + max(
        box.x + box.width + (MARKER if node.hidden_leaves and node.index >= 0 else 0.0)
        for node, box in zip(shown, boxes, strict=True)
    )
    return Places(boxes, width, MARGIN + max(box.y + box.height for box in boxes), False)


def _height(stability: StabilityPicture, shown: Shown, width: float) -> float:
    if shown.index < 0:
        return 50.0
    node, agreement = stability.picture.nodes[shown.index], stability.agreements[shown.index]
    lines = (1 if _has_mark(agreement) else 0) + len(_lines(agreement, not node.test, _room(width) / 11))
    return 52.0 + LINE * _further_lines(node, width) + _ROW * lines + (2.0 if lines else 0.0)


def _further_lines(node: PictureNode, width: float) -> int:
    """How many lines more than one the question takes."""
    return len(node.lines) - 1 if node.lines else int(_is_broken(node, width))


def _is_broken(node: PictureNode, width: float) -> bool:
    """Whether the question takes two lines: name and condition."""
    return bool(node.condition) and width_em(clean(node.test)) * 12 * BOLD > _room(width)


def _has_mark(agreement: Agreement) -> bool:
    return agreement.mark is not None and agreement.mark.low != agreement.mark.high


def _lines(agreement: Agreement, leaf: bool, room_em: float) -> list[tuple[str, str]]:
    """(what fits, the whole) for what the other folds do; the last line counts those that have none.

    Where name and condition do not fit on one line the condition has the next: a threshold is never cut off.
    """
    ways = agreement.alternatives
    told = ways if len(ways) <= _MOST_WAYS else ways[: _MOST_WAYS - 1]
    lines: list[tuple[str, str]] = []
    for way in told:
        head, whole = way_head(way, leaf), way_head(way, leaf) + way.text
        if not way.condition or width_em(clean(whole)) <= room_em:
            lines.append((shorten(whole, room_em), whole))
        else:
            lines.append((head + shorten_middle(way.subject, room_em - width_em(head)), whole))
            lines.append((_INDENT + shorten(way.condition, room_em - width_em(_INDENT)), whole))
    rest = ways[len(told) :]
    if rest:
        whole = "; ".join(way_head(way, leaf) + way.text for way in rest)
        lines.append((f"{folds_text(sum(way.folds for way in rest))}: {len(rest)} other ways", whole))
    return lines


def _room(width: float) -> float:
    return width - STRIPE - 2 * PAD


# boxes


def _box(stability: StabilityPicture, shown: Shown, place: Place, down: bool) -> str:
    if shown.index < 0:
        return draw_left_out(shown, place)
    picture, agreement = stability.picture, stability.agreements[shown.index]
    node = picture.nodes[shown.index]
    x, y, room = place.x + STRIPE + PAD, place.y + 19, _room(place.width)
    fill = agreement_fill(agreement.share)
    card = striped_card(node, fill, place.x, place.y, place.width, place.height)
    parts = [element("title", escape(_told(node, agreement))), card]
    broken = _is_broken(node, place.width)
    if node.test:
        parts.append(draw_test(node, x, y, room, broken))
    else:
        parts.append(label(x, y, node.prediction, room))
    y += LINE * _further_lines(node, place.width)
    parts.append(_fold_line(agreement, node, x, y + 9, room))
    y += 22.0
    if agreement.mark and _has_mark(agreement):
        y += _ROW
        parts.append(_range(agreement.mark, x, y, room))
    for line, whole in _lines(agreement, not node.test, room / 11):
        y += _ROW
        parts.append(text_line(x, y, line, whole, "s"))
    return draw_hidden(shown, place, down) + element("g", "".join(parts), data_node=shown.index)


def _told(node: PictureNode, agreement: Agreement) -> str:
    asks = f"asks {node.test}" if node.test else f"leaf: {node.prediction}"
    return f"{asks}; {count_text(node.rows)} rows; {sentence(agreement, not node.test)}"


def _fold_line(agreement: Agreement, node: PictureNode, x: float, y: float, room: float) -> str:
    """The folds as a bar, and how many agree."""
    said = f"{agreement.same} of {folds_text(agreement.folds)}"
    rows = f"n = {count_text(node.rows)}"
    wide, after = width_em(said) * 11 + 1, width_em(rows) * 11 + 1
    bar = min(90.0, max(room - wide - after - 14, 40.0))
    return (
        draw_folds(agreement, x, y, bar)
        + label(x + bar + 7, y + BAR - 0.5, said, wide, 11, "s")
        + label(x + room, y + BAR - 0.5, rows, after, 11, "s", "end")
    )


def _range(mark: Mark, x: float, y: float, room: float) -> str:
    """The band of thresholds on the scale of the attribute: a tick a fold, a dot for the tree itself."""
    wide = min(94.0, max(36.0, room - width_em(mark.text) * 11 - 9))
    return draw_mark(mark, x, y - 4, wide) + label(x + wide + 8, y, mark.text, room - wide - 8, 11, "s")
