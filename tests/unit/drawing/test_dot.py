"""DOT: what is written is read back, whatever names hold, by our reader and by Graphviz where it is there."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.drawing import Picture, write_dot
from hornbeam.drawing.dot import quoted
from hornbeam.drawing.text import clean
from tests.databases import PLAIN
from tests.dot_grammar import read_dot, read_label
from tests.unit.drawing.test_drawing import HOSTILE, full_tree, regression_tree

NAMES = [*HOSTILE, "\\", 'a\\"', "\\N\\G\\l", "&lt;&#65;", "<b>", "x ≤ 3"]


def test_every_node_and_branch_is_written() -> None:
    graph = read_dot(write_dot(full_tree(3)))
    assert len(graph.nodes) == 15
    assert len(graph.edges) == 14
    assert read_label(graph.nodes["n0"]["label"]) == ["age ≤ 3", "n = 8 · 75\u202f% one"]
    assert graph.edges["n0", "n1"]["label"] == "no"
    assert graph.nodes["n0"]["style"] == "striped"
    assert graph.nodes["n0"]["fillcolor"].count(";0.2500") == 1


def test_what_is_left_out_is_counted() -> None:
    graph = read_dot(write_dot(full_tree(6), 2))
    assert len([name for name in graph.nodes if name.startswith("n")]) == 7
    hidden = [read_label(graph.nodes[name]["label"]) for name in graph.nodes if name.startswith("h")]
    assert hidden == [["… 16 leaves"]] * 4


def test_a_regression_has_a_colour_for_its_mean() -> None:
    graph = read_dot(write_dot(regression_tree()))
    fills = [graph.nodes[f"n{i}"]["fillcolor"] for i in range(3)]
    assert len(set(fills)) == 3
    assert all(fill.startswith("#") and len(fill) == 7 for fill in fills)


@pytest.mark.parametrize("name", NAMES)
def test_hostile_names_stay_text(name: str) -> None:
    picture = Picture(full_tree(1, test=name, branch=name).nodes, (name, name))
    graph = read_dot(write_dot(picture))
    assert read_label(graph.nodes["n0"]["label"])[0][:20].rstrip("…") in clean(name)
    assert len(graph.edges) == 2


@given(st.text())
def test_a_quoted_text_is_read_back(text: str) -> None:
    assert read_label(quoted(text)[1:-1]) == [clean(text)]


def test_graphviz_reads_it() -> None:
    program = shutil.which("dot")
    if program is None:
        pytest.skip("no Graphviz: the program dot was not found")
    for picture in (
        full_tree(3),
        regression_tree(),
        *(full_tree(1, test=name, branch=name) for name in NAMES),
    ):
        done = subprocess.run(
            [program, "-Tsvg"],
            input=write_dot(picture).encode(),
            capture_output=True,
            check=False,
            env=PLAIN,
        )
        assert done.returncode == 0, done.stderr
        assert b"syntax" not in done.stderr
        assert done.stdout.count(b'class="edge"') == len(picture.nodes) - 1
