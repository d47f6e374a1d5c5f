"""The anytime curve: what a search had found by when, as steps over time, one panel a measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .scales import Across, Upright, dashes, foot_tick, grid_line, round_steps
from .svg import circle, class_fill, element, frame, label, path
from .text import number_text

WIDTH = 1132.0
_GAP, _LEFT, _TOP, _HEIGHT, _FOOT = 40.0, 58.0, 40.0, 230.0, 46.0


@dataclass(frozen=True)
class Moment:
    """A value that holds from a time on; its name is the tooltip."""

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
    described = "; ".join(
        f"{course.name} from {number_text(course.moments[0].value, 4)} to "
        f"{number_text(course.moments[-1].value, 4)}"
        for course in courses
    )
    return frame(WIDTH, _TOP + _HEIGHT + _FOOT, "".join(panels), title, described, inline)


def _panel(course: Course, x: float, room: float, kind: int, x_name: str) -> str:
    left, right, bottom = x + _LEFT, x + room, _TOP + _HEIGHT
    values = [moment.value for moment in course.moments]
    values += [] if course.bound is None else [course.bound]
    steps = round_steps(min(values), max(values))
    times = tuple(sorted({moment.seconds for moment in course.moments} | {course.end}))
    across, upright = Across(times, left + 10, right - 16), Upright(steps, _TOP, bottom)
    drawn = [label(x + 4, _TOP - 20, course.name, room)]
    drawn += [grid_line(left, right, upright.at(v), number_text(v, 5), _LEFT - 8) for v in steps]
    drawn += [foot_tick(across.at(v), bottom, number_text(v, 2), 60) for v in across.ticks(60.0)]
    drawn.append(label((left + right) / 2, bottom + 36, x_name, room, 11, "s", "middle"))
    if course.bound is not None:
        y = upright.at(course.bound)
        drawn += [
            dashes(left, right, y),
            label(right, y - 6, course.bound_text, right - left, 11, "s", "end"),
        ]
    drawn.append(_steps(course, kind, across, upright))
    return element("g", "".join(drawn))


def _steps(course: Course, kind: int, across: Across, upright: Upright) -> str:
    """A staircase: each value holds until the next is found, the last one to the end."""
    colour = class_fill(kind)
    first, *others = course.moments
    line = f"M{across.at(first.seconds):.1f} {upright.at(first.value):.1f}"
    line += "".join(f"H{across.at(one.seconds):.1f}V{upright.at(one.value):.1f}" for one in others)
    line += f"H{across.at(course.end):.1f}"
    drawn = [path(line, style=f"fill:none;stroke:{colour};stroke-width:2")]
    drawn += [
        circle(across.at(one.seconds), upright.at(one.value), 3.0, f"fill:{colour}", one.name)
        for one in course.moments
    ]
    return "".join(drawn)
