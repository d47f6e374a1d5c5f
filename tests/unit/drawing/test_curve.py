"""The drawn curve: values stand at their heights, marks on their points, axes at round numbers."""

import itertools
import math
import re
import xml.etree.ElementTree as ElementTree

import pytest

from hornbeam.drawing.curve import NamedPoint, SearchCurve, SearchPoint, draw_curve
from hornbeam.drawing.scales import Across, round_steps

SVG = "{http://www.w3.org/2000/svg}"
POINTS = tuple(
    SearchPoint(x, y, 0.02, int(x), f"{x:g} leaves") for x, y in ((1, 0.34), (4, 0.25), (13, 0.24), (77, 0.3))
)


def curve(**more: object) -> SearchCurve:
    marks = (NamedPoint(POINTS[1], "chosen: 4", True), NamedPoint(POINTS[2], "best: 13", False))
    given = {"x_name": "leaves", "y_name": "error", "marks": marks, "percent": True, **more}
    return SearchCurve(lines=(("", POINTS),), **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("low", "high"), [(0.22, 0.34), (-3, 7), (0.1301, 0.1302), (5, 5), (0, 0), (1e-9, 3e-9), (-1e6, 1e6)]
)
def test_steps_enclose_the_values_and_are_few(low: float, high: float) -> None:
    steps = round_steps(low, high)
    assert steps[0] <= low + 1e-6 * abs(low)
    assert steps[-1] >= high - 1e-6 * abs(high)
    assert 2 <= len(steps) <= 8
    gaps = {round((b - a) / (steps[1] - steps[0]), 6) for a, b in itertools.pairwise(steps)}
    assert gaps == {1.0}


def test_powers_are_equally_far_apart_and_zero_stands_aside() -> None:
    across = Across((0.0, 1.0, 10.0, 100.0, math.inf), 0.0, 100.0)
    assert across.powers
    places = [across.at(value) for value in across.values]
    assert places == sorted(places)
    assert (places[0], places[-1]) == (0.0, 100.0)
    assert places[2] - places[1] == pytest.approx(places[3] - places[2])
    even = Across((1.0, 2.0, 4.0), 0.0, 30.0)
    assert not even.powers
    assert [even.at(v) for v in even.values] == [0.0, 10.0, 30.0]
    assert Across((3.0,), 0.0, 10.0).at(3.0) == 5.0


def test_ticks_keep_their_distance() -> None:
    across = Across(tuple(float(v) for v in range(1, 700)), 0.0, 1000.0)
    places = [across.at(value) for value in across.ticks()]
    assert 4 <= len(places) <= 20
    assert all(b - a >= 46 for a, b in itertools.pairwise(places))
    assert Across((1.0, 3.0, 8.0), 0.0, 1000.0).ticks() == [1.0, 3.0, 8.0]


def test_less_error_stands_lower_and_marks_on_their_spots() -> None:
    picture = draw_curve(curve(level=0.26, level_text="within one"), title="T")
    root = ElementTree.fromstring(picture)
    circles = [(float(c.get("cx", 0)), float(c.get("cy", 0)), c) for c in root.iter(f"{SVG}circle")]
    points = [(x, y) for x, y, c in circles if c.get("r") == "3.2"]
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    heights = [y for _, y in points]
    assert heights[0] < heights[3] < heights[1] < heights[2]
    ring = next((x, y) for x, y, c in circles if c.get("r") == "9")
    assert ring == pytest.approx(points[1], abs=0.05)
    for text in ("chosen: 4", "best: 13", "within one", "35\u202f%", "one standard error to each side"):
        assert text in picture


def test_lines_differ_in_dashes_as_well_as_in_colour() -> None:
    lines = tuple(
        (f"line {i}", tuple(SearchPoint(x, 0.1 * i, 0.01, 3, "s") for x in (1, 2, 3))) for i in range(4)
    )
    picture = draw_curve(
        SearchCurve(lines, "depth", "error", (NamedPoint(lines[2][1][0], "chosen", True),)), title="T"
    )
    strokes = set(re.findall(r"stroke:var\(--hb-c\d\);stroke-width:2(?:;stroke-dasharray:[\d ]+)?", picture))
    assert len({stroke.partition("dasharray:")[2] for stroke in strokes}) == 4
    assert picture.count('fill-opacity="0.18"') == 2  # one band, and its place in the key


def test_hostile_names_stay_text() -> None:
    points = tuple(SearchPoint(i, 0.1, 0.0, 3, "<script>&") for i in range(2))
    marks = (NamedPoint(points[0], "<b>chosen</b>", True),)
    drawn = SearchCurve((("", points),), "<i>", "</svg>", marks, names=("<a>", "&b"))
    picture = draw_curve(drawn, title="</title>")
    ElementTree.fromstring(picture)
    assert "<script>" not in picture


def test_many_settings_are_a_line_without_dots() -> None:
    points = tuple(SearchPoint(i + 1, 0.2, 0.01, i, "s") for i in range(400))
    picture = draw_curve(
        SearchCurve((("", points),), "x", "y", (NamedPoint(points[3], "c", True),)), title="T"
    )
    assert 'r="3.2"' not in picture
    assert picture.count("fill:transparent") == 400
