"""Ctrl-C while a maintained tree is made, changed or synced: the state before, and nothing left over."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hornbeam as hb
from hornbeam import MaintainedTree
from hornbeam.datasets import generate
from tests.children import Driver

BEFORE, ALL = 20_000, 30_000
SHARES = (0.05, 0.2, 0.4, 0.6, 0.8, 0.95)  # of the time that the whole takes
FILES = ["after.parquet", "before.parquet", "more.parquet"]

# Everything is imported once; each command runs in a child of its own, which is interrupted after a while.
DRIVER = """
import os, signal, sys, time
from hornbeam.cli import main

def answer(task):
    args, wait = task
    begun, said = time.perf_counter(), os.memfd_create("said")
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(said, 1)
        os.dup2(said, 2)
        try:
            main(args)
        except SystemExit as left:
            os._exit(left.code or 0)
        os._exit(99)
    if wait is not None:
        time.sleep(wait)
        os.kill(child, signal.SIGINT)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    text = os.pread(said, 10**6, 0).decode()
    os.close(said)
    return {"code": code, "said": text, "seconds": time.perf_counter() - begun}

try:
    main(["maintain", "status", sys.argv[1]])  # imports what is used
except SystemExit:
    pass
"""


class Commands(Driver):
    def run(self, *args: object, wait: float | None = None) -> dict[str, Any]:
        """What a command said and how it ended; interrupted after so many seconds."""
        found: dict[str, Any] = self.ask([["maintain", *map(str, args)], wait])
        return found


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    return pa.table(generate("agrawal", ALL, function=7, noise=0.05, seed=5))


@pytest.fixture(scope="module")
def place(rows: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows")
    pq.write_table(rows.slice(0, BEFORE), folder / "before.parquet")
    pq.write_table(rows.slice(BEFORE), folder / "more.parquet")
    pq.write_table(rows.slice(ALL - BEFORE), folder / "after.parquet")
    return folder


@pytest.fixture(scope="module")
def commands(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    first = tmp_path_factory.mktemp("first") / "t.tree"
    source = pq.read_table(place / "before.parquet").slice(0, 100)
    MaintainedTree.create(first, hb.source(source), target="class").close()
    driver = Commands(DRIVER, str(first))
    yield driver
    driver.close()


def files(place: Path) -> list[str]:
    return sorted(file.name for file in place.iterdir())


def test_create_leaves_nothing_or_a_whole_tree(commands: Commands, place: Path) -> None:
    tree, found = place / "t.tree", []
    asked = ("create", tree, place / "before.parquet", "--target", "class", "--max-depth", 6)
    whole = commands.run(*asked)["seconds"]
    for share in SHARES:
        tree.unlink(missing_ok=True)
        done = commands.run(*asked, wait=share * whole)
        assert done["code"] in (0, 130), done["said"]
        assert done["code"] == 0 or done["said"] == "hornbeam: interrupted; nothing was written\n"
        found.append((done["code"], tree.exists()))
        assert files(place) == [*FILES, tree.name] if tree.exists() else FILES
        if tree.exists():
            with MaintainedTree.open(tree) as kept:
                assert kept.verify()["equal"]
    assert (130, False) in found
    assert (0, False) not in found
    tree.unlink(missing_ok=True)


@pytest.mark.parametrize("change", ["insert", "sync"])
def test_batches_leave_the_state_before_or_after(change: str, commands: Commands, place: Path) -> None:
    tree, found = place / f"z-{change}.tree", []
    asked = (change, tree, place / ("more.parquet" if change == "insert" else "after.parquet"))
    created = commands.run("create", tree, place / "before.parquet", "--target", "class", "--max-depth", 6)
    assert created["code"] == 0
    old = tree.read_bytes()
    whole = commands.run(*asked)["seconds"]
    for share in SHARES:
        tree.write_bytes(old)
        done = commands.run(*asked, wait=share * whole)
        assert done["code"] in (0, 130), done["said"]
        assert set(files(place)) - {f"{tree.name}.wal"} == {*FILES, tree.name}
        with MaintainedTree.open(tree) as kept:
            found.append((done["code"], kept.stats["batch"]))
            assert kept.verify()["equal"]
    assert (130, 0) in found
    assert (0, 0) not in found
    tree.unlink()


def test_the_library_goes_on_with_the_state_before(place: Path, rows: pa.Table) -> None:
    """A stop inside the database, and one inside the growing."""
    source = hb.source(rows.slice(0, BEFORE))
    with MaintainedTree.create(place / "t.tree", source, target="class", max_depth=6) as tree:
        digest, stopped = tree.tree.digest, 0
        for wait in (0.02, 0.1, 0.3):
            timer = threading.Timer(wait, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            try:
                while True:  # until it is stopped
                    tree.sync(hb.source(rows.slice(ALL - BEFORE)))
                    tree.sync(hb.source(rows.slice(0, BEFORE)))
            except KeyboardInterrupt:
                stopped += 1
            assert tree.verify()["equal"]
            tree.sync(hb.source(rows.slice(0, BEFORE)))
            assert tree.tree.digest == digest
        assert stopped == 3
    (place / "t.tree").unlink()
