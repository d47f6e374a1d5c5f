"""The curve of a search: error against size or parameter, its band, and which setting was chosen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .scales import Across, dashes, foot_tick, grid_line, round_steps
from .svg import BOLD, class_fill, element, frame, label, path, rect
from .text import escape, number_text, width_em

WIDTH, HEIGHT = 1132.0, 300.0
_LEFT, _RIGHT, _FOOT = 66.0, 24.0, 48.0
_MOST_DOTS = 160
_PALE = 0.18
_DASHES = ("", "7 4", "2 3", "10 3 2 3", "4 2", "1 5")


@dataclass(frozen=True)
class SearchPoint:
    """One setting: where it stands across (a value, or the place of a name), its error and standard error."""

    x: float
    y: float
    spread: float
    leaves: int
    name: str
    """The tooltip."""


@dataclass(frozen=True)
class NamedPoint:
    """A setting with a name of its own: "chosen" or "best"."""

    point: SearchPoint
    text: str
    chosen: bool


@dataclass(frozen=True)
class SearchCurve:
    """All settings of a search; `lines` are joined, each under its name, unless the settings are `loose`."""

    lines: tuple[tuple[str, tuple[SearchPoint, ...]], ...]
    x_name: str
    y_name: str
    marks: tuple[NamedPoint, ...]
    names: tuple[str, ...] = ()
    """Where x is no number: what stands at 0, 1, ..."""
    loose: bool = False
    by_leaves: bool = False
    """Whether x is the number of leaves; else a second axis tells it."""
    percent: bool = False
    more_is_better: bool = False
    level: float | None = None
    """The 1-SE line."""
    level_text: str = ""
    tops: tuple[tuple[float, str], ...] = ()
    """What the second axis says at values of x."""
    top_name: str = "leaves"

    @property
    def points(self) -> tuple[SearchPoint, ...]:
        return tuple(point for _, line in self.lines for point in line)


def draw_curve(curve: SearchCurve, *, title: str, inline: bool = False) -> str:
    """The picture: band of one standard error, line, the level of one standard error, the marks."""
    points = [point for point in curve.points if math.isfinite(point.y)]
    key, top = _key(curve)
    names, top = top + 12.0, top + (44.0 if curve.tops else 24.0)
    across = _across(curve, points)
    heights = _Heights.of(curve, points, top, top + HEIGHT)
    body = [key, label(4, names, curve.y_name, 560), heights.draw(curve)]
    body += [_feet(curve, across, heights), _tops(curve, across, top, names)]
    for kind, (name, line) in enumerate(curve.lines):
        body.append(_line(curve, kind, name, [s for s in line if math.isfinite(s.y)], across, heights))
    if curve.level is not None and points:
        body.append(dashes(_LEFT, WIDTH - _RIGHT, heights.at(curve.level)))
    body.append(_marks(curve, across, heights))
    described = f"{curve.y_name} of {len(points)} settings by {curve.x_name}; " + "; ".join(
        mark.text for mark in curve.marks
    )
    return frame(WIDTH, heights.bottom + _FOOT, "".join(body), title, described, inline)


@dataclass(frozen=True)
class _Heights:
    """The upright axis."""

    steps: tuple[float, ...]
    top: float
    bottom: float

    @classmethod
    def of(cls, curve: SearchCurve, points: Sequence[SearchPoint], top: float, bottom: float) -> _Heights:
        marked = [mark.point for mark in curve.marks]
        reach = [point for point in points if not curve.loose or point in marked]
        ends = [point.y + side * point.spread for point in reach for side in (-1, 1)]
        ends += [point.y for point in points]
        ends += [curve.level] if curve.level is not None else []
        low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
        return cls(tuple(round_steps(low, high)), top, bottom)

    def at(self, value: float) -> float:
        low, high = self.steps[0], self.steps[-1]
        return self.bottom - (self.bottom - self.top) * min(max((value - low) / (high - low), 0.0), 1.0)

    def draw(self, curve: SearchCurve) -> str:
        step = self.steps[1] - self.steps[0]
        scale = 100.0 if curve.percent else 1.0
        digits = max(0, -math.floor(math.log10(step * scale) + 1e-9))
        digits += 0 if abs(round(step * scale, digits) - step * scale) < 1e-9 * step * scale else 1
        drawn = []
        for value in self.steps:
            text = f"{value * scale:.{digits}f}" + ("\u202f%" if curve.percent else "")
            drawn.append(grid_line(_LEFT, WIDTH - _RIGHT, self.at(value), text, _LEFT - 10))
        return "".join(drawn)


def _across(curve: SearchCurve, points: Sequence[SearchPoint]) -> Across:
    inner = 22.0
    if curve.names:
        room = (WIDTH - _LEFT - _RIGHT) / len(curve.names) / 2
        values = tuple(float(i) for i in range(len(curve.names)))
        return Across(values, _LEFT + room, WIDTH - _RIGHT - room)
    values = tuple(sorted({point.x for point in points})) or (0.0,)
    return Across(values, _LEFT + inner, WIDTH - _RIGHT - inner)


def _feet(curve: SearchCurve, across: Across, heights: _Heights) -> str:
    drawn = []
    ticks = list(across.values) if curve.names else across.ticks()
    room = (WIDTH - _LEFT) / max(len(curve.names), 1) - 6 if curve.names else 60.0
    for value in ticks:
        text = curve.names[int(value)] if curve.names else _value_text(value)
        drawn.append(foot_tick(across.at(value), heights.bottom, text, room))
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    drawn.append(label(middle, heights.bottom + 37, curve.x_name, 700, 12, "t", "middle"))
    return "".join(drawn)


def _value_text(value: float) -> str:
    return "none" if value == math.inf else number_text(value)


def _tops(curve: SearchCurve, across: Across, top: float, names: float) -> str:
    """The second axis; what would stand too close is left out."""
    if not curve.tops:
        return ""
    drawn, end = [label(WIDTH - _RIGHT, names, curve.top_name, 400, 11, "s", "end")], -math.inf
    for value, text in sorted(curve.tops):
        x, half = across.at(value), 11 * width_em(text) / 2
        if x - half < end + 20 or x + half > WIDTH:
            continue
        end = x + half
        drawn.append(path(f"M{x:.1f} {top:.1f}v-4", class_="e"))
        drawn.append(label(x, top - 9, text, 2 * half + 4, 11, "s", "middle"))
    return "".join(drawn)


def _key(curve: SearchCurve) -> tuple[str, float]:
    """What lines, band and dashes mean, told apart on grey paper too, and the height below."""
    entries: list[tuple[str, str]] = []
    if len(curve.lines) > 1:
        entries += [(name, f"stroke {kind}") for kind, (name, _) in enumerate(curve.lines)]
    if any(point.spread > 0 for point in curve.points):
        text = "one standard error to each side"
        if len(curve.lines) > 1:
            text += ", of the line chosen from"
        elif curve.loose:
            text += ", of the named settings"
        entries.append((text, "whisker" if curve.names or curve.loose else "band"))
    if curve.level is not None:
        entries.append((curve.level_text, "level"))
    x, y, drawn = 4.0, 14.0, []
    for text, look in entries:
        room = 34 + 11.5 * width_em(text) + 16
        if x + room > WIDTH and x > 4:
            x, y = 4.0, y + 18
        drawn.append(_swatch(look, x, y - 4, _chosen_kind(curve)))
        drawn.append(label(x + 32, y, text, room, 11.5, "s"))
        x += room
    return "".join(drawn), y + 12 if entries else 2.0


def _swatch(look: str, x: float, y: float, kind: int) -> str:
    if look == "level":
        return dashes(x, x + 26, y)
    if look == "band":
        return rect(x, y - 6, 26.0, 12.0, fill=class_fill(kind), fill_opacity=_PALE)
    if look == "whisker":
        return path(f"M{x + 13:.1f} {y - 6:.1f}v12m-4 0h8m-8 -12h8", style=_thin(kind))
    return path(f"M{x:.1f} {y:.1f}h26", style=_stroke(int(look.split()[1])))


def _chosen_kind(curve: SearchCurve) -> int:
    """The place of the line that the chosen setting is on."""
    chosen = [mark.point for mark in curve.marks if mark.chosen]
    return next((i for i, (_, line) in enumerate(curve.lines) if any(s in line for s in chosen)), 0)


def _thin(kind: int) -> str:
    return f"stroke:{class_fill(kind)};stroke-width:1.4;fill:none"


def _stroke(kind: int) -> str:
    dash = _DASHES[kind % len(_DASHES)]
    return f"fill:none;stroke:{class_fill(kind)};stroke-width:2" + (
        f";stroke-dasharray:{dash}" if dash else ""
    )


def _line(
    curve: SearchCurve, kind: int, name: str, points: Sequence[SearchPoint], across: Across, heights: _Heights
) -> str:
    places = [(across.at(point.x), point) for point in points]
    drawn = []
    if not curve.loose and not curve.names and places:
        if kind == _chosen_kind(curve):
            drawn.append(_band(places, kind, heights))
        line = "L".join(f"{x:.1f} {heights.at(point.y):.1f}" for x, point in places)
        drawn.append(path(f"M{line}", style=_stroke(kind)))
    marked = [mark.point for mark in curve.marks]
    for x, point in places:
        if curve.names or (curve.loose and point in marked):
            drawn.append(_whisker(x, point, heights, kind))
        tooltip = element("title", escape(f"{point.name}" + (f" ({name})" if name else "")))
        seen = len(points) <= _MOST_DOTS
        look = f"fill:{class_fill(kind)}" if seen else "fill:transparent"
        drawn.append(
            element("circle", tooltip, cx=x, cy=heights.at(point.y), r=3.2 if seen else 5.0, style=look)
        )
    return "".join(drawn)


def _band(places: Sequence[tuple[float, SearchPoint]], kind: int, heights: _Heights) -> str:
    """One standard error to each side."""
    upper = [f"{x:.1f} {heights.at(point.y + point.spread):.1f}" for x, point in places]
    lower = [f"{x:.1f} {heights.at(point.y - point.spread):.1f}" for x, point in reversed(places)]
    outline = "L".join([*upper, *lower])
    return path(f"M{outline}Z", style=f"fill:{class_fill(kind)};stroke:none", fill_opacity=_PALE)


def _whisker(x: float, point: SearchPoint, heights: _Heights, kind: int) -> str:
    top, foot = heights.at(point.y + point.spread), heights.at(point.y - point.spread)
    return path(
        f"M{x - 4:.1f} {top:.1f}h8M{x:.1f} {top:.1f}V{foot:.1f}M{x - 4:.1f} {foot:.1f}h8", style=_thin(kind)
    )


def _marks(curve: SearchCurve, across: Across, heights: _Heights) -> str:
    """The named settings: a sign at its place, and its name where settings are worse and thus rare."""
    drawn: list[str] = []
    signs: list[str] = []
    taken: list[tuple[float, float, float]] = []
    for mark in curve.marks:
        if not math.isfinite(mark.point.y):
            continue
        x, y = across.at(mark.point.x), heights.at(mark.point.y)
        wide = 12 * BOLD * width_em(mark.text) + 8
        right = x + 8 + wide <= WIDTH
        start = x + 8 if right else x - 8 - wide
        row = 0
        while any(row == r and start < b and a < start + wide for a, b, r in taken):
            row += 1
        taken.append((start, start + wide, row))
        at = heights.bottom - 12 - 20 * row if curve.more_is_better else heights.top + 16 + 20 * row
        drawn.append(path(f"M{x:.1f} {y:.1f}V{at - 4:.1f}", class_="m"))
        drawn.append(_halo(x + 8 if right else x - 8, at, mark.text, None if right else "end"))
        signs.insert(0, _sign(x, y, mark))  # the first is the chosen one and lies on top
    return "".join([*drawn, *signs])


def _halo(x: float, y: float, text: str, anchor: str | None) -> str:
    """Text that stays readable across lines."""
    style = "paint-order:stroke;stroke:var(--hb-card);stroke-width:5px;stroke-linejoin:round"
    return element("text", escape(text), x=x, y=y, class_="t", style=style, text_anchor=anchor)


def _sign(x: float, y: float, mark: NamedPoint) -> str:
    """A full disc in a ring for the chosen one, an open diamond for the best."""
    tooltip = element("title", escape(f"{mark.text}: {mark.point.name}"))
    if mark.chosen:
        ring = element("circle", cx=x, cy=y, r=9.0, style="fill:none;stroke:var(--hb-ink);stroke-width:1.6")
        return ring + element("circle", tooltip, cx=x, cy=y, r=5.4, style="fill:var(--hb-ink)")
    look = "fill:var(--hb-card);stroke:var(--hb-ink);stroke-width:1.8"
    return element("path", tooltip, d=f"M{x:.1f} {y - 8:.1f}l8 8l-8 8l-8 -8Z", style=look)
