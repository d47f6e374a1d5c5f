"""The tree as boxes and branches: top-down while that fits a page, else from left to right."""

from __future__ import annotations

from collections.abc import Callable

from .node import Legend, branch_text, draw_box
from .places import MARGIN, MARKER, Box, Layout, place_boxes
from .records import Picture, Shown, visible_part
from .svg import N_DISTINCT, N_STEPS, class_fill, frame, label, path, step_scale, swatch, text_line
from .text import count_text, number_text, width_em


def draw_tree(
    picture: Picture, depth: int | None = 4, *, inline: bool = False, title: str = "Decision tree"
) -> str:
    """An SVG of the tree down to a depth; every hidden subtree is marked with the leaves it holds.

    With depth None nothing is hidden, neither below nor beside.
    """
    shown = visible_part(picture, depth)
    places = place_boxes(shown, picture)
    legend = Legend.of(picture)

    def box(node: Shown, place: Box) -> str:
        return draw_box(picture, node.index, legend, place.x, place.y, place.width, place.height)

    body = _legend(picture, legend, places.width) + draw_parts(picture, shown, places, box)
    drawn = max(node.depth for node in shown)
    described = f"{picture.leaves_below[0]} leaves, depth {picture.depth}; drawn down to depth {drawn}"
    return captioned(picture, shown, places, body, title, described, inline)


def draw_parts(
    picture: Picture, shown: tuple[Shown, ...], places: Layout, box: Callable[[Shown, Box], str]
) -> str:
    """Branches, boxes as `box` draws a node in its place, and marks for what is left out or hidden."""
    edges = [_edge(picture, shown, places, place) for place in range(1, len(shown))]
    boxes = [
        _left_out(node, place) if node.index < 0 else _hidden(node, place, places.down) + box(node, place)
        for node, place in zip(shown, places.boxes, strict=True)
    ]
    return "".join(edges + boxes)


def captioned(
    picture: Picture,
    shown: tuple[Shown, ...],
    places: Layout,
    body: str,
    title: str,
    described: str,
    inline: bool,
) -> str:
    """The picture, and below it how much of the tree is hidden, if anything is."""
    caption = caption_of(picture, shown)
    if not caption:
        return frame(places.width, places.height, body, title, described, inline)
    body += label(MARGIN, places.height + 8, caption, places.width - 2 * MARGIN, 11, "s")
    return frame(places.width, places.height + 22, body, title, described, inline)


def caption_of(picture: Picture, shown: tuple[Shown, ...]) -> str:
    """How much of the tree is hidden; empty if nothing is."""
    boxes = sum(node.index >= 0 for node in shown)
    if boxes == len(picture.nodes):
        return ""
    return f"{count_text(boxes)} of {count_text(len(picture.nodes))} nodes are drawn"


def _edge(picture: Picture, shown: tuple[Shown, ...], places: Layout, place: int) -> str:
    """A branch as wide as its share of all rows, with the answer that leads along it."""
    node = shown[place]
    above, box = places.boxes[node.parent], places.boxes[place]
    if places.down:
        x1, y1, x2, y2 = above.x + above.width / 2, above.y + above.height, box.x + box.width / 2, box.y
        half = (y2 - y1) / 2
        d = f"M{x1:.1f} {y1:.1f}C{x1:.1f} {y1 + half:.1f} {x2:.1f} {y2 - half:.1f} {x2:.1f} {y2:.1f}"
    else:
        x1, y1, x2, y2 = above.x + above.width, above.y + above.height / 2, box.x, box.y + box.height / 2
        half = (x2 - x1) / 2
        d = f"M{x1:.1f} {y1:.1f}C{x1 + half:.1f} {y1:.1f} {x2 - half:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
    if node.index < 0:
        return path(d, class_="m")
    this = picture.nodes[node.index]
    share = this.rows / picture.nodes[0].rows if picture.nodes[0].rows else 0.0
    line = path(d, class_="e", stroke_width=1.5 + 7 * share, data_node=node.index)
    if places.down:
        shown_text = branch_text(this, (box.width - 8) / 11)
        return line + text_line(x2, y2 - 9, shown_text, this.branch, "l", "middle")
    shown_text = branch_text(this, (x2 - x1 - 16) / 11)
    return line + text_line(x2 - 7, y2 + 4, shown_text, this.branch, "l", "end")


def _left_out(node: Shown, place: Box) -> str:
    """What stands for branches beside those that are drawn."""
    text = f"… {count_text(node.hidden_branches)} more branches"
    small = f"{count_text(node.hidden_leaves)} leaves"
    first = label(place.x + 10, place.y + 26, text, place.width - 12, 11, "s")
    return first + label(place.x + 10, place.y + 42, small, place.width, 11, "s")


def _hidden(node: Shown, place: Box, down: bool) -> str:
    """How many leaves lie below a box whose branches are not drawn."""
    if not node.hidden_leaves:
        return ""
    text = f"… {count_text(node.hidden_leaves)} leaves"
    if down:
        bottom, middle = place.y + place.height, place.x + place.width / 2
        stub = path(f"M{middle:.1f} {bottom:.1f}v12", class_="m")
        return stub + label(middle, bottom + 24, text, place.width, 11, "s", "middle")
    right, middle = place.x + place.width, place.y + place.height / 2
    stub = path(f"M{right:.1f} {middle:.1f}h12", class_="m")
    return stub + label(right + 16, middle + 4, text, MARKER - 6, 11, "s")


def _legend(picture: Picture, legend: Legend, width: float) -> str:
    return _class_legend(picture, legend, width) if picture.classes else _range_legend(picture, legend)


def _class_legend(picture: Picture, legend: Legend, width: float) -> str:
    """A swatch for each class, in the order of the colours, while there is room on the line."""
    order = sorted(range(len(picture.classes)), key=lambda index: legend.ranks[index])
    parts, x = [], MARGIN
    for count, index in enumerate(order):
        name, rank = picture.classes[index], legend.ranks[index]
        drawn, end = swatch(x, 26, name, class_fill(index, rank), most=150.0)
        last = count + 1 == len(order)
        if (end - 16 > width - MARGIN - 90 and not last) or rank >= N_DISTINCT:
            parts.append(label(x, 26, f"… {len(order) - count} more", 90, 12, "s"))
            break
        parts.append(drawn)
        x = end
    return "".join(parts)


def _range_legend(picture: Picture, legend: Legend) -> str:
    name = picture.targets[0] if picture.targets else "mean"
    low, high = number_text(legend.low), number_text(legend.high)
    start = MARGIN + 156
    x = start + width_em(low) * 11 + 8
    left = label(MARGIN, 26, f"mean {name}", 150, 12, "s") + label(start, 26, low, 70, 12, "s")
    return left + step_scale(x, 16, 14, 12) + label(x + 14 * N_STEPS + 8, 26, high, 70, 12, "s")
