"""The picture of a batch: two trees of one height, safe, complete, nothing over anything else."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree

import pytest

from hornbeam.drawing import Picture
from hornbeam.drawing.changes import (
    BEYOND,
    CHANCE,
    KEPT,
    MOST_BOXES,
    MOVED,
    REBUILT,
    STATES,
    Change,
    ChangesPicture,
    Side,
    draw_changes,
    render_changes,
)
from tests.unit.drawing.test_drawing import (
    HOSTILE,
    SVG,
    full_tree,
    named,
    random_tree,
    regression_tree,
    texts,
)
from tests.unit.report.test_report import outline

Box = tuple[float, float, float, float]


def side(picture: Picture, states: tuple[str, ...] = (), before: float | None = None) -> Side:
    n = len(picture.nodes)
    return Side(picture, states or (KEPT,) * n, (before,) * n)


def batch(before: Side | None, after: Side | None, *changes: Change) -> ChangesPicture:
    counts = tuple((state, 2 if state == KEPT else 0) for state in STATES)
    return ChangesPicture(3, 1000, 20, 6000, before, after, counts, changes)


def groups(svg: str) -> list[ElementTree.Element]:
    """The legend and the two sides."""
    return [g for g in ElementTree.fromstring(svg) if g.tag == f"{SVG}g"]


def boxes(group: ElementTree.Element) -> dict[int, Box]:
    """The card of each node."""
    found = {}
    for box in group.iter(f"{SVG}g"):
        if "data-node" in box.attrib:
            card = next(box.iter(f"{SVG}rect")).attrib
            x, y, width, height = (float(card[name]) for name in ("x", "y", "width", "height"))
            found[int(box.attrib["data-node"])] = (x, y, width, height)
    return found


def shapes() -> list[ChangesPicture]:
    return [
        batch(side(full_tree(0)), side(full_tree(0), before=1.0)),
        batch(side(full_tree(3)), side(full_tree(5))),
        batch(side(full_tree(6)), side(full_tree(1, width=40))),
        batch(side(regression_tree()), side(regression_tree())),
        batch(None, side(full_tree(2))),
        batch(side(full_tree(2)), None),
        batch(None, None),
    ]


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("picture", shapes())
def test_pictures_and_pages_are_well_formed(picture: ChangesPicture, inline: bool) -> None:
    for depth in (None, 2, 4):
        svg = draw_changes(picture, depth, inline=inline)
        root = ElementTree.fromstring(svg)
        assert (root.find(f"{SVG}style") is None) == inline
        assert len(groups(svg)) == 3
        assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
    outline(render_changes(picture, "t"))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text(name: str) -> None:
    picture = named(full_tree(2, branch=name), name, "≤ 3")
    picture = Picture(tuple(replace(node, prediction=name) for node in picture.nodes), (name, name))
    change = Change(REBUILT, name, name, name, 1, 2, 0.5)
    drawn = batch(side(picture), side(picture, (REBUILT,) * 7), change)
    tags = {e.tag.removeprefix(SVG) for e in ElementTree.fromstring(draw_changes(drawn, 1)).iter()}
    assert tags <= {"svg", "title", "desc", "style", "defs", "pattern", "rect", "path", "text", "g", "circle"}
    page = render_changes(drawn, name)
    outline(page)
    assert page.count("<script") == 1  # the house's own
    page.encode("utf-8")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (full_tree(5), full_tree(5)),
        (full_tree(3), full_tree(5)),
        (random_tree([2, 2, 0, 3, 2, 0, 2]), random_tree([2, 0, 2, 2, 3])),
        (named(full_tree(2), "average_monthly_expenditure", "≤ 0.0005071"), full_tree(3)),
    ],
)
def test_the_same_way_has_the_same_height_and_nothing_overlaps(before: Picture, after: Picture) -> None:
    svg = draw_changes(batch(side(before), side(after, before=3.0)), None)
    _, *sides = groups(svg)
    found = [boxes(group) for group in sides]
    for picture, placed in zip((before, after), found, strict=True):
        assert set(placed) == set(range(len(picture.nodes)))
        for (x, y, width, height), (u, v, w, h) in combinations(placed.values(), 2):
            assert x + width <= u or u + w <= x or y + height <= v or v + h <= y
    heights = [
        {way(p, i): y + h / 2 for i, (_, y, _, h) in f.items()}
        for p, f in zip((before, after), found, strict=True)
    ]
    for path in heights[0].keys() & heights[1].keys():
        assert heights[0][path] == pytest.approx(heights[1][path], abs=0.02)
    start = [float(group.attrib["transform"].split("(")[1].split()[0]) for group in sides]
    assert max(x + width for x, _, width, _ in found[0].values()) < start[1] - start[0]
    root = ElementTree.fromstring(svg)
    assert start[1] + max(x + width for x, _, width, _ in found[1].values()) <= float(root.attrib["width"])


def way(picture: Picture, node: int) -> tuple[int, ...]:
    """The branches that lead to a node."""
    parent = picture.nodes[node].parent
    return () if parent < 0 else (*way(picture, parent), picture.nodes[parent].children.index(node))


def test_every_state_has_its_colour_and_a_place_in_the_legend() -> None:
    states = (KEPT, CHANCE, BEYOND, MOVED, REBUILT, KEPT, KEPT)
    drawn = replace(
        batch(side(full_tree(2), states), side(full_tree(2), states)),
        counts=tuple((state, 1) for state in STATES),
    )
    svg = draw_changes(drawn, None)
    legend, *sides = groups(svg)
    fills = {r.attrib["style"] for r in legend.iter(f"{SVG}rect")}
    assert len(fills) == len(STATES)
    shown = texts(svg)
    assert all(f"1 {words}" in shown for words in STATES.values())
    for group in sides:
        marked = [
            (g.attrib["data-state"], list(g.iter(f"{SVG}rect"))[-1])
            for g in group.iter(f"{SVG}g")
            if "data-state" in g.attrib
        ]
        assert tuple(state for state, _ in marked) == states
        assert {stripe.attrib["style"] for _, stripe in marked} == fills


def test_states_of_chance_that_do_not_occur_are_left_out() -> None:
    shown = texts(draw_changes(batch(side(full_tree(1)), side(full_tree(1))), None))
    assert {"2 kept", "0 rebuilt"} <= set(shown)
    assert not [text for text in shown if "moved" in text]


def test_rows_are_told_with_what_came_and_went() -> None:
    shown = texts(draw_changes(batch(side(full_tree(1)), side(full_tree(1), before=3.0)), None))
    assert {"n = 2", "n = 2 (−1)", "n = 1 (−2)"} <= set(shown)
    assert "Batch 3: 1\u202f000 rows inserted, 20 deleted, 6\u202f000 present" in shown


def test_a_side_without_rows_says_so() -> None:
    assert "After: no rows, so no tree" in texts(draw_changes(batch(side(full_tree(1)), None), None))


def test_what_is_hidden_is_counted_and_has_the_colour_of_the_most_that_happened() -> None:
    states = [KEPT] * 31
    states[15], states[30] = CHANCE, REBUILT  # the outermost leaves
    given = side(full_tree(4), tuple(states))
    assert given.states_below[:3] == (REBUILT, CHANCE, REBUILT)
    svg = draw_changes(batch(given, given), 1)
    dots = [dot.attrib["style"] for dot in groups(svg)[1].iter(f"{SVG}circle")]
    assert len(set(dots)) == len(dots) == 2
    assert texts(svg).count("… 8 leaves") >= 4
    assert "Before: 16 leaves, depth 4; 3 of 31 nodes are drawn" in texts(svg)


def test_trees_of_sixty_nodes_are_drawn_whole_and_larger_ones_to_a_depth() -> None:
    assert batch(side(full_tree(5)), side(full_tree(4))).depths(MOST_BOXES) == [2, 3, 4, 5]
    assert batch(side(full_tree(9)), side(full_tree(2))).depths(MOST_BOXES)[-1] == 5
    assert batch(None, side(full_tree(1, width=100))).depths(MOST_BOXES) == [1]


def test_the_page_lists_what_changed() -> None:
    some = [
        Change(CHANCE, "", "age <= 3", "age <= 4", 10, 12, 0.44),
        Change(REBUILT, "age <= 4", "", "b <= 1", 5, 7, None),
    ]
    page = render_changes(batch(side(full_tree(2)), side(full_tree(2)), *some), "t")
    assert "Every test was kept." not in page
    for text in ("root", "age &lt;= 3", "a leaf", "b &lt;= 1", "0.4", "moved within chance", "rebuilt"):
        assert f">{text}<" in page or f"{text}</td>" in page
    assert "Every test was kept." in render_changes(batch(side(full_tree(2)), side(full_tree(2))), "t")
    assert "… 7 more" in render_changes(batch(None, side(full_tree(0)), *(some[:1] * 507)), "t")
