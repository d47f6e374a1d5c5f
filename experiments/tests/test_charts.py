"""Charts: what is drawn stands where its value is, and says what it is."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from hornbeam_experiments.axes import Axis
from hornbeam_experiments.charts import Bar, BarGroup, Line, Panel, Point, draw_bars, draw_panels

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("most", [0.003, 0.9, 1.0, 1.1, 3.7, 9.99, 12, 48, 1e6])
def test_an_axis_ends_at_a_round_number_after_few_steps(most: float) -> None:
    axis = Axis.of(most, 10, 110)
    steps = axis.most / axis.step
    assert axis.most >= most
    assert 2 <= round(steps) <= 6
    assert steps == pytest.approx(round(steps))
    assert (axis.at(0), axis.at(axis.most), axis.at(2 * axis.most)) == (110, 10, 10)


def test_an_axis_of_nothing_is_that_of_one() -> None:
    assert Axis.of(0, 0, 10).most == Axis.of(float("nan"), 0, 10).most == 1


def test_the_parts_of_a_bar_stand_on_each_other() -> None:
    groups = [BarGroup("a <set>", (Bar("S", (2.0, 3.0), 4.5, 5.5), Bar("auto", (1.0, 0.0))))]
    picture = draw_bars(groups, ("one", "two"), title="T", y_name="times", mark=1.0)
    root = ElementTree.fromstring(picture)
    bars = [g for g in root.iter(f"{SVG}g") if g.find(f"{SVG}rect") is not None]
    first, second = bars[0].findall(f"{SVG}rect")
    foot = float(first.get("y", 0))
    assert foot == pytest.approx(float(second.get("y", 0)) + float(second.get("height", 0)), abs=0.05)
    heights = [float(rect.get("height", 0)) for rect in (first, second)]
    assert heights[1] / heights[0] == pytest.approx(1.5, rel=1e-3)
    assert "S: 5 (one 2; two 3)" in picture
    assert "a &lt;set&gt;" in picture


def test_points_of_a_panel_are_told_with_their_intervals() -> None:
    panels = [
        Panel("Letter", (Line(0, (Point(3, 1.5, 1.0, 2.0), Point(10, 3.0))), Line(1, (Point(3, 2.0),)))),
        Panel("Empty", ()),
    ]
    picture = draw_panels(panels, ("OS", "CV"), title="T", x_name="folds", y_name="speedup")
    ElementTree.fromstring(picture)
    assert "OS at 3: 1.5, 90 % between 1 and 2" in picture
    assert "CV at 3: 2<" in picture
    spots = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', picture)]
    assert spots[1][0] > spots[0][0]
    assert spots[1][1] < spots[0][1]


def test_a_picture_in_a_page_leaves_the_style_to_it() -> None:
    alone, inline = (draw_panels([], (), title="T", x_name="", y_name="", inline=i) for i in (False, True))
    assert "<style>" in alone
    assert "<style>" not in inline


def test_an_axis_may_begin_near_the_lowest_value() -> None:
    axis = Axis.between(53.0, 97.0, 10, 110)
    assert axis.least <= 53 < 97 <= axis.most
    assert (axis.at(axis.least), axis.at(axis.most), axis.at(0)) == (110, 10, 110)
    assert axis.at((axis.least + axis.most) / 2) == pytest.approx(60)
    numbers = [float(text) for text in re.findall(r">([\d.]+)</text>", axis.draw(0, 100, ""))]
    assert (numbers[0], numbers[-1]) == (axis.least, axis.most)


def test_bands_stand_behind_lines_that_share_their_places() -> None:
    lines = tuple(Line(kind, (Point(1, 60.0, 55.0, 65.0), Point(2, 70.0, 66.0, 74.0))) for kind in (0, 1))
    style = {
        "title": "T",
        "x_name": "seconds",
        "y_name": "%",
        "from_zero": False,
        "percent": 95,
        "bands": True,
    }
    picture = draw_panels([Panel("Glass", (*lines, Line(2, (Point(1, 60.0),))))], "abc", **style)  # type: ignore[arg-type]
    ElementTree.fromstring(picture)
    assert picture.count("opacity:.13") == 2
    assert "a at 1: 60, 95 % between 55 and 65" in picture
    spots = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', picture)
    assert spots[0] == spots[2] == spots[4]
