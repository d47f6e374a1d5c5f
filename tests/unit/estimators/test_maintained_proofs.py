"""What a maintained tree proves: certificates of forgotten keys, and files that something else wrote to."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import hornbeam as hb
from hornbeam import MaintainedTree
from hornbeam.datasets import generate
from hornbeam.errors import DataError, StorageError, UsageError

PEOPLE = pa.table(generate("agrawal", 1200, function=7, noise=0.05, seed=3)).append_column(
    "person", pa.array(range(1200))
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.tree"


def made(path: Path, **parameters: Any) -> MaintainedTree:
    rows = hb.source(PEOPLE.slice(0, 1000))
    return MaintainedTree.create(path, rows, target="class", key="person", max_depth=4, **parameters)


# ---- certificates ----


@pytest.mark.parametrize("parameters", [{}, {"policy": "stable"}, {"cv": 3}], ids=str)
def test_a_repeated_request_has_the_certificate_of_the_first(path: Path, parameters: dict[str, Any]) -> None:
    with made(path, **parameters) as tree:
        first = tree.forget([3, 5, 7, 9999], id="request")
        assert (first["rows"], first["absent"], first["equal"]) == (3, [9999], True)
        tree.insert(PEOPLE.slice(1000))
        assert tree.tree.digest != first["digest_after"]
    with MaintainedTree.open(path) as tree:
        again = tree.forget([3, 5, 7, 9999], id="request")
        assert again == first | {"repeated": True, "absent": None}
        assert again["digest_after"] == again["digest_rebuilt"]
        assert tree.changes()[1].proof is not None
        assert tree.changes()[2].proof is None


def test_the_file_does_not_keep_the_keys_that_it_forgot(path: Path) -> None:
    people = PEOPLE.set_column(10, "person", pa.array([f"person number {i}" for i in range(1200)]))
    rows = hb.source(people.slice(0, 1000))
    with MaintainedTree.create(path, rows, target="class", key="person", max_depth=3) as tree:
        tree.forget(["person number 17", "person number 4711"], id="request")
        said = json.dumps([changes.to_record() for changes in tree.changes()])
    assert "person number" not in said


def test_certificates_are_plain_whatever_the_keys_came_in(path: Path) -> None:
    with made(path) as tree:
        told = tree.forget(np.array([3, 4444]))
        assert json.loads(json.dumps(told)) == told
        assert (told["keys"], told["absent"]) == ([3, 4444], [4444])


@pytest.mark.parametrize("keys", ["17", b"17", 17, None])
def test_keys_that_are_no_list_are_refused(keys: Any, path: Path) -> None:
    with made(path) as tree, pytest.raises(UsageError, match="give a list of keys"):
        tree.forget(keys)


def test_an_id_of_another_batch_has_no_certificate(path: Path) -> None:
    with made(path) as tree:
        tree.insert(PEOPLE.slice(1000, 10), id="monday")
        with pytest.raises(UsageError, match="names a batch without a certificate"):
            tree.forget([3], id="monday")
        assert tree.stats["rows"] == 1010


def test_a_stop_while_the_proof_is_sought_takes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with made(path) as tree:
        digest = tree.tree.digest
        with monkeypatch.context() as patch:
            patch.setattr(MaintainedTree, "_proof", stop)
            with pytest.raises(KeyboardInterrupt):
                tree.forget([3], id="request")
        assert (tree.stats["rows"], tree.tree.digest) == (1000, digest)
        assert tree.forget([3], id="request")["rows"] == 1


# ---- what else may write to a file ----


def write(path: Path, statement: str, *values: Any) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute(statement, list(values))


TAMPERED = {
    "an attribute of all": "update rows set c0 = c0 + 1000",
    "the key of one row": "update rows set c10 = -1 where rowid = 17",
    "a row less": "delete from rows where rowid = 17",
    "a row twice": "insert into rows select * from rows limit 1",
    "a hash": "update rows set hash = 0 where rowid = 17",
    "the number of rows": "update meta set value = '999' where name = 'rows'",
}


@pytest.mark.parametrize("statement", TAMPERED.values(), ids=TAMPERED.keys())
def test_verify_tells_that_rows_are_others(statement: str, path: Path) -> None:
    with made(path) as tree:
        assert tree.verify()["intact"]
    write(path, statement)
    with MaintainedTree.open(path, read_only=True) as tree:
        assert not tree.verify()["intact"]


def other_tree(path: Path) -> None:
    """The tree after a batch in the place of the one before it."""
    write(path, "delete from trees where number = 1")
    write(path, "update trees set number = 1")


def test_verify_tells_that_the_tree_is_another(path: Path) -> None:
    with made(path) as tree:
        tree.insert(PEOPLE.slice(1000))
        assert tree.verify()["equal"]
    other_tree(path)
    with MaintainedTree.open(path, read_only=True) as tree:
        proof = tree.verify()
    assert (proof["equal"], proof["intact"]) == (False, True)


def test_a_tree_that_cannot_be_read_is_a_storage_error_with_the_name_of_the_file(path: Path) -> None:
    made(path).close()
    write(path, "update trees set data = 'nothing'::blob")
    for read_only in (True, False):
        with pytest.raises(StorageError, match=r"t\.tree': a tree in the file is damaged: .*; use a copy"):
            MaintainedTree.open(path, read_only=read_only)
    assert sorted(file.name for file in path.parent.iterdir()) == ["t.tree"]


@pytest.mark.parametrize(
    "change", [lambda tree: tree.insert(PEOPLE.slice(1000)), lambda tree: tree.delete(PEOPLE.slice(500, 200))]
)
def test_a_batch_for_a_tree_of_other_rows_leaves_the_file(
    change: Callable[[MaintainedTree], Any], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hornbeam.maintained.counts._LEAST_ROWS", 0)
    monkeypatch.setattr("hornbeam.maintained.counts._MOST_BYTES", 10**9)
    with made(path) as tree:
        tree.warm_up()
    write(path, "delete from rows where rowid < 300")
    with MaintainedTree.open(path) as tree:
        with pytest.raises((StorageError, DataError)) as refused:
            change(tree)
        assert "t.tree" in str(refused.value)
        assert (tree.stats["batch"], tree.stats["rows"]) == (0, 1000)
