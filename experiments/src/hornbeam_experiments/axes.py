"""The upright axis of a chart with round steps, and the key of its colours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hornbeam.drawing.scales import round_steps
from hornbeam.drawing.svg import class_fill, element, label
from hornbeam.drawing.text import number_text, width_em


@dataclass(frozen=True)
class Axis:
    """Values from `least` up to `most` between two heights of the picture."""

    most: float
    step: float
    top: float
    bottom: float
    least: float = 0.0

    @classmethod
    def of(cls, most: float, top: float, bottom: float) -> Axis:
        """An axis that ends at a round number, with three to six steps."""
        most = most if most > 0 and math.isfinite(most) else 1.0
        unit = 10 ** math.floor(math.log10(most / 3))
        step = next(unit * many for many in (1, 2, 2.5, 5, 10) if most / (unit * many) <= 5)
        return cls(step * math.ceil(most / step - 1e-9), step, top, bottom)

    @classmethod
    def between(cls, least: float, most: float, top: float, bottom: float) -> Axis:
        """An axis from a round number to a round number, which need not begin at 0."""
        steps = round_steps(least, most, 5)
        return cls(steps[-1], steps[1] - steps[0], top, bottom, steps[0])

    def at(self, value: float) -> float:
        """The height of a value."""
        share = (value - self.least) / (self.most - self.least)
        return self.bottom - (self.bottom - self.top) * min(max(share, 0.0), 1.0)

    def draw(self, left: float, right: float, name: str) -> str:
        """Lines across and their numbers."""
        drawn = []
        for i in range(round((self.most - self.least) / self.step) + 1):
            value = self.least + i * self.step
            y = self.at(value)
            drawn.append(element("line", x1=left, x2=right, y1=y, y2=y, class_="e"))
            drawn.append(label(left - 6, y + 4, number_text(value, 3), 60, 11, "s", "end"))
        if name:
            drawn.append(label(left - 40, self.top - 9, name, 700, 11, "s"))
        return "".join(drawn)


def place_key(names: Sequence[str], width: float) -> tuple[str, float]:
    """The key of the colours, in as many lines as it needs, and the height below it."""
    x, y = 4.0, 14.0
    drawn = []
    for kind, name in enumerate(names):
        room = 18 + 11.5 * width_em(name) + 16
        if x + room > width and x > 4:
            x, y = 4.0, y + 18
        drawn.append(
            element("rect", x=x, y=y - 9, width=10, height=10, rx=2, style=f"fill:{class_fill(kind)}")
        )
        drawn.append(label(x + 15, y, name, room, 11.5, "s"))
        x += room
    return "".join(drawn), y + 16
