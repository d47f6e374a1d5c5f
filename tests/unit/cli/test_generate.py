"""`hornbeam generate`: the rows of the library in a file or on stdout, whole or not at all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from click.testing import Result

from hornbeam.cli.generate import command
from hornbeam.datasets import generate, make_agrawal, make_xor
from hornbeam.datasets.generators import FAMILIES, LINKED, options_of
from hornbeam.table import read_path

from . import test_command
from .test_command import COMMAND, files

SHARED = {"rows", "seed", "start", "output", "as_json"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*args: str) -> Result:
    return test_command.run("generate", *args)


def refused(code: int, *args: str, says: str = "") -> str:
    return test_command.refused(code, "generate", *args, says=says)


def test_every_family_is_a_command_with_its_options_and_defaults() -> None:
    assert set(command.commands) == set(FAMILIES) | set(LINKED)
    for name, family in FAMILIES.items():
        options = {option.name: option for option in command.commands[name].params}
        own = {option: options[option].default for option in options if option not in SHARED | {"debug"}}
        assert own == options_of(family)
        usual = "all" if family().size else f"{family.usual_rows:,}"
        assert f"[default: {usual}]" in str(options["rows"].help)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_hold_the_rows_of_the_library(name: str, ending: str, place: Path) -> None:
    result = run(name, "-o", f"rows.{ending}", "--rows", "100")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    assert "written" in result.stdout
    expected = generate(name, 100).read_all()
    read = read_path(f"rows.{ending}")
    assert read.column_names == expected.column_names
    assert read.to_pylist() == expected.to_pylist()
    assert files(place) == {f"rows.{ending}"}


def test_csv_goes_to_stdout_when_no_file_is_named(place: Path) -> None:
    result = run("xor", "--bits", "2", "--rows", "3", "--seed", "4")
    lines = result.stdout.splitlines()
    assert lines[0] == "x1,x2,x3,x4,class"
    assert lines == run("xor", "--bits", "2", "--rows", "3", "--seed", "4", "-o", "-").stdout.splitlines()
    rows = make_xor(3, bits=2, seed=4).rows.to_pylist()
    assert lines[1:] == [",".join(str(value) for value in row.values()) for row in rows]
    assert result.stderr == ""
    assert files(place) == set()


def test_json_tells_programs_what_was_made(place: Path) -> None:
    line = ("agrawal", "--function", "1", "--rows", "500", "--seed", "9", "--start", "20", "--noise", "0.1")
    line += ("--changed", "age>=60", "--changed-to", "7", "-o", "a.parquet", "--json")
    made = json.loads(run(*line).stdout)
    same = make_agrawal(500, function=1, seed=9, start=20, noise=0.1, changed="age>=60", changed_to=7)
    assert made["hash"] == same.hash
    assert made["relevant"] == list(same.relevant)
    assert made["rows"] == sum(made["classes"].values()) == 500
    assert (made["generator"], made["changed_to"], made["target"]) == ("agrawal", 7, "class")
    assert (made["output"], made["format"]) == ("a.parquet", "parquet")
    kept = json.loads(pyarrow.parquet.read_schema("a.parquet").metadata[b"hornbeam.generate"])
    assert kept == {name: made[name] for name in kept}
    assert run(kept["generator"], "--rows", "10", "--noise", "0.1", "-o", "b.csv").exit_code == 0


def test_long_sets_are_written_in_row_groups(place: Path) -> None:
    assert run("agrawal", "--rows", "300000", "-o", "a.parquet").exit_code == 0
    with pyarrow.parquet.ParquetFile("a.parquet") as file:
        assert file.metadata.num_rows == 300_000
        assert [file.metadata.row_group(i).num_rows for i in range(3)] == [131_072, 131_072, 37_856]
        assert str(file.schema_arrow.field("car").type).startswith("dictionary")
    assert (
        read_path("a.parquet").column("age").to_pylist()
        == make_agrawal(300_000).rows.column("age").to_pylist()
    )


def test_a_tree_grows_from_either_file(place: Path) -> None:
    digests = set()
    for name in ("rows.csv", "rows.parquet"):
        run("agrawal", "--function", "5", "--rows", "2000", "-o", name)
        fitted = test_command.run("fit", name, "--target", "class", "--json")
        digests.add(json.loads(fitted.stdout)["digest"])
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("agrawal", "--function", "11"), "1, 2, 3"),
        (("agrawal", "--function", "one"), "--function"),
        (("agrawal", "--profile", "river"), "ais93, moa, quest-c"),
        (("agrawal", "--noise", "1.5"), "0 to 1"),
        (("agrawal", "--rows", "0"), "--rows"),
        (("agrawal", "--seed", "-1"), "seed"),
        (("agrawal", "--seed", str(2**64)), "seed"),
        (("agrawal", "--changed", "age~60"), "ATTRIBUTE OP VALUE"),
        (("agrawal", "--changed-to", "3"), "changed"),
        (("led", "--attributes", "8"), "7, 24"),
        (("tictactoe", "--rows", "1000"), "958"),
        (("tictactoe", "--seed", "1"), "--seed"),
        (("balance", "--seed", "1"), "--seed"),
        (("monks", "--problem", "4"), "1, 2, 3"),
        (("xor", "--bits", "0"), "1 to 1000"),
        (("instability", "--tilt", "0.5"), "-0.25 to 0.25"),
        (("iris",), "iris"),
        (("xor", "--json"), "-o"),
        (("xor", "-o", "rows.xlsx"), ".parquet"),
        (("xor", "-o", "rows"), ".csv"),
    ],
)
def test_wrong_options_are_usage_errors(args: tuple[str, ...], says: str, place: Path) -> None:
    refused(2, *args, says=says)
    assert files(place) == set()


def test_places_that_cannot_be_written_are_refused_before_the_work(place: Path) -> None:
    assert "no directory 'no/such'" in refused(4, "xor", "-o", "no/such/rows.csv")
    (place / "folder.csv").mkdir()
    assert "directory" in refused(4, "xor", "-o", "folder.csv")


def test_the_usual_help_is_there() -> None:
    assert run("--help").exit_code == 0
    for name in FAMILIES:
        assert "--json" in run(name, "--help").stdout


def test_help_loads_nothing_heavy() -> None:
    code = """
import sys
from hornbeam.cli import main
try: main(['generate', 'agrawal', '--help'])
except SystemExit: print([m for m in ('numpy', 'pyarrow', 'sklearn', 'rich') if m in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_a_full_disk_leaves_the_old_file(name: str, place: Path) -> None:
    resource = pytest.importorskip("resource")
    (place / name).write_text("old")

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))

    line = [*COMMAND, "generate", "agrawal", "--rows", "1000000", "-o", name]
    done = subprocess.run(line, capture_output=True, text=True, preexec_fn=limit, check=False)
    assert done.returncode == 4
    assert done.stderr.count("\n") == 1
    assert "larger than is allowed" in done.stderr
    assert done.stdout == ""
    assert (place / name).read_text() == "old"
    assert files(place) == {name}


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_ctrl_c_leaves_nothing_behind(name: str, place: Path) -> None:
    line = [*COMMAND, "generate", "agrawal", "--rows", "1000000000", "-o", name]
    running = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    end = time.monotonic() + 60
    while not any(path.stat().st_size > 1_000_000 for path in place.iterdir()):
        assert time.monotonic() < end
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert (out, said) == (b"", b"hornbeam: interrupted; nothing was written\n")
    assert files(place) == set()


def test_ctrl_c_on_stdout_says_how_far_it_came(place: Path) -> None:
    line = [*COMMAND, "generate", "led", "--rows", "1000000000"]
    running = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout is not None
    running.stdout.readline()
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert said.startswith(b"hornbeam: interrupted after ")
    assert said.count(b"\n") == 1


def test_a_closed_pipe_is_no_error() -> None:
    line = [*COMMAND, "generate", "led", "--rows", "1000000"]
    running = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout is not None
    assert running.stderr is not None
    running.stdout.readline()
    running.stdout.close()
    assert running.stderr.read() == b""
    assert running.wait(timeout=60) == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_standard_output_is_a_storage_error() -> None:
    with open("/dev/full", "w") as full:
        line = [*COMMAND, "generate", "led"]
        done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 4
    assert done.stderr.count("\n") == 1
    assert "standard output" in done.stderr


def test_progress_is_told_in_shares(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import contextmanager

    told: list[float] = []

    @contextmanager
    def watched(_: str) -> Any:
        yield told.append

    monkeypatch.setattr("hornbeam.cli.generate_rows.working", watched)
    assert run("agrawal", "--rows", "300000", "-o", "a.parquet").exit_code == 0
    assert told == pytest.approx([131_072 / 300_000, 262_144 / 300_000, 1.0])
