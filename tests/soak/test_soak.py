"""A few cases of each adversary, always the same; and an adversary's finding is made smaller."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from tests.soak.adversaries import ADVERSARIES
from tests.soak.routes import ROUTES
from tests.soak.runner import Adversary, Differs, Finding, case_of, failure, hunt
from tests.soak.tables import Case

NAMES = ("lone", "file", "pickle", "JSON", "DuckDB", "SQLite", "sets, auto", "bags, auto", "maintained")


def test_all_routes_lead_to_one_tree() -> None:
    ways, finding = hunt(ROUTES, 1, iter(range(25)))
    assert finding is None, finding
    assert ways["cases"] == 25
    assert all(ways[name] > 0 for name in NAMES)
    assert sum(many for name, many in ways.items() if name.startswith("source, ")) > 5


def at_odds(case: Case, _: random.Random, ways: Counter[str]) -> None:
    """Fails where there are five rows and a column of texts."""
    ways["looked"] += 1
    if case.n_rows >= 5 and "string" in {str(field.type) for field in case.table.schema}:
        raise Differs("five rows and texts")


def test_a_finding_is_made_smaller_and_can_be_repeated(tmp_path: Path) -> None:
    adversary = Adversary("at odds", at_odds)
    ways, finding = hunt(adversary, 2, iter(range(100)))
    assert finding is not None
    assert ways["looked"] == finding.number + 1
    path = finding.write(tmp_path / "found")
    again = Finding.read(path)
    assert again == finding
    case = case_of(again.seed, again.number, again.steps)
    assert (case.n_rows, case.table.num_columns, case.weights) == (5, 1, None)
    assert set(case.parameters) == {"criterion"}
    assert failure(adversary, case, 2, again.number, Counter()).startswith("Differs: five rows and texts")


@pytest.mark.parametrize("name", ADVERSARIES)
def test_cases_are_the_same_for_a_seed(name: str) -> None:
    one, two = case_of(7, 3), case_of(7, 3)
    assert str(one) == str(two)
    assert one.table.equals(two.table)
    assert ADVERSARIES[name].name == name
