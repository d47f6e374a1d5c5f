"""The papers' experiments on tiny sets: what is measured, what is written, what is set beside it."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from hornbeam.cli.app import app
from hornbeam.errors import UsageError
from hornbeam.growth import ClassTarget, TrainingSets
from hornbeam.table import from_data
from hornbeam_experiments import cost_model, memory, redundancy
from hornbeam_experiments.growths import (
    ALGORITHMS,
    BAGGING,
    ONE,
    PRESORT,
    bags_of,
    folds_of,
    grow,
    race,
)
from hornbeam_experiments.intervals import Mean, t_quantile
from hornbeam_experiments.paper import expected, paper
from hornbeam_experiments.plan import Plan
from hornbeam_experiments.records import Results
from hornbeam_experiments.run import run
from hornbeam_experiments.sets import TABLE_1, Loaded, choose, read
from hornbeam_experiments.write import files_of

CARS = 300


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sets of table 1, small: Car (nominal) and Yeast (numeric)."""
    random = np.random.default_rng(3)
    cars = random.choice(["low", "high"], (CARS, 3))
    good = np.where((cars[:, 0] == "low") & (random.random(CARS) < 0.9), "acc", "unacc")
    places = random.random((400, 3)).round(2)
    kinds = np.where(
        places[:, 0] + 0.2 * random.random(400) > 0.5, "CYT", np.where(places[:, 1] > 0.5, "NUC", "MIT")
    )
    write(tmp_path / "car.csv", ["buying", "maint", "doors", "class"], [*cars.T, good])
    write(tmp_path / "yeast.csv", ["mcg", "gvh", "alm", "class"], [*places.T, kinds])
    lines = ["file,position,column,kind,role"]
    for file, names, kind in (
        ("car.csv", ["buying", "maint", "doors"], "nominal"),
        ("yeast.csv", ["mcg", "gvh", "alm"], "numeric"),
    ):
        lines += [f"{file},{i},{name},{kind},attribute" for i, name in enumerate(names)]
        lines.append(f"{file},3,class,nominal,target")
    (tmp_path / "schema.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.setenv("HORNBEAM_DATA", str(tmp_path))
    return tmp_path


def write(path: Path, names: list[str], columns: list[object]) -> None:
    rows = zip(*columns, strict=True)  # type: ignore[call-overload]
    path.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\n")


def small(name: str = "Yeast") -> Loaded:
    return read(choose([name])[0])


def plan() -> Plan:
    return Plan(
        sets=choose(["Car", "Yeast", "Letter"]), runs=2, folds=(3, 4), bags=(3, 25), shares=(0.5, 1.0)
    )


# ---- numbers ----


def test_intervals_are_those_of_students_t() -> None:
    mean = Mean.of([1.0, 2.0, 4.0])
    assert mean.value == pytest.approx(7 / 3)
    assert mean.half == pytest.approx(2.919986 * math.sqrt(7 / 3) / math.sqrt(3), rel=1e-6)
    assert t_quantile(9) == pytest.approx(1.833113, rel=1e-6)
    assert (Mean.of([5.0]).low, Mean.of([5.0]).high) == (5, 5)
    with pytest.raises(ValueError, match="no runs"):
        Mean.of([])


def test_sets_are_chosen_by_title_or_file() -> None:
    assert [entry.name for entry in choose(["LETTER", " connect4"])] == ["connect4", "letter"]
    assert choose(None) == TABLE_1
    with pytest.raises(UsageError, match=r"no set 'iris' in table 1; its sets are Connect-4, Adult"):
        choose(["iris"])


def test_the_papers_table_has_the_sets_that_are_run() -> None:
    assert [entry["set"] for entry in paper()["table 1"]] == [entry.title for entry in TABLE_1]
    assert expected(20000, 49, 16, 26)["CV"] == 2.74
    assert expected(20000, 48, 16, 26)["CV"] == 6.30
    assert expected(4177, 400, 7, None)["CV"] == 1.51


# ---- growths ----


def test_the_parts_of_a_growth_are_its_seconds(data: Path) -> None:
    growth, forest = grow(small(), folds_of(small(), 3, 0), "folds")
    assert sum(growth.works.values()) == pytest.approx(growth.seconds)
    assert growth.works[PRESORT] >= 0
    assert forest.n_sets == 4
    assert growth.own_entries.sum() > growth.entries.sum()


def test_every_algorithm_grows_the_same_trees(data: Path) -> None:
    loaded = small()
    for sets, algorithms in ((folds_of(loaded, 4, 1), ALGORITHMS), (bags_of(loaded, 3, 1), BAGGING)):
        digests = [
            [tree.digest for tree in grow(loaded, sets, algorithm)[1].trees()]
            for algorithm in algorithms.values()
        ]
        assert all(found == digests[0] for found in digests)
        assert set(race(loaded, sets, algorithms).growths) == set(algorithms)


def test_bags_draw_as_many_rows_as_there_are(data: Path) -> None:
    sets = bags_of(small(), 3, 0)
    assert (sets.multiplicity().sum(axis=0) == 400).all()
    assert sets.multiplicity().max() > 1


def test_samples_keep_the_order_of_the_rows(data: Path) -> None:
    loaded = small()
    half = loaded.sample(0.5, seed=1)
    assert half.n_rows == 200
    assert half.classes == loaded.classes == 3
    assert loaded.sample(1.0, seed=1) is loaded


# ---- cost model and redundancy ----


def test_the_bound_is_that_of_section_2_3() -> None:
    costs = cost_model.Costs(tests=8, extract=1, update=1, assign=3)
    assert costs.bound(10) == 1 + 8 * 2 / 4
    assert costs.bound(3) == 3
    assert cost_model.Costs(8, 0, 1, 0).bound(10) == 10


def test_sets_of_the_same_rows_repeat_nothing(data: Path) -> None:
    """Two training sets of the same rows stand in the same arms everywhere: sharing saves them already."""
    loaded = small()
    everything = np.arange(loaded.n_rows)
    same = TrainingSets.of_rows(loaded.n_rows, [everything, everything])
    _, forest = grow(loaded, same, "overlapping")
    assert redundancy.repeated(forest, same, loaded.table)[:2] == (0, 0)


def test_the_same_rows_behind_another_test_are_found() -> None:
    """Columns 0 and 1 split alike; which one a set takes is decided by a row of its own. Below, both sets ask
    the same of the same rows, but along different arms."""
    random = np.random.default_rng(0)
    n = 400
    left = np.arange(n) < n // 2
    table = np.column_stack([left, left, random.random(n)]).astype(float)
    codes = np.where(left, 0, np.where(table[:, 2] > 0.5, 1, 2)).astype(np.int32)
    extra = np.array([[0.0, 1.0, 0.9], [1.0, 0.0, 0.9]])
    loaded = Loaded(
        TABLE_1[0],
        from_data(np.vstack([table, extra])),
        ClassTarget(np.append(codes, [0, 0]).astype(np.int32), np.arange(3)),
        0,
        3,
    )
    rows = np.arange(n)
    sets = TrainingSets.of_rows(n + 2, [np.append(rows, n), np.append(rows, n + 1)])
    _, forest = grow(loaded, sets, "overlapping")
    assert forest.tree(0).arrays["attribute"][0] != forest.tree(1).arrays["attribute"][0]
    found = redundancy.repeated(forest, sets, loaded.table)
    assert found == (1 / 4, 200 / (2 * 401 + 2 * 200), 4)


# ---- what is written ----


def columns_of(content: bytes) -> list[str]:
    return next(csv.reader(io.StringIO(content.decode())))


@pytest.fixture
def results(data: Path) -> Results:
    return run("cross-validation", plan())


def test_cross_validation_writes_every_figure(results: Results) -> None:
    files = files_of(results)
    for name in (
        "figure-10",
        "figure-11",
        "figure-12",
        "figure-13",
        "figure-14",
        "section-2.3",
        "section-3.5",
    ):
        assert f"{name}.csv" in files
    assert columns_of(files["figure-12.csv"])[:6] == [
        "set",
        "rows",
        "share",
        "sets grown",
        "algorithm",
        "speedup",
    ]
    told = json.loads(files["cross-validation.json"])
    assert told["paper"]["table 1"][0]["set"] == "Connect-4"
    sheets = {name: rows for part in told["parts"] for name, rows in part["sheets"].items()}
    assert {(row["set"], row["sets grown"]) for row in sheets["figure-12"]} == {
        ("Car", 3),
        ("Car", 4),
        ("Yeast", 3),
        ("Yeast", 4),
    }
    assert all(row["low"] <= row["speedup"] <= row["high"] for row in sheets["figure-12"])
    ones = [row for row in sheets["figure-11"] if row["algorithm"] == ONE]
    assert all(row["relative"] == pytest.approx(1) for row in ones)
    assert [row["f(i-1)"] for row in sheets["figure-10"] if row["level"] == 1] == [1, 1]
    absent = next(row for row in sheets["table-1"] if row["set"] == "Letter")
    assert absent["rows"] is None
    assert absent["remark"].startswith("ABSENT")


def test_the_page_needs_no_network_and_names_the_paper(results: Results) -> None:
    page = files_of(results)["cross-validation.html"].decode()
    assert "Blockeel and Struyf" in page
    assert "[2.06, 6.30]" in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "<link" not in page


def test_the_tree_of_influences_has_both_speedups(results: Results) -> None:
    part = next(part for part in results.parts if part.title.startswith("Figure 14"))
    ours = dict(part.text)["Hornbeam: OS, CV"]
    assert "OS" in ours
    assert "CV" in ours


def test_bagging_has_25_bags_and_sizes(data: Path) -> None:
    files = files_of(run("bagging", plan()))
    rows = list(csv.DictReader(io.StringIO(files["figure-16.csv"].decode())))
    assert {row["algorithm"] for row in rows} == {ONE, "S", "OS", "auto"}
    assert all(float(row["speedup"]) == 1 for row in rows if row["algorithm"] == "S")
    bags = list(csv.DictReader(io.StringIO(files["figure-17-bags.csv"].decode())))
    assert {row["sets grown"] for row in bags} == {"3", "25"}
    assert {"figure-16.svg", "figure-17-bags.svg", "figure-17-sizes.svg", "bagging.html"} <= set(files)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks are read from Linux's /proc")
def test_memory_is_told_at_three_points(data: Path) -> None:
    files = files_of(run("memory", Plan(sets=choose(["Yeast"]), runs=3, folds=(3,))))
    rows = list(csv.DictReader(io.StringIO(files["figure-19.csv"].decode())))
    assert [row["algorithm"] for row in rows] == ["S", "OS", "CV", "auto"]
    assert all(float(row["system"]) > 10 for row in rows)
    assert all(float(row["low"]) <= float(row["growth"]) <= float(row["high"]) for row in rows)
    folds = {row["folds"] for row in csv.DictReader(io.StringIO(files["figure-20.csv"].decode()))}
    assert folds == {"3", "10"}


def test_memory_is_a_mean_of_runs() -> None:
    answer = {
        "set": "Yeast",
        "folds": 10,
        "algorithm": "CV",
        "system": 20.0,
        "data": 5.0,
        "growth": [2.0, 4.0, 3.0],
        "one tree": [1.0, 2.0, 1.0],
    }
    record = memory.beside_one(answer)
    assert (record["growth"], record["one tree"]) == (3.0, pytest.approx(4 / 3))
    assert record["growth / one tree"] == pytest.approx(7 / 3)
    assert record["low"] == pytest.approx(3.0 - Mean.of([2.0, 4.0, 3.0]).half)
    nothing = memory.beside_one(answer | {"one tree": [0.0, 1.0, 1.0]})
    assert nothing["growth / one tree"] is None


# ---- the command ----


def test_the_command_writes_files_and_tells_progress(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "results"
    done = CliRunner().invoke(
        app, ["reproduce", "cross-validation", "--sets", "Yeast", "--runs", "1", "--quick", "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    assert "figures 10 and 11: Yeast (1 of 1)" in done.stderr
    assert (out / "cross-validation.html").is_file()
    assert (out / "figure-11.svg").read_text().startswith("<svg")


def test_without_data_the_command_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HORNBEAM_DATA", raising=False)
    done = CliRunner().invoke(app, ["reproduce", "bagging", "--out", str(tmp_path)])
    assert done.exit_code == 2
    assert "set HORNBEAM_DATA to the directory" in done.stderr
    assert list(tmp_path.iterdir()) == []
