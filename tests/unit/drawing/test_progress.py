"""The anytime curve: a staircase to the end, with its bound, described for those who do not see it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

from hornbeam.anytime.course import SearchCourse, state_text, thinned
from hornbeam.anytime.states import SearchState
from hornbeam.drawing.progress import Course, Moment, draw_progress


def course(*values: tuple[float, float], end: float = 10.0, bound: float | None = None) -> Course:
    moments = tuple(Moment(seconds, value, f"{value} at {seconds}") for seconds, value in values)
    return Course("leaves", moments, end, bound, "no tree has fewer" if bound is not None else "")


def test_each_value_holds_until_the_next_is_found() -> None:
    picture = draw_progress([course((0.1, 100), (1, 50), (2, 20))], title="t", x_name="seconds")
    (steps,) = re.findall(r'd="(M[0-9. ]+(?:H[0-9.]+V[0-9.]+)+H[0-9.]+)"', picture)
    assert steps.count("V") == 2
    heights = [float(text) for text in re.findall(r"V([0-9.]+)", steps)]
    assert heights == sorted(heights)  # smaller values are lower on the page
    places = [float(text) for text in re.findall(r"[HM]([0-9.]+)", steps)]
    assert places == sorted(places)
    assert "100 at 0.1" in picture
    ElementTree.fromstring(picture)


def test_a_single_moment_is_a_flat_line() -> None:
    picture = draw_progress([course((0.5, 7), end=0.5)], title="t", x_name="seconds")
    assert "leaves from 7 to 7" in picture
    ElementTree.fromstring(picture)


def test_a_bound_is_drawn_and_said() -> None:
    picture = draw_progress([course((0.1, 40), (1, 33), bound=32)], title="t", x_name="seconds")
    assert "stroke-dasharray:6 4" in picture
    assert "no tree has fewer" in picture
    assert "stroke-dasharray:6 4" not in draw_progress([course((0.1, 40))], title="t", x_name="s")


def state(iteration: int, leaves: int, bound: float | None, cv_error: float | None = None) -> SearchState:
    return SearchState(
        iteration, iteration + 0.5, 0.1, 5, leaves, 2.5 * leaves, cv_error, bound, True, "running"
    )


def test_a_search_has_a_panel_for_each_measure() -> None:
    states = tuple(state(i, 40 - i, 30) for i in range(5))
    plain = SearchCourse("size", states, states[-1])
    assert plain.to_svg().count("seconds of searching") == 2
    assert "no tree has fewer than 30" in plain.to_svg()
    assert "no tree has fewer" not in SearchCourse("error", states, states[-1]).to_svg()
    far = tuple(one._replace(bound=2) for one in states)
    assert "no tree has fewer" not in SearchCourse("size", far, far[-1]).to_svg()
    judged = tuple(one._replace(cv_error=0.25) for one in states)
    assert SearchCourse("size", judged, judged[-1]).to_svg().count("seconds of searching") == 3
    assert plain.to_record()["profile"][0]["leaves"] == 40


def test_a_long_profile_is_thinned_and_keeps_its_ends() -> None:
    states = tuple(state(i, 5000 - i, None) for i in range(3000))
    shown = thinned(states)
    assert (len(shown), shown[0], shown[-1]) == (400, states[0], states[-1])


def test_a_state_is_told_in_a_line() -> None:
    assert state_text(state(2, 1, None)) == "2.50 s, 1 leaf, 2.50 errors expected"
    assert state_text(state(2, 1200, 32, 0.125)) == (
        "2.50 s, 1\u202f200 leaves, 3000.00 errors expected, folds 12.5% wrong, bound 32"
    )
