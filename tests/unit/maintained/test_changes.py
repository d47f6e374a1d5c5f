"""What is said of a batch: texts and records."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import hornbeam as hb
from hornbeam import MaintainedTree
from hornbeam.maintained.changes import KEPT, MOVED, REBUILT, Changes, NodeChange

MOVE = NodeChange("", MOVED, "a <= 1", "a <= 2", 10, 12, 1.25)


def batch(*nodes: NodeChange) -> Changes:
    return Changes(3, "monday", 2, 1, 11, "one", "two", nodes)


def read_again(changes: Changes) -> Changes:
    return Changes.from_record(json.loads(json.dumps(changes.to_record())))


@pytest.mark.parametrize(
    ("errors", "beyond", "said"),
    [(None, None, ""), (1.25, False, " (1.2 standard errors: chance)"), (2.5, True, ": beyond chance)")],
)
def test_records_and_texts_say_whether_a_change_is_beyond_chance(
    errors: float | None, beyond: bool | None, said: str
) -> None:
    changes = batch(replace(MOVE, standard_errors=errors))
    record = changes.to_record()
    assert record["nodes"][0]["beyond_chance"] is beyond
    assert changes.to_text().endswith(said)
    assert read_again(changes) == changes


def test_batches_without_nodes_still_tell_how_many_tests_were_withheld() -> None:
    changes = batch(NodeChange("", KEPT, "a <= 1", "a <= 1", 10, 12, 0.3, withheld="b <= 1"))
    assert changes.to_record()["withheld"] == 1
    assert "; 1 of those kept is not the best\n" in changes.to_text()
    old = Changes.from_record(changes.to_record() | {"nodes": None})
    assert (old.withheld, old.counts) == (1, changes.counts)
    assert old.to_text() == changes.to_text().splitlines()[0]
    assert read_again(old) == old


def test_records_of_an_earlier_version_are_read() -> None:
    record = batch(MOVE).to_record()
    del record["withheld"], record["proof"], record["nodes"][0]["changed_sides"]
    assert Changes.from_record(record) == batch(MOVE)
    assert Changes.from_record(record | {"nodes": None}).withheld == 0


def test_one_row_and_one_test_are_said_as_such() -> None:
    changes = replace(batch(replace(MOVE, state=KEPT)), inserted=1)
    assert changes.to_text().startswith("batch 3: 1 row inserted, 1 deleted, 11 present; 1 test kept, 0")


@pytest.fixture
def colours(tmp_path: Path) -> Any:
    """Nine colours, of which the first five are of one class; "i" is nearly so."""
    yes = {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0, "e": 1.0, "f": 0.0, "g": 0.0, "h": 0.0, "i": 0.4}
    rows = pd.DataFrame(
        {"colour": list(yes) * 10, "class": [i < 10 * share for i in range(10) for share in yes.values()]}
    )
    with MaintainedTree.create(tmp_path / "t.tree", hb.source(rows), target="class", max_depth=1) as tree:
        yield tree


def test_labels_that_changed_sides_are_named_where_the_test_is_too_long_to_show_them(colours: Any) -> None:
    more = pd.DataFrame({"colour": ["i"] * 40, "class": [True] * 40})
    changes = colours.insert(more)
    (node,) = [node for node in changes.nodes if node.state == MOVED]
    assert node.changed_sides == ("i",)
    assert "; i changed sides (" in changes.to_text()
    assert "; i changed sides<" in colours.show_changes().html()
    assert "; i changed sides" not in colours.insert(more).to_text()
    assert read_again(changes) == changes


def test_many_labels_that_changed_sides_are_counted() -> None:
    node = replace(MOVE, changed_sides=tuple("abcdefg"), standard_errors=None)
    assert batch(node).to_text().endswith("a <= 2; a, b, c, d, e and 2 more changed sides")


def test_without_rows_there_is_no_tree(colours: Any) -> None:
    gone = colours.delete(colours.source())
    assert gone.counts[REBUILT] == 1
    assert gone.to_text().splitlines()[1].endswith(" -> no tree")
    back = colours.insert(pd.DataFrame({"colour": ["a", "f"], "class": [True, False]}))
    assert ": no tree -> colour" in back.to_text()
