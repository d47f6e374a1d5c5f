"""From a tree to its picture: questions, branches, bars, and how much of a large tree is drawn."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from hornbeam.drawing.node import Legend, branch_text, is_crowded, small_line, winner
from hornbeam.drawing.text import width_em
from hornbeam.model import Tree
from hornbeam.model.picture import picture_of
from hornbeam.table import Attribute, Schema
from tests.dot_grammar import read_dot, read_label
from tests.unit.model.builder import float_schema, mixed_schema, plain_arrays, random_tree
from tests.unit.model.test_canonical import stump


def towns(n: int, left: int) -> Tree:
    """One subset test over n labels, the first `left` of them to the left."""
    labels = tuple(f"town {i:02d}" for i in range(n))
    arrays = plain_arrays(stump(["no", "yes"]))
    arrays["kind"][0] = 2
    arrays["branch_start"] = np.array([0, n, n, n])
    arrays["branch_code"] = np.arange(n, dtype=np.int32)
    arrays["branch_child"] = np.array([0] * left + [1] * (n - left), dtype=np.int32)
    return Tree(Schema((Attribute("home", "nominal", "nominal", labels),)), arrays, classes=["no", "yes"])


def shown(svg: str) -> list[str]:
    """The texts of a picture without their tooltips."""
    texts = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return [(text[-1].tail if len(text) else text.text) or "" for text in texts]


def boxes(svg: str) -> int:
    return len(re.findall("<g data-node=", svg))


def test_a_stump_is_drawn() -> None:
    picture = picture_of(stump(["no", "yes"]))
    assert [node.test for node in picture.nodes] == ["age ≤ 30", "", ""]
    assert [node.branch for node in picture.nodes] == ["", "yes", "no"]
    assert [node.takes_missing for node in picture.nodes] == [False, False, True]
    assert picture.nodes[0].shares == ((0, 0.4), (1, 0.6))
    assert "no or missing" in shown(stump(["no", "yes"]).to_svg(missing=True))
    assert read_label(read_dot(stump(["no", "yes"]).to_dot()).nodes["n2"]["label"]) == [
        "yes",
        "n = 3 · 100\u202f%",
    ]


def test_small_trees_are_drawn_whole_and_large_ones_to_depth_4() -> None:
    small = random_tree(np.random.default_rng(0), float_schema(2), 15, breadth_first=False)
    large = random_tree(np.random.default_rng(0), float_schema(2), 255)
    assert boxes(small.to_svg()) == small.n_nodes
    assert boxes(large.to_svg()) == 31
    assert "31 of 511 nodes are drawn" in shown(large.to_svg())
    assert boxes(large.to_svg(2)) == 7
    assert boxes(large.to_svg(None)) == 511
    assert not [text for text in shown(large.to_svg(None)) if "nodes are drawn" in text]


def test_a_whole_picture_has_every_branch() -> None:
    labels = tuple(f"k{i:02d}" for i in range(40))
    arrays = plain_arrays(random_tree(np.random.default_rng(0), float_schema(1), 0))
    schema = Schema((Attribute("k", "nominal", "nominal", labels),))
    n = 41
    arrays |= {
        name: np.repeat(arrays[name], n) for name in ("rows", "weight", "impurity", "gain", "threshold")
    }
    arrays |= {"threshold_integer": np.zeros(n, np.int64), "kind": np.array([4] + [0] * 40, np.uint8)}
    arrays |= {
        "attribute": np.array([0] + [-1] * 40, np.int32),
        "first_child": np.array([1] + [-1] * 40, np.int32),
    }
    arrays |= {
        "n_children": np.array([40] + [0] * 40, np.int32),
        "default_child": np.array([3] + [-1] * 40, np.int32),
    }
    arrays |= {"branch_start": np.array([0] + [40] * n), "branch_code": np.arange(40, dtype=np.int32)}
    arrays |= {"branch_child": np.arange(40, dtype=np.int32), "count_start": np.arange(n + 1)}
    arrays |= {"count_class": np.zeros(n, np.int32), "count": np.ones(n)}
    tree = Tree(schema, arrays, classes=["only"])
    assert boxes(tree.to_svg(4)) == 12
    assert boxes(tree.to_svg(None)) == 41
    assert len(read_dot(tree.to_dot()).nodes) == 41


def test_long_lists_of_labels_are_counted_not_cut() -> None:
    nodes = picture_of(towns(30, 10)).nodes
    assert nodes[0].test == "home"
    assert branch_text(nodes[1], 10) == "town 00 +9"
    assert branch_text(nodes[1], 16) == "town 00, town 01 +8"
    assert branch_text(nodes[2], 16) == "20 others"
    assert branch_text(picture_of(towns(4, 2)).nodes[1], 16) == "town 00, town 01"
    assert nodes[1].branch.endswith("town 09")
    assert picture_of(towns(200, 100)).nodes[1].branch.endswith("and 40 more")
    for room in (4, 6, 8, 12, 20, 40):
        assert all(width_em(branch_text(node, room)) <= room for node in nodes[1:])


def test_one_label_against_the_others_is_a_question_of_yes_or_no() -> None:
    picture = picture_of(towns(3, 1))
    assert picture.nodes[0].test == "home = town 00"
    assert (picture.nodes[0].subject, picture.nodes[0].condition) == ("home", "= town 00")
    assert [node.branch for node in picture.nodes[1:]] == ["yes", "no"]


def test_many_classes_are_named_and_winners_have_colours() -> None:
    tree = random_tree(np.random.default_rng(5), float_schema(3), 40, n_classes=26)
    picture = picture_of(tree)
    assert is_crowded(picture)
    first, second = sorted((share for _, share in picture.nodes[0].shares), reverse=True)[:2]
    assert re.fullmatch(
        rf"n = .+ · class \d+ {first:.0%}, class \d+ {second:.0%}".replace("%", "\u202f%"),
        small_line(picture, picture.nodes[0]),
    )
    ranks = Legend.of(picture).ranks
    near = {winner(node) for node in picture.nodes if node.depth <= 4}
    assert sorted(ranks) == list(range(26))
    assert max(ranks[index] for index in near) == len(near) - 1


@pytest.mark.parametrize("n_targets", [1, 2])
def test_a_regression_shows_mean_and_spread(n_targets: int) -> None:
    tree = random_tree(np.random.default_rng(1), mixed_schema(), 6, n_targets=n_targets)
    nodes = picture_of(tree).nodes
    assert [node.means for node in nodes] == [tuple(means) for means in tree.means.tolist()]
    if n_targets == 1:
        assert [node.spread**2 for node in nodes] == pytest.approx(tree.arrays["impurity"].tolist())
        assert any("±" in text for text in shown(tree.to_svg()))
    else:
        assert nodes[0].prediction.startswith("target 0 ")
        assert ", target 1 " in nodes[0].prediction


def test_dates_are_asked_as_dates() -> None:
    arrays = plain_arrays(stump(["no", "yes"]))
    arrays["threshold_integer"][0] = 20_000
    schema = Schema((Attribute("day", "numeric", "date"),))
    assert picture_of(Tree(schema, arrays, classes=["no", "yes"])).nodes[0].test == "day ≤ 2024-10-04"
