"""The course of a search for people: its states in words, and the curve of what it had found by when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hornbeam.anytime.improve import Improvement
from hornbeam.anytime.states import PROVED, WHY, SearchState
from hornbeam.drawing.progress import Course, Moment, draw_progress
from hornbeam.drawing.text import count_text

_MOST_MOMENTS = 400
_NEAR = 4


@dataclass(frozen=True)
class SearchCourse:
    """What a search did: its profile, and the state that it ended in."""

    objective: str
    states: tuple[SearchState, ...]
    last: SearchState

    @classmethod
    def of(cls, search: Improvement) -> SearchCourse:
        return cls(search.objective.name, tuple(search.profile) or (search.state,), search.state)

    @property
    def why(self) -> str:
        """Why it ended, in words."""
        return WHY[self.last.status]

    @property
    def is_proved(self) -> bool:
        return self.last.status == PROVED

    def to_record(self) -> dict[str, Any]:
        """The course as plain values for JSON."""
        return {
            "objective": self.objective,
            "status": self.last.status,
            "last": self.last.to_record(),
            "profile": [state.to_record() for state in self.states],
        }

    def to_svg(self, *, inline: bool = False) -> str:
        """The anytime curve: leaves and expected errors over the seconds of searching."""
        return draw_progress(
            self._courses(), title="The tree over time", x_name="seconds of searching", inline=inline
        )

    def _courses(self) -> list[Course]:
        shown = thinned(self.states)
        end, bound = self.last.elapsed, self.last.bound
        by_size = self.objective == "size"
        leaves = [Moment(one.elapsed, one.leaves, state_text(one)) for one in shown]
        errors = [Moment(one.elapsed, one.expected_error, state_text(one)) for one in shown]
        # A bound far below would press the curve flat and says little.
        proved = bound if by_size and bound is not None and _NEAR * bound >= self.last.leaves else None
        text = "" if proved is None else f"no tree has fewer than {count_text(int(proved))}"
        courses = [
            Course("leaves", tuple(leaves), end, proved, text),
            Course("expected errors", tuple(errors), end),
        ]
        if any(one.cv_error is not None for one in shown):
            folds = [
                Moment(one.elapsed, one.cv_error, state_text(one))
                for one in shown
                if one.cv_error is not None
            ]
            courses.append(Course("errors of inner folds", tuple(folds), end))
        return courses


def thinned(states: tuple[SearchState, ...]) -> list[SearchState]:
    """As many states as a picture can show, the first and the last among them."""
    if len(states) <= _MOST_MOMENTS:
        return list(states)
    step = (len(states) - 1) / (_MOST_MOMENTS - 1)
    return [states[round(place * step)] for place in range(_MOST_MOMENTS)]


def state_text(state: SearchState) -> str:
    """A state in a line."""
    parts = [
        f"{state.elapsed:.2f} s",
        "1 leaf" if state.leaves == 1 else f"{count_text(state.leaves)} leaves",
        f"{state.expected_error:.2f} errors expected",
    ]
    if state.cv_error is not None:
        parts.append(f"folds {state.cv_error:.1%} wrong")
    if state.bound is not None:
        parts.append(f"bound {state.bound:.4g}")
    return ", ".join(parts)
