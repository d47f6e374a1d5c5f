"""The curve of a search: error against size or parameter, its band, and which setting was chosen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .scales import Across, Upright, dashes, foot_tick, grid_line, round_steps
from .svg import BOLD, circle, class_fill, element, frame, label, path, rect, tooltip
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
    """What the tooltip of the setting says."""


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
    """The names that stand at 0, 1, ... where x is no number."""
    loose: bool = False
    by_leaves: bool = False
    """Whether x is the number of leaves; else a second axis tells it."""
    percent: bool = False
    more_is_better: bool = False
    level: float | None = None
    """The error up to which a setting is as good as the best one, by one standard error."""
    level_text: str = ""
    tops: tuple[tuple[float, str], ...] = ()
    """What the second axis says at values of x."""
    top_name: str = "leaves"

    @property
    def points(self) -> tuple[SearchPoint, ...]:
        return tuple(point for _, line in self.lines for point in line)

    @property
    def marked(self) -> list[SearchPoint]:
        """The settings that have a name of their own."""
        return [mark.point for mark in self.marks]

    @property
    def chosen_line(self) -> int:
        """The place of the line that the chosen setting is on."""
        chosen = [mark.point for mark in self.marks if mark.chosen]
        return next((i for i, (_, line) in enumerate(self.lines) if any(s in line for s in chosen)), 0)


def draw_curve(curve: SearchCurve, *, title: str, inline: bool = False) -> str:
    """The picture: band of one standard error, line, the level of one standard error, the marks."""
    points = [point for point in curve.points if math.isfinite(point.y)]
    key, top = _key(curve)
    names, top = top + 12.0, top + (44.0 if curve.tops else 24.0)
    chart = _Chart(curve, _across(curve, points), _upright(curve, points, top))
    body = [key, label(4, names, curve.y_name, 560), chart.grid(), chart.feet(), chart.tops(names)]
    for kind, (name, line) in enumerate(curve.lines):
        body.append(chart.line(kind, name, [point for point in line if math.isfinite(point.y)]))
    if curve.level is not None and points:
        body.append(dashes(_LEFT, WIDTH - _RIGHT, chart.y(curve.level)))
    body.append(chart.marks())
    described = f"{curve.y_name} of {len(points)} settings by {curve.x_name}; " + "; ".join(
        mark.text for mark in curve.marks
    )
    return frame(WIDTH, chart.upright.bottom + _FOOT, "".join(body), title, described, inline)


def _upright(curve: SearchCurve, points: Sequence[SearchPoint], top: float) -> Upright:
    reach = [point for point in points if not curve.loose or point in curve.marked]
    ends = [point.y + side * point.spread for point in reach for side in (-1, 1)]
    ends += [point.y for point in points]
    ends += [curve.level] if curve.level is not None else []
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    return Upright(round_steps(low, high), top, top + HEIGHT)


def _across(curve: SearchCurve, points: Sequence[SearchPoint]) -> Across:
    inner, values = 22.0, tuple(sorted({point.x for point in points})) or (0.0,)
    if curve.names:
        inner = (WIDTH - _LEFT - _RIGHT) / len(curve.names) / 2
        values = tuple(float(i) for i in range(len(curve.names)))
    return Across(values, _LEFT + inner, WIDTH - _RIGHT - inner)


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
        drawn += [_swatch(look, x, y - 4, curve.chosen_line), label(x + 32, y, text, room, 11.5, "s")]
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


def _thin(kind: int) -> str:
    return f"stroke:{class_fill(kind)};stroke-width:1.4;fill:none"


def _stroke(kind: int) -> str:
    dash = _DASHES[kind % len(_DASHES)]
    line = f"fill:none;stroke:{class_fill(kind)};stroke-width:2"
    return f"{line};stroke-dasharray:{dash}" if dash else line


@dataclass(frozen=True)
class _Chart:
    """A curve between its two axes."""

    curve: SearchCurve
    across: Across
    upright: Upright

    def x(self, value: float) -> float:
        return self.across.at(value)

    def y(self, value: float) -> float:
        return self.upright.at(value)

    def grid(self) -> str:
        """The upright axis, its numbers with as many digits as a step needs."""
        scale = 100.0 if self.curve.percent else 1.0
        step = (self.upright.steps[1] - self.upright.steps[0]) * scale
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        digits += 0 if abs(round(step, digits) - step) < 1e-9 * step else 1
        unit = "\u202f%" if self.curve.percent else ""
        return "".join(
            grid_line(_LEFT, WIDTH - _RIGHT, self.y(value), f"{value * scale:.{digits}f}{unit}", _LEFT - 10)
            for value in self.upright.steps
        )

    def feet(self) -> str:
        """What stands below the chart."""
        names, bottom = self.curve.names, self.upright.bottom
        room = (WIDTH - _LEFT) / len(names) - 6 if names else 60.0
        drawn = []
        for value in self.across.values if names else self.across.ticks():
            text = names[int(value)] if names else "none" if value == math.inf else number_text(value)
            drawn.append(foot_tick(self.x(value), bottom, text, room))
        middle = (_LEFT + WIDTH - _RIGHT) / 2
        return "".join(drawn) + label(middle, bottom + 37, self.curve.x_name, 700, 12, "t", "middle")

    def tops(self, names: float) -> str:
        """The second axis; what would stand too close is left out."""
        if not self.curve.tops:
            return ""
        drawn, end = [label(WIDTH - _RIGHT, names, self.curve.top_name, 400, 11, "s", "end")], -math.inf
        for value, text in sorted(self.curve.tops):
            x, half = self.x(value), 11 * width_em(text) / 2
            if x - half < end + 20 or x + half > WIDTH:
                continue
            end = x + half
            drawn.append(path(f"M{x:.1f} {self.upright.top:.1f}v-4", class_="e"))
            drawn.append(label(x, self.upright.top - 9, text, 2 * half + 4, 11, "s", "middle"))
        return "".join(drawn)

    def line(self, kind: int, name: str, points: Sequence[SearchPoint]) -> str:
        """The settings under one name: joined, or each with its whisker, and a dot for each."""
        curve, drawn = self.curve, []
        if not curve.loose and not curve.names and points:
            if kind == curve.chosen_line:
                drawn.append(self._band(points, kind))
            drawn.append(path(f"M{self._joined(points, 0)}", style=_stroke(kind)))
        seen = len(points) <= _MOST_DOTS
        look = f"fill:{class_fill(kind)}" if seen else "fill:transparent"
        for point in points:
            if curve.names or (curve.loose and point in curve.marked):
                drawn.append(self._whisker(point, kind))
            text = f"{point.name} ({name})" if name else point.name
            drawn.append(circle(self.x(point.x), self.y(point.y), 3.2 if seen else 5.0, look, text))
        return "".join(drawn)

    def _joined(self, points: Iterable[SearchPoint], side: int) -> str:
        """The line through points, or through what is a standard error above (1) or below (-1) them."""
        return "L".join(f"{self.x(p.x):.1f} {self.y(p.y + side * p.spread):.1f}" for p in points)

    def _band(self, points: Sequence[SearchPoint], kind: int) -> str:
        """The area up to one standard error above and below the line."""
        outline = f"{self._joined(points, 1)}L{self._joined(reversed(points), -1)}"
        return path(f"M{outline}Z", style=f"fill:{class_fill(kind)};stroke:none", fill_opacity=_PALE)

    def _whisker(self, point: SearchPoint, kind: int) -> str:
        x, top, foot = self.x(point.x), self.y(point.y + point.spread), self.y(point.y - point.spread)
        d = f"M{x - 4:.1f} {top:.1f}h8M{x:.1f} {top:.1f}V{foot:.1f}M{x - 4:.1f} {foot:.1f}h8"
        return path(d, style=_thin(kind))

    def marks(self) -> str:
        """The named settings: a sign at its place, and its name where settings are worse and thus rare."""
        drawn: list[str] = []
        signs: list[str] = []
        taken: list[tuple[float, float, float]] = []
        for mark in self.curve.marks:
            if not math.isfinite(mark.point.y):
                continue
            x, y = self.x(mark.point.x), self.y(mark.point.y)
            wide = 12 * BOLD * width_em(mark.text) + 8
            right = x + 8 + wide <= WIDTH
            start = x + 8 if right else x - 8 - wide
            row = 0
            while any(row == r and start < b and a < start + wide for a, b, r in taken):
                row += 1
            taken.append((start, start + wide, row))
            down = self.curve.more_is_better
            at = self.upright.bottom - 12 - 20 * row if down else self.upright.top + 16 + 20 * row
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
    text = f"{mark.text}: {mark.point.name}"
    if mark.chosen:
        ring = circle(x, y, 9.0, "fill:none;stroke:var(--hb-ink);stroke-width:1.6")
        return ring + circle(x, y, 5.4, "fill:var(--hb-ink)", text)
    look = "fill:var(--hb-card);stroke:var(--hb-ink);stroke-width:1.8"
    return element("path", tooltip(text), d=f"M{x:.1f} {y - 8:.1f}l8 8l-8 8l-8 -8Z", style=look)
