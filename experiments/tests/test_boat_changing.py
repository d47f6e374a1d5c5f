"""Figures 13 to 15 of the BOAT paper, and deletions, on tiny sets: streams, seconds, what is written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hornbeam.errors import HornbeamError
from hornbeam_experiments.boat import Plan, growths
from hornbeam_experiments.boat.changing import totals
from hornbeam_experiments.boat.growths import BOAT, grow, grow_each
from hornbeam_experiments.boat.people import changed, people, write, write_parts
from hornbeam_experiments.boat.streams import arriving, leaving, moving, pairs
from hornbeam_experiments.boat.upkeep import CUMULATIVE, KEPT, NEW, STOPS, Works, followed
from hornbeam_experiments.records import Results, Sheet
from hornbeam_experiments.write import files_of

A, B, C, D, E = (Path(name) for name in "ABCDE")


def sheet(results: Results, name: str) -> list[dict[str, Any]]:
    return next(sheet for sheet in results.sheets if sheet.name == name).records()


# ---- rows ----


def test_what_changed_is_one_part_of_the_space() -> None:
    before = pa.Table.from_batches(people(3000, function=1)).to_pylist()
    after = pa.Table.from_batches(map(changed, people(3000, function=1))).to_pylist()
    poor = [row["age"] >= 60 and row["salary"] < 75_000 for row in before]
    assert 0 < sum(poor) < len(poor)
    for old, new, other in zip(before, after, poor, strict=True):
        assert new == (old | {"class": "B"} if other else old)


def test_streams_have_the_files_that_are_there_after_each_batch() -> None:
    assert pairs((A, B, C, D)) == [(A, B), (C, D)]
    assert list(arriving((A,), [(B,), (C, D)]).present()) == [(A, B), (A, B, C, D)]
    gone = leaving((A,), [(B,), (C,)])
    assert gone.first == (A, B, C)
    assert list(gone.present()) == [(A, C), (A,)]
    window = moving([(A,), (B,), (C,), (D,), (E,)])
    assert window.first == (A, B, C)
    assert list(window.present()) == [(B, C, D), (C, D, E)]


# ---- what is measured ----


class Told:
    """Answers of a probe without any work: seconds rise by one from tree to tree, digests are given."""

    def __init__(self, kept: str = "same") -> None:
        self.kept, self.asked, self.cpu = kept, list[str](), 0.0

    def __call__(self, question: Mapping[str, Any], module: str | None = None) -> dict[str, Any]:
        self.asked.append(str(question["algorithm"]))
        if question["kind"] == "series":
            return {"each": [self.tree(one) for one in question["asked"]]}
        return self.tree(question)

    def tree(self, question: Mapping[str, Any]) -> dict[str, Any]:
        if question["kind"] == "keep":
            made = self.work("same")
            batches = [self.work(self.kept) for _ in question["batches"]]
            return {"made": made, "batches": batches, "peak": 300.0}
        counts = dict.fromkeys(
            ("scans", "rows", "bytes", "spilled_bytes", "alarms", "held_rows", "families"), 0
        )
        return {**self.work("same"), **counts, "wall": 1.0, "peak": 200.0, "phases": {}}

    def work(self, digest: str) -> dict[str, Any]:
        self.cpu += 1
        return {"cpu": self.cpu, "nodes": 3, "digest": digest, "tests": {"kept": 1, "moved": 0, "rebuilt": 2}}


def test_a_kept_tree_that_is_not_a_rebuilds_ends_the_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growths, "ask", Told(kept="other"))
    with pytest.raises(HornbeamError, match="a title, batch 1: kept tree and BOAT grew different trees"):
        followed(Works(Plan()), "a title", arriving((A,), [(B,)]), STOPS[0], (BOAT,))


def test_seconds_add_up_over_batches_in_each_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = Told()
    monkeypatch.setattr(growths, "ask", told)
    first, *more = write_parts(tmp_path, (10, 15, 20), function=1)
    works, stream = Works(Plan(runs=2)), arriving((first,), [(path,) for path in more])
    lines = followed(works, "a title", stream, STOPS[0], (BOAT, NEW))
    assert told.asked == [KEPT, KEPT, "BOAT", "BOAT", "new file", "new file"]
    # Trees 1 to 3 and 4 to 6 are the runs of the kept tree, its file and two batches each; and so on.
    assert [(line["algorithm"], line["CPU seconds"], line[CUMULATIVE]) for line in lines] == [
        (KEPT, 3.5, 3.5),
        (KEPT, 4.5, 8.0),
        ("BOAT", 8.0, 8.0),
        ("BOAT", 9.0, 17.0),
        ("new file", 12.0, 12.0),
        ("new file", 13.0, 25.0),
    ]
    assert [(line["rows changed"], line["rows"]) for line in lines[:2]] == [(5, 15), (10, 20)]
    ends = totals(Sheet.of("figure", lines)).records()
    assert [line["/ kept tree"] for line in ends] == [1, 17 / 8, 25 / 8]
    assert [line["rebuilt"] for line in ends] == [4, None, None]


def test_what_was_measured_is_not_measured_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = Told()
    monkeypatch.setattr(growths, "ask", told)
    first, *more = write_parts(tmp_path, (10, 15, 20), function=1)
    works, whole = Works(Plan()), arriving((first,), [tuple(more)])
    before = followed(works, "a title", whole, STOPS[0], (BOAT,))
    assert followed(works, "a title", whole, STOPS[0], (BOAT,)) == before
    assert told.asked == [KEPT, "BOAT"]
    # In halves another tree is kept, and one rebuild is new.
    followed(works, "a title", arriving((first,), [(path,) for path in more]), STOPS[0], (BOAT,))
    assert told.asked == [KEPT, "BOAT", KEPT, "BOAT"]
    followed(works, "a title", whole, STOPS[1], (BOAT,))
    assert told.asked[4:] == [KEPT, "BOAT"]


def test_a_process_grows_one_tree_after_the_other(tmp_path: Path) -> None:
    paths = []
    for function in (1, 7):
        paths.append(tmp_path / f"{function}.parquet")
        write(people(2000, function=function), paths[-1])
    question = {"parameters": {"max_depth": 3}, "memory_limit": 64_000_000}
    questions = [question | {"source": str(path)} for path in paths]
    both = grow_each(BOAT, questions)
    assert [growth.digest for growth in both] == [grow(BOAT, asked).digest for asked in questions]
    assert both[0].digest != both[1].digest
    assert all(growth.cpu > 0 for growth in both)
    assert grow_each(BOAT, []) == []


# ---- what is written ----


def test_every_stream_has_a_point_for_each_batch_and_contestant(results: Results) -> None:
    for name in ("figure-13", "figure-14"):
        lines = sheet(results, name)
        assert len(lines) == len(STOPS) * 2 * (4 + 3)
        assert {line["rows changed"] for line in lines} == {2000, 4000}
        kept = [line["rows"] for line in lines if line["algorithm"] == KEPT]
        assert kept == len(STOPS) * 2 * [4000, 6000]
        zero = [line for line in lines if "from no rows" in line["set"] and line["algorithm"] == "BOAT"]
        assert [line["rows"] for line in zero] == len(STOPS) * [2000, 4000]
    for stop in STOPS:
        there = [line for line in sheet(results, "deletions") if line["set"].startswith(stop.title)]
        kept = [line["rows"] for line in there if line["algorithm"] == KEPT]
        assert kept == [4000, 2000, 6000, 6000]


def test_after_the_same_rows_smaller_chunks_leave_as_many_nodes(results: Results) -> None:
    for stop in STOPS:
        lines = [line for line in sheet(results, "figure-15") if line["set"] == stop.title]
        whole, halves, large = (
            [line for line in lines if line["algorithm"] == name]
            for name in dict.fromkeys(line["algorithm"] for line in lines)
        )
        assert [line["rows changed"] for line in halves] == [1000, 2000, 3000, 4000]
        assert [line["rows"] for line in large] == [12_000, 14_000]
        assert [line["nodes"] for line in whole] == [line["nodes"] for line in halves[1::2]]


def test_a_changed_part_of_the_space_costs_tests(results: Results) -> None:
    lines = [line for line in sheet(results, "figure-14") if line["algorithm"] == KEPT]
    assert all(line["tests kept"] + line["moved"] + line["rebuilt"] > 0 for line in lines)
    assert any(line["rebuilt"] for line in lines)


def test_the_page_has_the_figures_beside_what_the_paper_says(results: Results) -> None:
    files = files_of(results)
    for name in ("figure-13", "figure-14", "figure-15", "deletions"):
        assert {f"{name}.svg", f"{name}.csv", f"{name}-totals.csv"} <= set(files)
    page = files["boat.html"].decode()
    for words in (
        "The two curves are nearly identical",
        "by a factor of 2",
        "results for deletions are analogous",
    ):
        assert words in page
