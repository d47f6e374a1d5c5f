"""Readers of a maintained tree while a writer has it open: the state after the last batch, and no other."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hornbeam as hb
from hornbeam import MaintainedTree
from hornbeam.errors import StorageError, UsageError
from hornbeam.estimators import maintained
from hornbeam.maintained import store
from hornbeam.maintained.publication import Publication
from tests.rights import without_rights

draw = np.random.default_rng(0)
ROWS = pa.table(
    {
        "id": np.arange(300),
        "a": draw.integers(0, 50, 300),
        "b": draw.choice(["x", "y", "z"], 300),
        "class": draw.choice(["no", "yes"], 300),
    }
)
READ = """
import json, sys
from hornbeam import MaintainedTree
with MaintainedTree.open(sys.argv[1], read_only=True) as tree:
    print(json.dumps([tree.tree.digest, tree.stats["batch"], len(tree.changes())]))
"""
WRITE = """
import sys
import pyarrow.parquet as pq
from hornbeam import MaintainedTree
rows = pq.read_table(sys.argv[2])
tree = MaintainedTree.open(sys.argv[1])
for i in range(10**6):
    tree.apply(**{("inserted", "deleted")[i % 2]: rows})
    print(flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    source = hb.source(ROWS.slice(0, 200))
    MaintainedTree.create(tmp_path / "t.tree", source, target="class", key="id", max_depth=3, cv=2).close()
    return tmp_path / "t.tree"


def seen_elsewhere(path: Path) -> list[Any]:
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True)
    found: list[Any] = json.loads(done.stdout)
    return found


def test_readers_see_the_state_after_the_last_batch(path: Path) -> None:
    with MaintainedTree.open(path) as writer:
        assert seen_elsewhere(path) == [writer.tree.digest, 0, 1]
        writer.insert(ROWS.slice(200), id="monday")
        assert seen_elsewhere(path) == [writer.tree.digest, 1, 2]
        with MaintainedTree.open(path, read_only=True) as reader:
            assert reader.stats == writer.stats
            assert reader.schema == writer.schema
            assert reader.changes() == writer.changes()
            assert reader.forest().tree(1).digest == writer.forest().tree(1).digest
            assert reader.show_changes().svg() == writer.show_changes().svg()
            x = ROWS.drop_columns(["id", "class"])
            assert (reader.estimator().predict(x) == writer.estimator().predict(x)).all()
            writer.delete(ROWS.slice(0, 50))
            assert reader.stats["batch"] == 1  # as it was opened
    assert seen_elsewhere(path)[1:] == [2, 3]


def test_what_is_not_committed_is_not_seen(path: Path) -> None:
    with MaintainedTree.open(path) as writer:
        seen: list[dict[str, Any]] = []

        def look(*_: object) -> None:
            with MaintainedTree.open(path, read_only=True) as reader:
                seen.append(reader.stats)
            raise KeyboardInterrupt

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(writer._store.tables, "add_batch", look)
            with pytest.raises(KeyboardInterrupt):
                writer.insert(ROWS.slice(200))
        assert [(stats["batch"], stats["rows"]) for stats in seen] == [(0, 200)]
        assert writer.insert(ROWS.slice(200)).number == 1


def test_readers_beside_a_busy_writer_see_whole_states(path: Path) -> None:
    """Every one of them is that before a batch or that after it."""
    pq.write_table(ROWS.slice(200), path.with_suffix(".parquet"))
    command = [sys.executable, "-c", WRITE, str(path), str(path.with_suffix(".parquet"))]
    with MaintainedTree.open(path) as tree:
        digests = [tree.tree.digest, tree.insert(ROWS.slice(200)).digest_after]
        tree.delete(ROWS.slice(200))
    with subprocess.Popen(command, stdout=-1) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        numbers = set()
        while len(numbers) < 5:
            with MaintainedTree.open(path, read_only=True) as reader:
                number = reader.stats["batch"]
                assert reader.tree.digest == digests[number % 2]
                assert reader.stats["rows"] == (200, 300)[number % 2]
                assert reader.changes(1)[0].number == number
                numbers.add(number)
        writer.kill()
    with MaintainedTree.open(path, read_only=True) as reader:
        assert reader.stats["batch"] >= max(numbers)
        assert reader.tree.digest == digests[reader.stats["batch"] % 2]


NEEDS_ROWS: list[Callable[[MaintainedTree], object]] = [
    lambda tree: tree.verify(),
    lambda tree: tree.estimate(),
    lambda tree: list(tree.source().scan()),
]


@pytest.mark.parametrize("ask", NEEDS_ROWS, ids=["verify", "estimate", "source"])
def test_what_needs_the_rows_says_who_has_them(ask: Callable[[MaintainedTree], object], path: Path) -> None:
    with MaintainedTree.open(path), MaintainedTree.open(path, read_only=True) as reader:
        says = f"is open for writing by process {os.getpid()}, and this needs its rows; close the tree there"
        with pytest.raises(StorageError, match=says):
            ask(reader)
        with pytest.raises(UsageError, match="is open for reading only"):
            reader.insert(ROWS.slice(200))


def test_nothing_is_left_beside_a_file_that_is_closed_or_let_go(path: Path) -> None:
    tree = MaintainedTree.open(path)
    assert sorted(os.listdir(path.parent)) == ["t.tree", "t.tree.readers"]
    tree.close()
    assert os.listdir(path.parent) == ["t.tree"]
    tree = MaintainedTree.open(path)
    del tree
    assert os.listdir(path.parent) == ["t.tree"]


def test_what_a_crash_left_is_not_believed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither of another process nor, where the system tells when one began, of one with the same number."""
    monkeypatch.setattr(store, "_TRIES", 1)
    copy = Path(f"{path}.readers")
    with MaintainedTree.open(path) as tree:
        published = Publication(str(path)).of(os.getpid())
        assert published is not None
        old = copy.read_bytes()
        tree.insert(ROWS.slice(200))
    copy.write_bytes(old)
    with MaintainedTree.open(path, read_only=True) as reader:
        assert reader.stats["batch"] == 1  # the file comes first
    with MaintainedTree.open(path):
        assert MaintainedTree.open(path, read_only=True).stats["batch"] == 1
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "getpid", lambda: 1)
            Publication(str(path)).publish(*published)
        with pytest.raises(StorageError, match="is locked by this process"):
            MaintainedTree.open(path, read_only=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("hornbeam.maintained.publication._begun", lambda _: "earlier")
            Publication(str(path)).publish(*published)
        with pytest.raises(StorageError, match="is locked by this process"):
            MaintainedTree.open(path, read_only=True)


def test_a_batch_does_not_fail_because_it_cannot_be_published(path: Path) -> None:
    with MaintainedTree.open(path) as writer:
        os.mkdir(f"{path}.readers.new")
        assert writer.insert(ROWS.slice(200)).number == 1
        assert not os.path.exists(f"{path}.readers")  # rather none than an old one
        os.rmdir(f"{path}.readers.new")
        assert writer.delete(ROWS.slice(200)).number == 2
        assert seen_elsewhere(path)[1] == 2


def test_a_copy_in_a_place_where_nothing_can_be_written_opens(path: Path, tmp_path: Path) -> None:
    place = tmp_path / "read only"
    place.mkdir()
    shutil.copy(path, place)
    MaintainedTree.open(place / "t.tree", read_only=True).close()
    (place / "t.tree").chmod(0o444)
    place.chmod(0o555)
    for parent in (tmp_path, *tmp_path.parents):
        if Path(gettempdir()) in parent.parents:
            parent.chmod(0o755)
    with without_rights(), MaintainedTree.open(place / "t.tree", read_only=True) as reader:
        assert reader.stats["batch"] == 0
        assert reader.verify()["equal"]
    with (
        without_rights(),
        pytest.raises(StorageError, match=r"opened for writing: permission denied"),
    ):
        MaintainedTree.open(place / "t.tree")
    with (
        without_rights(),
        pytest.raises(StorageError, match=r"cannot make .*u\.tree': permission denied"),
    ):
        MaintainedTree.create(place / "u.tree", hb.source(ROWS), target="class")
    assert os.listdir(place) == ["t.tree"]
    place.chmod(0)
    with without_rights(), pytest.raises(StorageError, match=r"cannot be looked for: Permission denied$"):
        MaintainedTree.open(place / "t.tree", read_only=True)
    place.chmod(0o755)


def test_a_tree_that_is_being_made_is_not_there_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, fill, seen = tmp_path / "t.tree", maintained.fill, []

    def looked(*given: Any) -> Any:
        seen.extend(os.listdir(tmp_path))
        with pytest.raises(StorageError, match="is not there"):
            MaintainedTree.open(path, read_only=True)
        with pytest.raises(StorageError, match="is locked by this process"):
            MaintainedTree.create(path, hb.source(ROWS), target="class")
        return fill(*given)

    monkeypatch.setattr(maintained, "fill", looked)
    (tmp_path / "t.tree.new").write_bytes(b"what a crash left")
    MaintainedTree.create(path, hb.source(ROWS), target="class", key="id", max_depth=2).close()
    assert "t.tree.new" in seen
    assert "t.tree" not in seen
    assert os.listdir(tmp_path) == ["t.tree"]


def test_rows_that_a_crash_left_aside_are_removed_by_the_next_writer(path: Path) -> None:
    folder = Path(f"{path}.tmp")
    folder.mkdir()
    for name in ("duckdb_temp_99_0_owner", "duckdb_temp_99_0_storage_DEFAULT-0.tmp"):
        (folder / name).write_bytes(b"rows")
    MaintainedTree.open(path, read_only=True).close()
    assert len(os.listdir(folder)) == 2  # readers leave all as it is
    MaintainedTree.open(path).close()
    assert not folder.exists()
    folder.mkdir()
    (folder / "mine").touch()
    MaintainedTree.open(path).close()
    assert os.listdir(folder) == ["mine"]
