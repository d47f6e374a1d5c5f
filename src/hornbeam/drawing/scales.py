"""The axes of charts: round steps between two bounds, places across, also by powers, and what both draw."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from .svg import element, label, path

_SPAN = 20.0
"""Positive values that differ by this factor are placed by their logarithms."""
_APART = 0.1
"""How far from the others, as a share of their width, stands a 0 beside powers, or what has no bound."""


def round_steps(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers that enclose both bounds, at most `most` steps apart."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return [0.0, 1.0]
    if high <= low:
        reach = abs(low) * 0.05 or 0.5
        low, high = low - reach, high + reach
    unit = 10.0 ** math.floor(math.log10((high - low) / most))
    steps = (unit * many for many in (1, 2, 2.5, 5, 10, 20))
    for step in steps:
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last - first <= most:
            break
    return [i * step for i in range(first, last + 1)]


@dataclass(frozen=True)
class Across:
    """Numbers on a line from `left` to `right`; 0 beside powers, and infinity, stand a little apart."""

    values: tuple[float, ...]
    left: float
    right: float

    @cached_property
    def powers(self) -> bool:
        """Whether equal factors are equally far apart."""
        known = [value for value in self.values if 0 < value < math.inf]
        return len(known) > 1 and min(self.values) >= 0 and max(known) >= _SPAN * min(known)

    def at(self, value: float) -> float:
        """The place of a value."""
        low, high = self._ends
        begin, end = self.left, self.right
        room = _APART * (end - begin)
        if self.powers and self._least == 0:
            if value == 0:
                return begin
            begin += room
        if self._most == math.inf:
            if value == math.inf:
                return end
            end -= room
        if high <= low:
            return (begin + end) / 2
        return begin + (end - begin) * (self._measure(value) - low) / (high - low)

    def _measure(self, value: float) -> float:
        return math.log10(value) if self.powers else value

    @cached_property
    def _least(self) -> float:
        return min(self.values)

    @cached_property
    def _most(self) -> float:
        return max(self.values)

    @cached_property
    def _ends(self) -> tuple[float, float]:
        powers = self.powers
        known = [self._measure(v) for v in self.values if v < math.inf and not (powers and v == 0)]
        return (min(known), max(known)) if known else (0.0, 0.0)

    def ticks(self, room: float = 46.0) -> list[float]:
        """Values worth naming: those of the picture while there is room, else round ones between them."""
        own = sorted(set(self.values))
        places = [self.at(value) for value in own]
        if len(own) <= 14 and all(b - a >= room for a, b in itertools.pairwise(places)):
            return own
        outside = [value for value in own if value == math.inf or (self.powers and value == 0)]
        known = [value for value in own if value not in outside]
        low, high = known[0], known[-1]
        round_ones = _round_powers(low, high) if self.powers else round_steps(low, high, 10)
        wanted = [value for value in round_ones if low <= value <= high]
        return _apart([*outside, *wanted], self.at, room)


@dataclass(frozen=True)
class Upright:
    """Numbers on an upright line, whose `steps` stand from the bottom to the top."""

    steps: Sequence[float]
    top: float
    bottom: float

    def at(self, value: float) -> float:
        """The place of a value; one beyond the steps is where they end."""
        low, high = self.steps[0], self.steps[-1]
        return self.bottom - (self.bottom - self.top) * min(max((value - low) / (high - low), 0.0), 1.0)


def _round_powers(low: float, high: float) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    by_rank: Sequence[Sequence[int]] = ((1,), (2, 5), (3,))
    return [float(f"{many}e{power}") for rank in by_rank for power in range(first, last + 1) for many in rank]


def _apart(values: list[float], at: Callable[[float], float], room: float) -> list[float]:
    """The values that keep their distance from each other; earlier values have precedence."""
    kept: list[float] = []
    for value in values:
        if all(abs(at(value) - at(other)) >= room for other in kept):
            kept.append(value)
    return sorted(kept)


def grid_line(left: float, right: float, y: float, text: str, room: float) -> str:
    """A line across a chart, and its value to the left of it."""
    line = element("line", x1=left, x2=right, y1=y, y2=y, class_="e")
    return line + label(left - 8, y + 4, text, room, 11, "s", "end")


def foot_tick(x: float, y: float, text: str, room: float) -> str:
    """A tick below a chart, and its value."""
    return path(f"M{x:.1f} {y:.1f}v4", class_="e") + label(x, y + 17, text, room, 11, "s", "middle")


def dashes(left: float, right: float, y: float) -> str:
    style = "fill:none;stroke:var(--hb-ink);stroke-width:1.2;stroke-dasharray:6 4"
    return path(f"M{left:.1f} {y:.1f}H{right:.1f}", style=style)
