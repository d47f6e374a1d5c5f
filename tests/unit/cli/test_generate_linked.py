"""`hornbeam generate bongard|trains`: linked tables in a directory, whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hornbeam.cli.generate import command
from hornbeam.datasets import make_bongard, make_trains
from hornbeam.datasets.generators import LINKED, find_linked, options_of
from hornbeam.datasets.generators.linked import csv_bytes
from hornbeam.datasets.generators.streams import Rows

from .test_command import files, refused, run

SHARED = {"rows", "seed", "start", "output", "ace", "as_json", "debug"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", LINKED)
def test_every_family_has_its_options_and_defaults(name: str) -> None:
    options = {option.name: option.default for option in command.commands[name].params}
    assert {o: d for o, d in options.items() if o not in SHARED} == options_of(LINKED[name])


def test_tables_are_those_of_the_library(place: Path) -> None:
    done = run("generate", "bongard", "--theory", "complex", "--rows", "50", "--seed", "3", "-o", "made")
    assert done.exit_code == 0, done.output
    assert "50 examples to made" in done.stdout
    same = make_bongard(50, theory="complex", seed=3)
    assert files(place / "made") == {f"{name}.csv" for name in same.tables}
    for name, table in same.tables.items():
        assert (place / "made" / f"{name}.csv").read_bytes() == csv_bytes(table, header=True)


def test_json_tells_programs_what_was_made(place: Path) -> None:
    done = run("generate", "trains", "--rule", "3", "--rows", "40", "--start", "5", "-o", "made", "--json")
    made = json.loads(done.stdout)
    same = make_trains(40, rule=3, start=5)
    assert made["hash"] == same.hash
    assert made["tables"] == {name: table.num_rows for name, table in same.tables.items()}
    assert (made["keys"], made["references"]) == (dict(same.keys), dict(same.references))
    assert made["target"] == "train.direction"
    assert sum(made["classes"].values()) == made["rows"] == 40


@pytest.mark.parametrize("name", LINKED)
def test_facts_and_settings_for_ACE(name: str, place: Path) -> None:
    done = run("generate", name, "--rows", "30", "--ace", "-o", "made")
    assert done.exit_code == 0, done.output
    assert files(place / "made") == {f"{name}.kb", f"{name}.s"}
    family = find_linked(name)
    facts = (place / "made" / f"{name}.kb").read_text().splitlines()
    assert facts == list(family.facts(family.draw(Rows(0, 0, 30))))
    settings = (place / "made" / f"{name}.s").read_text()
    named = {line[len("type(") :].split("(")[0] for line in settings.splitlines() if line.startswith("type(")}
    assert named == {fact.split("(")[0] for fact in facts} - {name, "train"}


def test_places_and_options_that_cannot_be_are_refused(place: Path) -> None:
    (place / "file").write_text("here")
    refused(4, "generate", "bongard", "-o", "file", says="it is a file")
    refused(4, "generate", "bongard", "-o", "no/such", says="no directory")
    refused(2, "generate", "bongard", "--theory", "hard", "-o", "made", says="simple, complex")
    refused(2, "generate", "trains", "--rule", "9", "-o", "made", says="1, 2, 3, 4, 5")
    refused(2, "generate", "bongard", says="-o")
    assert files(place) == {"file"}
