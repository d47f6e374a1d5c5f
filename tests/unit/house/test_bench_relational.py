"""The benchmark of first-order trees: what it asks, what it confirms, what it judges."""

import pytest

from benchmarks import relational as bench
from benchmarks import relational_large, relational_works
from benchmarks.answers import WrongAnswerError
from tests import relational_sets

pytestmark = pytest.mark.house


def row_of(name: str, auto: float) -> bench.Row:
    seconds = {"serial": 9.0, "overlapping": 2.0, "folds": 1.0, "auto": auto, "auto, cache": 1.0}
    return bench.Row(name, 10, 3, 0, seconds | {"serial, cache": 2.0}, {"serial": 10, "auto": 1})


def test_every_floor_has_its_verdict() -> None:
    asked = bench.Asked("CB", 10, 2.0, 30.0, 100.0)
    large = {"child rows": 1e6, "seconds": 30.0, "peak": 1e9}
    verdicts = bench.judge([row_of("SB", 1.0), row_of("Muta", 9.0)], [asked], 0.85, large)
    holds = {verdict.claim: verdict.holds for verdict in verdicts}
    assert len(holds) == 8
    assert [claim for claim, held in holds.items() if not held] == [
        "serial / shared, Muta, 10 folds, cache off"
    ]


def test_without_prolog_its_floor_is_not_judged() -> None:
    verdicts = bench.judge([], [bench.Asked("CB", 10, 2.0, None, 10.0)], None, None)
    assert [(verdict.claim, verdict.holds) for verdict in verdicts] == [
        ("DuckDB query / hornbeam a test, CB", False)
    ]


def test_sets_are_grown_alike_before_the_clock() -> None:
    (work,) = relational_works.works(["SB"])
    row = bench.measure_sharing(work, repeats=1)
    assert (row.examples, row.nodes, row.bifurcations) == (1453, 3, 0)
    assert row.tests["serial"] == 10 * row.tests["auto"]  # nine tenths ten times, and all: sharing is whole


def test_the_tests_of_a_tree_are_answered_alike_by_sql() -> None:
    problem = relational_sets.six_pictures()
    asked = relational_works.questions(problem, 1)
    assert asked.n_tests >= 1
    assert bench.ask_sql("pictures", asked) > 0.0


def test_another_tree_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = relational_works.questions(relational_sets.six_pictures(), 1)
    wrong = relational_works.questions(relational_works.generated("simple"), 2).grow()
    monkeypatch.setattr(relational_works.Questions, "grow", lambda self: wrong)
    with pytest.raises(WrongAnswerError, match="not the oracle's"):
        bench.measure_tests("pictures", asked, repeats=1)


def test_a_large_database_tells_its_cost() -> None:
    found = relational_large.main(2000)
    assert found["child rows"] > 5 * found["pictures"]
    assert found["accuracy"] > 0.95
