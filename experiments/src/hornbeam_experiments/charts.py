"""Charts of measurements: stacked bars in groups, and small panels of lines, from plain records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hornbeam.drawing.svg import class_fill, element, frame, label
from hornbeam.drawing.text import escape, number_text, width_em

from .axes import Axis, place_key

WIDTH = 1132.0


@dataclass(frozen=True)
class Bar:
    """A bar of several parts, from the bottom; `low` and `high` bound the whole of it."""

    name: str
    parts: tuple[float, ...]
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class BarGroup:
    """Bars that belong together."""

    name: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Point:
    """A measurement and what bounds it."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Line:
    """Measurements in the order of x; `kind` is the place of its name in the key."""

    kind: int
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Panel:
    """One small chart."""

    name: str
    lines: tuple[Line, ...]


def draw_bars(
    groups: Sequence[BarGroup],
    parts: Sequence[str],
    *,
    title: str,
    y_name: str,
    mark: float | None = None,
    inline: bool = False,
) -> str:
    """Groups of stacked bars over one axis; `mark` draws a line across at a value."""
    key, top = place_key(parts, WIDTH)
    height, left, foot = 330.0, 46.0, 58.0
    most = max((bar.high or sum(bar.parts) for group in groups for bar in group.bars), default=1.0)
    axis = Axis.of(max(most, mark or 0.0), top + 18, top + 18 + height)
    body = [key, axis.draw(left, WIDTH, y_name)]
    room = (WIDTH - left) / max(len(groups), 1)
    for g, group in enumerate(groups):
        begin = left + g * room
        step = min(30.0, (room - 12) / max(len(group.bars), 1))
        start = begin + (room - step * len(group.bars)) / 2
        # Names that are wider than their bars stand on two lines in turn.
        wide = any(11 * width_em(bar.name) > step for bar in group.bars)
        for b, bar in enumerate(group.bars):
            down = 14 + 13 * (b % 2 if wide else 0)
            body.append(_bar(bar, axis, start + b * step, step - 2.5, parts, down))
        body.append(label(begin + room / 2, axis.bottom + 46, group.name, room - 4, anchor="middle"))
    if mark is not None:
        y = axis.at(mark)
        body.append(element("line", x1=left, x2=WIDTH, y1=y, y2=y, class_="m"))
    described = f"{len(groups)} groups of bars: {', '.join(group.name for group in groups)}; {y_name}"
    return frame(WIDTH, axis.bottom + foot, "".join(body), title, described, inline)


def _bar(bar: Bar, axis: Axis, x: float, width: float, parts: Sequence[str], down: float) -> str:
    drawn, at = [], 0.0
    told = "; ".join(f"{name} {number_text(part, 3)}" for name, part in zip(parts, bar.parts, strict=True))
    for kind, part in enumerate(bar.parts):
        low, high = axis.at(at), axis.at(at + part)
        at += part
        fill = f"fill:{class_fill(kind)}"
        drawn.append(element("rect", x=x, y=high, width=width, height=max(low - high, 0.0), style=fill))
    drawn.append(_whisker(axis, x + width / 2, bar.low, bar.high))
    text = label(x + width / 2, axis.bottom + down, bar.name, 2 * width + 8, 11, "s", "middle")
    hover = element("title", escape(f"{bar.name}: {number_text(at, 3)} ({told})"))
    return element("g", hover + "".join(drawn) + text)


def _whisker(axis: Axis, x: float, low: float | None, high: float | None) -> str:
    if low is None or high is None or high <= low:
        return ""
    top, foot = axis.at(high), axis.at(max(low, 0.0))
    path = f"M{x - 3:.1f} {top:.1f}h6M{x:.1f} {top:.1f}V{foot:.1f}M{x - 3:.1f} {foot:.1f}h6"
    return element("path", d=path, style="stroke:var(--hb-ink);stroke-width:1.2;fill:none")


@dataclass(frozen=True)
class _Look:
    """How the panels of one picture are drawn."""

    kinds: Sequence[str]
    x_name: str
    even_steps: bool
    mark: float | None
    percent: int
    bands: bool


def draw_panels(
    panels: Sequence[Panel],
    kinds: Sequence[str],
    *,
    title: str,
    x_name: str,
    y_name: str,
    columns: int = 4,
    same_height: bool = True,
    even_steps: bool = True,
    from_zero: bool = True,
    percent: int = 90,
    bands: bool = False,
    mark: float | None = None,
    inline: bool = False,
) -> str:
    """Small charts side by side; `same_height` gives all of them one axis, `even_steps` the places of x equal
    distances. `from_zero` False lets axes begin near the lowest value; `percent` is what intervals hold, and
    `bands` draws them as bands behind the lines, for many points."""
    key, top = place_key(kinds, WIDTH)
    room, high = WIDTH / columns, 176.0
    look = _Look(kinds, x_name, even_steps, mark, percent, bands)
    body = [key]
    for p, panel in enumerate(panels):
        x, y = (p % columns) * room, top + 10 + (p // columns) * (high + 52)
        axis = _axis(panels if same_height else [panel], mark, from_zero, y + 26, y + 26 + high - 46)
        body.append(_panel(panel, axis, x, room - 18, y, look))
    rows = math.ceil(len(panels) / columns)
    described = f"{len(panels)} panels: {', '.join(panel.name for panel in panels)}; {y_name} by {x_name}"
    body.append(label(4, top + 2, y_name, 600, 11, "s"))
    return frame(WIDTH, top + 10 + rows * (high + 52), "".join(body), title, described, inline)


def _axis(panels: Sequence[Panel], mark: float | None, from_zero: bool, top: float, bottom: float) -> Axis:
    """One axis for all points of some panels."""
    points = [point for panel in panels for line in panel.lines for point in line.points]
    most = max((point.high or point.y for point in points), default=1.0)
    if from_zero:
        return Axis.of(max(most, mark or 0.0), top, bottom)
    least = min((point.y if point.low is None else point.low for point in points), default=0.0)
    return Axis.between(least, most, top, bottom)


def _panel(panel: Panel, axis: Axis, x: float, width: float, y: float, look: _Look) -> str:
    left = x + 34
    body = [label(left, y + 18, panel.name, width - 34), axis.draw(left, x + width, "")]
    places = sorted({point.x for line in panel.lines for point in line.points})
    span = (places[-1] - places[0]) or 1.0 if places else 1.0
    inner = width - 34 - 28

    def across(value: float) -> float:
        if look.even_steps:
            return left + 14 + inner * (places.index(value) / max(len(places) - 1, 1))
        return left + 14 + inner * (value - places[0]) / span

    every = max(1, math.ceil(len(places) / 8))
    for value in places[::every]:
        body.append(label(across(value), axis.bottom + 14, number_text(value), 40, 11, "s", "middle"))
    body.append(label(left + 14 + inner / 2, axis.bottom + 29, look.x_name, width, 11, "s", "middle"))
    if look.mark is not None:
        y_mark = axis.at(look.mark)
        body.append(element("line", x1=left, x2=x + width, y1=y_mark, y2=y_mark, class_="m"))
    if look.bands:
        body += [_band(line, axis, across) for line in panel.lines]
    for line in panel.lines:
        body.append(_line(line, axis, across, look, len(panel.lines)))
    return element("g", "".join(body))


def _band(line: Line, axis: Axis, across) -> str:  # type: ignore[no-untyped-def]
    """The intervals of a line as one area."""
    bounded = [point for point in line.points if _is_bounded(point)]
    known = [(across(point.x), axis.at(point.low or 0), axis.at(point.high or 0)) for point in bounded]
    if not known:
        return ""
    edge = [(x, high) for x, _, high in known] + [(x, low) for x, low, _ in reversed(known)]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in edge) + "Z"
    return element("path", d=path, style=f"fill:{class_fill(line.kind)};opacity:.13")


def _is_bounded(point: Point) -> bool:
    return point.low is not None and point.high is not None and point.high > point.low


def _line(line: Line, axis: Axis, across, look: _Look, many: int) -> str:  # type: ignore[no-untyped-def]
    colour = class_fill(line.kind)
    # Intervals stand beside each other; bands need no room.
    shift = 0.0 if look.bands else (line.kind - (many - 1) / 2) * 2.5
    spots = [(across(point.x) + shift, axis.at(point.y)) for point in line.points]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in spots)
    drawn = [element("path", d=path, style=f"fill:none;stroke:{colour};stroke-width:1.8")] if spots else []
    for point, (x, y) in zip(line.points, spots, strict=True):
        bounds = ""
        if _is_bounded(point):
            low, high = point.low or 0.0, point.high or 0.0
            bounds = f", {look.percent} % between {number_text(low, 3)} and {number_text(high, 3)}"
        if bounds and not look.bands:
            ends = f"M{x:.1f} {axis.at(point.high or 0):.1f}V{axis.at(max(point.low or 0, 0)):.1f}"
            drawn.append(element("path", d=ends, style=f"stroke:{colour};stroke-width:3;opacity:.45"))
        told = f"{look.kinds[line.kind]} at {number_text(point.x)}: {number_text(point.y, 3)}{bounds}"
        radius = 1.9 if look.bands else 2.6
        spot = element("circle", element("title", escape(told)), cx=x, cy=y, r=radius, style=f"fill:{colour}")
        drawn.append(spot)
    return "".join(drawn)
