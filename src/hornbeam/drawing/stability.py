"""A tree beside its folds: in each box how many folds ask the same, where their thresholds lie, what else."""

from __future__ import annotations

from collections.abc import Sequence

from . import palette
from .agreement import Agreement, Mark, StabilityPicture, folds_text, sentence, way_head
from .layout import Shown, across, visible_part
from .node import LINE, PAD, branch_text, draw_test
from .places import LEGEND, MARGIN, MARKER, PAGE_WIDTH, Place, Places
from .records import PictureNode
from .svg import BOLD, element, frame, label, text_line
from .text import clean, count_text, escape, shorten_test, width_em
from .tree import caption_of, draw_edge, draw_hidden, draw_left_out

STRIPE = 7.0
BAR = 9.0
_ROW = 16.0
_MOST_CELLS = 25  # folds drawn one by one; more are a continuous bar
_MOST_LINES = 2  # alternatives that a box lists
_WIDTHS = (252.0, 232.0, 214.0)
_WIDE = 252.0
_GAP_DOWN = 46.0
_WIDEST_GAP = 150.0
_KINDS = (
    ("same", "var(--hb-c0)", "same test or leaf"),
    ("astray", "var(--hb-c3)", "same leaf, other answer"),
    ("others", "var(--hb-c1)", "asks something else"),
    ("leaves", "var(--hb-other)", "stops here"),
    ("gone", "", "parted above"),
)


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
    body = _legend(stability, places.width) + "".join(edges) + "".join(boxes)
    at_root = sentence(stability.agreements[0], not picture.nodes[0].test)
    described = f"{picture.leaves_below[0]} leaves, depth {picture.depth}; at the root {at_root}"
    caption = caption_of(picture, shown)
    if not caption:
        return frame(places.width, places.height, body, title, described, inline)
    body += label(MARGIN, places.height + 8, caption, places.width - 2 * MARGIN, 11, "s")
    return frame(places.width, places.height + 22, body, title, described, inline)


# places


def _place(stability: StabilityPicture, shown: Sequence[Shown]) -> Places:
    """Top-down while it fits a page, else from left to right."""
    for width in _WIDTHS:
        sizes = [_height(stability, node, width) for node in shown]
        middle = across(shown, width, 16.0)
        natural = max(middle) + width / 2 + 2 * MARGIN
        if natural <= PAGE_WIDTH:
            return _down(shown, middle, sizes, width, natural)
    return _right(stability, shown)


def _down(
    shown: Sequence[Shown], middle: Sequence[float], sizes: Sequence[float], width: float, natural: float
) -> Places:
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
    lines = (1 if _has_mark(agreement) else 0) + len(_lines(agreement, not node.test))
    return 52.0 + (LINE if _is_broken(node, width) else 0.0) + _ROW * lines + (2.0 if lines else 0.0)


def _is_broken(node: PictureNode, width: float) -> bool:
    """Whether the question takes two lines: name and condition."""
    return bool(node.condition) and width_em(clean(node.test)) * 12 * BOLD > width - 2 * PAD - STRIPE


def _has_mark(agreement: Agreement) -> bool:
    return agreement.mark is not None and agreement.mark.low != agreement.mark.high


def _lines(agreement: Agreement, leaf: bool, room_em: float = 99.0) -> list[tuple[str, str]]:
    """(what fits, the whole) for what the other folds do; the last line counts those that have none."""
    told = []
    for way in agreement.alternatives:
        head = way_head(way, leaf)
        shown = shorten_test(way.subject, way.condition, room_em - width_em(head))
        told.append((head + shown, head + way.text))
    if len(told) <= _MOST_LINES:
        return told
    rest = agreement.alternatives[_MOST_LINES - 1 :]
    ways = f"{folds_text(sum(way.folds for way in rest))}: {len(rest)} other ways"
    whole = "; ".join(way_head(way, leaf) + way.text for way in rest)
    return [*told[: _MOST_LINES - 1], (ways, whole)]


# boxes


def _box(stability: StabilityPicture, shown: Shown, place: Place, down: bool) -> str:
    if shown.index < 0:
        return draw_left_out(shown, place)
    picture, agreement = stability.picture, stability.agreements[shown.index]
    node = picture.nodes[shown.index]
    x, y, room = place.x + STRIPE + PAD, place.y + 19, place.width - STRIPE - 2 * PAD
    parts = [element("title", escape(_told(node, agreement))), _card(node, agreement, place)]
    broken = _is_broken(node, place.width)
    if node.test:
        parts.append(draw_test(node, x, y, room, broken))
    else:
        parts.append(label(x, y, node.prediction, room))
    y += LINE if broken else 0.0
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


def _card(node: PictureNode, agreement: Agreement, place: Place) -> str:
    """The stripe is the darker the more folds agree; a leaf has round ends."""
    fill, round_ = agreement_fill(agreement.share), 7.0 if node.test else 14.0
    size = {"x": place.x, "y": place.y, "width": place.width, "height": place.height, "rx": round_}
    ground = element("rect", **size, class_="b")
    inset = round_ * 0.45
    stripe = element(
        "rect",
        x=place.x + 1,
        y=place.y + inset,
        width=STRIPE,
        height=place.height - 2 * inset,
        rx=3,
        style=f"fill:{fill}",
    )
    return ground + stripe


def agreement_fill(share: float) -> str:
    """From pale (no fold) to dark (every fold): a scale of one hue, so it holds on grey paper too."""
    return palette.step_fill(share)


def _fold_line(agreement: Agreement, node: PictureNode, x: float, y: float, room: float) -> str:
    """The folds as a bar, and how many agree."""
    said = f"{agreement.same} of {folds_text(agreement.folds)}"
    rows = f"n = {count_text(node.rows)}"
    wide, after = width_em(said) * 11, width_em(rows) * 11
    bar = min(90.0, max(room - wide - after - 14, 40.0))
    return (
        draw_folds(agreement, x, y, bar)
        + label(x + bar + 7, y + BAR - 0.5, said, wide, 11, "s")
        + label(x + room, y + BAR - 0.5, rows, after, 11, "s", "end")
    )


def draw_folds(agreement: Agreement, x: float, y: float, width: float) -> str:
    """A cell for each fold while there are few, else stretches; folds that parted above are empty."""
    counts = counts_of(agreement)
    few = agreement.folds <= _MOST_CELLS
    step = width / agreement.folds
    parts, at = [], 0
    for name, fill, _ in _KINDS:
        many, width_each = (counts[name], 1) if few else (min(counts[name], 1), counts[name])
        look = {"style": f"fill:{fill}"} if fill else {"class_": "b"}
        for _ in range(many):
            wide = max(step * width_each - (1.2 if few else 0.0), 0.6)
            parts.append(element("rect", x=x + at * step, y=y, width=wide, height=BAR, rx=1.5, **look))
            at += width_each
    return "".join(parts)


def counts_of(agreement: Agreement) -> dict[str, int]:
    """Folds by what they do; those that end at the same leaf with another answer on their own."""
    return {
        "same": agreement.same - agreement.astray,
        "astray": agreement.astray,
        "others": agreement.others,
        "leaves": agreement.leaves,
        "gone": agreement.gone,
    }


def _range(mark: Mark, x: float, y: float, room: float) -> str:
    """The band of thresholds on the scale of the attribute: a tick a fold, a dot for the tree itself."""
    wide = min(94.0, room * 0.46)
    return draw_mark(mark, x, y - 4, wide) + label(x + wide + 8, y, mark.text, room - wide - 8, 11, "s")


def draw_mark(mark: Mark, x: float, y: float, width: float) -> str:
    """Centred on y."""
    inner = width - 6

    def at(share: float) -> float:
        return x + 3 + inner * share

    low, high = at(mark.low), at(mark.high)
    parts = [
        element("path", d=f"M{x:.1f} {y:.1f}h{width:.1f}", class_="e"),
        element(
            "rect",
            x=low - 1,
            y=y - 4,
            width=high - low + 2,
            height=8,
            rx=2,
            style="fill:var(--hb-c0)",
            fill_opacity=0.3,
        ),
    ]
    ticks = "".join(f"M{at(tick):.1f} {y - 4:.1f}v8" for tick in mark.ticks)
    parts.append(element("path", d=ticks or "M0 0", style="stroke:var(--hb-c0)", stroke_width=1.2))
    parts.append(element("circle", cx=at(mark.own), cy=y, r=3.2, style="fill:var(--hb-ink)"))
    return "".join(parts)


# legend


def _legend(stability: StabilityPicture, width: float) -> str:
    """What the cells mean, those that occur; then the scale of the stripe, where there is room."""
    seen = [counts_of(agreement) for agreement in stability.agreements]
    parts, x = [], MARGIN
    for name, fill, text in _KINDS:
        if not any(counts[name] for counts in seen):
            continue
        look = {"style": f"fill:{fill}"} if fill else {"class_": "b"}
        parts.append(element("rect", x=x, y=17, width=10, height=10, rx=1.5, **look))
        room = width_em(text) * 11 + 4
        parts.append(label(x + 15, 26, text, room, 11, "s"))
        x += 15 + room + 12
    wide = 62.0 + 11 * palette.N_STEPS + width_em(folds_text(stability.folds)) * 11
    if x + wide <= width - MARGIN:
        parts.append(_scale(stability.folds, width - MARGIN - wide))
    return "".join(parts)


def _scale(folds: int, x: float) -> str:
    step = 11.0
    blocks = "".join(
        element(
            "rect",
            x=x + 50 + step * i,
            y=17,
            width=step + 0.5,
            height=10,
            style=f"fill:{agreement_fill(i / (palette.N_STEPS - 1))}",
        )
        for i in range(palette.N_STEPS)
    )
    left = label(x + 44, 26, "no fold", 60, 11, "s", "end")
    right = label(x + 50 + step * palette.N_STEPS + 6, 26, folds_text(folds), 90, 11, "s")
    return left + blocks + right
