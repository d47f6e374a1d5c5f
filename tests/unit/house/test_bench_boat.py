"""The benchmark of trees over sources: its sets, what it confirms, what it judges."""

from pathlib import Path
from typing import Any

import duckdb
import pytest
from pyarrow import parquet

from benchmarks import boat as bench
from benchmarks import boat_child, boat_sets
from benchmarks.answers import WrongAnswerError
from hornbeam_experiments.boat import growths

pytestmark = pytest.mark.house


def told(cpu: float, **more: Any) -> dict[str, Any]:
    base = {"cpu": cpu, "wall": cpu, "scans": 2, "bytes": 100, "peak": 600.0, "begun": 200.0, "digest": "abc"}
    return {**base, "spilled_bytes": 0, **more}


def rows(name: str, boat: float, scans: int = 2) -> list[bench.Row]:
    made = {
        "two bare scans": told(0.5),
        "boat": told(boat, scans=scans),
        "memory": told(4.0),
        "rf_hybrid": told(8.0, bytes=400, spilled_bytes=100),
    }
    return [bench.Row(name, contestant, (answer,)) for contestant, answer in made.items()]


def test_sets_are_made_once_and_hold_the_same_rows(tmp_path: Path) -> None:
    plain = boat_sets.plain(tmp_path, 7, 0.05, 3000)
    star = boat_sets.star(tmp_path, plain)
    wide = boat_sets.wide(tmp_path, 7, 0.05, 3000)
    table = parquet.read_table(plain.place)
    with duckdb.connect(star.place, read_only=True) as database:
        joined = database.sql(star.options["sql"]).to_arrow_table()
    order = [(name, "ascending") for name in table.column_names]
    assert joined.sort_by(order).to_pylist() == table.sort_by(order).to_pylist()
    further = parquet.read_table(wide.place)
    assert further.num_columns == table.num_columns + boat_sets.FURTHER
    assert further.select(table.column_names).equals(table)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(times) == 3
    assert boat_sets.plain(tmp_path, 7, 0.05, 3000) == plain
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == times


def test_floors_are_those_of_the_set() -> None:
    good = {verdict.claim: verdict for verdict in bench.judge([rows("F7, 5 % noise", 4.5)], [], [], True)}
    assert all(verdict.holds for verdict in good.values())
    assert good["F7, 5 % noise: boat / two bare scans"].measured == 9
    assert good["F7, 5 % noise: boat / rf_hybrid, bytes"].measured == 0.2
    assert good["F7, 5 % noise: boat, memory above the start / the limit"].measured == pytest.approx(0.4)
    settled = {verdict.claim: verdict for verdict in bench.judge([rows("F1, 0 % noise", 2.5)], [], [], True)}
    assert not settled["F1, 0 % noise: boat / two bare scans"].holds  # 5, and 4 is the floor there
    slow = bench.judge([rows("F6, 0 % noise", 7.0, scans=4)], [], [], True)
    assert [verdict.holds for verdict in slow] == [False, False, False, True, False, True]


def test_expensive_scans_must_pay_and_quick_runs_have_no_floors() -> None:
    boat, hybrid = bench.Row("star", "boat", (told(5.0),)), bench.Row("star", "rf_hybrid", (told(9.0),))
    assert not bench.judge([], [], [[boat, hybrid]], True)[0].holds
    assert all(verdict.floor is None for verdict in bench.judge([rows("F1", 9)], [], [[boat, hybrid]], False))


def test_another_tree_ends_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    place = boat_sets.Set(7, 0.05, 100, "rows.parquet")
    monkeypatch.setattr(growths, "ask", lambda question, module: told(1.0))
    found = bench.measure(place, {"boat": bench.BOAT}, 2, "abc")
    assert [len(row.told) for row in found] == [2]
    with pytest.raises(WrongAnswerError, match="F7, 5 % noise: boat grew another tree"):
        bench.measure(place, {"boat": bench.BOAT}, 1, "abd")
    monkeypatch.setattr(growths, "ask", lambda question, module: {"refused": "too large"})
    with pytest.raises(WrongAnswerError, match="boat refuses: too large"):
        bench.measure(place, {"boat": bench.BOAT}, 1, None)


def test_families_of_rainforest_are_those_of_the_issue(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(growths, "ask", lambda question, module: asked.append(question) or {})
    for rows_of_set in (10_000_000, 1_000_000, 100_000_000):
        bench.ask(boat_sets.Set(1, 0, rows_of_set, "rows.parquet"), bench.HYBRID)
    assert [question["family_rows"] for question in asked] == [1_500_000, 150_000, 1_500_000]
    bench.ask(boat_sets.Set(1, 0, 10_000_000, "rows.parquet"), bench.BOAT)
    assert "family_rows" not in asked[-1]


def test_fit_and_scikit_learn_answer(tmp_path: Path) -> None:
    place = boat_sets.plain(tmp_path, 1, 0.0, 5000)
    question = {"source": place.place, "parameters": bench.DEEP}
    assert boat_child.fit(question)["nodes"] == 5
    found = boat_child.scikit_learn(question)
    assert (found["nodes"], found["accuracy"]) == (5, 1.0)
