"""The BOAT paper's experiments on tiny sets: rows, contestants, curves, what is written."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

from hornbeam.boat.task import Sampling
from hornbeam.cli.app import app
from hornbeam.datasets import make_agrawal
from hornbeam.errors import HornbeamError, StorageError, UsageError
from hornbeam_experiments.boat import Plan, curves
from hornbeam_experiments.boat.growths import (
    ALL,
    BOAT,
    HYBRID,
    VERTICAL,
    Growth,
    ask,
    confirm_same,
    grow,
)
from hornbeam_experiments.boat.instability import bootstrap_cuts, impurities
from hornbeam_experiments.boat.paper import paper
from hornbeam_experiments.boat.people import TYPES, group_entries, people, write, write_parts
from hornbeam_experiments.boat.plan import PARTS
from hornbeam_experiments.records import Results
from hornbeam_experiments.run import prepare
from hornbeam_experiments.write import files_of

GROWTH = Growth(2.0, 2.5, 300.0, 2, 200, 16.0, 0.0, 0, 0, 0, 5, "abc", {})


# ---- rows ----


def test_people_are_the_generators_with_numbers_for_labels() -> None:
    table = pa.Table.from_batches(people(500, function=7, noise=0.1, extra=1))
    rows = make_agrawal(500, function=7, noise=0.1, extra=1, seed=1).rows
    assert table.schema.names == rows.schema.names
    assert [table.schema.field(name).type for name in TYPES] == list(TYPES.values())
    for name in ("salary", "hvalue", "loan", "extra1"):
        assert table[name].to_pylist() == rows[name].to_pylist()
    assert [f"zipcode{n}" for n in table["zipcode"].to_pylist()] == rows["zipcode"].to_pylist()
    assert [f"level{n}" for n in table["elevel"].to_pylist()] == rows["elevel"].to_pylist()
    assert table["class"].to_pylist() == rows["class"].to_pylist()


def test_the_first_parts_are_the_smaller_sets(tmp_path: Path) -> None:
    parts = write_parts(tmp_path, (300, 500), function=6)
    whole = pa.Table.from_batches(people(500, function=6))
    assert parquet.read_table(parts[0]).equals(whole.slice(0, 300))
    assert pa.concat_tables(map(parquet.read_table, parts)).equals(whole)


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    def broken() -> Any:
        yield from people(100, function=1)
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError):
        write(broken(), tmp_path / "rows.parquet")
    assert list(tmp_path.iterdir()) == []


def test_the_size_of_the_roots_counts_is_foreseen() -> None:
    table = pa.Table.from_batches(people(40_000, function=1, extra=2))
    values = sum(len(table[name].unique()) for name in table.schema.names if name != "class")
    assert group_entries(40_000, extra=2) == pytest.approx(values, rel=0.01)
    # So the paper's buffers make sense: RF-Hybrid's has room for the root, RF-Vertical's has not.
    assert 1_800_000 < group_entries(5_000_000) < group_entries(10_000_000) < 3_000_000


# ---- the plan ----


def test_the_papers_setting_is_the_default() -> None:
    plan = Plan.of()
    assert plan.sizes == (2_000_000, 4_000_000, 6_000_000, 8_000_000, 10_000_000)
    assert (plan.middle, plan.stop, plan.noises[0], plan.noises[-1]) == (5_000_000, 1_500_000, 0.02, 0.1)
    assert Sampling(**plan.sampling) == Sampling()
    assert (plan.sampling["sample"], plan.sampling["bootstraps"], plan.sampling["rows"]) == (
        200_000,
        20,
        50_000,
    )
    assert [plan.entries(one) for one in ALL] == [None, None, 3_000_000, 1_800_000, None]
    assert plan.question(HYBRID)["parameters"] == {"min_samples_split": 1_500_000}


def test_a_scale_shrinks_everything_that_counts_rows() -> None:
    plan = Plan.of(["f7"], runs=2, scale=0.01)
    assert (plan.functions, plan.runs) == (("F7",), 2)
    assert (plan.sizes[-1], plan.stop, plan.sampling["rows"]) == (100_000, 15_000, 500)
    root = group_entries(100_000)
    hybrid, vertical = plan.entries(HYBRID), plan.entries(VERTICAL)
    assert hybrid is not None
    assert vertical is not None
    assert vertical < root < hybrid
    assert plan.memory_limit == 32_000_000
    assert (plan.chunk, plan.kept_memory) == (20_000, 32_000_000)


def test_memory_shrinks_with_the_values_that_are_counted() -> None:
    plan = Plan.of(scale=0.1)
    share = group_entries(1_000_000) / group_entries(10_000_000)
    assert plan.memory_limit == round(150_000_000 * share)
    assert share > 0.5


def test_what_means_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match=r"no function 'F2' in the paper's experiments; they are 'F1', 'F6'"):
        prepare("boat", ["F1", "F2"])
    with pytest.raises(UsageError, match=r"a scale of 2: give a share of the paper's rows from 0.001 to 1"):
        prepare("boat", scale=2.0)
    with pytest.raises(UsageError, match=r"a scale of 0.5: bagging has none, it is of boat; use --quick"):
        prepare("bagging", scale=0.5)


def test_some_parts_can_be_asked_for() -> None:
    assert Plan.of().parts == PARTS
    assert Plan.of(parts=["Deletions", " 13"]).parts == ("13", "deletions")
    assert Plan.of(["F7"]).parts == ("4-6", "7-9", "12", "quest")
    with pytest.raises(UsageError, match=r"no part '5' in boat; they are '4-6', '7-9'"):
        prepare("boat", parts=["5"])
    with pytest.raises(UsageError, match=r"part '13' is of F1; add a function to the sets, or leave them"):
        prepare("boat", ["F7"], parts=["13"])
    with pytest.raises(UsageError, match=r"part '10-11' is of F1 and F6; add a function"):
        prepare("boat", ["F7"], parts=["10-11"])
    with pytest.raises(UsageError, match=r"parts 13,14: memory has none, they are of boat; leave them out"):
        prepare("memory", parts=["13", "14"])


# ---- contestants ----


def test_different_trees_end_the_experiment() -> None:
    confirm_same("F1", {"BOAT": [GROWTH, GROWTH], "RF-Hybrid": [GROWTH]})
    with pytest.raises(HornbeamError, match="F1: BOAT and RF-Hybrid grew different trees"):
        confirm_same("F1", {"BOAT": [GROWTH], "RF-Hybrid": [replace(GROWTH, digest="abd")]})


def test_records_compare_with_boat() -> None:
    slow = [replace(GROWTH, cpu=cpu, scans=8) for cpu in (5.0, 7.0)]
    records = curves.records_of("F1", "rows", 200, {"BOAT": [GROWTH, GROWTH], "RF-Hybrid": slow})
    assert [record["/ BOAT"] for record in records] == [1, 3]
    assert records[1]["low"] < records[1]["CPU seconds"] == 6 < records[1]["high"]  # type: ignore[operator]
    assert (records[1]["scans"], records[0]["MB read"]) == (8, 16)


def test_a_process_of_its_own_grows_and_tells(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    write(people(2000, function=1), path)
    question = {"source": str(path), "parameters": {"max_depth": 3}, "memory_limit": 64_000_000}
    told = grow(BOAT, question)
    assert (told.scans, told.rows, told.nodes) == (2, 4000, 5)
    assert told.megabytes == pytest.approx(2 * path.stat().st_size / 1e6, rel=0.5)
    assert told.peak > 50
    assert told.cpu > 0
    bare = ask({"kind": "bare", "source": [str(path)]})
    assert bare["scans"] == 2
    assert 0 < bare["begun"] <= bare["peak"]


def test_a_process_that_fails_is_told_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"the process that measures a scan ended: FileNotFoundError"):
        ask({"kind": "bare", "source": str(tmp_path / "none.parquet")})


def test_a_refusal_is_an_answer(tmp_path: Path, here: None) -> None:
    path = tmp_path / "rows.parquet"
    write(people(100, function=1), path)
    question = {"source": str(path), "parameters": {"competitors": 2}, "memory_limit": 64_000_000}
    with pytest.raises(UsageError, match="competitors=2 asks for the rows of each node"):
        grow(BOAT, question)


# ---- figure 12 ----


def test_two_cuts_are_equally_good_and_bootstraps_take_both(tmp_path: Path) -> None:
    from hornbeam.datasets import generate

    path = tmp_path / "rows.parquet"
    write(iter(generate("instability", 20_000, seed=1, balanced=True)), path)
    curve = np.array([record["impurity"] for record in impurities("equal", path)], dtype=float)
    assert len(curve) == 80
    assert set(np.argsort(curve)[:2]) == {20, 60}
    assert curve[20] == pytest.approx(curve[60])
    assert curve[40] == pytest.approx(0.5)
    cuts = bootstrap_cuts(Plan(scale=0.004), "equal", path)
    assert sum(int(record["bootstrap trees"] or 0) for record in cuts) == 20
    taken = [int(record["cut"] or 0) for record in cuts]
    assert {min((20, 60), key=lambda cut, x=x: abs(x - cut)) for x in taken} == {20, 60}  # type: ignore[misc]
    assert all(min(abs(x - 20), abs(x - 60)) <= 2 for x in taken)


# ---- what is written ----


def test_every_figure_has_all_contestants_and_points(results: Results) -> None:
    files = files_of(results)
    there = [one.name for one in ALL]
    rows = list(csv.DictReader(io.StringIO(files["figures-4-6.csv"].decode())))
    assert len(rows) == 2 * 2 * len(there)
    assert {row["algorithm"] for row in rows} == set(there)
    assert {row["rows"] for row in rows} == {"4000", "10000"}
    assert len(list(csv.DictReader(io.StringIO(files["figures-7-9.csv"].decode())))) == 2 * 2 * len(there)
    assert len(list(csv.DictReader(io.StringIO(files["figures-10-11.csv"].decode())))) == 2 * len(there)
    for name in ("figures-4-6", "figures-7-9", "figures-10-11"):
        assert {f"{name}-{ending}.svg" for ending in ("seconds", "scans", "bytes")} <= set(files)
    assert {"figure-12.svg", "figure-12-cuts.csv", "quest.csv", "setting.csv", "boat.html"} <= set(files)


def test_boat_reads_twice_or_thrice_and_others_more(results: Results) -> None:
    sheet = next(sheet for sheet in results.sheets if sheet.name == "figures-4-6").records()
    scans = {(r["set"], r["rows"], r["algorithm"]): r["scans"] for r in sheet}
    assert all(2 <= int(n or 0) <= 3 for (_, _, name), n in scans.items() if name == "BOAT")
    assert all(n == 1 for (_, _, name), n in scans.items() if name == "in memory")
    assert int(scans["F7", 10_000, "RF-Hybrid"] or 0) > int(scans["F7", 10_000, "BOAT"] or 0)


def test_factors_stand_beside_the_papers(results: Results) -> None:
    lines = next(sheet for sheet in results.sheets if sheet.name == "factors").records()
    theirs = {(line["set"], line["algorithm"]): line["the paper's factor"] for line in lines}
    assert theirs["F1", "BOAT"] is None
    assert theirs["F1", "in memory"] is None
    assert (theirs["F1", "RF-Hybrid"], theirs["F7", "RF-Hybrid"]) == (3, 2)
    assert "in times BOAT's CPU" in results.parts[0].hint


def test_quest_is_grown_or_refused_by_each(results: Results) -> None:
    lines = next(sheet for sheet in results.sheets if sheet.name == "quest").records()
    quest = [line for line in lines if line["criterion"] == "quest" and line["set"] == "F1"]
    assert {line["algorithm"] for line in quest} == {one.name for one in ALL}
    for line in quest:
        assert (line["CPU seconds"] is None) == str(line["remark"]).startswith("refused: ")
    assert next(line for line in quest if line["algorithm"] == "in memory")["nodes"]


def test_the_page_quotes_the_paper_and_says_what_it_is(results: Results) -> None:
    page = files_of(results)["boat.html"].decode()
    for words in ("Gehrke", "no number was read off a curve", "SCALE 0.001", "faster by a factor of three"):
        assert words in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    told = json.loads(files_of(results)["boat.json"])
    assert told["paper"]["factors"] == paper()["factors"] == {"F1": 3, "F6": 3, "F7": 2}


# ---- the command ----


def test_the_command_writes_all_and_says_the_scale(
    here: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(paper(), "sizes", [10_000_000])
    monkeypatch.setitem(paper(), "noise", [0.1])
    out = tmp_path / "results"
    options = ["reproduce", "boat", "--sets", "F7", "--scale", "0.001", "--out", str(out)]
    done = CliRunner().invoke(app, options)
    assert done.exit_code == 0, done.output
    assert "boat: figures 4 to 6: F7, 10,000 rows" in done.stderr
    assert done.stdout.startswith("SCALE 0.001")
    assert (out / "boat.html").exists()
    assert (out / "figures-7-9.csv").exists()
    assert not (out / "figures-10-11.csv").exists()  # of functions 1 and 6
    assert not (out / "figure-13.csv").exists()  # of function 1


def test_the_command_runs_the_parts_that_are_named(here: None, tmp_path: Path) -> None:
    options = ["reproduce", "boat", "--scale", "0.001", "--parts", "14,12", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, options)
    assert done.exit_code == 0, done.output
    sheets = {path.name for path in tmp_path.glob("*.csv")}
    assert {"figure-12.csv", "figure-14.csv", "figure-14-totals.csv", "setting.csv"} <= sheets
    assert not any(name.startswith(("figures-", "figure-13", "figure-15", "deletions")) for name in sheets)
    told = json.loads((tmp_path / "boat.json").read_text())
    assert told["setting"]["parts"] == "12, 14"


def test_a_wrong_scale_is_refused_before_any_work(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["reproduce", "boat", "--scale", "7", "--out", str(tmp_path / "new")])
    assert done.exit_code == 2
    assert not (tmp_path / "new").exists()
