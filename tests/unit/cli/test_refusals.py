"""What a new user does wrong: one line that names the file, the column or the option, and says what to do."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from hornbeam.cli import main
from tests.rights import without_rights

from .test_command import COMMAND, files, refused, run
from .test_command import place as place


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("a,class\n1,für\n2,x\n".encode("latin-1"), "'bad.csv': column 'class' is not UTF-8 text"),
        ("größe,class\n1,k\n2,x\n".encode("latin-1"), "'bad.csv': the header line is not UTF-8 text"),
        ("a,class\n1,k\n".encode("utf-16"), "'bad.csv' is not a CSV file but UTF-16 text"),
        (bytes(range(256)) * 8, "'bad.csv'"),
        (b"", "'bad.csv' is not a readable CSV file: Empty"),
        (b"\n\n\n", "'bad.csv' is not a readable CSV file: Empty"),
        (b"a,class\n", "'bad.csv': zero rows: 2 columns and no row"),
        (b"class\nk\nl\n", "'bad.csv': zero columns besides the target 'class'"),
        (b"a,class\n1,k\n2,\n", "'bad.csv': target 'class' is missing in 1 of 2 rows; remove those rows"),
        (b"a,class\n1,0.5\n2,inf\n", "'bad.csv': target 'class' is infinite in 1 of 2 rows"),
        (b"a,class\n1,k\n2\n", "Row #3: Expected 2 columns, got 1"),
    ],
)
def test_a_bad_csv_is_named_with_what_to_do(content: bytes, says: str, place: Path) -> None:
    (place / "bad.csv").write_bytes(content)
    refused(3, "fit", "bad.csv", "--target", "class", "-o", "m", "--report", "r.html", says=says)
    assert files(place) == {"data.csv", "bad.csv"}


@pytest.mark.parametrize(
    ("column", "says"),
    [
        ([[1], [2]], "type list<"),
        ([b"a", b"b"], "type binary"),
        ([date(2020, 1, 1), date(2020, 1, 2)], "type date32[day]"),
    ],
)
def test_a_target_of_another_type_is_named(column: list[Any], says: str, place: Path) -> None:
    pyarrow.parquet.write_table(pa.table({"a": [1, 2], "y": column}), "t.parquet")
    line = refused(3, "fit", "t.parquet", "--target", "y", says=f"'t.parquet': target 'y' is of {says}")
    assert "a class is text, a whole number or true/false" in line
    refused(3, "fit", "t.parquet", "--target", "y", "--task", "regression", says="regression needs numbers")


def test_broken_numbers_are_no_classes(place: Path) -> None:
    (place / "f.csv").write_text("a,y\n1,0.5\n2,1.5\n")
    line = refused(3, "fit", "f.csv", "--target", "y", "--task", "classification")
    assert "target 'y' has the value 0.5" in line
    assert "use --task regression" in line


@pytest.mark.parametrize("ending", ["csv.gz", "parquet", "arff", "arff.gz", "duckdb"])
def test_damaged_files_are_refused(ending: str, place: Path) -> None:
    query = ("--sql", "select 1 as y") if ending == "duckdb" else ()
    for content in (b"", b"\x93" * 3000, gzip.compress(os.urandom(5000))[:2000]):
        (place / f"bad.{ending}").write_bytes(content)
        refused(3, "fit", f"bad.{ending}", "--target", "y", "-o", "m", *query, says=f"'bad.{ending}'")
    assert files(place) == {"data.csv", f"bad.{ending}"}


def test_a_cut_off_parquet_file_is_refused(place: Path) -> None:
    pyarrow.parquet.write_table(pa.table({"a": list(range(999)), "y": ["k"] * 999}), "t.parquet")
    content = (place / "t.parquet").read_bytes()
    for size in (4, 100, len(content) // 2, len(content) - 1):
        (place / "t.parquet").write_bytes(content[:size])
        assert "'t.parquet' is not a readable Parquet file" in refused(3, "fit", "t.parquet", "--target", "y")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(place: Path) -> None:
    os.mkfifo(place / "pipe.csv")
    assert "send its rows to standard input" in refused(4, "fit", "pipe.csv", "--target", "y")


def test_predict_speaks_of_the_file_and_the_model(place: Path) -> None:
    run("fit", "data.csv", "--target", "class", "-o", "m")
    (place / "new.csv").write_text("colour,size\nred,1\n")
    line = refused(3, "predict", "m", "new.csv", "-o", "out.csv")
    assert "'new.csv': attribute 'age': missing from the data, which has 'colour', 'size'" in line
    assert "the model 'm' needs every column it was fitted with" in line
    (place / "new.csv").write_text("age,colour,size\nold,red,1\n")
    refused(3, "predict", "m", "new.csv", says="'new.csv': attribute 'age': text where numbers were at fit")
    (place / "new.csv").write_bytes("age,colour,size\n1,grün,1\n".encode("latin-1"))
    refused(3, "predict", "m", "new.csv", says="'new.csv': column 'colour' is not UTF-8 text")
    refused(3, "predict", "data.csv", "new.csv", says="'data.csv': not a Hornbeam model file")
    assert files(place) == {"data.csv", "m", "new.csv"}
    (place / "new.csv").write_text("age,colour,size\n")
    assert run("predict", "m", "new.csv").stdout == '"prediction"\n'


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            ("--criterion", "beauty"),
            "--criterion 'beauty' for classification: "
            "use 'gini', 'entropy', 'gain_ratio', 'correlation', 'c45' or 'quest'",
        ),
        (("--nominal", "one-hot"), "--nominal 'one-hot': use 'subset', 'value' or 'multiway'"),
        (("--criterion", "quest", "--nominal", "value"), "--nominal 'value': the tests of criterion 'quest'"),
        (("--criterion", "quest", "--class-weight", "balanced"), "leave out sample_weight, class_weight and"),
        (("--min-samples-leaf", "0"), "--min-samples-leaf 0: a whole number from 1 (rows)"),
        (("--max-depth", "x"), "'--max-depth': 'x' is not a valid whole number"),
        (("--nominal-features", "colr"), "--nominal-features 'colr' is not a column; did you mean 'colour'?"),
        (("--nominal-features", "class"), "--nominal-features 'class' is the target"),
    ],
)
def test_a_wrong_value_is_named_by_its_option(given: tuple[str, ...], says: str, place: Path) -> None:
    assert says in refused(2, "fit", "data.csv", "--target", "class", *given)


def test_an_unknown_command_is_told_the_commands() -> None:
    said = refused(2, "fitt")
    assert "there is no command 'fitt'; the commands are demo, fit, tune, bag, improve, predict" in said


def test_forms_of_show_exclude_each_other(place: Path) -> None:
    run("fit", "data.csv", "--target", "class", "-o", "m")
    refused(2, "show", "m", "--svg", "--json", says="exclude each other")
    refused(2, "show", "m", "--format", "dot", "--json", says="exclude each other")
    refused(2, "show", "m", "--json", "--depth", "1", says="JSON is always the whole tree")
    refused(2, "show", "m", "--format", "rules", "--depth", "all", says="rules are always the whole tree")
    refused(2, "show", "m", "--format", "sql", "--depth", "1", says="SQL is always the whole tree")
    refused(2, "show", "m", "--dialect", "sqlite", says="--dialect is for SQL only; add --format sql")
    refused(2, "show", "m", "--svg", "--table", "t", says="--table is for SQL only")
    refused(2, "show", "m", "--format", "pdf", says="'pdf' is not one of")
    refused(2, "show", "m", "--format", "sql", "--dialect", "mysql", says="'mysql' is not one of")
    refused(2, "show", "m", "--depth", "deep", says="'deep' is not a valid")
    refused(2, "show", "m", "--depth", "-1", says="-1 is not in the range")
    assert run("show", "m", "--text").stdout == run("show", "m").stdout
    run("fit", "data.csv", "--target", "age", "--target", "size", "-o", "two")
    refused(2, "show", "two", "--format", "sql", says="several targets; give --table for all of them")
    assert "prediction:size" in run("show", "two", "--format", "sql", "--table", "t").stdout


def test_the_model_and_the_report_are_written_both_or_neither(place: Path) -> None:
    resource = pytest.importorskip("resource")
    code = f"""
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, {resource.RLIM_INFINITY}))
from hornbeam.cli import main
main("fit data.csv --target class -o m --report r.html".split())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert done.stderr.startswith("hornbeam: cannot write 'r.html': the file would be larger")
    assert done.stdout == ""
    assert files(place) == {"data.csv"}


def test_a_place_without_permission_is_a_storage_error(place: Path) -> None:
    assert run("fit", "data.csv", "--target", "class", "--report", "r.html").exit_code == 0
    (place / "closed").mkdir(mode=0o555)
    (place / "locked.csv").write_text("a,y\n1,2\n")
    (place / "locked.csv").chmod(0)
    for parent in (place, *place.parents[:2]):
        parent.chmod(0o755)
    with without_rights():
        refused(4, "fit", "locked.csv", "--target", "y", says="Permission denied")
        if os.access("data.csv", os.R_OK):  # whoever runs this may have closed the way to it
            line = ("fit", "data.csv", "--target", "class", "--report", "closed/r.html")
            refused(4, *line, says="cannot write 'closed/r.html': permission denied")
    assert list((place / "closed").iterdir()) == []


@pytest.mark.parametrize("stream", ["stdin", "stdout", "stderr"])
def test_a_closed_stream_is_no_defect(stream: str, place: Path) -> None:
    source = "-" if stream == "stdin" else "nowhere.csv"
    number = ("stdin", "stdout", "stderr").index(stream)
    line = [*COMMAND, "fit", source, "--target", "y"]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {number}>&-', "sh", *line], capture_output=True, text=True, check=False
    )
    assert done.returncode == 4
    assert done.stdout == ""
    assert "internal" not in done.stderr
    if stream != "stderr":
        assert "closed" in done.stderr


def test_competitors_are_shown_where_they_were_kept(place: Path) -> None:
    for line in (
        "generate agrawal --rows 300 -o data.csv",
        "fit data.csv --target class --max-depth 2 --competitors 2 -o kept",
        "fit data.csv --target class --max-depth 2 -o none",
    ):
        assert run(*line.split()).exit_code == 0
    assert run("show", "kept").output.count("(next: ") == 0
    lines = run("show", "kept", "--competitors").output.splitlines()
    assert [line for line in lines if line.startswith("|   (next: ")][1:2] != []
    refused(2, "show", "kept", "--competitors", "--svg", says="--competitors is for text")
    refused(2, "show", "none", "--competitors", says="the model kept none; fit it with --competitors 5")


def test_a_command_of_an_absent_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hornbeam.cli.app._added", dict)
    done = CliRunner().invoke(main, ["reproduce", "cvc45"])
    assert done.exit_code == 2
    assert done.stderr == (
        "hornbeam: reproduce is a command of the package hornbeam-experiments, which is not installed; "
        "run pip install ./experiments in a clone of Hornbeam\n"
    )
    assert "reproduce" not in CliRunner().invoke(main, ["--help"]).stdout
