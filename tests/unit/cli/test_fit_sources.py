"""`hornbeam fit` over sources: globs, folders, databases; what it prints, writes and refuses."""

from __future__ import annotations

import json
import os
import pty
import re
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import hornbeam
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.boat import growth
from hornbeam.boat.meter import Progress
from hornbeam.cli.output import progress_text
from hornbeam.cli.sources import facts_of
from tests.unit.boat.scanner import grow_by_chunks
from tests.unit.cli.test_command import COMMAND, files, place, refused, run
from tests.unit.table.sources.rows import people, write_files

__all__ = ["place"]


@pytest.fixture
def rows(place: Path) -> pa.Table:
    """Rows, and three Parquet files of them."""
    made = people(500)
    write_files(made, place / "data")
    return made


def fitted(*args: str) -> Any:
    done = run("fit", *args, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def tree_of(rows: pa.Table, **parameters: Any) -> Any:
    return TreeClassifier(**parameters).fit(rows.drop_columns("y"), rows["y"])


def test_a_glob_is_scanned_and_gives_the_tree_of_all_files(rows: pa.Table, place: Path) -> None:
    said = fitted("data/*.parquet", "--target", "y", "--max-depth", "3", "--memory-limit", "500MB", "-o", "m")
    model = tree_of(rows, max_depth=3)
    assert said["digest"] == model.tree_.digest
    assert said["rows"] == 500
    assert said["score"]["value"] == model.score(rows, rows["y"].to_pylist())
    stats = said["scan_stats"]
    assert (stats["scans"], stats["rows"], stats["alarms"], stats["held_rows"]) == (1, 500, 0, 500)
    assert stats["algorithm"] == "memory"
    assert stats["memory_limit"] == 500_000_000
    assert stats["peak_memory"] > 10**7
    assert set(stats["seconds"]) == {"reading", "growing"}
    assert hornbeam.load("m").tree_.digest == said["digest"]


def test_the_table_for_people_has_the_figures(rows: pa.Table) -> None:
    done = run("fit", "data/*.parquet", "--target", "y", "--max-depth", "2", "--memory-limit", "1GB")
    assert done.exit_code == 0, done.output
    lines = dict(line.split("  ", 1) for line in done.stdout.split("\n\n")[0].splitlines())
    found = {name.strip(): value.strip() for name, value in lines.items()}
    assert re.fullmatch(
        r"memory: 500 rows need at most .* [KM]B, which fits the limit of 1 GB", found["algorithm"]
    )
    assert re.fullmatch(r"1 \(500 rows, .* KB read\)", found["scans"])
    assert found["alarms"] == "0"
    assert found["rows held"] == "500 rows; 1 family finished in memory"
    assert re.fullmatch(r".* MB of the process \(limit 1 GB\)", found["peak memory"])
    assert re.fullmatch(r".* in all: reading .*, growing .*", found["time"])


def test_other_sources_give_the_same_tree(rows: pa.Table, place: Path) -> None:
    pc.write_csv(rows.slice(0, 200), "a.part.csv")
    pc.write_csv(rows.slice(200), "b.part.csv")
    with duckdb.connect("w.duckdb") as connection:
        connection.register("given", rows)
        connection.execute("create table people as select * from given")
    with sqlite3.connect("w.sqlite") as lite:
        lite.execute("create table people (id integer, age integer, size real, job text, y text)")
        lite.executemany(
            "insert into people values (?, ?, ?, ?, ?)", [tuple(row.values()) for row in rows.to_pylist()]
        )
    lite.close()
    sql = "select age, size, y from people"
    digest = tree_of(rows.select(["age", "size", "y"]), max_depth=3).tree_.digest
    for data in ("w.duckdb", "w.sqlite"):
        asked = ("--sql", sql, "--target", "y", "--max-depth", "3", "--algorithm", "auto")
        assert fitted(data, *asked)["digest"] == digest
    assert fitted("w.sqlite", "--sql", sql, "--target", "y", "--max-depth", "3")["digest"] == digest
    known = tree_of(rows, max_depth=3).tree_.digest
    for data in ("data", "data/0.parquet"):
        found = fitted(data, "--target", "y", "--max-depth", "3", "--algorithm", "memory")
        assert found["scan_stats"]["reason"] == "it was asked for"
        assert (found["digest"] == known) == (data == "data")
    table = pa.table({"x": [1, 2, 3, 4] * 9, "y": [5, 6, 6, 5] * 9})
    pc.write_csv(table.slice(0, 10), "c.0.csv")
    pc.write_csv(table.slice(10), "c.1.csv")
    whole = TreeClassifier().fit(table.select(["x"]), table["y"])
    assert fitted("c.*.csv", "--target", "y")["digest"] == whole.tree_.digest


def test_whole_numbers_are_classes_where_they_are_few(place: Path) -> None:
    pq.write_table(pa.table({"x": list(range(100)), "y": [i % 20 for i in range(100)]}), "few.parquet")
    pq.write_table(pa.table({"x": list(range(100)), "y": [i % 21 for i in range(100)]}), "many.parquet")
    assert fitted("few.parq*", "--target", "y")["task"] == "classification"
    many = fitted("many.parq*", "--target", "y")
    assert many["task"] == "regression"
    assert many["scan_stats"]["scans"] == 1
    assert many["score"]["value"] == pytest.approx(1.0)
    assert fitted("many.parq*", "--target", "y", "--task", "classification")["task"] == "classification"


def test_the_score_of_numbers_is_that_of_the_training_rows(rows: pa.Table) -> None:
    said = fitted("data/*.parquet", "--target", "size", "--max-depth", "3", "--report", "r.html")
    model = TreeRegressor(max_depth=3).fit(rows.drop_columns("size"), rows["size"])
    assert said["digest"] == model.tree_.digest
    assert said["score"]["value"] == pytest.approx(
        model.score(rows.drop_columns("size"), rows["size"].to_numpy())
    )
    assert "mean absolute error" not in Path("r.html").read_text("utf-8")


@pytest.mark.parametrize("algorithm", sorted(growth.SCANNING))
def test_scans_take_numbers_and_weights(algorithm: str, rows: pa.Table, place: Path) -> None:
    heavy = rows.append_column("w", pa.array([0.25 * (i % 7) for i in range(500)]))
    write_files(heavy, place / "heavy")
    given = ("heavy/*.parquet", "--weight", "w", "--max-depth", "4", "--algorithm", algorithm)
    weights = heavy["w"].to_numpy()
    numbers = fitted(*given, "--target", "size")
    assert numbers["task"] == "regression"
    model: Any = TreeRegressor(max_depth=4).fit(
        rows.drop_columns("size"), rows["size"], sample_weight=weights
    )
    assert numbers["digest"] == model.tree_.digest
    assert numbers["scan_stats"]["algorithm"] == algorithm
    classes = fitted(*given, "--target", "y", "--class-weight", "balanced")
    model = TreeClassifier(max_depth=4, class_weight="balanced")
    assert (
        classes["digest"] == model.fit(rows.drop_columns("y"), rows["y"], sample_weight=weights).tree_.digest
    )


def test_weights_key_and_folds(rows: pa.Table, place: Path) -> None:
    heavy = rows.append_column("w", pa.array([float(i % 3) for i in range(500)]))
    write_files(heavy, place / "heavy")
    given = ("heavy/*.parquet", "--target", "y", "--weight", "w", "--key", "id", "--max-depth", "2")
    said = fitted(*given, "--cv", "3", "--seed", "5")
    assert said["cross_validation"]["folds"] == 3
    assert said["seed"] == 5
    whole = TreeClassifier(max_depth=2).fit(
        rows.drop_columns(["y", "id"]), rows["y"], sample_weight=heavy["w"].to_numpy()
    )
    assert said["digest"] == whole.tree_.digest
    assert said["rows"] == 333
    assert "333 rows by weight" in run("fit", *given, "--report", "r.html").stdout
    assert "of the weight of" in Path("r.html").read_text("utf-8")
    refused(3, "fit", *given, "--weight", "age", says="is nan; finite numbers from 0 are allowed")


def test_the_report_tells_of_the_scans(rows: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(growth.SCANNING, "boat", grow_by_chunks)
    said = fitted("data/*.parquet", "--target", "y", "--algorithm", "boat", "--cv", "3", "--report", "r.html")
    assert said["scan_stats"]["scans"] == 3
    page = Path("r.html").read_text("utf-8")
    part = page[page.index("How the rows were read") :]
    for text in (
        "boat: it was asked for",
        "<dt>alarms</dt><dd>2</dd>",
        "rows held",
        "peak memory",
        "judging",
    ):
        assert text in part
    assert "&#x27;data/*.parquet&#x27;" in page or "data/*.parquet" in page
    assert "How the rows were read" not in _page_of_a_file()


def _page_of_a_file() -> str:
    assert run("fit", "data.csv", "--target", "class", "--report", "plain.html").exit_code == 0
    return Path("plain.html").read_text("utf-8")


REFUSED: list[tuple[int, tuple[str, ...], str]] = [
    (4, ("none/*.parquet", "--target", "y"), "no file matches 'none/*.parquet'"),
    (4, ("none.parquet", "--target", "y", "--algorithm", "auto"), "'none.parquet'"),
    (2, ("data/*.parquet", "--target", "nope"), "--target 'nope' is not a column; columns are"),
    (2, ("data/*.parquet", "--target", "jub"), "did you mean 'job'?"),
    (2, ("data/*.parquet", "--target", "y", "--key", "y"), "--key 'y'"),
    (2, ("data/*.parquet", "--target", "y", "--key", "nope"), "--key 'nope' is not a column of"),
    (2, ("data/*.parquet", "--target", "y", "--weight", "nope"), "--weight 'nope' is not a column of"),
    (3, ("data/*.parquet", "--target", "y", "--weight", "job"), "the weight 'job' is no number"),
    (2, ("data/*.parquet", "--target", "y", "--algorithm", "best"), "--algorithm 'best': use 'auto'"),
    (
        2,
        ("data/*.parquet", "--target", "y", "--variant", "paper"),
        "--variant 'paper' with --algorithm 'auto'",
    ),
    (
        2,
        ("data/*.parquet", "--target", "y", "--memory-limit", "1MB"),
        "--memory-limit 1 MB: give at least 32 MB",
    ),
    (2, ("data/*.parquet", "--target", "y", "--memory-limit", "lots"), "--memory-limit 'lots'"),
    (2, ("data/*.parquet", "--target", "y", "--test", "0.3"), "--test: rows of a source are judged by folds"),
    (2, ("data/*.parquet", "--target", "y", "--sql", "select 1"), "--sql is only for databases"),
    (2, ("-", "--target", "y", "--algorithm", "auto"), "standard input ('-') is read once"),
    (
        2,
        ("data/*.parquet", "--target", "y", "--nominal-features", "no"),
        "--nominal-features 'no' is not a column",
    ),
    (2, ("data/*.parquet", "--target", "y", "--criterion", "best"), "--criterion 'best'"),
    (2, ("data/*.parquet", "--target", "y", "--target", "age", "--task", "classification"), "one class"),
    (2, ("data/*.parquet", "--target", "y", "-o", "data/0.parquet"), "is read and would be overwritten"),
    (3, ("data/*.parquet", "--target", "job", "--task", "regression"), "numbers"),
]


@pytest.mark.parametrize(("code", "args", "says"), REFUSED)
def test_what_means_nothing_is_refused_in_one_line(
    code: int, args: tuple[str, ...], says: str, rows: pa.Table, place: Path
) -> None:
    output = () if "-o" in args else ("-o", "m")
    refused(code, "fit", *args, *output, says=says)
    assert files(place) == {"data.csv", "data"}


def test_rows_that_do_not_fit_are_refused_with_what_they_need(place: Path) -> None:
    write_files(people(60_000), place / "many", group=5000)
    limit = ("--memory-limit", "32MB", "--algorithm", "memory")
    line = refused(3, "fit", "many/*.parquet", "--target", "y", *limit)
    assert "--memory-limit 32 MB: the 60,000 rows of 'many/*.parquet' may need" in line
    assert "limit the tree by --min-samples-leaf or --max-depth" in line


def test_damaged_files_and_failing_queries_are_named(rows: pa.Table, place: Path) -> None:
    content = (place / "data" / "1.parquet").read_bytes()
    (place / "data" / "1.parquet").write_bytes(content[: len(content) // 2])
    refused(3, "fit", "data/*.parquet", "--target", "y", "-o", "m", says="'data/1.parquet'")
    sql = "select i, case when i = 90000 then error('gone') else 'a' end as y from range(100000) t(i)"
    with duckdb.connect("e.duckdb"):
        pass
    line = refused(3, "fit", "e.duckdb", "--sql", sql, "--target", "y", "--algorithm", "auto", "-o", "m")
    assert "gone" in line
    assert files(place) == {"data.csv", "data", "e.duckdb"}


def test_a_changed_file_is_refused(rows: pa.Table, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rewriting(task: Any, survey: Any, meter: Any) -> Any:
        pq.write_table(rows.slice(0, 50), place / "data" / "2.parquet")
        return grow_by_chunks(task, survey, meter)

    monkeypatch.setitem(growth.SCANNING, "boat", rewriting)
    line = refused(3, "fit", "data/*.parquet", "--target", "y", "--algorithm", "boat", "-o", "m")
    assert "'data/2.parquet' changed" in line
    assert files(place) == {"data.csv", "data"}


def test_progress_is_for_people_who_watch(rows: pa.Table, place: Path) -> None:
    arguments = ["fit", "data/*.parquet", "--target", "y", "--max-depth", "2"]
    quiet = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=True)
    assert quiet.stderr == ""
    master, slave = pty.openpty()
    watched = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    seen = b""
    try:
        while piece := os.read(master, 4096):
            seen += piece
    except OSError:  # the other end is closed
        pass
    os.close(master)
    assert watched.wait() == 0
    shown = seen.decode()
    assert "scan 1, reading" in shown
    assert "500 rows" in shown
    assert "rows/s" in shown


def test_pace_and_time_left_read_well() -> None:
    news = Progress("survey", 2, 2_500_000, 10_000_000, 0.25, 1.0)
    assert progress_text(news) == "2,500,000 of 10,000,000 rows, 2.5 M rows/s, 3 s left"
    assert progress_text(Progress("survey", 1, 1200, None, None, 2.0)) == "1,200 rows, 600 rows/s"
    assert progress_text(Progress("growing", 0, 0, None, 0.1, 60.0)) == "9 min left"
    assert (
        progress_text(Progress("survey", 1, 9000, 9000, 1.0, 2.0, True)) == "9,000 rows, 4.5 k rows/s, 2.0 s"
    )


def test_passwords_are_not_shown() -> None:
    address = "postgresql://me:se cret@host/db?password=x"
    line = f"hornbeam fit '{address}' --target y"
    facts = facts_of(line, address)
    assert facts["command"] == "hornbeam fit postgresql://me@host/db --target y"
    assert not any(secret in fact for fact in facts.values() for secret in ("cret", "password"))
