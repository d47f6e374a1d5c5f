"""`hornbeam predict` over sources: globs, folders, files of answers, kept columns."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from .test_command import files, refused, run
from .test_command import place as place


@pytest.fixture
def model(place: Path) -> Path:
    assert run("fit", "data.csv", "--target", "class", "-o", "m").exit_code == 0
    (place / "in").mkdir()
    text = (place / "data.csv").read_text()
    for name in ("a.csv", "b.csv"):
        (place / "in" / name).write_text(text)
    return place


def test_a_glob_or_a_folder_is_answered_as_its_files_are(model: Path) -> None:
    alone = run("predict", "m", "data.csv").stdout.splitlines()
    for data in ("in/*.csv", "in"):
        found = run("predict", "m", data)
        assert found.exit_code == 0, found.output
        lines = [line.replace('"', "") for line in found.stdout.splitlines()]
        assert lines == [line.replace('"', "") for line in [*alone, *alone[1:]]]


def test_answers_go_to_a_folder_or_a_file(model: Path) -> None:
    told = run("predict", "m", "in/*.csv", "-o", "out/", "--json", "--proba")
    assert json.loads(told.stdout)["files"] == ["out/part-00000.parquet", "out/part-00001.parquet"]
    assert pq.read_table(model / "out").column_names[0] == "prediction"
    whole = run("predict", "m", "data.csv", "-o", "answers.parquet")
    assert "written to answers.parquet" in whole.stderr
    assert pq.read_table(model / "answers.parquet").num_rows == json.loads(told.stdout)["rows"] // 2
    assert files(model) == {"data.csv", "m", "in", "out", "answers.parquet"}


def test_columns_are_kept_before_the_answers(model: Path) -> None:
    column = (model / "data.csv").read_text().splitlines()[0].split(",")[0]
    head = run("predict", "m", "data.csv", "--keep", column).stdout.splitlines()[0]
    assert head == f'"{column}","prediction"'


def test_what_means_nothing_is_refused(model: Path) -> None:
    refused(2, "predict", "m", "in/*.csv", "--json", says="name a place for them by -o")
    refused(2, "predict", "m", "in/*.csv", "--format", "csv", says="name one by -o out/")
    refused(2, "predict", "m", "in/*.csv", "-o", "x.csv", "--format", "csv", says="that of its name")
    refused(2, "predict", "m", "in/*.csv", "-o", "in/a.csv", says="would be overwritten")
    refused(2, "predict", "m", "in/*.csv", "--keep", "nobody", says="is not a column of")
    refused(2, "predict", "m", "in/*.csv", "-o", "x.txt", says="or to a folder")
    refused(4, "predict", "m", "in/*.csv", "-o", "in", says="not an empty folder")
    (model / "few.csv").write_text("nothing\n1\n")
    refused(3, "predict", "m", "few.csv", "-o", "out/", says="missing from")
    assert "out" not in files(model)
