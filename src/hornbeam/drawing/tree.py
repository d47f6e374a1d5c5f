"""The tree as boxes and branches: top-down while that fits a page, else from left to right."""

from __future__ import annotations

from dataclasses import dataclass

from . import palette
from .layout import Shown, across, visible_part
from .node import BOX_HEIGHT, Legend, draw_box
from .records import Picture
from .svg import element, frame, label
from .text import count_text, number_text, width_em

PAGE_WIDTH = 1112.0
_MARGIN = 14.0
_MARKER = 30.0
_LEGEND = 34.0


@dataclass(frozen=True)
class _Places:
    """The upper left corner of every box, its width, and the size of the whole."""

    corners: tuple[tuple[float, float], ...]
    box: float
    width: float
    height: float
    down: bool


def draw_tree(picture: Picture, depth: int = 4, *, inline: bool = False, title: str = "Decision tree") -> str:
    """An SVG of the tree down to a depth; every hidden subtree is marked with the leaves it holds."""
    shown = visible_part(picture, depth)
    places = _place(shown, picture)
    legend = Legend.of(picture)
    edges = [_edge(picture, shown, places, place) for place in range(1, len(shown))]
    boxes = [_box(picture, node, places, place, legend) for place, node in enumerate(shown)]
    body = _legend(picture, legend, places.width) + "".join(edges) + "".join(boxes)
    leaves = picture.leaves_below[0]
    described = f"{leaves} leaves, depth {picture.depth}; drawn down to depth {min(depth, picture.depth)}"
    return frame(places.width, places.height, body, title, described, inline)


def _place(shown: tuple[Shown, ...], picture: Picture) -> _Places:
    """Top-down with the widest boxes that fit the page; where not even narrow ones do, from left to right."""
    for box in (230.0, 200.0, 172.0):
        down = _place_down(shown, box)
        if down.width <= PAGE_WIDTH:
            return down
    return _place_right(shown, picture)


def _place_down(shown: tuple[Shown, ...], box: float) -> _Places:
    step = BOX_HEIGHT + 50.0
    middle = across(shown, box, 16.0)
    corners = tuple(
        (_MARGIN + m - box / 2, _MARGIN + _LEGEND + node.depth * step)
        for node, m in zip(shown, middle, strict=True)
    )
    width = max(max(middle) + box / 2 + 2 * _MARGIN, 420.0)
    shift = (width - (max(middle) + box / 2 + 2 * _MARGIN)) / 2
    return _Places(
        tuple((x + shift, y) for x, y in corners), box, width, _bottom(shown, corners, _MARKER), True
    )


def _place_right(shown: tuple[Shown, ...], picture: Picture) -> _Places:
    longest = max(
        (width_em(picture.nodes[node.index].branch) for node in shown if node.index > 0), default=0.0
    )
    gap = min(130.0, max(62.0, longest * 11 + 34))
    levels = 1 + max(node.depth for node in shown)
    box = max(178.0, min(232.0, (PAGE_WIDTH - 2 * _MARGIN - 124 + gap) / levels - gap))
    middle = across(shown, BOX_HEIGHT, 12.0)
    corners = tuple(
        (_MARGIN + node.depth * (box + gap), _MARGIN + _LEGEND + m - BOX_HEIGHT / 2)
        for node, m in zip(shown, middle, strict=True)
    )
    marked = any(node.hidden_leaves and node.index >= 0 for node in shown)
    width = max(x for x, _ in corners) + box + _MARGIN + (124.0 if marked else 0.0)
    return _Places(corners, box, width, _bottom(shown, corners, 0.0), False)


def _bottom(shown: tuple[Shown, ...], corners: tuple[tuple[float, float], ...], marker: float) -> float:
    return _MARGIN + max(
        y + BOX_HEIGHT + (marker if node.hidden_leaves else 0.0)
        for node, (_, y) in zip(shown, corners, strict=True)
    )


def _edge(picture: Picture, shown: tuple[Shown, ...], places: _Places, place: int) -> str:
    """A branch as wide as its share of all rows, with the answer that leads along it."""
    node = shown[place]
    (px, py), (x, y) = places.corners[node.parent], places.corners[place]
    if places.down:
        x1, y1, x2, y2 = px + places.box / 2, py + BOX_HEIGHT, x + places.box / 2, y
        half = (y2 - y1) / 2
        path = f"M{x1:.1f} {y1:.1f}C{x1:.1f} {y1 + half:.1f} {x2:.1f} {y2 - half:.1f} {x2:.1f} {y2:.1f}"
    else:
        x1, y1, x2, y2 = px + places.box, py + BOX_HEIGHT / 2, x, y + BOX_HEIGHT / 2
        half = (x2 - x1) / 2
        path = f"M{x1:.1f} {y1:.1f}C{x1 + half:.1f} {y1:.1f} {x2 - half:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
    if node.index < 0:
        return element("path", d=path, class_="m")
    this = picture.nodes[node.index]
    share = this.rows / picture.nodes[0].rows if picture.nodes[0].rows else 0.0
    line = element("path", d=path, class_="e", stroke_width=1.5 + 7 * share, data_node=node.index)
    if places.down:
        return line + label(x2, y2 - 9, this.branch, places.box - 8, 11, "l", "middle")
    return line + label(x2 - 7, y2 + 4, this.branch, x2 - x1 - 16, 11, "l", "end")


def _box(picture: Picture, node: Shown, places: _Places, place: int, legend: Legend) -> str:
    x, y = places.corners[place]
    if node.index < 0:
        text = f"… {count_text(node.hidden_branches)} more branches"
        small = f"{count_text(node.hidden_leaves)} leaves"
        return label(x + 10, y + 26, text, places.box - 12, 11, "s") + label(
            x + 10, y + 42, small, places.box, 11, "s"
        )
    box = draw_box(picture, node.index, legend, x, y, places.box)
    if not node.hidden_leaves:
        return box
    text = f"… {count_text(node.hidden_leaves)} more leaves"
    if places.down:
        bottom, middle = y + BOX_HEIGHT, x + places.box / 2
        stub = element("path", d=f"M{middle:.1f} {bottom:.1f}v12", class_="m")
        return stub + box + label(middle, bottom + 24, text, places.box, 11, "s", "middle")
    right, middle = x + places.box, y + BOX_HEIGHT / 2
    stub = element("path", d=f"M{right:.1f} {middle:.1f}h12", class_="m")
    return stub + box + label(right + 16, middle + 4, text, 118.0, 11, "s")


def _legend(picture: Picture, legend: Legend, width: float) -> str:
    return _class_legend(picture, legend, width) if picture.classes else _range_legend(picture, legend)


def _class_legend(picture: Picture, legend: Legend, width: float) -> str:
    """A swatch for each class, in the order of the colours, while there is room on the line."""
    order = sorted(range(len(picture.classes)), key=lambda index: legend.ranks[index])
    parts, x = [], _MARGIN
    for count, index in enumerate(order):
        name = picture.classes[index]
        room = min(width_em(name) * 12 + 4, 150.0)
        if (x + 18 + room > width - _MARGIN - 90 and count + 1 < len(order)) or legend.ranks[
            index
        ] >= palette.N_DISTINCT:
            parts.append(label(x, 26, f"… {len(order) - count} more", 90, 12, "s"))
            break
        fill = palette.class_fill(index, legend.ranks[index])
        parts.append(element("rect", x=x, y=16, width=12, height=12, rx=3, style=f"fill:{fill}"))
        parts.append(label(x + 18, 26, name, room, 12, "s"))
        x += 18 + room + 16
    return "".join(parts)


def _range_legend(picture: Picture, legend: Legend) -> str:
    name = picture.targets[0] if picture.targets else "mean"
    parts = [label(_MARGIN, 26, f"mean {name}", 150, 12, "s")]
    x = _MARGIN + 156
    low, high = number_text(legend.low), number_text(legend.high)
    parts.append(label(x, 26, low, 70, 12, "s"))
    x += width_em(low) * 11 + 8
    for step in range(palette.N_STEPS):
        fill = palette.step_fill(step / (palette.N_STEPS - 1))
        parts.append(element("rect", x=x + 14 * step, y=16, width=14.5, height=12, style=f"fill:{fill}"))
    parts.append(label(x + 14 * palette.N_STEPS + 8, 26, high, 70, 12, "s"))
    return "".join(parts)
