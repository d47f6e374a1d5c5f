"""The picture of a batch beside the trees and the record that it was made from."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hornbeam as hb
from hornbeam import MaintainedTree
from hornbeam.datasets import generate
from hornbeam.drawing.changes import BEYOND, CHANCE, KEPT, MOVED, REBUILT
from hornbeam.errors import DataError, UsageError
from hornbeam.maintained import changes as record
from hornbeam.maintained.changes import NodeChange
from hornbeam.maintained.show import state_of

PEOPLE = pa.table(generate("agrawal", 3000, function=7, noise=0.05, seed=3))
OTHERS = pa.table(generate("agrawal", 3000, function=6, noise=0.05, seed=3))


def made(place: Path, **parameters: Any) -> MaintainedTree:
    rows = hb.source(PEOPLE.slice(0, 2000))
    return MaintainedTree.create(place / "t.tree", rows, **{"target": "class", "max_depth": 5} | parameters)


def node(state: str, errors: float | None) -> NodeChange:
    return NodeChange("", state, "a <= 1", "a <= 2", 1, 1, errors)


def test_what_moved_did_so_within_chance_beyond_it_or_nobody_knows() -> None:
    assert state_of(node(record.KEPT, None)) == KEPT
    assert state_of(node(record.REBUILT, 0.1)) == REBUILT
    assert state_of(node(record.MOVED, None)) == MOVED
    assert state_of(node(record.MOVED, 2.0)) == CHANCE
    assert state_of(node(record.MOVED, 2.1)) == BEYOND


@pytest.mark.parametrize("parameters", [{}, {"ccp_alpha": 0.002}, {"target": "age", "criterion": "variance"}])
@pytest.mark.parametrize("more", [PEOPLE.slice(2000), OTHERS], ids=["same", "other"])
def test_both_trees_are_drawn_as_the_record_has_them(
    tmp_path: Path, parameters: dict[str, Any], more: pa.Table
) -> None:
    with made(tmp_path, **parameters) as kept:
        before = kept.tree
        changes = kept.apply(inserted=more, deleted=PEOPLE.slice(0, 700))
        after, view = kept.tree, kept.show_changes()
        assert kept.show_changes().html() == view.html()
    assert view.before is not None
    assert view.after is not None
    assert (view.before.digest, view.after.digest) == (before.digest, after.digest)
    drawn = view.picture
    for tree, side in zip((before, after), drawn.sides, strict=True):
        assert side is not None
        assert [n.rows for n in side.picture.nodes] == tree.arrays["rows"].tolist()
    counts = dict(drawn.counts)
    assert changes.counts == {
        "kept": counts[KEPT],
        "moved": counts[CHANCE] + counts[BEYOND] + counts[MOVED],
        "rebuilt": counts[REBUILT],
    }
    assert len(drawn.changes) == sum(counts.values()) - counts[KEPT]
    assert drawn.after is not None
    assert drawn.after.rows_before[0] == changes.nodes[0].rows_before
    found = Counter(s for s, n in zip(drawn.after.states, drawn.after.picture.nodes, strict=True) if n.test)
    assert {state: found[state] for state in (KEPT, CHANCE, BEYOND, MOVED)}.items() <= counts.items()
    for index, state in enumerate(drawn.after.states):
        parent = drawn.after.picture.nodes[index].parent
        if parent >= 0 and drawn.after.states[parent] == REBUILT:
            assert state == REBUILT


def test_the_last_batch_is_drawn_after_reopening(tmp_path: Path) -> None:
    with made(tmp_path) as kept:
        kept.insert(PEOPLE.slice(2000, 500))
        middle = kept.tree.digest
        kept.insert(PEOPLE.slice(2500), id="last")
        page = kept.show_changes().html()
        kept.insert(PEOPLE.slice(2500), id="last")  # applied before: nothing happens
    with MaintainedTree.open(tmp_path / "t.tree", read_only=True) as kept:
        view = kept.show_changes()
        assert view.before is not None
        assert view.before.digest == middle
        assert view.html() == page
        assert repr(view) == "<ChangesView of batch 2; save it as .svg or .html>"
        assert view.save(tmp_path / "p.svg").read_text() == view.svg()
        assert view.save(tmp_path / "p.html", title="T").read_text() == view.html(title="T")
        assert view.svg() in view._repr_html_()
        with pytest.raises(UsageError, match=r"\.svg or \.html"):
            view.save(tmp_path / "p.png")


def test_a_refused_batch_leaves_the_picture_of_the_one_before(tmp_path: Path) -> None:
    with made(tmp_path) as kept:
        kept.insert(PEOPLE.slice(2000, 500))
        page = kept.show_changes().html()
        with pytest.raises(DataError):
            kept.delete(PEOPLE.slice(2500))
        assert kept.show_changes().html() == page


def test_rows_that_all_go_and_come_again(tmp_path: Path) -> None:
    with made(tmp_path) as kept:
        kept.delete(PEOPLE.slice(0, 2000))
        assert "After: no rows, so no tree" in kept.show_changes().svg()
        kept.insert(PEOPLE)
        assert "Before: no rows, so no tree" in kept.show_changes().svg()
        kept.delete(PEOPLE)
        kept.apply()
        assert "Batch 4: 0 rows inserted, 0 deleted, 0 present" in kept.show_changes().svg()


def test_a_leaf_of_another_class_says_which_it_had(tmp_path: Path) -> None:
    rows = pa.table({"x": [1, 1, 1, 2, 2, 2], "class": ["a", "a", "b", "b", "b", "b"]})
    with MaintainedTree.create(tmp_path / "t.tree", hb.source(rows), target="class", max_depth=1) as kept:
        kept.insert(pa.table({"x": [2] * 9, "class": ["c"] * 9}))
        picture = kept.show_changes().picture
    assert picture.after is not None
    assert [n.prediction for n in picture.after.picture.nodes if not n.test] == ["a", "c, was b"]


def test_there_is_no_picture_before_the_first_batch(tmp_path: Path) -> None:
    with made(tmp_path) as kept, pytest.raises(DataError, match="no batch yet"):
        kept.show_changes()
