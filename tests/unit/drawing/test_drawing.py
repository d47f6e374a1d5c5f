"""Pictures: valid, safe, complete, never overflowing."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbeam.drawing import Picture, PictureNode, draw_icicle, draw_tree
from hornbeam.drawing.node import BOX_HEIGHT, LINE
from hornbeam.drawing.places import across, place_boxes
from hornbeam.drawing.records import visible_part
from hornbeam.drawing.text import (
    clean,
    count_text,
    escape,
    number_text,
    percent_text,
    shorten,
    shorten_middle,
    shorten_test,
    width_em,
)

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "</text><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "a\nb\r\tc",
    "\u202egnirts",
    "\x00\x1b[31m",
    "\ud800",
    "\U0001d4b3" * 500,
    "数据" * 40,
    "]]>&amp;<!--",
]


def full_tree(depth: int, width: int = 2, test: str = "age ≤ 3", branch: str = "") -> Picture:
    """A tree in which every node above the depth has `width` children."""
    parents, depths = [-1], [0]
    children: list[tuple[int, ...]] = []
    node = 0
    while node < len(parents):
        first = len(parents)
        count = width if depths[node] < depth else 0
        parents += [node] * count
        depths += [depths[node] + 1] * count
        children.append(tuple(range(first, first + count)))
        node += 1
    nodes = tuple(
        PictureNode(
            parent=parents[i],
            depth=depths[i],
            children=children[i],
            branch=(branch or ("yes", "no")[i % 2]) if i else "",
            takes_missing=False,
            test=test if children[i] else "",
            rows=float(width ** (depth - depths[i])),
            prediction="one",
            shares=((0, 0.25), (1, 0.75)),
        )
        for i in range(len(parents))
    )
    return Picture(nodes, ("zero", "one"))


def regression_tree() -> Picture:
    root = PictureNode(-1, 0, (1, 2), "", False, "x ≤ 1", 10, "2", means=(2.0,), spread=1.0)
    low = PictureNode(0, 1, (), "yes", True, "", 5, "1", means=(1.0,), spread=0.0)
    high = PictureNode(0, 1, (), "no", False, "", 5, "3", means=(3.0,), spread=0.5)
    return Picture((root, low, high), targets=("price",))


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")] + [
        "".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(f"{SVG}text")
    ]


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("picture", [full_tree(0), full_tree(3), full_tree(2, width=30), regression_tree()])
def test_pictures_are_well_formed(picture: Picture, inline: bool) -> None:
    for svg in (draw_tree(picture, inline=inline), draw_icicle(picture, inline=inline)):
        root = ElementTree.fromstring(svg)
        assert root.tag == f"{SVG}svg"
        assert root.find(f"{SVG}title") is not None
        assert (root.find(f"{SVG}style") is None) == inline
        assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text(name: str) -> None:
    picture = full_tree(2, test=f"{name} ≤ 3", branch=name)
    picture = Picture(picture.nodes, (name, name))
    for svg in (draw_tree(picture), draw_icicle(picture)):
        tags = {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(svg).iter()}
        assert tags <= {
            "svg",
            "title",
            "desc",
            "style",
            "defs",
            "pattern",
            "rect",
            "path",
            "text",
            "g",
            "circle",
        }
        svg.encode("utf-8")


@pytest.mark.parametrize("name", [*HOSTILE, "W" * 300, "a rather long attribute name that goes on and on"])
def test_shown_text_fits_its_box(name: str) -> None:
    svg = draw_tree(Picture(full_tree(3, test=f"{name} ≤ 0.125").nodes, (name, "b")))
    for element in ElementTree.fromstring(svg).iter(f"{SVG}text"):
        shown = "".join(t for t in element.itertext()) if len(element) == 0 else (element[-1].tail or "")
        assert width_em(shown) * 11 <= 240


def test_a_shortened_question_keeps_its_threshold() -> None:
    shown = shorten_test("a very long attribute name indeed", "≤ 0.125", 16)
    assert shown.startswith("a v")
    assert shown.endswith("deed ≤ 0.125")
    assert "…" in shown
    assert width_em(shown) <= 16.5


@pytest.mark.parametrize("text", ["i" * 10, "petal length (cm) ≤ 2.45", "a" * 7, "0.1" * 9])
def test_a_width_is_the_same_in_every_version_of_python(text: str) -> None:
    """Python 3.12 changed how sum rounds: adding up one by one would move letters of a picture."""
    assert width_em(text) == float(sum(Fraction(width_em(character)) for character in text))


def named(picture: Picture, name: str, condition: str) -> Picture:
    """The same tree, asking a condition of an attribute everywhere."""
    nodes = tuple(
        replace(node, test=f"{name} {condition}", name_length=len(name)) if node.test else node
        for node in picture.nodes
    )
    return Picture(nodes, picture.classes)


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("name", ["x", "worst concave points", "worst fractal dimension", "a ≤ b = c"])
def test_names_of_everyday_length_are_read_in_full(name: str, depth: int) -> None:
    shown = texts(draw_tree(named(full_tree(depth), name, "≤ 0.0005071"), depth))
    if f"{name} ≤ 0.0005071" not in shown:
        assert shown.count(name) == shown.count("≤ 0.0005071") > 0
    assert not [text for text in shown if "…" in text]


def test_a_test_on_two_lines_makes_its_box_taller_and_nothing_overlaps() -> None:
    picture = named(full_tree(4), "worst concave points", "≤ 0.1222")
    places = place_boxes(visible_part(picture, 4), picture)
    assert {box.height for box in places.boxes} == {BOX_HEIGHT, BOX_HEIGHT + LINE}
    for one, other in combinations(places.boxes, 2):
        beside = one.x + one.width <= other.x or other.x + other.width <= one.x
        assert beside or one.y + one.height <= other.y or other.y + other.height <= one.y
    assert max(box.x + box.width for box in places.boxes) <= places.width
    assert max(box.y + box.height for box in places.boxes) <= places.height


def test_a_name_beyond_the_widest_box_is_shortened_in_its_middle_and_kept_as_tooltip() -> None:
    name = "average_monthly_expenditure_on_fuel_in_2023"
    svg = draw_tree(named(full_tree(3), name, "≤ 5"), 3)
    assert f"<title>{name} ≤ 5</title>average_" in svg
    assert "_2023</text>" in svg


def test_the_icicle_names_the_attribute_where_the_whole_test_has_no_room() -> None:
    svg = draw_icicle(named(full_tree(4), "worst concave points", "≤ 0.0000000000000001250000000125"))
    assert "</title>worst concave points</text>" in svg


def test_hidden_leaves_are_counted() -> None:
    shown = visible_part(full_tree(6), 2)
    assert len(shown) == 7
    assert sum(node.hidden_leaves for node in shown) == 64
    assert "… 16 leaves" in "".join(texts(draw_tree(full_tree(6), 2)))


def test_too_many_branches_are_folded_and_counted() -> None:
    shown = visible_part(full_tree(1, width=40), 3)
    assert shown[-1].hidden_branches == 29
    assert len(shown) == 13
    assert "29 more branches" in "".join(texts(draw_tree(full_tree(1, width=40))))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=40))
def test_boxes_of_a_level_never_overlap(widths: list[int]) -> None:
    picture = random_tree(widths)
    shown = visible_part(picture, 50)
    middle = across(shown, 10.0, 2.0)
    levels: dict[int, list[float]] = {}
    for node, at in zip(shown, middle, strict=True):
        levels.setdefault(node.depth, []).append(at)
    for places in levels.values():
        assert all(b - a >= 12.0 - 1e-6 for a, b in pairwise(places))
    assert min(middle) == pytest.approx(5.0)


def random_tree(widths: list[int]) -> Picture:
    parents, depths, children = [-1], [0], []
    node = 0
    while node < len(parents):
        count = widths[node] if node < len(widths) else 0
        count = 2 if count == 1 else count
        first = len(parents)
        parents += [node] * count
        depths += [depths[node] + 1] * count
        children.append(tuple(range(first, first + count)))
        node += 1
    nodes = tuple(
        PictureNode(parents[i], depths[i], children[i], "b", False, "t", 1.0, "p", ((0, 1.0),))
        for i in range(len(parents))
    )
    return Picture(nodes, ("only",))


def test_large_trees_are_drawn_quickly_and_small() -> None:
    picture = full_tree(12)
    assert len(draw_tree(picture)) < 60_000
    assert len(draw_icicle(picture)) < 2_500_000


def test_a_deep_chain_is_drawn() -> None:
    nodes = []
    for i in range(1500):
        inner = i % 2 == 0 and i < 1498
        parent = -1 if i == 0 else (i - 1) // 2 * 2 if i % 2 else i - 2
        nodes.append(
            PictureNode(
                parent,
                (i + 1) // 2,
                (i + 1, i + 2) if inner else (),
                "yes",
                False,
                "q" if inner else "",
                1500.0 - i,
                "p",
                ((0, 1.0),),
            )
        )
    assert draw_icicle(Picture(tuple(nodes), ("p",)))


def test_many_classes_get_distinct_looks_until_grey() -> None:
    from hornbeam.drawing.svg import N_DISTINCT, class_fill

    fills = [class_fill(i) for i in range(N_DISTINCT)]
    assert len(set(fills)) == N_DISTINCT
    assert class_fill(N_DISTINCT) == class_fill(N_DISTINCT + 7)


@given(st.text(max_size=60), st.floats(2, 30))
def test_shortened_text_never_exceeds_its_room(text: str, room: float) -> None:
    assert width_em(shorten(text, room)) <= room + 1e-9
    assert width_em(shorten_middle(text, room)) <= room + 1e-9
    assert re.search(r"[\x00-\x1f]", clean(text)) is None
    assert "<" not in escape(text)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (12.5, "12.5"),
        (0.04892, "0.04892"),
        (123456.7, "123457"),
        (1e12, "1.000e+12"),
        (-3.0, "-3"),
        (1e-9, "1.000e-09"),
        (100.0, "100"),
    ],
)
def test_numbers_read_easily(value: float, shown: str) -> None:
    assert number_text(value) == shown


def test_shares_never_lie_about_certainty() -> None:
    assert percent_text(1.0) == "100\u202f%"
    assert percent_text(0.9999) == ">99.9\u202f%"
    assert percent_text(0.0001) == "<0.1\u202f%"
    assert percent_text(0.5) == "50\u202f%"
    assert count_text(1234567) == "1\u202f234\u202f567"
    assert BOX_HEIGHT > 50
