"""A maintained tree that has had many batches: its file, its work and what is published stay as they were."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hornbeam as hb
from hornbeam import MaintainedTree
from hornbeam.maintained import state
from hornbeam.maintained.database import Database
from hornbeam.maintained.rows import StoredRows
from tests.depth import DEEP

BATCHES = 1000 if DEEP else 250
EACH = 50  # batches of one opening
ROUND = 80  # batches after which all rows are those of the beginning
BLOCK = 2**18  # of the database

draw = np.random.default_rng(0)
ROWS = pa.table(
    {
        "a": draw.integers(0, 50, 400),
        "b": draw.choice(["x", "y", "z"], 400),
        "class": draw.choice(["no", "yes"], 400),
    }
)


class Work:
    """What is read and asked of the database."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.rows = self.statements = 0
        read, run = StoredRows.read, Database._execute

        def counted_read(here: StoredRows, *given: Any) -> Iterator[pa.RecordBatch]:
            for batch in read(here, *given):
                self.rows += batch.num_rows
                yield batch

        def counted_run(here: Database, *given: Any) -> list[Any]:
            self.statements += 1
            return run(here, *given)

        patch.setattr(StoredRows, "read", counted_read)
        patch.setattr(Database, "_execute", counted_run)


def batch(number: int) -> dict[str, pa.Table]:
    """Five rows for five others, there and back again."""
    first = 5 * (number % (ROUND // 2))
    sides = ROWS.slice(first, 5), ROWS.slice(200 + first, 5)
    back = number % ROUND >= ROUND // 2
    return {"deleted": sides[back], "inserted": sides[not back]}


def test_many_batches_make_neither_the_file_nor_the_work_grow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.tree"
    source = hb.source(ROWS.slice(0, 200))
    with MaintainedTree.create(path, source, target="class", max_depth=4, min_samples_leaf=5) as tree:
        digest = tree.tree.digest
    sizes, rows, statements, published, counts = [], [], [], [], []
    for first in range(0, BATCHES, EACH):
        work = Work(monkeypatch)
        with MaintainedTree.open(path) as tree:
            for number in range(first, first + EACH):
                tree.apply(**batch(number), id=f"batch {number}")
                if (number + 1) % ROUND == 0:
                    assert tree.tree.digest == digest
            published.append(os.path.getsize(f"{path}.readers"))
            counts.append(tree._kept.whole._kept.scan.bytes)  # type: ignore[union-attr]
            statements.append(work.statements)
            rows.append(work.rows)
        monkeypatch.undo()
        sizes.append(os.path.getsize(path))
    assert max(sizes) <= max(sizes[:2]) + 4 * BLOCK
    assert max(rows) <= 1.5 * max(rows[:2])
    assert max(statements) == statements[1]  # at the first opening there is no tree before the last batch
    assert max(published) <= 1.5 * max(published[:2])
    assert max(counts) <= 2 * max(counts[:2])
    with MaintainedTree.open(path) as tree:
        assert tree.verify()["equal"]
        assert tree.apply(**batch(3), id="batch 3").repeated
        assert len(tree.changes()) == BATCHES + 1


def test_old_batches_keep_a_line_and_lose_their_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "_WITH_NODES", 3)
    path = tmp_path / "t.tree"
    with MaintainedTree.create(path, hb.source(ROWS.slice(0, 200)), target="class", max_depth=2) as tree:
        done = [tree.apply(**batch(number), id=f"batch {number}") for number in range(6)]
    with MaintainedTree.open(path, read_only=True) as tree:
        kept = tree.changes()[1:]
        assert [bool(changes.nodes) for changes in kept] == [False] * 3 + [True] * 3
        assert kept[3:] == done[3:]
        for before, after in zip(done, kept, strict=True):
            assert after.counts == before.counts
            assert after.to_text().splitlines()[0] == before.to_text().splitlines()[0]
            assert (after.id, after.digest_after) == (before.id, before.digest_after)
        assert kept[0].to_record() == done[0].to_record() | {"nodes": None}
    with MaintainedTree.open(path) as tree:
        again = tree.apply(**batch(0), id="batch 0")
        assert again.repeated
        assert again.counts == done[0].counts


def test_nodes_of_many_bytes_are_kept_for_the_last_batch_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "_NODE_BYTES", 10)
    path = tmp_path / "t.tree"
    with MaintainedTree.create(path, hb.source(ROWS.slice(0, 200)), target="class", max_depth=2) as tree:
        for number in range(3):
            tree.apply(**batch(number))
        assert [bool(changes.nodes) for changes in tree.changes()[1:]] == [False, False, True]
        assert tree.show_changes().changes.number == 3
