"""The anytime curve: what a search had found by when, as steps over time, one panel a measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .palette import class_fill
from .scales import Across, round_steps
from .svg import element, frame, label
from .text import escape, number_text

WIDTH = 1132.0
_GAP, _LEFT, _TOP, _HEIGHT, _FOOT = 40.0, 58.0, 40.0, 230.0, 46.0


@dataclass(frozen=True)
class Moment:
    """A value that holds from a time on, and what a reader is told who points at it."""

    seconds: float
    value: float
    name: str


@dataclass(frozen=True)
class Course:
    """One measure over time; `bound` is what it cannot fall below."""

    name: str
    moments: tuple[Moment, ...]
    end: float
    bound: float | None = None
    bound_text: str = ""


def draw_progress(courses: Sequence[Course], *, title: str, x_name: str, inline: bool = False) -> str:
    """Panels side by side, all over the same times."""
    room = (WIDTH - _GAP * (len(courses) - 1)) / max(len(courses), 1)
    panels = [
        _panel(course, place * (room + _GAP), room, place, x_name) for place, course in enumerate(courses)
    ]
    told = "; ".join(
        f"{course.name} from {number_text(course.moments[0].value, 4)} to "
        f"{number_text(course.moments[-1].value, 4)}"
        for course in courses
    )
    return frame(WIDTH, _TOP + _HEIGHT + _FOOT, "".join(panels), title, told, inline)


def _panel(course: Course, x: float, room: float, kind: int, x_name: str) -> str:
    left, right, bottom = x + _LEFT, x + room, _TOP + _HEIGHT
    values = [moment.value for moment in course.moments]
    values += [] if course.bound is None else [course.bound]
    steps = round_steps(min(values), max(values))
    times = tuple(sorted({moment.seconds for moment in course.moments} | {course.end}))
    across = Across(times, left + 10, right - 16)

    def height(value: float) -> float:
        return bottom - _HEIGHT * (value - steps[0]) / (steps[-1] - steps[0])

    drawn = [label(x + 4, _TOP - 20, course.name, room)]
    for value in steps:
        y = height(value)
        drawn.append(element("line", x1=left, x2=right, y1=y, y2=y, class_="e"))
        drawn.append(label(left - 8, y + 4, number_text(value, 5), _LEFT - 8, 11, "s", "end"))
    for value in across.ticks(60.0):
        drawn.append(element("path", d=f"M{across.at(value):.1f} {bottom:.1f}v4", class_="e"))
        drawn.append(label(across.at(value), bottom + 17, number_text(value, 2), 60, 11, "s", "middle"))
    drawn.append(label((left + right) / 2, bottom + 36, x_name, room, 11, "s", "middle"))
    if course.bound is not None:
        drawn.append(_bound(course, left, right, height(course.bound)))
    drawn.append(_steps(course, kind, across, height))
    return element("g", "".join(drawn))


def _bound(course: Course, left: float, right: float, y: float) -> str:
    style = "fill:none;stroke:var(--hb-ink);stroke-width:1.2;stroke-dasharray:6 4"
    line = element("path", d=f"M{left:.1f} {y:.1f}H{right:.1f}", style=style)
    return line + label(right, y - 6, course.bound_text, right - left, 11, "s", "end")


def _steps(course: Course, kind: int, across: Across, height) -> str:  # type: ignore[no-untyped-def]
    """A staircase: each value holds until the next is found, the last one to the end."""
    colour = class_fill(kind)
    first, *others = course.moments
    path = f"M{across.at(first.seconds):.1f} {height(first.value):.1f}"
    path += "".join(f"H{across.at(one.seconds):.1f}V{height(one.value):.1f}" for one in others)
    path += f"H{across.at(course.end):.1f}"
    drawn = [element("path", d=path, style=f"fill:none;stroke:{colour};stroke-width:2")]
    for one in course.moments:
        told = element("title", escape(one.name))
        place = {"cx": across.at(one.seconds), "cy": height(one.value), "r": 3.0}
        drawn.append(element("circle", told, **place, style=f"fill:{colour}"))
    return "".join(drawn)
