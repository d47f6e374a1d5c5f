"""A maintained tree after what goes wrong: killed at every step, a disk that is full, a stop half-way."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hornbeam as hb
from hornbeam import MaintainedTree, TreeClassifier
from hornbeam.datasets import generate
from hornbeam.errors import StorageError
from hornbeam.maintained.state import StateTables
from hornbeam.maintained.update import Update
from tests.depth import seeds, spread

PARAMETERS = {"max_depth": 4, "min_samples_leaf": 5}
BEFORE, BATCH = 1500, 300

# A batch that is killed before the statement of a given number.
KILLED = """
import os, signal, sys
import pyarrow.parquet as pq
import hornbeam as hb
from hornbeam.maintained.database import Database

path, rows, last = sys.argv[1], pq.read_table(sys.argv[2]), int(sys.argv[3])
run, done = Database._execute, 0

def counted(self, *given):
    global done
    if done == last:
        os.kill(os.getpid(), signal.SIGKILL)
    done += 1
    return run(self, *given)

tree = hb.MaintainedTree.open(path)
Database._execute = counted
before, batch = map(int, sys.argv[4:])
tree.apply(inserted=rows.slice(before, batch), deleted=rows.slice(0, batch), id="night")
print(done)
"""


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    return pa.table(generate("agrawal", BEFORE + BATCH, function=7, noise=0.05, seed=5))


@pytest.fixture(scope="module")
def made(rows: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tree, and of the rows of a batch."""
    folder = tmp_path_factory.mktemp("made")
    pq.write_table(rows, folder / "rows.parquet")
    source = hb.source(rows.slice(0, BEFORE))
    MaintainedTree.create(folder / "rows.tree", source, target="class", **PARAMETERS).close()
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "copy"))


def digest_of(rows: pa.Table) -> str:
    found: str = TreeClassifier(**PARAMETERS).fit(rows.drop_columns(["class"]), rows["class"]).tree_.digest
    return found


def apply(tree: MaintainedTree, rows: pa.Table) -> bool:
    """Apply the batch; whether it was there already."""
    inserted, deleted = rows.slice(BEFORE, BATCH), rows.slice(0, BATCH)
    return tree.apply(inserted=inserted, deleted=deleted, id="night").repeated


def check_after(folder: Path, rows: pa.Table) -> str:
    """The file has the state before or after the batch, and the batch can be applied, now or already."""
    old, new = digest_of(rows.slice(0, BEFORE)), digest_of(rows.slice(BATCH, BEFORE))
    with MaintainedTree.open(folder / "rows.tree") as tree:
        found = tree.tree.digest
        assert found in (old, new)
        assert tree.verify()["equal"]
        assert apply(tree, rows) == (found == new)
        assert tree.tree.digest == new
        assert tree.verify()["equal"]
        assert tree.stats["rows"] == BEFORE
    return "old" if found == old else "new"


def command(folder: Path, last: int) -> list[str]:
    given = [folder / "rows.tree", folder / "rows.parquet", last, BEFORE, BATCH]
    return [sys.executable, "-c", KILLED, *map(str, given)]


def run_batch(
    folder: Path, last: int, before: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(folder, last), capture_output=True, text=True, timeout=300, check=False, preexec_fn=before
    )


def maintain(*args: object) -> subprocess.CompletedProcess[str]:
    code = "from hornbeam.cli import main; main()"
    given = [sys.executable, "-c", code, "maintain", *map(str, args)]
    return subprocess.run(given, capture_output=True, text=True, check=False)


def test_killed_at_a_statement(folder: Path, made: Path, rows: pa.Table) -> None:
    steps = int(run_batch(folder, -1).stdout)
    assert steps >= 10
    found = []
    for last in (step - 1 for step in spread(steps, 10)):
        shutil.copytree(made, folder, dirs_exist_ok=True)
        (folder / "rows.tree.wal").unlink(missing_ok=True)
        assert run_batch(folder, last).returncode == -signal.SIGKILL
        found.append(check_after(folder, rows))
    assert found == sorted(found, reverse=True)  # old up to the commit; then the state is published
    assert set(found) == {"old", "new"}


def test_killed_at_any_time(folder: Path, made: Path, rows: pa.Table) -> None:
    begin = time.perf_counter()
    subprocess.run(command(folder, -1), check=True, capture_output=True)
    whole = time.perf_counter() - begin
    for turn in seeds(0, 6, 12):
        shutil.copytree(made, folder, dirs_exist_ok=True)
        (folder / "rows.tree.wal").unlink(missing_ok=True)
        child = subprocess.Popen(command(folder, -1), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(whole * (0.4 + 0.6 * turn / 6))
        child.kill()
        child.wait()
        check_after(folder, rows)


@pytest.mark.skipif(sys.platform != "linux", reason="the size of files is limited by the operating system")
def test_a_full_disk_leaves_the_old_state(folder: Path, rows: pa.Table) -> None:
    import resource

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    done = run_batch(folder, -1, limit)
    assert done.returncode == 1
    assert "StorageError" in done.stderr
    assert check_after(folder, rows) == "old"


@pytest.mark.skipif(sys.platform != "linux", reason="file systems are mounted by the operating system")
def test_the_command_on_a_disk_that_is_really_full(rows: pa.Table, tmp_path: Path) -> None:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"only root may make a small disk: {mounted.stderr.strip()}")
    try:
        path, whole = tmp_path / "t.tree", shutil.disk_usage(tmp_path).total
        MaintainedTree.create(path, hb.source(rows.slice(0, BEFORE)), target="class", **PARAMETERS).close()
        pq.write_table(rows.slice(BEFORE), tmp_path / "more.parquet")
        (tmp_path / "ballast").write_bytes(bytes(shutil.disk_usage(tmp_path).free - 4096))
        done = maintain("insert", path, tmp_path / "more.parquet", "--id", "night")
        assert done.returncode == 4
        assert done.stderr.count("\n") == 1
        assert "No space left on device" in done.stderr
        assert maintain("verify", path).returncode == 0
        made = maintain("create", tmp_path / "u.tree", tmp_path / "more.parquet", "--target", "class")
        assert made.returncode == 4
        assert made.stderr.count("\n") == 1
        assert not [name for name in os.listdir(tmp_path) if name.startswith("u.tree")]
        (tmp_path / "ballast").unlink()
        assert maintain("insert", path, tmp_path / "more.parquet", "--id", "night").returncode == 0
        with MaintainedTree.open(path) as tree:
            assert tree.tree.digest == digest_of(rows)
        assert whole == shutil.disk_usage(tmp_path).total  # it was the small one
    finally:
        subprocess.run(["umount", "-l", tmp_path], check=True)


def test_what_stops_half_way_is_taken_back(
    folder: Path, rows: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    with MaintainedTree.open(folder / "rows.tree") as tree:
        digest = tree.tree.digest
        for where, name in ((Update, "settle"), (StateTables, "set"), (StateTables, "add_batch")):
            with monkeypatch.context() as patch:

                def stop(*_: object, **__: object) -> None:
                    raise KeyboardInterrupt

                patch.setattr(where, name, stop)
                with pytest.raises(KeyboardInterrupt):
                    apply(tree, rows)
            assert tree.tree.digest == digest
            assert tree.verify()["equal"]
        assert not apply(tree, rows)
        assert tree.tree.digest == digest_of(rows.slice(BATCH, BEFORE))


@pytest.mark.parametrize("damage", ["cut", "zeros"])
def test_damaged_files_are_refused_in_one_line(damage: str, folder: Path) -> None:
    path = folder / "rows.tree"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] if damage == "cut" else bytes(5000) + content[5000:])
    with pytest.raises(StorageError) as refused:
        MaintainedTree.open(path).verify()
    assert "rows.tree" in str(refused.value)
    assert "\n" not in str(refused.value)
