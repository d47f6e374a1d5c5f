"""What goes wrong while a tree grows over a source: one line that names it, nothing left behind, and no more
memory than was allowed and the process needs anyway."""

from __future__ import annotations

import ast
import errno
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hornbeam as hb
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.boat import task
from hornbeam.boat.growth import SCANNING
from hornbeam.boat.meter import Progress
from hornbeam.datasets import generate
from hornbeam.errors import HornbeamError, SourceChanged, StorageError
from tests.unit.cli.test_command import run

ALGORITHMS = sorted(SCANNING)
SMALL = 60_000  # bytes: far too little for the rows below


def people(rows: int = 20_000, seed: int = 1) -> pa.Table:
    return pa.table(generate("agrawal", rows, function=7, noise=0.05, seed=seed))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with rows, an empty one for what does not fit, and limits that no user may give."""
    (tmp_path / "spilled").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "spilled"))
    monkeypatch.setattr(task, "LEAST_MEMORY", SMALL)
    monkeypatch.setattr(task, "_LEAST_SAMPLE", 500)
    pq.write_table(people(), tmp_path / "people.parquet", row_group_size=4000)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert os.listdir(tmp_path / "spilled") == []


def incomes(rows: int = 20_000) -> pa.Table:
    """People with an income to predict instead of a class, and a weight."""
    found, rng = people(rows), np.random.default_rng(1)
    left = (
        0.67 * (found["salary"].to_numpy() + found["commission"].to_numpy()) - 0.2 * found["loan"].to_numpy()
    )
    income = (left + rng.normal(size=rows) * 5000).round(2)
    columns = {"income": pa.array(income), "weight": pa.array(rng.uniform(0.5, 2, rows))}
    return pa.table({name: found[name] for name in found.column_names if name != "class"} | columns)


def grow(source: Any, algorithm: str = "boat", limit: int = SMALL, **options: Any) -> TreeClassifier:
    model = TreeClassifier(max_depth=6)
    return model.fit_source(source, target="class", memory_limit=limit, algorithm=algorithm, **options)


def open_files() -> set[str]:
    """What is open, but for pipes and the like."""
    names = (f"/proc/self/fd/{n}" for n in os.listdir("/proc/self/fd"))
    return {os.readlink(name) for name in names if os.path.exists(name) or os.path.islink(name)}


def refused(kind: type[HornbeamError], act: Callable[[], object], *says: str) -> bool:
    """Whether something is refused with such an error, on one line that says all of that."""
    with pytest.raises(kind) as caught:
        act()
    text = str(caught.value)
    return "\n" not in text and all(said in text for said in says)


# ---- a disk that fills ----


def no_space(*given: Any) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_rows_are_spilled_at_all(place: Path) -> None:
    model = grow(hb.source("people.parquet"))
    assert model.scan_stats_.spilled_bytes > 0
    X = pq.read_table("people.parquet")
    assert model.tree_.digest == TreeClassifier(max_depth=6).fit(X.drop(["class"]), X["class"]).tree_.digest


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name != "rf_read"])
def test_a_full_disk(algorithm: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = hb.source("people.parquet")
    before = open_files()
    monkeypatch.setattr(os, "pwrite", no_space)
    assert refused(
        StorageError, lambda: grow(source, algorithm), str(place / "spilled"), "No space left", "TMPDIR"
    )
    assert open_files() == before


def test_a_disk_that_fills_later(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, room = os.pwrite, 100_000

    def some_space(file: int, content: bytes, at: int) -> int:
        """The last block is cut short first, as disks do."""
        if at >= room:
            no_space()
        return write(file, content[: room - at], at)

    monkeypatch.setattr(os, "pwrite", some_space)
    assert refused(StorageError, lambda: grow(hb.source("people.parquet")), "No space left")


def test_no_temporary_directory(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(place / "nowhere"))
    assert refused(StorageError, lambda: grow(hb.source("people.parquet")), "nowhere", "No such file")


def test_a_full_disk_ends_the_command_with_4(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pwrite", no_space)
    before = sorted(os.listdir(place))
    done = run(
        *("fit", "people.parquet", "--target", "class", "--algorithm", "boat", "--memory-limit", "60KB"),
        *("-o", "model.hornbeam"),
    )
    assert done.exit_code == 4
    assert done.stdout == ""
    assert done.stderr.startswith("hornbeam: ")
    assert done.stderr.count("\n") == 1
    assert sorted(os.listdir(place)) == before


# ---- sources that change, break off or disagree ----


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("change", ["other rows", "other order", "truncated", "gone"])
def test_a_file_that_changes_between_two_scans(algorithm: str, change: str, place: Path) -> None:
    path, changed = place / "people.parquet", []

    def meddle(news: Progress) -> None:
        if changed or not news.finished or news.scan != 1:
            return
        changed.append(news.phase)
        rows = pq.read_table(path)
        if change == "other rows":
            pq.write_table(people(seed=2), path)
        elif change == "other order":
            pq.write_table(rows.take(list(range(rows.num_rows - 1, -1, -1))), path)
        elif change == "truncated":
            path.write_bytes(path.read_bytes()[:-2000])
        else:
            path.unlink()

    kind = StorageError if change == "gone" else SourceChanged
    assert refused(kind, lambda: grow(hb.source(path), algorithm, progress=meddle), "people.parquet")
    assert changed == ["survey"]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_query_whose_rows_change(algorithm: str, place: Path) -> None:
    calls = 0

    def batches() -> list[pa.RecordBatch]:
        nonlocal calls
        calls += 1
        rows = people(3000)
        if calls > 2:  # the first is for the schema
            column = rows["class"].to_pylist()
            column[7] = "A" if column[7] == "B" else "B"
            rows = rows.set_column(rows.schema.get_field_index("class"), "class", pa.array(column))
        return rows.to_batches()

    assert refused(SourceChanged, lambda: grow(hb.source(batches), algorithm), "batches")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("column", ["income", "weight"])
@pytest.mark.parametrize("factor", [2.0, 2.0**-300])
def test_a_query_whose_numbers_change(algorithm: str, column: str, factor: float, place: Path) -> None:
    """By a little or by so much that sums have no room for it."""
    calls = 0

    def batches() -> list[pa.RecordBatch]:
        nonlocal calls
        calls += 1
        rows = incomes(3000)
        if calls > 2:
            numbers = rows[column].to_numpy().copy()
            numbers[7] *= factor
            rows = rows.set_column(rows.schema.get_field_index(column), column, pa.array(numbers))
        return rows.to_batches()

    source = hb.source(batches, weight="weight")
    model = TreeRegressor(max_depth=6)
    assert refused(
        SourceChanged,
        lambda: model.fit_source(source, target="income", memory_limit=SMALL, algorithm=algorithm),
        "batches",
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_truncated_file(algorithm: str, place: Path) -> None:
    path = place / "people.parquet"
    source = hb.source(path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    assert refused(HornbeamError, lambda: grow(source, algorithm), "people.parquet")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("scan", [1, 2])
def test_a_query_that_fails_half_way(algorithm: str, scan: int, place: Path) -> None:
    with duckdb.connect("a.duckdb") as connection:
        connection.execute("create table t as select * from 'people.parquet'")
        connection.execute("create table limits as select 0.0::double as least")
    wrong = "age = 33 and (select least from limits) > 0"
    sql = f"select * replace (case when {wrong} then error('no such age') else age end as age) from t"

    def spoil(news: Progress) -> None:
        if scan == 2 and news.finished and news.scan == 1:
            with duckdb.connect("a.duckdb") as connection:
                connection.execute("update limits set least = 1")

    source = hb.source("a.duckdb", sql=sql)
    if scan == 1:
        with duckdb.connect("a.duckdb") as connection:
            connection.execute("update limits set least = 1")
    assert refused(HornbeamError, lambda: grow(source, algorithm, progress=spoil), "no such age")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_column_that_changes_type_between_files(algorithm: str, place: Path) -> None:
    (place / "parts").mkdir()
    rows = people(1000)
    pq.write_table(rows, place / "parts" / "1.parquet")
    texts = rows.set_column(2, "age", rows["age"].cast(pa.string()))
    pq.write_table(texts, place / "parts" / "2.parquet")
    assert refused(HornbeamError, lambda: grow(hb.source("parts/*.parquet"), algorithm), "age", "2.parquet")


def test_the_estimator_stays_as_it_was(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = grow(hb.source("people.parquet"))
    before = model.tree_.digest, model.scan_stats_
    monkeypatch.setattr(os, "pwrite", no_space)
    with pytest.raises(StorageError):
        model.fit_source(hb.source("people.parquet"), target="class", memory_limit=SMALL, algorithm="boat")
    assert (model.tree_.digest, model.scan_stats_) == before


# ---- Ctrl-C ----

INTERRUPTED = """
import os, signal, sys, tempfile, threading, time
import hornbeam as hb
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.boat import task
from hornbeam.boat.guessing import Guessing

path, phase, delay, target = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]
model = TreeClassifier() if target == "class" else TreeRegressor()
source = hb.source(path, weight=None if target == "class" else "weight")
task.LEAST_MEMORY = 1000
if phase == "further scan":
    Guessing._seems_leaf = lambda self, node: True
sent = []

def strike():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

def listen(news):
    if news.phase == phase and not sent and not waiting:
        waiting.append(1)
        threading.Timer(delay, strike).start()

waiting, heard = [], False
try:
    for _ in range(50):  # the phase may be over too soon: then the next one of its kind is struck
        model.fit_source(
            source, target=target, memory_limit=2_000_000, algorithm="boat", progress=listen
        )
except KeyboardInterrupt:
    heard = True
print({"heard": heard, "after": time.perf_counter() - sent[0], "left": os.listdir(tempfile.gettempdir())})
"""
SLOWEST = 2.0  # seconds; the promise is 100 ms, but the machine may be busy


@pytest.mark.parametrize("target", ["class", "income"])
@pytest.mark.parametrize(
    "phase", ["survey", "bootstraps", "cleanup scan", "settling", "families", "further scan"]
)
def test_ctrl_c(phase: str, target: str, tmp_path: Path) -> None:
    rows = people(60_000) if target == "class" else incomes(60_000)
    pq.write_table(rows, tmp_path / "people.parquet", row_group_size=10_000)
    (tmp_path / "spilled").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path / "people.parquet"), phase, "0.003", target],
        env=os.environ | {"TMPDIR": str(tmp_path / "spilled")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    said = ast.literal_eval(done.stdout)
    print(phase, said["after"])
    assert said["heard"]
    assert said["left"] == []
    assert said["after"] < SLOWEST


# ---- memory ----

# What the process has beside Python with its libraries and the limit: the reader's buffers, what its
# allocator keeps, and the sample while bootstrap trees grow. See docs/boat.md.
READER = 90 * 10**6
MEASURED = """
import sys
import hornbeam as hb
from hornbeam import TreeClassifier, TreeRegressor

def peak():  # of this program: what getrusage says may be that of the process which started it
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))

target = sys.argv[3]
source = hb.source(sys.argv[1], weight="weight" if target == "income" else None)
limit = int(sys.argv[2])
before = peak()
kind = TreeRegressor if target == "income" else TreeClassifier
model = kind(max_depth=6, min_samples_leaf=50).fit_source(
    source, target=target, memory_limit=limit, algorithm="boat"
)
stats = model.scan_stats_
print({"before": before, "peak": peak(), "scans": stats.scans, "spilled": stats.spilled_bytes})
"""


def numbers(rows: int) -> pa.Table:
    """Floats without ties, half of them nothing but noise: of every value is asked, at every node."""
    rng = np.random.default_rng(1)
    columns = {f"x{i}": rng.normal(size=rows) for i in range(4)}
    return pa.table(columns | {"class": np.where(columns["x0"] > 0.3, 0, rng.integers(0, 2, rows))})


@pytest.mark.skipif(sys.platform != "linux", reason="the highest mark of memory is read from /proc")
@pytest.mark.parametrize("limit", [64 * 10**6, 32 * 10**6])
@pytest.mark.parametrize("rows", [people, numbers, incomes])
def test_memory_stays_within_the_limit(rows: Callable[[int], pa.Table], limit: int, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(rows(2_000_000), path, row_group_size=1 << 17)
    target = "income" if rows is incomes else "class"
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(path), str(limit), target],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    said = ast.literal_eval(done.stdout)
    print(rows.__name__, said)
    assert said["spilled"] > 0
    assert said["peak"] > said["before"]
    assert said["peak"] - said["before"] <= limit + READER
