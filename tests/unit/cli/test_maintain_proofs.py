"""What `hornbeam maintain` proves: certificates of forgotten keys, rebuilds, and what folds say of a tree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hornbeam
from hornbeam import MaintainedTree, TreeClassifier
from tests.unit.cli.test_command import place, refused, run
from tests.unit.cli.test_maintain import DEPTH, digest_of, rows, shown, told

__all__ = ["place", "rows"]


def test_forget_gives_a_certificate(rows: pa.Table) -> None:
    before = told("status", "t.tree")["digest"]
    said = told("forget", "t.tree", "7", "9")
    left = rows.slice(0, 400).filter(pa.array([i not in (7, 9) for i in range(400)]))
    assert said == {
        "keys": ["7", "9"],
        "absent": [],
        "rows": 2,
        "digest_before": before,
        "digest_after": digest_of(left),
        "digest_rebuilt": digest_of(left),
        "equal": True,
        "repeated": False,
    }
    first = told("forget", "t.tree", "8", "99999", "--id", "r1")
    assert first["absent"] == ["99999"]
    again = told("forget", "t.tree", "8", "99999", "--id", "r1")
    assert again == first | {"repeated": True, "absent": None}
    assert "the id was applied before" in shown("forget", "t.tree", "8", "--id", "r1").splitlines()[0]
    assert "of no row      88888" in shown("forget", "t.tree", "11", "88888")
    lines = shown("forget", "t.tree", "10").splitlines()
    assert lines[0].split() == ["keys", "10"]
    assert lines[1].split() == ["rows", "deleted", "1"]
    assert lines[3].split()[-1] == lines[4].split()[-1] == told("status", "t.tree")["digest"]


@pytest.mark.parametrize(
    ("keys", "given"),
    [
        (["a 1", "b", "c", "5"] * 5, "5"),
        (np.arange("2024-01-01", "2024-01-21", dtype="datetime64[D]"), "2024-01-05"),
        (np.arange(20) - 15, "-5"),
    ],
)
def test_keys_are_of_the_type_of_their_column(keys: Any, given: str, place: Path) -> None:
    pq.write_table(pa.table({"k": keys, "x": list(range(20)), "y": ["a", "b"] * 10}), "d.parquet")
    shown("create", "t.tree", "d.parquet", "--target", "y", "--key", "k")
    said = told("forget", "t.tree", "--", given)
    assert said["keys"] == [given]
    assert said["rows"] == sum(str(key) == given for key in keys)


def test_forget_refuses_what_it_cannot_prove(rows: pa.Table) -> None:
    before = told("status", "t.tree")
    refused(3, "maintain", "forget", "t.tree", "4000", says="'id' has none of these keys; nothing was")
    refused(2, "maintain", "forget", "t.tree", "5", "x", says="KEY: 'id' is int64: Failed to parse")
    refused(2, "maintain", "forget", "t.tree", says="Missing argument 'KEY...'")
    assert told("status", "t.tree") == before
    shown("create", "u.tree", "first.parquet", "--target", "class", *DEPTH)
    refused(2, "maintain", "forget", "u.tree", "5", says="forget needs a key, and create was given none")


def test_another_tree_than_that_of_a_rebuild_exits_1(rows: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {"digest": "a" * 64, "rebuilt": "b" * 64, "equal": False, "intact": True}
    monkeypatch.setattr(MaintainedTree, "verify", lambda _: wrong)
    monkeypatch.setattr(MaintainedTree, "_proof", lambda *_: wrong)
    says = f"'t.tree' has the tree {'a' * 16}, and a rebuild gives {'b' * 16}"
    refused(1, "maintain", "verify", "t.tree", says=says)
    done = run("maintain", "verify", "t.tree", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout) == wrong
    assert says in done.stderr
    done = run("maintain", "forget", "t.tree", "5")
    assert done.exit_code == 1
    assert "the rows are gone, but the tree is not that of a rebuild" in done.stderr


def test_rows_that_something_else_wrote_exit_1(rows: pa.Table) -> None:
    shown("verify", "t.tree")
    with duckdb.connect("t.tree") as connection:
        connection.execute("update rows set c0 = -c0 - 1 where rowid = 5")
    done = run("maintain", "verify", "t.tree", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["intact"] is False
    assert "'t.tree' has other rows than its batches left" in done.stderr


def test_folds_are_kept_and_judge_the_tree(rows: pa.Table) -> None:
    pq.write_table(rows.slice(0, 400), "folds.parquet")
    asked = ["folds.parquet", "--target", "class", "--max-depth", "3", "--cv", "4"]
    shown("create", "cv.tree", *asked, "--key", "id")
    said = told("status", "cv.tree")["estimate"]
    here = hornbeam.source("folds.parquet")
    model = TreeClassifier(max_depth=3, cv=4).fit_source(here, target="class", key="id")
    assert said["scores"] == model.cv_results_["test_score"].tolist()
    assert (said["measure"], said["folds"]) == ("accuracy", 4)
    *_, line, agree = shown("status", "cv.tree").splitlines()
    assert line.split()[:3] == ["estimate", "accuracy", f"{said['mean']:.4f}"]
    stability, kept = model.forest_.stability(), told("status", "cv.tree")["stability"]
    assert kept["agreement"] == stability.agreement
    assert kept["root_agreement"] == stability.root_agreement
    assert len(kept["levels"]) == 3
    assert agree.startswith(f"folds agree  {stability.root_agreement:.0%} at the root, ")
    with MaintainedTree.open("cv.tree") as other:
        beside = told("status", "cv.tree")  # folds can be compared without the rows
        assert (beside["estimate"], beside["stability"]) == (None, kept)
        assert "this needs its rows" in beside["why"]
        other.delete(rows.slice(1, 399))
    alone = told("status", "cv.tree")
    assert (alone["estimate"], alone["stability"], alone["rows"]) == (None, None, 1)
    refused(2, "maintain", "create", "no.tree", *asked, says="folds are dealt by a key")


def test_folds_without_rows_are_told_and_nothing_is_refused_for_them(place: Path) -> None:
    rows = pa.table({"k": ["p", "q", "r"] * 4, "x": list(range(12)), "y": ["a", "b"] * 6})
    pq.write_table(rows, "few.parquet")
    shown("create", "few.tree", "few.parquet", "--target", "y", "--key", "k", "--cv", "5")
    said = told("status", "few.tree")["estimate"]
    empty = said["scores"].count(None)
    assert (said["folds"], said["judged"]) == (5, 5 - empty)
    assert empty >= 2
    *_, line, _ = shown("status", "few.tree").splitlines()
    assert line.endswith(f" over {5 - empty} of 5 folds: the others have too few rows, or all")
    for key in "pqr":
        assert told("forget", "few.tree", key)["equal"]
        shown("verify", "few.tree")
    assert "each of 5 has no row" in shown("status", "few.tree").splitlines()[-1]
