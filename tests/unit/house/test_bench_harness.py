"""The benchmarks' own arithmetic: rounds, means, verdicts, exit codes."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import hornbeam
from benchmarks import common, model, tables
from benchmarks.answers import WrongAnswerError

pytestmark = pytest.mark.house


def ticking(seconds: list[float]) -> Iterator[float]:
    """A clock that says what it is told, twice a run: begin and end."""
    now = 0.0
    for second in seconds:
        yield now
        now += second
        yield now


def test_contestants_run_in_turn_and_the_median_counts() -> None:
    order: list[str] = []
    clock = ticking([1, 10, 3, 30, 2, 20])
    timings = common.measure(
        {"a": lambda: order.append("a"), "b": lambda: order.append("b")},
        repeats=3,
        budget=1000,
        clock=lambda: next(clock),
    )
    assert order == ["a", "b", "a", "b", "a", "b"]
    assert (timings["a"].median, timings["b"].median) == (2, 20)


def test_a_round_that_would_pass_the_budget_is_not_begun() -> None:
    clock = ticking([4, 4, 4])
    timings = common.measure({"a": lambda: None}, repeats=3, budget=9, clock=lambda: next(clock))
    assert timings["a"].seconds == (4, 4)


def test_the_mean_of_ratios_is_geometric() -> None:
    assert common.geometric_mean([4, 0.25]) == pytest.approx(1)
    with pytest.raises(ValueError, match="no ratios"):
        common.geometric_mean([])


@pytest.mark.parametrize(("measured", "code"), [(5.0, 0), (4.9, 1)])
def test_a_missed_floor_gives_exit_code_1(
    measured: float, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verdicts = [common.Verdict("fit", measured, floor=5, goal=9), common.Verdict("for information", 0.1)]
    skips = [("rpart", "no Rscript")]
    assert common.close("x", verdicts, {"rows": []}, skips, out=tmp_path / "x.json") == code
    printed = capsys.readouterr().out
    assert f"{1 - code} of 1 floors hold" in printed
    assert "- rpart: no Rscript" in printed
    written = json.loads((tmp_path / "x.json").read_text())
    assert written["verdicts"][0]["holds"] is (code == 0)


def test_a_lower_figure_can_be_the_better_one() -> None:
    assert common.Verdict("memory", 3.9, better="lower", floor=4).holds
    assert not common.Verdict("memory", 4.1, better="lower", floor=4).holds


def test_a_kept_tree_is_confirmed_before_it_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(model.SIZES, "1k", (200, 8))
    rows = model.measure_size("1k")
    assert {"digest", "save", "load", "pickle of scikit-learn's, read"} <= {row.work for row in rows}
    assert all(row.nodes > 10 for row in rows)
    ours, theirs, table = model.grow_pair("1k")
    other = model.fresh(hornbeam.TreeClassifier(max_depth=1).fit(table, table[:, 0] > 0.5).tree_)
    with pytest.raises(WrongAnswerError, match="verify gave another tree"):
        model.confirm_kept(ours, theirs, table, {"digest": ours.tree_.digest, "verify": other})


def test_a_start_that_fails_is_not_measured() -> None:
    assert model.start("pass") > 0
    with pytest.raises(WrongAnswerError, match="ended with 3"):
        model.start("raise SystemExit(3)")


def test_generated_tables_are_the_same_every_time_and_carry_their_noise() -> None:
    first, second = tables.generate("rule", 20_000), tables.generate("rule", 20_000)
    assert np.array_equal(first.table, second.table)
    assert np.array_equal(first.codes, second.codes)
    wrong = np.mean(tables.follow_rule(first.table) != first.codes)
    assert wrong == pytest.approx(tables.NOISE, abs=0.01)
    assert set(first.texts[first.codes == 1]) == {"yes"}
