"""John's experiment on small sets: divisions, methods, intervals, what is written."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from hornbeam import C45Classifier
from hornbeam.cli.app import app
from hornbeam.datasets.generators.family import RowsHash, batches
from hornbeam.errors import DataError, UsageError
from hornbeam_experiments.cvc45 import Plan, run, summary
from hornbeam_experiments.cvc45.financial import Financial
from hornbeam_experiments.cvc45.paper import paper, printed
from hornbeam_experiments.cvc45.protocol import (
    METHODS,
    Choice,
    Division,
    Outcome,
    divide,
    smallest,
    upper_bound,
)
from hornbeam_experiments.cvc45.sets import TABLE_1, Loaded, choose, read
from hornbeam_experiments.records import Results
from hornbeam_experiments.run import prepare
from hornbeam_experiments.write import files_of

MONKS = {"monks2_train": 169, "monks2_test": 432}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Monk-2 and Pima in size, not in content."""
    random = np.random.default_rng(4)
    lines = ["file,position,column,kind,role"]
    for name, rows in MONKS.items():
        cells = random.integers(1, 4, (rows, 3))
        label = ((cells[:, 0] == 1) ^ (random.random(rows) < 0.2)).astype(int)
        write(tmp_path / f"{name}.csv", ["a1", "a2", "a3", "class"], [*cells.T, label])
        lines += [f"{name}.csv,{i},a{i},nominal,attribute" for i in (1, 2, 3)]
        lines.append(f"{name}.csv,4,class,nominal,target")
    values = random.random((768, 2)).round(2)
    label = np.where(values[:, 0] + 0.5 * random.random(768) > 0.7, "yes", "no")
    write(tmp_path / "pima_diabetes.csv", ["plas", "mass", "class"], [*values.T, label])
    lines += ["pima_diabetes.csv,1,plas,numeric,attribute", "pima_diabetes.csv,2,mass,numeric,attribute"]
    lines.append("pima_diabetes.csv,3,class,nominal,target")
    (tmp_path / "schema.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.setenv("HORNBEAM_DATA", str(tmp_path))
    return tmp_path


def write(path: Path, names: list[str], columns: list[object]) -> None:
    rows = zip(*columns, strict=True)  # type: ignore[call-overload]
    path.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\n")


def small() -> Plan:
    return Plan(
        sets=choose(["Pima", "Monk-2", "Credit"]),
        splits=2,
        runs=2,
        folds=3,
        repetitions=2,
        values=(1, 2, 20),
    )


# ---- sets and divisions ----


def test_the_papers_table_has_the_sets_that_are_run() -> None:
    entries = paper()["table 1"]
    assert [(entry["set"], entry["train"], entry["test"]) for entry in entries] == [
        (source.title, source.train, source.test) for source in TABLE_1
    ]
    assert len(paper()["values of m"]) == 22
    assert paper()["values of m"][-9:] == [25, 30, 40, 50, 60, 70, 80, 90, 100]
    assert printed("Pima", "CVC4.5") == (72.74, 1.23, 8)


def test_sets_are_chosen_by_title() -> None:
    assert [source.title for source in choose([" monk-2", "BREAST"])] == ["Breast", "Monk-2"]
    with pytest.raises(UsageError, match=r"no set 'Letter' in table 1; its sets are Breast, Pima"):
        choose(["Letter"])


def test_divisions_have_the_papers_sizes_and_every_row_once(data: Path) -> None:
    pima = read(choose(["Pima"])[0])
    for number in range(3):
        train, test = pima.divide(number)
        assert (len(train), len(test)) == (512, 256)
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(768))
    assert not np.array_equal(pima.divide(0)[0], pima.divide(1)[0])
    assert np.array_equal(pima.divide(1)[0], pima.divide(1)[0])


def test_a_given_division_is_taken_as_it_is(data: Path) -> None:
    monk = read(choose(["Monk-2"])[0])
    assert monk.is_divided
    train, test = monk.divide(7)
    assert np.array_equal(train, np.arange(169))
    assert np.array_equal(test, np.arange(169, 601))
    assert monk.split(0).train[0].num_rows == 169
    assert "class" not in monk.split(0).train[0].column_names


def test_another_number_of_rows_is_refused(data: Path) -> None:
    with pytest.raises(DataError, match=r"Pima has 768 rows; the paper's 500 \+ 256 are needed"):
        read(replace(choose(["Pima"])[0], train=500))


# ---- the stand-in ----


def test_the_stand_in_is_the_same_everywhere() -> None:
    digest = RowsHash(Financial())
    for batch in batches(Financial(), 400, seed=0):
        digest.add(batch)
    assert digest.hexdigest() == "d7408eeab2868c1e198c55119d5f4f5bc21c721bd2ffd0bcf6c5bbfd6ed463bd"


def test_the_stand_in_has_the_traits_it_says() -> None:
    loaded = read(choose(["Financial"])[0])
    rows = loaded.rows.to_pandas()
    assert len(rows) == 400
    assert 0.4 < (rows["class"] == "sound").mean() < 0.6
    assert rows["assets"].max() > 50 * rows["assets"].min()
    assert abs(np.corrcoef(rows["debt_ratio"], rows["debt"] / rows["assets"])[0, 1]) > 0.95
    assert "STAND-IN" in loaded.source.remark
    assert loaded.source.shown == "Financial (stand-in)"
    assert read(choose(["Financial"])[0]).rows.equals(loaded.rows)


def test_a_tree_gets_about_80_percent_of_the_stand_in_right() -> None:
    loaded = read(choose(["Financial"])[0])
    found = []
    for number in range(5):
        split = loaded.split(number)
        found.append(C45Classifier().fit(*split.train).score(*split.test))
    assert 0.74 < statistics.fmean(found) < 0.86


# ---- methods ----

OUTCOMES = (
    Outcome(1, 9, 17, 80.0),
    Outcome(2, 7, 13, 82.0),
    Outcome(5, 3, 5, 84.0),
    Outcome(10, 3, 5, 84.0),
    Outcome(20, 1, 1, 60.0),
)


def choice(place: int, estimate: float) -> Choice:
    return Choice(place, tuple(estimate if i == place else 0.0 for i in range(5)))


def test_methods_are_taken_from_the_trees_of_every_m() -> None:
    division = Division(OUTCOMES, (choice(1, 0.8), choice(2, 0.7), choice(3, 0.9)))
    found = division.by_method()
    assert tuple(found) == METHODS
    assert [one.m for one in found["C4.5"]] == [2]
    assert [one.m for one in found["CVC4.5"]] == [2, 5, 10]
    assert [one.m for one in found["small CVC4.5"]] == [10]  # as small as m = 5, with a better estimate
    assert [one.m for one in found["C4.5*"]] == [5]
    assert division.spread() == pytest.approx(statistics.stdev([82, 84, 84]))


def test_ties_of_the_smallest_tree_go_to_the_first_run() -> None:
    first, second = choice(2, 0.8), choice(3, 0.8)
    assert smallest(OUTCOMES, (first, second)) is first
    assert smallest(OUTCOMES, (second, first)) is second


def test_the_bound_prefers_small_trees_that_do_as_well() -> None:
    assert upper_bound((Outcome(1, 5, 9, 70.0), Outcome(2, 4, 7, 70.0), Outcome(3, 4, 7, 70.0))).m == 2


def test_a_choice_never_sees_a_test_row(data: Path) -> None:
    """Other classes in the test rows change accuracies and C4.5*, never a choice or a tree."""
    loaded, plan = read(choose(["Pima"])[0]), small()
    _, test = loaded.divide(0)
    labels = np.array(loaded.rows.column("class").to_pylist(), dtype=object)
    labels[test] = np.where(labels[test] == "yes", "no", "yes")
    place = loaded.rows.column_names.index("class")
    other = replace(loaded, rows=loaded.rows.set_column(place, "class", [labels]))
    mine, theirs = divide(loaded, 0, plan), divide(other, 0, plan)
    assert mine.choices == theirs.choices
    assert [(one.m, one.nodes) for one in mine.outcomes] == [(one.m, one.nodes) for one in theirs.outcomes]
    for one, another in zip(mine.outcomes, theirs.outcomes, strict=True):
        assert one.accuracy + another.accuracy == pytest.approx(100)


def test_runs_of_a_division_deal_their_own_folds(data: Path) -> None:
    found = divide(read(choose(["Pima"])[0]), 0, small())
    assert found.choices[0].estimates != found.choices[1].estimates


# ---- table 1 ----


def found_for(title: str, *divisions: Division) -> summary.Found:
    source = next(source for source in TABLE_1 if source.title == title)
    return [(Loaded(source, None, "class", ()), divisions)]  # type: ignore[arg-type]


def test_intervals_are_over_divisions_and_runs_are_averaged_first() -> None:
    first = Division(OUTCOMES, (choice(1, 0.8), choice(2, 0.7)))  # 82, 84
    second = Division(OUTCOMES, (choice(4, 0.8), choice(4, 0.7)))  # 60, 60
    third = Division(OUTCOMES, (choice(0, 0.8), choice(2, 0.7)))  # 80, 84
    records = {
        line["method"]: line for line in summary.table_1(found_for("Pima", first, second, third)).records()
    }
    ours, means = records["CVC4.5"], [83.0, 60.0, 82.0]
    assert ours["accuracy"] == pytest.approx(75)
    half = 2.919986 * statistics.stdev(means) / math.sqrt(3)  # Student's t, two degrees of freedom, 90 %
    assert (ours["low"], ours["high"]) == (pytest.approx(75 - half), pytest.approx(75 + half))
    assert ours["over runs"] == pytest.approx((math.sqrt(2) + 0 + math.sqrt(8)) / 3)
    assert ours["nodes"] == pytest.approx((9 + 1 + 11) / 3)
    assert (ours["paper's accuracy"], ours["paper's ±"], ours["paper's nodes"]) == (72.74, 1.23, 8)
    assert (records["C4.5"]["low"], records["C4.5"]["high"]) == (82, 82)
    assert records["C4.5"]["over runs"] is None


def test_one_division_has_its_interval_over_runs() -> None:
    one = Division(OUTCOMES, (choice(1, 0.8), choice(2, 0.7), choice(4, 0.7)))
    records = {line["method"]: line for line in summary.table_1(found_for("Monk-2", one)).records()}
    half = 2.919986 * statistics.stdev([82, 84, 60]) / math.sqrt(3)
    assert records["CVC4.5"]["high"] == pytest.approx(226 / 3 + half)
    assert records["small CVC4.5"]["accuracy"] == records["small CVC4.5"]["high"] == 60


def test_differences_are_counted_division_by_division() -> None:
    divisions = [Division(OUTCOMES, (choice(place, 0.8),)) for place in (1, 2, 4)]
    line = summary.differences(found_for("Pima", *divisions)).records()[0]
    assert line["method"] == "CVC4.5"
    assert (line["better"], line["equal"], line["worse"]) == (1, 1, 1)
    assert line["points gained"] == pytest.approx((0 + 2 - 22) / 3)
    assert line["paper's points"] == 4.34


# ---- what is written ----


@pytest.fixture
def results(data: Path) -> Results:
    return run(small())


def test_every_sheet_is_written(results: Results) -> None:
    files = files_of(results)
    assert {"table-1.csv", "differences.csv", "choices.csv", "by-m.csv", "sets.csv"} <= set(files)
    assert {"table-1.svg", "by-m.svg", "cvc45.json", "cvc45.html"} <= set(files)
    rows = list(csv.DictReader(io.StringIO(files["choices.csv"].decode())))
    assert len(rows) == 2 * 2 + 1 * 2  # divisions times runs; Monk-2 has one division
    chosen = list(csv.DictReader(io.StringIO(files["by-m.csv"].decode())))
    assert sum(int(row["chosen"]) for row in chosen if row["set"] == "Pima") == 4
    told = json.loads(files["cvc45.json"])
    assert told["paper"]["table 1"][0]["set"] == "Breast"
    sheets = {name: rows for part in told["parts"] for name, rows in part["sheets"].items()}
    assert all(row["low"] <= row["accuracy"] <= row["high"] for row in sheets["table-1"])
    assert next(row for row in sheets["sets"] if row["set"] == "Credit")["remark"].startswith("ABSENT")


def test_the_bound_is_never_below_the_others(results: Results) -> None:
    table = next(sheet for sheet in results.sheets if sheet.name == "table-1").records()
    for title in ("Pima", "Monk-2"):
        mine = {line["method"]: line["accuracy"] for line in table if line["set"] == title}
        assert all(mine["C4.5*"] >= accuracy for accuracy in mine.values())


def test_the_page_names_the_paper_the_rules_and_the_stand_in(results: Results) -> None:
    page = files_of(results)["cvc45.html"].decode()
    for words in ("John", "min_objs", "min_samples_split", "STAND-IN", "Release 8"):
        assert words in page
    assert "Blockeel" not in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")


def test_the_same_plan_gives_the_same_numbers(data: Path) -> None:
    first, second = (files_of(run(small())) for _ in range(2))
    same = [name for name in first if name.endswith((".csv", ".svg"))]
    assert [hashlib.sha256(first[name]).digest() for name in same] == [
        hashlib.sha256(second[name]).digest() for name in same
    ]


# ---- the command ----


def test_the_command_prints_the_table_and_says_that_it_was_quick(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(paper(), "values of m", [1, 2, 20])
    out = tmp_path / "results"
    options = ["reproduce", "cvc45", "--sets", "Monk-2", "--quick", "--out", str(out)]
    done = CliRunner().invoke(app, options)
    assert done.exit_code == 0, done.output
    assert "Monk-2: division 1 of 1" in done.stderr
    assert done.stdout.startswith("QUICK: 3 divisions, 2 runs of each")
    assert "the paper" in done.stdout
    assert "65.2 ± 1.04 (22)" in done.stdout
    assert "QUICK" in (out / "cvc45.html").read_text()


def test_a_wrong_set_is_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no set 'iris'"):
        prepare("cvc45", ["iris"])
    done = CliRunner().invoke(app, ["reproduce", "cvc45", "--sets", "iris", "--out", str(tmp_path / "new")])
    assert done.exit_code == 2
    assert not (tmp_path / "new").exists()
