"""Rows, files and places that a maintained tree refuses in one line, and batches that have no rows."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import hornbeam as hb
from hornbeam import MaintainedTree
from hornbeam.errors import DataError, StorageError
from tests.unit.estimators.test_maintained import people, tree

__all__ = ["people", "tree"]


def test_numbers_and_weights_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    rows = pa.table({"x": [1.0, 2.0, 3.0, 4.0], "y": [1.0, 2.0, 2.0, 5.0], "w": [1.0, 2.0, 1.0, 0.0]})
    with MaintainedTree.create(tmp_path / "n.tree", hb.source(rows, weight="w"), target="y") as kept:
        for name, value, message in [
            ("y", None, "column 'y' has no value in row 2 of the batch; every row needs its number"),
            ("y", float("inf"), "column 'y' is infinite in row 2 of the batch; give a finite number"),
            ("w", -1.0, "column 'w' is no weight in row 2 of the batch; give a finite number from 0 on"),
            ("w", None, "column 'w' is no weight in row 2 of the batch"),
        ]:
            bad = {column: [1.0, 1.0, 1.0] for column in rows.schema.names} | {name: [1.0, value, 1.0]}
            with pytest.raises(DataError, match=message):
                kept.insert(pa.table(bad))
        assert kept.stats["batch"] == 0
        assert kept.verify()["equal"]


def test_a_source_or_file_without_rows_is_an_empty_batch(
    tree: MaintainedTree, people: pa.Table, tmp_path: Path
) -> None:
    before = tree.tree.digest
    people.slice(0, 0).to_pandas().to_csv(tmp_path / "none.csv", index=False)
    text = {field.name: field.type for field in tree.schema}
    for method in (tree.insert, tree.delete):
        changes = method(hb.source(str(tmp_path / "none.csv"), types=text))
        assert (changes.inserted, changes.deleted, changes.digest_after) == (0, 0, before)
    (tmp_path / "other.csv").write_text("salary,age\n")
    with pytest.raises(DataError, match="column 'commission' is missing"):
        tree.insert(hb.source(str(tmp_path / "other.csv")))
    with pytest.raises(DataError, match="has no rows; at least one is needed"):
        tree.sync(hb.source(str(tmp_path / "none.csv"), types=text))
    assert tree.stats["batch"] == 2


def test_what_is_closed_or_has_no_place_is_said_so(
    tree: MaintainedTree, people: pa.Table, tmp_path: Path
) -> None:
    tree.close()
    with pytest.raises(StorageError, match="is closed; open the tree again"):
        tree.insert(people.slice(4000))
    with pytest.raises(StorageError, match="nowhere' is no directory; make it first"):
        MaintainedTree.create(tmp_path / "nowhere" / "t.tree", hb.source(people), target="class")
    with pytest.raises(DataError, match="create takes a source and was given a Table; make one by"):
        MaintainedTree.create(tmp_path / "t.tree", people, target="class")
