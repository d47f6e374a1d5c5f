"""A maintained tree whose writer is killed, or refused by the disk, at every write of a session."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from hornbeam import MaintainedTree, TreeClassifier
from tests.depth import spread
from tests.tracing import Traced, calls_of, why_no_strace

pytestmark = pytest.mark.skipif(bool(why_no_strace()), reason=why_no_strace())

STEPS = ("create", "insert", "delete", "sync")
FILES = ("t.tree", "t.tree.wal", "t.tree.new", "t.tree.new.wal", "t.tree.readers", "t.tree.readers.new")

# A session tells in a file what was done and what was refused. What was refused is tried again in the open
# object; what is refused twice ends it.
SESSION = """
import json, os, tempfile
import numpy as np
import pyarrow as pa
import hornbeam as hb
from hornbeam.errors import StorageError

draw = np.random.default_rng(0)
rows = pa.table({
    "a": draw.integers(0, 50, 200),
    "b": draw.choice(["x", "y", "z"], 200),
    "class": draw.choice(["no", "yes"], 200),
})

def step(name, path, tree):
    if name == "create":
        return hb.MaintainedTree.create(path, hb.source(rows.slice(0, 100)), target="class", max_depth=3)
    if name == "insert":
        tree.insert(rows.slice(100, 50), id="insert")
    elif name == "delete":
        tree.delete(rows.slice(0, 50), id="delete")
    elif name == "sync":
        tree.sync(hb.source(rows.slice(100)), id="sync")
    return tree

def session(folder, tell=lambda **_: None):
    path, tree = os.path.join(folder, "t.tree"), None
    for name in ("create", "insert", "delete", "sync"):
        for turn in range(2):
            try:
                tree = step(name, path, tree)
                tell(done=name)
                break
            except StorageError as error:
                tell(refused=name, error=str(error))
        else:
            return StorageError.exit_code
    tree.close()
    return 0
"""
WORK = """
def work(folder):
    told = open(folder + ".told", "w")
    return session(folder, lambda **news: print(json.dumps(news), file=told, flush=True))

with tempfile.TemporaryDirectory() as folder:  # once before any child: it imports what is used
    session(folder)
"""
space: dict[str, pa.Table] = {}
exec(SESSION, space)  # the same rows and steps here
ROWS = space["rows"]
PRESENT = (ROWS.slice(0, 100), ROWS.slice(0, 150), ROWS.slice(50, 100), ROWS.slice(100))


def digest_of(rows: pa.Table) -> str:
    model = TreeClassifier(max_depth=3).fit(rows.drop_columns(["class"]), rows["class"])
    digest: str = model.tree_.digest
    return digest


DIGESTS = [digest_of(rows) for rows in PRESENT]


@pytest.fixture(scope="module")
def traced() -> Iterator[Traced]:
    driver = Traced(SESSION + WORK, FILES)
    yield driver
    driver.close()


def told(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in Path(f"{folder}.told").read_text().splitlines()]


def check_after(folder: Path) -> int | None:
    """Nothing that was done is lost, the state is a whole one, and the session can be gone on with. The
    number of the last batch, or None without a tree."""
    done = [news["done"] for news in told(folder) if "done" in news]
    path = folder / "t.tree"
    if not path.exists():
        assert not done
        number, tree = None, space["step"]("create", str(path), None)
    else:
        with MaintainedTree.open(path, read_only=True) as seen:
            number = seen.stats["batch"]
        assert len(done) - 1 <= number <= len(done)
        tree = MaintainedTree.open(path)
    with tree:
        assert tree.tree.digest == DIGESTS[number or 0]
        assert tree.verify()["equal"]
        for i, name in enumerate(STEPS[1:], 1):
            space["step"](name, str(path), tree)
            assert tree.tree.digest == DIGESTS[max(i, number or 0)]
        assert tree.verify()["equal"]
        assert [batch.id for batch in tree.changes()] == [None, *STEPS[1:]]
    assert os.listdir(folder) == ["t.tree"]
    return number


def test_killed_at_every_write(traced: Traced, tmp_path: Path) -> None:
    assert traced.run(tmp_path / "whole") == 0
    calls, numbers = calls_of(tmp_path / "whole"), set[int | None]()
    assert calls.total() > 40
    for call, count in calls.items():
        for i in spread(count, 7):
            folder = tmp_path / f"{call}{i}"
            assert traced.run(folder, f"{call}:signal=SIGKILL:when={i}") == -signal.SIGKILL
            numbers.add(check_after(folder))
            shutil.rmtree(folder)
    assert numbers == {None, 0, 1, 2, 3}


@pytest.mark.parametrize("lasting", ["", "+"], ids=["once", "from then on"])
@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
def test_writes_that_fail_are_told_in_a_line_and_leave_a_whole_state(
    error: str, lasting: str, traced: Traced, tmp_path: Path
) -> None:
    assert traced.run(tmp_path / "whole") == 0
    refused = 0
    for call, count in calls_of(tmp_path / "whole").items():
        if error == "ENOSPC" and call not in ("write", "pwrite64"):
            continue
        for i in spread(count, 3):
            folder = tmp_path / f"{call}{i}"
            code = traced.run(folder, f"{call}:error={error}:when={i}{lasting}")
            errors = [news for news in told(folder) if "refused" in news]
            assert code in ((0, 4) if errors else (0,))
            for news in errors:
                assert "\n" not in news["error"]
                assert "t.tree" in news["error"]
                assert "invalidated" not in news["error"] or "open it again" in news["error"]
            refused += len(errors)
            check_after(folder)
            shutil.rmtree(folder)
    assert refused
