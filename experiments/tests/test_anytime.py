"""The experiments of anytime induction on small sets: folds, clocks, answers, what is written."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from hornbeam.anytime import Stop
from hornbeam.cli.app import app
from hornbeam.datasets import make_xor
from hornbeam.errors import HornbeamError, UsageError
from hornbeam_experiments.anytime import Plan, contest, learners, parts, run, steps, table
from hornbeam_experiments.anytime.arriving import Stream, incremental, times_of
from hornbeam_experiments.anytime.intervals import over_folds, over_seeds
from hornbeam_experiments.anytime.learners import EE, LEARNERS, SEARCHES, SEQUENCING, TS
from hornbeam_experiments.anytime.paper import paper
from hornbeam_experiments.anytime.plan import CURVES, SECONDS, TABLE, times_until
from hornbeam_experiments.anytime.sets import SETS, Fold, PaperSet, choose, read
from hornbeam_experiments.anytime.trails import (
    Alarm,
    Keeping,
    Moment,
    Trail,
    confirm_consistent,
    confirm_never_grows,
    most_right,
)
from hornbeam_experiments.records import Results
from hornbeam_experiments.run import prepare
from hornbeam_experiments.write import files_of

SMALL = {
    "XOR-10": PaperSet("XOR-10", lambda seed: make_xor(160, bits=3, seed=seed)),
    "XOR-10 noisy": PaperSet("XOR-10 noisy", lambda seed: make_xor(160, bits=3, noise=0.1, seed=seed)),
    "XOR-5 noisy": PaperSet("XOR-5 noisy", lambda seed: make_xor(80, bits=3, noise=0.1, seed=seed)),
}


def tiny() -> Plan:
    """Stand-ins for the large sets, milliseconds for a search."""
    named = choose(["XOR-2", "Monk-1", "Monk-3"])
    return Plan((*SMALL.values(), *named), runs=1, share=0.004, arriving=0.03, chunks=4)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Monk-1 in its form, not in its content."""
    folder = tmp_path_factory.mktemp("data")
    random = np.random.default_rng(4)
    lines = ["file,position,column,kind,role"]
    for name, rows in (("monks1_train", 40), ("monks1_test", 30)):
        cells = random.integers(1, 4, (rows, 3))
        label = (cells[:, 0] == cells[:, 1]).astype(int)
        text = [",".join(map(str, row)) for row in np.column_stack([cells, label]).tolist()]
        (folder / f"{name}.csv").write_text("\n".join(["a1,a2,a3,class", *text]) + "\n")
        lines += [f"{name}.csv,{i},a{i},nominal,attribute" for i in (1, 2, 3)]
        lines.append(f"{name}.csv,4,class,nominal,target")
    (folder / "schema.csv").write_text("\n".join(lines) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HORNBEAM_DATA", str(folder))
        yield folder


@pytest.fixture(scope="module")
def results(data: Path) -> Results:
    return run(tiny())


@pytest.fixture
def fold() -> Fold:
    return read(SMALL["XOR-10"]).folds(0)[0]


def sheet(results: Results, name: str) -> list[dict[str, object]]:
    return next(sheet for sheet in results.sheets if sheet.name == name).records()  # type: ignore[return-value]


# ---- plan and sets ----


def test_the_papers_tables_name_sets_and_learners_that_are_run() -> None:
    titles = {source.title for source in SETS}
    for known in (paper()["lsid3"], paper()["accuracy"], paper()["significant"], SECONDS, CURVES, TABLE):
        assert set(known) <= titles
    assert tuple(paper()["algorithms"]) == table.ALGORITHMS
    assert all(len(cells) == len(table.ALGORITHMS) for cells in paper()["lsid3"].values())
    assert {name for cells in paper()["accuracy"].values() for name in cells} <= set(LEARNERS)
    assert paper()["lsid3"]["XOR-5"][3] == [32.0, 100]
    for figure in (parts.FIGURE_10, parts.FIGURE_12, ("XOR-5 noisy",)):
        assert set(figure) <= set(SECONDS)


@pytest.mark.parametrize("end", [0.0009, 0.001, 0.03, 0.3, 2.0, 3.0])
def test_times_are_round_ascend_and_end_with_the_end(end: float) -> None:
    times = times_until(end)
    assert times[-1] == end
    assert all(a < b for a, b in itertools.pairwise(times))
    assert all(b / a <= 1.7 for a, b in itertools.pairwise(times))
    if end == 3.0:
        assert times[::3] == (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


def test_runs_and_quick_change_the_plan() -> None:
    whole, many, quick = Plan.of(), Plan.of(runs=10), Plan.of(quick=True)
    assert (whole.repetitions("Glass"), whole.repetitions("XOR-10")) == (5, 1)
    assert (many.repetitions("XOR-10"), many.table_repetitions("Numeric-XOR-4D")) == (10, 10)
    assert quick.seconds("XOR-10") < whole.seconds("XOR-10") == 3.0
    assert (quick.repetitions("Glass"), Plan.of(quick=True, runs=2).repetitions("Glass")) == (1, 2)


def test_sets_are_chosen_by_title() -> None:
    assert [source.title for source in choose([" xor-5 NOISY", "Glass"])] == ["Glass", "XOR-5 noisy"]
    with pytest.raises(UsageError, match=r"no set 'iris' in these experiments; their sets are Glass, XOR-10"):
        choose(["iris"])


def test_the_loads_of_a_balance_are_labels() -> None:
    """As numbers ID3's trees have 147 leaves in ten folds, as labels 353; the paper has 353.9."""
    loaded = read(choose(["Balance"])[0])
    assert [column.kind for column in loaded.table.columns] == ["nominal"] * 4
    assert np.bincount(loaded.target.codes).tolist() == [49, 288, 288]


def test_every_row_is_left_out_once_and_repetitions_are_other_rows() -> None:
    source = choose(["XOR-5"])[0]
    folds = read(source, 0).folds(0)
    assert [len(one.judge_codes) for one in folds] == [20] * 10
    assert sorted(one.seed for one in folds) == list(range(10))
    left_out = [
        row for one in folds for row in zip(*(c.values.tolist() for c in one.judge.columns), strict=True)
    ]
    rows = list(zip(*(column.values.tolist() for column in read(source, 0).table.columns), strict=True))
    assert sorted(left_out) == sorted(rows)
    assert read(source, 1).folds(1)[0].seed == 10
    assert source.make is not None
    assert source.make(0).relevant != source.make(1).relevant


def test_a_given_division_is_taken_ten_times_with_other_seeds(data: Path) -> None:
    folds = read(choose(["Monk-1"])[0]).folds(0)
    assert {(one.table.n_rows, one.judge.n_rows) for one in folds} == {(40, 30)}
    assert len({one.seed for one in folds}) == 10


# ---- clocks and answers ----


def test_a_trail_has_the_last_model_until_then_and_the_first_before() -> None:
    trail = Trail((Moment(0.2, 9, 50.0), Moment(0.5, 7, 60.0), Moment(0.9, 4, 70.0)), "")
    assert [trail.at(t).leaves for t in (0.0, 0.2, 0.4, 0.5, 0.8, 0.9, 5.0)] == [9, 9, 9, 7, 7, 4, 4]


def test_the_first_model_is_kept_and_the_last_before_each_time() -> None:
    keeping: Keeping[str] = Keeping((0.1, 0.2, 0.3))
    for cpu, model in ((0.12, "a"), (0.13, "b"), (0.2, "c"), (0.25, "d"), (0.31, "e")):
        keeping.take(cpu, model)
    assert list(keeping.kept.values()) == [(0.12, "a"), (0.2, "c"), (0.25, "d")]
    late: Keeping[str] = Keeping((0.1,))
    late.take(7.0, "a")
    late.take(8.0, "b")
    assert list(late.kept.values()) == [(7.0, "a")]


def test_an_alarm_stops_and_says_so() -> None:
    stop = Stop()
    with Alarm(stop, 0.0) as alarm:
        alarm._thread.join()
    assert (alarm.rang, stop.requested) == (True, True)
    other = Stop()
    with Alarm(other, 1000.0) as quiet:
        pass
    assert (quiet.rang, other.requested) == (False, False)


def test_an_interrupt_is_not_taken_for_the_end_of_the_time(
    fold: Fold, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(Alarm):
        def _watch(self) -> None:
            self._stop.request()

    monkeypatch.setattr(learners, "Alarm", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        learners.searched(SEARCHES[EE], fold, (60.0,))


def test_what_must_not_grow_ends_the_experiment() -> None:
    confirm_never_grows([9, 9, 4], "the size")
    confirm_never_grows([1.0, 1.0 + 1e-9], "the error", 1e-6)
    with pytest.raises(HornbeamError, match="the size grew from 4 to 5; this is a fault of Hornbeam"):
        confirm_never_grows([9, 4, 5], "the size")


def test_a_consistent_tree_errs_where_equal_rows_differ(fold: Fold) -> None:
    assert most_right(fold.table, fold.target.codes) == fold.table.n_rows
    rows = np.array([0, 0, 0, 1])
    other = np.array([0, 0, 1, 1], dtype=np.int32)
    assert most_right(fold.table.take(rows), other) == 3
    constant = SimpleNamespace(n_leaves=1, predict_codes=lambda table, threads=1: np.zeros(table.n_rows))
    with pytest.raises(HornbeamError, match="XOR-10: a consistent tree has"):
        confirm_consistent(fold, fold.table, fold.target.codes, constant)


@pytest.mark.parametrize("name", list(LEARNERS))
def test_every_learner_leaves_a_trail(name: str, fold: Fold) -> None:
    trail = LEARNERS[name](fold, times_until(0.01))
    assert trail.moments
    assert trail.end
    assert all(moment.leaves >= 1 and 0 <= moment.accuracy <= 100 for moment in trail.moments)
    assert [moment.cpu for moment in trail.moments] == sorted(moment.cpu for moment in trail.moments)
    if name in (TS, SEQUENCING):
        sizes = [moment.leaves for moment in trail.moments]
        assert sizes == sorted(sizes, reverse=True)


def test_a_search_begins_with_its_greedy_tree(fold: Fold) -> None:
    times = times_until(0.01)
    for name, greedy in ((TS, "ID3"), (EE, "C4.5")):
        first, known = LEARNERS[name](fold, times).moments[0], LEARNERS[greedy](fold, times).moments[0]
        assert (first.leaves, first.accuracy) == (known.leaves, known.accuracy)


def test_figure_three_goes_from_sixteen_leaves_to_four() -> None:
    known = steps.figure_3()
    leaves = [record["leaves"] for record in known.steps.records()]
    assert (leaves[0], leaves[-1]) == (16, 4)
    assert (known.first.n_leaves, known.last.n_leaves) == (16, 4)
    assert known.steps.records()[0]["rebuilt node"] == "ID3"


# ---- rows that come ----


def test_a_quarter_is_there_and_the_rest_comes_evenly(fold: Fold) -> None:
    stream = Stream.of(fold, 2.0, 4)
    assert (stream.ends[0], stream.ends[-1]) == (round(fold.table.n_rows / 4), fold.table.n_rows)
    assert [stream.arrived(t) for t in (0, 0.49, 0.5, 1.99, 2.0, 9)] == [
        *(stream.ends[i] for i in (0, 0, 1, 3, 4)),
        stream.ends[4],
    ]
    assert stream.until_next(0.1, stream.ends[0]) == pytest.approx(0.4)
    assert stream.until_next(0.7, stream.ends[0]) == 0.0
    assert stream.until_next(0.1, stream.ends[-1]) == 0.0
    codes = np.sort(stream.fold.target.codes)
    assert np.array_equal(codes, np.sort(fold.target.codes))


@pytest.mark.parametrize("name", [TS, EE])
def test_all_rows_are_taken_in_though_nothing_is_left_to_try(name: str, fold: Fold) -> None:
    times = times_of(0.4)
    trail = incremental(SEARCHES[name], Stream.of(fold, 0.2, 4), times)
    assert trail.end == f"{fold.table.n_rows} of {fold.table.n_rows} rows"
    assert trail.at(times[-1]).accuracy > 90


# ---- means and tests ----


def test_intervals_are_widened_for_rows_that_folds_share() -> None:
    values = [50.0, 60.0, 55.0, 65.0, 70.0, 52.0, 58.0, 61.0, 66.0, 63.0]
    found = over_folds(values)
    half = 2.262157 * math.sqrt((1 / 10 + 1 / 9) * statistics.variance(values))  # Student's t, 9 degrees
    assert (found.value, found.half) == (pytest.approx(60), pytest.approx(half, rel=1e-5))
    plain = over_seeds(values)
    assert plain.half == pytest.approx(2.262157 * math.sqrt(statistics.variance(values) / 10), rel=1e-5)
    assert over_seeds([3.0]).half == 0.0
    assert (found.low, found.high) == (found.value - found.half, found.value + found.half)


def trails_of(*accuracies: float) -> list[Trail]:
    return [Trail((Moment(0.0, 4, accuracy),), "one tree") for accuracy in accuracies]


def test_every_pair_is_tested_once_and_differences_are_starred() -> None:
    high = trails_of(*(90 + i / 10 for i in range(10)))
    low = trails_of(*(50 + (i % 3) / 10 for i in range(10)))
    found = {TS: high, EE: high, "ID3": low}
    tests = contest.test_records("XOR-5", 1.0, found, (TS, EE), (EE, TS, "ID3", "C4.5"))
    pairs = [(one["learner"], one["against"], one["at 5 %"]) for one in tests]
    assert pairs == [(TS, EE, contest.UNDECIDED), (TS, "ID3", "better"), (EE, "ID3", "better")]
    row = contest.tests_matrix("m", tests).records()[1]
    assert row["points of accuracy"] == f"{TS} less ID3"
    assert str(row["XOR-5"]).startswith("+40.4 ± ")
    assert str(row["XOR-5"]).endswith(" *")


def test_the_papers_words_stand_in_brackets() -> None:
    ends = contest.end_records("XOR-5", 1.0, {TS: trails_of(*[99.0] * 10), "ID3": trails_of(*[50.0] * 10)})
    rows = contest.ends_matrix("m", ends).records()
    assert [row["XOR-5"] for row in rows] == ["99.0 ± 0.0 [99] / 4", "50.0 ± 0.0 / 4"]


def test_endings_are_counted_or_their_median_told() -> None:
    assert contest.ending(["w=4", "w=16", "w=8"]) == "w=8"
    assert contest.ending(["proved", "stopped", "proved"]) == "proved 2, stopped 1"
    assert contest.ending(["stopped", "stopped"]) == "stopped"


def test_a_learner_runs_once_on_a_set_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def learn(fold: Fold, times: object) -> Trail:
        asked.append(fold.title)
        return trails_of(50.0)[0]

    monkeypatch.setitem(learners.LEARNERS, "ID3", learn)
    runs = contest.Contest(replace(tiny(), runs=2))
    first = runs.trails("figure 10", SMALL["XOR-10"], ("ID3",))
    assert runs.trails("figure 12", SMALL["XOR-10"], ("ID3",)) == first
    assert len(asked) == len(first["ID3"]) == 20


# ---- the table ----


def test_the_five_of_the_table_are_grown_and_compared(fold: Fold) -> None:
    found = table.grown(fold)
    assert tuple(found) == table.ALGORITHMS
    assert found["LSID3, r=5"].leaves == 8
    assert found["LSID3, r=5"].accuracy == 100
    assert all(one.with_empty >= one.leaves for one in found.values())


def test_lines_stand_above_the_papers_and_what_is_absent_is_said(data: Path) -> None:
    line = table.line_of(choose(["Monk-1"])[0], Plan(runs=1))
    assert (line.many, line.over) == (10, "seeds")
    beside = table.side_by_side([line], [("Monk-3", "absent: no file")])
    assert [row["set"] for row in beside.records()] == ["Monk-1", "the paper", "Monk-3", "the paper"]
    assert beside.records()[1]["ID3"] == "62 / 82.9"
    assert beside.records()[2]["runs"] == "absent: no file"
    text = table.text_of(beside)
    assert text.splitlines()[2].startswith("the paper")


# ---- what is written ----


def test_every_sheet_and_picture_is_written(results: Results) -> None:
    files = files_of(results)
    for name in ("figure-10", "figure-11", "figure-12", "figure-13"):
        assert {f"{name}.csv", f"{name}-ends.csv", f"{name}-tests.csv", f"{name}-ahead.csv"} <= set(files)
    pictures = ("figure-3-last", "figure-10-leaves", "figure-10-accuracy", "figure-11-steps", "figure-11")
    assert {f"{name}.svg" for name in (*pictures, "figure-12-single", "figure-13")} <= set(files)
    assert {"lsid3.csv", "lsid3-beside.csv", "sets.csv", "anytime.json", "anytime.html"} <= set(files)
    told = json.loads(files["anytime.json"])
    assert told["paper"]["lsid3"]["Glass"] == [
        [38.7, 66.1],
        [23.9, 67.4],
        [32.3, 70.6],
        [34.2, 70.5],
        [35.5, 69.5],
    ]
    rows = list(csv.DictReader(io.StringIO(files["figure-10.csv"].decode())))
    kept = {sheet: cells for part in told["parts"] for sheet, cells in part["sheets"].items()}["figure-10"]
    assert [float(row["accuracy"]) for row in rows] == [cell["accuracy"] for cell in kept]


def test_curves_end_with_what_is_told_of_the_end(results: Results) -> None:
    for name in ("figure-10", "figure-11", "figure-12", "figure-13"):
        last: dict[tuple[object, object], Mapping[str, object]] = {
            (point["set"], point["learner"]): point for point in sheet(results, name)
        }
        ends = sheet(results, f"{name}-ends")
        assert len(ends) == len(last)
        for end in ends:
            point = last[end["set"], end["learner"]]
            assert (point["accuracy"], point["leaves"]) == (end["accuracy, %"], end["leaves"])
            assert point["accuracy, low"] <= point["accuracy"] <= point["accuracy, high"]  # type: ignore[operator]


def test_sizes_of_IIDT_TS_never_grow_along_the_mean_curve(results: Results) -> None:
    points = sheet(results, "figure-10")
    for name in (TS, SEQUENCING):
        sizes = [float(str(point["leaves"])) for point in points if point["learner"] == name]
        assert sizes == sorted(sizes, reverse=True)
        assert len(sizes) > 3


def test_tests_are_differences_of_the_ends(results: Results) -> None:
    for name in ("figure-10", "figure-11", "figure-12", "figure-13"):
        right = {(end["set"], end["learner"]): end["accuracy, %"] for end in sheet(results, f"{name}-ends")}
        tests = sheet(results, f"{name}-tests")
        assert tests
        for test in tests:
            ahead = right[test["set"], test["learner"]] - right[test["set"], test["against"]]  # type: ignore[operator]
            assert test["points"] == pytest.approx(ahead)


def test_figure_12_has_every_learner_on_every_set(results: Results) -> None:
    found = {(end["set"], end["learner"]) for end in sheet(results, "figure-12-ends")}
    names = {*parts.SINGLE, *parts.MANY}
    assert len(names) == 11
    assert found == {(title, name) for title in ("XOR-2", "XOR-10") for name in names}


def test_the_page_quotes_the_papers_and_says_what_it_is(results: Results) -> None:
    page = files_of(results)["anytime.html"].decode()
    for words in ("Esmeir", "no number was read off a curve", "Macintosh G5", "absent: "):
        assert words in page
    assert "Skewing top at 55%" in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert next(row for row in sheet(results, "sets") if row["set"] == "Monk-3")["rows"] is None


# ---- the command ----


def test_the_command_writes_what_is_asked_for_and_says_that_it_was_quick(tmp_path: Path) -> None:
    out = tmp_path / "results"
    done = CliRunner().invoke(app, ["reproduce", "anytime", "--sets", "XOR-2", "--quick", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "anytime: figure 12: XOR-2, 11 learners" in done.stderr
    assert done.stdout.startswith("QUICK: ")
    assert (out / "figure-12-at-end.csv").exists()
    assert not (out / "figure-10.csv").exists()
    assert not (out / "lsid3.csv").exists()
    assert "QUICK" in (out / "anytime.html").read_text()


def test_what_means_nothing_is_refused_in_a_line_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"a scale of 0.5: anytime has none, it is of boat; use --quick"):
        prepare("anytime", scale=0.5)
    out = str(tmp_path / "new")
    for options in (["--sets", "iris"], ["--runs", "0"], ["--scale", "0.5"]):
        done = CliRunner().invoke(app, ["reproduce", "anytime", *options, "--out", out])
        assert done.exit_code == 2
        assert not (tmp_path / "new").exists()


def test_sets_of_which_none_is_at_hand_are_refused(data: Path) -> None:
    with pytest.raises(UsageError, match="none of the sets asked for is at hand"):
        prepare("anytime", ["Monk-3"])()
