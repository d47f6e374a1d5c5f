"""`hornbeam maintain`: every command on a few rows, its JSON, its exit codes, and the tree of a lone fit."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import hornbeam
from hornbeam import MaintainedTree, TreeClassifier, TreeRegressor
from hornbeam.datasets import generate
from tests.unit.cli.test_command import files, place, refused, run

__all__ = ["place"]

DEPTH = ("--max-depth", "4")


def told(*args: str) -> Any:
    """What a command says as JSON."""
    name, *rest = args
    done = run("maintain", name, "--json", *rest)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def shown(*args: str) -> str:
    """What a command says to people."""
    done = run("maintain", *args)
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    return done.stdout


def digest_of(rows: pa.Table, **parameters: Any) -> str:
    """Of the tree that fit grows."""
    model = TreeClassifier(**{"max_depth": 4} | parameters)
    return model.fit(rows.drop_columns(["id", "class"]), rows["class"]).tree_.digest


def misfits(rows: pa.Table) -> dict[str, str]:
    """Files of rows that do not fit the tree, and what is said of each."""
    pq.write_table(rows.drop_columns(["age"]), "less.parquet")
    pq.write_table(rows.append_column("new", rows["age"]), "wide.parquet")
    pq.write_table(rows.set_column(3, "age", rows["class"]), "text.parquet")
    return {
        "less.parquet": "'less.parquet': column 'age' is missing; rows have 'id'",
        "wide.parquet": "'wide.parquet': column 'new' is new; rows have 'id'",
        "text.parquet": "'text.parquet': column 'age' is text, but int64 before",
    }


@pytest.fixture
def rows(place: Path) -> pa.Table:
    """People by their id: 400 in a tree and in a file, 100 more in a file."""
    made = generate("agrawal", 500, function=7, noise=0.1, seed=3).read_all()
    made = made.add_column(0, "id", pa.array(np.arange(500)))
    pq.write_table(made.slice(0, 400), "first.parquet")
    pq.write_table(made.slice(400), "more.parquet")
    shown("create", "t.tree", "first.parquet", "--target", "class", "--key", "id", *DEPTH)
    return made


# ---- what the commands do ----


def test_create_grows_the_tree_of_fit(rows: pa.Table) -> None:
    said = told("create", "u.tree", "first.parquet", "--target", "class", "--key", "id", *DEPTH)
    assert said["digest"] == digest_of(rows.slice(0, 400))
    assert (said["path"], said["rows"], said["batch"]) == ("u.tree", 400, 0)
    assert told("status", "u.tree")["digest"] == said["digest"]


@pytest.mark.parametrize(
    "asked",
    [
        (
            "--target",
            "class",
            "--criterion",
            "entropy",
            "--min-samples-leaf",
            "5",
            "--class-weight",
            "balanced",
        ),
        ("--target", "class", "--min-samples-split", "0.1", "--min-impurity-decrease", "0.001"),
        ("--target", "class", "--ccp-alpha", "0.01", "--weight", "age", "--nominal", "value"),
        ("--target", "age", "--max-depth", "3", "--nominal-features", "hyears"),
        ("--target", "salary", "--target", "loan", "--max-depth", "2"),
        ("--target", "hyears", "--task", "regression", "--max-depth", "2"),
        ("--target", "hyears", "--task", "classification", "--max-depth", "2"),
    ],
)
def test_create_and_fit_agree_whatever_is_asked(asked: tuple[str, ...], rows: pa.Table) -> None:
    fitted = run("fit", "first.parquet", *asked, "--algorithm", "auto", "--json", "-o", "fit.model")
    assert fitted.exit_code == 0, fitted.output
    said = told("create", "u.tree", "first.parquet", *asked, "--memory-limit", "500MB", "--algorithm", "boat")
    assert said["digest"] == json.loads(fitted.stdout)["digest"]
    told("export", "u.tree", "kept.model")
    ours, theirs = hornbeam.load("kept.model"), hornbeam.load("fit.model")
    assert ours.get_params() == theirs.get_params()
    assert np.array_equal(ours.predict(rows), theirs.predict(rows))


def test_rows_come_and_go_and_the_tree_is_that_of_fit(rows: pa.Table) -> None:
    first = told("status", "t.tree")["digest"]
    said = told("insert", "t.tree", "more.parquet", "--id", "monday")
    assert (said["number"], said["id"], said["inserted"], said["deleted"]) == (1, "monday", 100, 0)
    assert (said["digest_before"], said["digest_after"]) == (first, digest_of(rows))
    assert said["counts"].keys() == {"kept", "moved", "rebuilt"}
    assert said["nodes"][0]["rows_after"] == said["rows"] == 500
    pq.write_table(rows.slice(50, 30), "gone.parquet")
    assert told("delete", "t.tree", "gone.parquet")["deleted"] == 30
    left = pa.concat_tables([rows.slice(0, 50), rows.slice(80)])
    assert told("status", "t.tree")["digest"] == digest_of(left)
    proof = {"digest": digest_of(left), "rebuilt": digest_of(left), "equal": True, "intact": True}
    assert told("verify", "t.tree") == proof


def test_several_files_are_one_batch(rows: pa.Table) -> None:
    asked = ("--target", "class", "--key", "id", *DEPTH)
    assert told("create", "u.tree", "first.parquet", "more.parquet", *asked)["digest"] == digest_of(rows)
    said = told("delete", "u.tree", "more.parquet", "first.parquet")
    assert (said["number"], said["deleted"], said["digest_after"]) == (1, 500, None)
    assert "none: there are no rows" in shown("status", "u.tree")
    refused(3, "maintain", "export", "u.tree", "m", says="'u.tree' has no rows, so there is no tree")
    assert told("insert", "u.tree", "*.parquet")["digest_after"] == digest_of(rows)


def test_sync_makes_the_rows_those_of_the_data(rows: pa.Table) -> None:
    wanted = rows.slice(120, 330)
    pq.write_table(wanted, "now.parquet")
    said = told("sync", "t.tree", "now.parquet", "--id", "tuesday")
    assert (said["inserted"], said["deleted"], said["rows"]) == (50, 120, 330)
    assert said["digest_after"] == digest_of(wanted)
    assert told("sync", "t.tree", "first.parquet", "--id", "tuesday")["repeated"]
    assert told("status", "t.tree")["rows"] == 330


def test_a_database_is_asked_by_sql(rows: pa.Table) -> None:
    with duckdb.connect("w.duckdb") as connection:
        connection.register("given", rows)
        connection.execute("create table people as select * from given")
    asked = ("w.duckdb", "--sql", "select * from people where id < 300")
    said = told("create", "u.tree", *asked, "--target", "class", "--key", "id", *DEPTH)
    assert said["digest"] == digest_of(rows.slice(0, 300))
    said = told("sync", "u.tree", "w.duckdb", "--sql", "select * from people")
    assert (said["inserted"], said["digest_after"]) == (200, digest_of(rows))
    refused(2, "maintain", "sync", "u.tree", "w.duckdb", says="'w.duckdb' is a database and needs --sql")


def test_cells_of_csv_files_are_read_as_the_tree_has_them(place: Path) -> None:
    head = "size,code,y\n"
    (place / "a.csv").write_text(head + "".join(f"{i / 4},q{i % 3},{'ab'[i % 3 > 0]}\n" for i in range(30)))
    (place / "b.csv").write_text(head + "3,7,a\n,,b\n")  # whole numbers, digits, nothing
    shown("create", "t.tree", "a.csv", "--target", "y")
    shown("insert", "t.tree", "b.csv")
    held = pa.concat_tables(
        [pc.read_csv("a.csv"), pa.table({"size": [3.0, None], "code": ["7", None], "y": ["a", "b"]})]
    )
    expected = TreeClassifier().fit(held.select(["size", "code"]), held["y"]).tree_.digest
    assert told("status", "t.tree")["digest"] == expected
    assert told("delete", "t.tree", "b.csv")["rows"] == 30


def test_a_repeated_id_is_said_and_nothing_is_done(rows: pa.Table) -> None:
    shown("insert", "t.tree", "more.parquet", "--id", "monday")
    before = told("status", "t.tree")
    said = shown("insert", "t.tree", "more.parquet", "--id", "monday")
    assert said == "batch 1 with the id 'monday' was applied before; nothing was done\n"
    assert told("insert", "t.tree", "more.parquet", "--id", "monday")["repeated"] is True
    assert told("delete", "t.tree", "more.parquet", "--id", "monday")["repeated"] is True
    assert told("status", "t.tree") == before


def test_changes_tell_of_every_batch(rows: pa.Table) -> None:
    shown("insert", "t.tree", "more.parquet", "--id", "monday")
    shown("delete", "t.tree", "more.parquet")
    said = told("changes", "t.tree")
    assert said["path"] == "t.tree"
    assert [(b["number"], b["inserted"], b["deleted"]) for b in said["batches"]] == [
        (0, 400, 0),
        (1, 100, 0),
        (2, 0, 100),
    ]
    assert said["batches"][0]["digest_after"] == said["batches"][2]["digest_after"]
    assert told("changes", "t.tree", "--last", "1")["batches"] == said["batches"][2:]
    text = shown("changes", "t.tree", "--last", "2")
    assert text.startswith("batch 1: 100 rows inserted, 0 deleted, 500 present; ")
    assert "\nbatch 2: 0 rows inserted, 100 deleted, 400 present; " in text


def test_changes_draw_the_last_batch(rows: pa.Table) -> None:
    shown("insert", "t.tree", "more.parquet")
    with MaintainedTree.open("t.tree", read_only=True) as kept:
        view = kept.show_changes()
    text = shown("changes", "t.tree", "--last", "1", "--svg", "b.svg", "--html", "b.html")
    assert text.startswith("batch 1: 100 rows inserted")
    assert text.endswith("\nbatch 1 is drawn in b.svg\nbatch 1 is drawn in b.html\n")
    assert (Path("b.svg").read_text(), Path("b.html").read_text()) == (view.svg(), view.html())
    said = told("changes", "t.tree", "--html", "c.html")
    assert said["html"] == "c.html"
    assert "svg" not in said
    assert Path("c.html").read_text() == view.html()


def test_pictures_that_cannot_be_drawn_or_written_are_refused(rows: pa.Table, place: Path) -> None:
    before = files(place)
    draw = ("maintain", "changes", "t.tree")
    refused(3, *draw, "--html", "b.html", says="no batch yet")
    refused(2, *draw, "--html", "t.tree", says="would be overwritten")
    refused(2, *draw, "--svg", "b", "--html", "b", says="two results")
    refused(4, *draw, "--svg", "none/b.svg", says="no directory")
    assert files(place) == before


def test_people_get_a_few_lines(rows: pa.Table) -> None:
    status = dict(line.split(maxsplit=1) for line in shown("status", "t.tree").splitlines())
    assert status.keys() == {"tree", "rows", "batches", "file", "digest"}
    digest = digest_of(rows.slice(0, 400))
    assert (status["rows"], status["batches"], status["digest"]) == ("400", "0", digest[:16])
    assert shown("verify", "t.tree") == f"the tree is that of a rebuild, digest {digest[:16]}\n"
    lines = shown("insert", "t.tree", "more.parquet").splitlines()
    assert lines[0].startswith("batch 1: 100 rows inserted, 0 deleted, 500 present; ")
    assert lines[-1] == f"digest {digest[:16]} -> {digest_of(rows)[:16]}"
    assert shown("export", "t.tree", "m") == "model saved to m; see it with: hornbeam show m\n"


def test_an_exported_model_is_the_tree_of_fit(rows: pa.Table, place: Path) -> None:
    shown("insert", "t.tree", "more.parquet")
    said = told("export", "t.tree", "m.model")
    assert said == {"model": "m.model", "batch": 1, "digest": digest_of(rows)}
    model = hornbeam.load("m.model")
    assert model.tree_.digest == digest_of(rows)
    assert model.max_depth == 4
    assert run("show", "m.model").stdout == model.tree_.to_text()
    assert run("predict", "m.model", "more.parquet").exit_code == 0
    assert files(place) == {"data.csv", "first.parquet", "more.parquet", "t.tree", "m.model"}


def test_a_key_and_a_weight_are_no_attributes(rows: pa.Table) -> None:
    asked = ("--target", "loan", "--key", "id", "--weight", "age", "--task", "regression", *DEPTH)
    said = told("create", "u.tree", "first.parquet", "more.parquet", *asked)
    attributes = rows.drop_columns(["id", "age", "loan"])
    model = TreeRegressor(max_depth=4).fit(attributes, rows["loan"], sample_weight=rows["age"].to_numpy())
    assert said["digest"] == model.tree_.digest


# ---- what is refused ----


@pytest.mark.parametrize(
    ("asked", "code", "says"),
    [
        ("t.tree first.parquet --target class", 4, "'t.tree' exists already; open it, or name another file"),
        ("u.tree nowhere.parquet --target class", 4, "'nowhere.parquet' cannot be opened"),
        ("no/u.tree first.parquet --target class", 4, "there is no directory 'no'"),
        ("first.parquet first.parquet --target class", 2, "is read and would be overwritten"),
        ("u.tree first.parquet", 2, "Missing option '--target'"),
        ("u.tree --target class", 2, "Missing argument 'DATA...'"),
        ("u.tree first.parquet --target clas", 2, "--target 'clas' is not a column; did you mean 'class'?"),
        ("u.tree first.parquet --target class --key ids", 2, "--key 'ids' is not a column"),
        ("u.tree first.parquet --target class --weight ages", 2, "--weight 'ages' is not a column"),
        (
            "u.tree first.parquet --target class --criterion c45",
            2,
            "--criterion 'c45', --nominal 'subset'",
        ),
        ("u.tree first.parquet --target class --nominal multiway", 2, "--nominal 'multiway': a tree is kept"),
        ("u.tree first.parquet --target class --prune error_based", 2, "--prune 'error_based' asks for"),
        ("u.tree first.parquet --target class --prune reduced_error", 2, "--prune 'reduced_error' asks for"),
        ("u.tree first.parquet --target class --competitors 2", 2, "--competitors 2 asks for"),
        ("u.tree first.parquet --target class --algorithm magic", 2, "--algorithm 'magic': use 'auto'"),
        ("u.tree first.parquet --target class --memory-limit 3MB", 2, "--memory-limit 3 MB: give at least"),
        ("u.tree - --target class", 2, "standard input ('-') is read once"),
    ],
)
def test_create_refuses_and_leaves_nothing(
    asked: str, code: int, says: str, rows: pa.Table, place: Path
) -> None:
    before, tree = files(place), (place / "t.tree").read_bytes()
    refused(code, "maintain", "create", *asked.split(), says=says)
    assert files(place) == before
    assert (place / "t.tree").read_bytes() == tree


def test_whole_floats_are_classes_on_request_and_fractions_are_none(place: Path) -> None:
    whole = pa.table({"x": [1, 2, 3, 4], "y": [1.0, 2.0, 2.0, 1.0]})
    pq.write_table(whole, "d.parquet")
    pq.write_table(whole.set_column(1, "y", pa.array([1.5, 2.0, 2.0, 1.0])), "f.parquet")
    asked = ("--target", "y", "--task", "classification")
    refused(3, "maintain", "create", "t.tree", "f.parquet", *asked, says="class labels are integers, whole")
    assert files(place) == {"data.csv", "d.parquet", "f.parquet"}
    made = told("create", "t.tree", "d.parquet", *asked)
    alone = TreeClassifier().fit(whole.select(["x"]), whole["y"]).tree_
    assert made["digest"] == alone.digest
    refused(3, "maintain", "insert", "t.tree", "f.parquet", says="class labels are integers, whole floats")
    assert told("status", "t.tree")["digest"] == alone.digest


def test_create_shows_every_scan_and_the_copying(rows: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Any] = []

    @contextmanager
    def listening() -> Iterator[Any]:
        yield heard.append

    monkeypatch.setattr("hornbeam.cli.maintain_rows.scanning", listening)
    told("create", "u.tree", "first.parquet", "--target", "class", *DEPTH)
    assert {news.phase for news in heard if news.scan}
    copied = [news for news in heard if news.phase == "copying the rows"]
    assert copied[-1].finished
    assert [news.share for news in copied] == sorted(news.share for news in copied)


def test_batches_that_do_not_fit_change_nothing(rows: pa.Table) -> None:
    before = told("status", "t.tree")
    for command in ("insert", "delete", "sync"):
        for name, says in misfits(rows).items():
            refused(3, "maintain", command, "t.tree", name, says=says)
        refused(
            4, "maintain", command, "t.tree", "nowhere.parquet", says="'nowhere.parquet' cannot be opened"
        )
    refused(2, "maintain", "insert", "t.tree", "more.parquet", "--id", "", says="give a text that names the")
    assert told("status", "t.tree") == before


def test_a_stable_tree_is_asked_for_by_its_policy(rows: pa.Table) -> None:
    told("create", "s.tree", "first.parquet", "--target", "class", "--max-depth", "4", "--policy", "stable")
    assert any(node["withheld"] for node in told("insert", "s.tree", "more.parquet")["nodes"])
    assert told("verify", "s.tree")["sound"]
    assert "a rebuild gives another tree, as it may" in shown("verify", "s.tree")


def test_sync_names_a_key_that_does_not_fit(rows: pa.Table) -> None:
    before = told("status", "t.tree")
    for key, code, says in (("zipcode", 3, "zipcode='zipcode"), ("nobody", 2, "--key 'nobody': rows have")):
        refused(code, "maintain", "sync", "t.tree", "first.parquet", "--key", key, says=says)
    assert told("status", "t.tree") == before


def test_a_row_that_is_not_there_is_named_and_nothing_is_changed(rows: pa.Table) -> None:
    before = told("status", "t.tree")
    pq.write_table(rows.slice(390, 11), "gone.parquet")  # the last one never came
    line = refused(3, "maintain", "delete", "t.tree", "gone.parquet", "--id", "x")
    first = {name: rows[name][400].as_py() for name in ("id", "salary", "commission", "age", "elevel", "car")}
    row = ", ".join(f"{name}={value!r}" for name, value in first.items())
    assert f"'gone.parquet': 't.tree': no such row to delete: row 11 of the batch, {row} and 5 more" in line
    assert told("status", "t.tree") == before
    pq.write_table(rows.slice(390, 10), "gone.parquet")
    assert told("delete", "t.tree", "gone.parquet", "--id", "x")["deleted"] == 10  # the id was not used up


@pytest.mark.parametrize(
    "command", ["status", "changes", "verify", "insert", "delete", "sync", "forget", "export"]
)
def test_a_file_that_is_no_tree_is_a_storage_error(command: str, rows: pa.Table, place: Path) -> None:
    more = {"forget": ["5"], "export": ["m"]}.get(command, [])
    more = ["more.parquet"] if command in ("insert", "delete", "sync") else more
    with duckdb.connect("other.duckdb") as connection:
        connection.execute("create table t (a integer)")
    (place / "damaged.tree").write_bytes(b"\0" * 20_000)
    before = files(place)
    refused(4, "maintain", command, "nowhere.tree", *more, says="'nowhere.tree' is not there; check the path")
    refused(4, "maintain", command, "other.duckdb", *more, says="is not the file of a maintained tree")
    refused(4, "maintain", command, "damaged.tree", *more, says="'damaged.tree'")
    assert files(place) == before


def test_a_tree_that_is_open_elsewhere_is_locked_and_can_be_looked_at(rows: pa.Table) -> None:
    code = "import hornbeam; tree = hornbeam.MaintainedTree.open('t.tree'); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1) as other:
        assert other.stdout is not None
        other.stdout.readline()
        says = f"'t.tree' is locked by process {other.pid}"
        refused(4, "maintain", "insert", "t.tree", "more.parquet", says=says)
        assert told("status", "t.tree")["rows"] == 400
        assert "batch 0: 400 rows inserted" in shown("changes", "t.tree")
        assert told("export", "t.tree", "m.model")["batch"] == 0
        says = f"'t.tree' is open for writing by process {other.pid}, and this needs its rows"
        refused(4, "maintain", "verify", "t.tree", says=says)
        other.communicate(b"\n")
    assert told("insert", "t.tree", "more.parquet")["number"] == 1


def test_export_writes_neither_over_the_tree_nor_half_a_model(rows: pa.Table, place: Path) -> None:
    before = (place / "t.tree").read_bytes()
    refused(2, "maintain", "export", "t.tree", "t.tree", says="'t.tree' is read and would be overwritten")
    refused(4, "maintain", "export", "t.tree", "no/m", says="there is no directory 'no'")
    assert (place / "t.tree").read_bytes() == before


def test_an_interrupted_batch_changes_nothing(rows: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    from hornbeam.maintained.incremental import IncrementalTree

    before = told("status", "t.tree")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(IncrementalTree, "apply", stop)
        refused(130, "maintain", "insert", "t.tree", "more.parquet", says="interrupted; nothing was written")
    assert told("status", "t.tree") == before


def test_help_names_the_commands(place: Path) -> None:
    said = run("maintain", "--help").output
    names = ("create", "insert", "delete", "sync", "forget", "status", "changes", "verify", "export")
    assert all(f"\n  {name} " in said for name in names)
    assert all(run("maintain", name, "--help").exit_code == 0 for name in names)
    refused(2, "maintain", "mend", says="No such command 'mend'; see hornbeam maintain --help")
