"""The relational experiment, small: what is run, what stands in the sheets, what is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from hornbeam.errors import UsageError
from hornbeam_experiments.paper import paper
from hornbeam_experiments.records import Results
from hornbeam_experiments.relational import Plan, run
from hornbeam_experiments.relational import growths as growths_module
from hornbeam_experiments.relational.growths import ALGORITHMS, CACHED, ONE, WORKS, folds_of, median, race
from hornbeam_experiments.relational.sets import PRIVATE, SETS, choose
from hornbeam_experiments.run import prepare
from hornbeam_experiments.write import files_of
from tests.real_data import ABSENT, find_folder


@pytest.fixture(scope="module")
def results() -> Results:
    """Two runs of the generated sets, which are always at hand."""
    patch = pytest.MonkeyPatch()
    patch.setattr(growths_module, "LEAST", 0.0)
    patch.delenv("HORNBEAM_DATA", raising=False)
    try:
        return run(replace(Plan.of(["SB", "Mach"], runs=2, quick=True), folds=(3,), bags=(2,)))
    finally:
        patch.undo()


def test_sets_that_are_not_at_hand_are_listed_with_the_reason(results: Results) -> None:
    sheet = next(sheet for sheet in results.sheets if sheet.name == "sets")
    remarks = {record["set"]: str(record["remark"]) for record in sheet.records()}
    assert remarks["SB"].startswith("STAND-IN")
    assert "HORNBEAM_DATA" in remarks["Mach"]
    assert remarks["ASM"] == PRIVATE[2]


def test_every_figure_has_its_numbers_and_the_papers_words(results: Results) -> None:
    names = {sheet.name for sheet in results.sheets}
    assert {"first-version-table-1", "figure-9", "figure-10", "figure-15", "figure-18", "accuracy"} <= names
    said = paper("hornbeam_experiments.relational")["said"]
    assert {part.paper for part in results.parts} - {""} == set(said.values())
    files = files_of(results)
    assert json.loads(files["relational.json"])["experiment"] == "relational"
    assert b"First-order trees" in files["relational.html"]
    assert {f"{figure.name}.svg" for part in results.parts for figure in part.figures} <= set(files)


def test_the_first_table_relates_seconds_to_one_tree(results: Results) -> None:
    table = next(sheet for sheet in results.sheets if sheet.name == "first-version-table-1")
    first, private = table.records()
    assert (first["set"], first["examples"]) == ("SB", 1453)
    assert float(first["speedup"] or 0) > 1.0
    assert private["set"] == "ASM (private)"
    assert private["speedup"] is None
    assert "SB" in results.summary


def test_works_of_a_growth_sum_up_to_its_seconds(results: Results) -> None:
    works = next(sheet for sheet in results.sheets if sheet.name == "figure-9-works").records()
    totals = next(sheet for sheet in results.sheets if sheet.name == "figure-9").records()
    for total in totals:
        mine = [w for w in works if w["algorithm"] == total["algorithm"] and w["set"] == total["set"]]
        assert [w["work"] for w in mine] == list(WORKS)
        assert sum(float(w["seconds"] or 0) for w in mine) == pytest.approx(float(total["seconds"] or 0))


def test_the_simple_pictures_are_learned(results: Results) -> None:
    (record,) = next(sheet for sheet in results.sheets if sheet.name == "accuracy").records()
    assert record["accuracy, %"] == 100.0
    assert record["tests of the tree"] == 3


def test_a_race_has_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growths_module, "LEAST", 0.0)
    loaded = choose(["sb"])[0].read()
    found = race(loaded, folds_of(loaded, 3, 0), ALGORITHMS)
    assert set(found.growths) == {ONE, *ALGORITHMS, CACHED}
    assert len(found.forest) == 4


def test_the_median_counts_absent_levels_as_none() -> None:
    assert median([np.array([1.0, 2.0]), np.array([3.0]), np.array([2.0, 4.0])]) == [2.0, 2.0]


@pytest.mark.skipif(find_folder() is None, reason=ABSENT)
def test_the_sets_have_the_papers_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HORNBEAM_DATA", str(find_folder()))
    assert {entry.title: entry.read().n_examples for entry in SETS} == {
        entry.title: entry.examples for entry in SETS
    }


def test_what_means_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="SB, CB, Muta, Mach"):
        prepare("relational", ["ASM"])
    with pytest.raises(UsageError, match="scale"):
        prepare("relational", scale=0.5)
