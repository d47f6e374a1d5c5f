"""Recorded answers: laws with the recorded inputs do without the oracle, and find the same faults."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests import recorded, recorded_answers

Run = Callable[..., Any]

LAW = """
import pathlib
import pytest
import rule
from tests.agreement import agree

def package(number):
    return int(pathlib.Path("factor").read_text()) * number

@pytest.mark.agreed
@pytest.mark.parametrize("last", [3, 5])
def test_the_rule_holds(last):
    for number in range(last):
        agree(number, package(number), lambda: rule.double(number))
"""
RULE = """
import pathlib

def double(number):
    asked = pathlib.Path("asked")
    asked.write_text(asked.read_text() + str(number))
    return number + number
"""


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    """Runs a module of two laws, and gives the outcome and what the oracle was asked."""
    pytester.makepyfile(test_law=LAW, rule=RULE)
    (pytester.mkdir("tests") / "agreement.py").write_text("# what the law imports\n")
    (pytester.path / "factor").write_text("2")

    def once(*args: str) -> tuple[dict[str, int], str]:
        (pytester.path / "asked").write_text("")
        plugins = ("-p", "tests.recorded", "-p", "tests.recorded_answers")
        result = pytester.runpytest_inprocess(*plugins, *args)
        return result.parseoutcomes(), (pytester.path / "asked").read_text()

    return once


def test_the_oracle_is_asked_until_its_answers_are_recorded(run: Run) -> None:
    assert run() == ({"passed": 2}, "01201234")
    assert run("--record") == ({"passed": 2}, "01201234")
    assert run() == ({"passed": 2}, "")
    assert run("--run-recorded") == ({"passed": 2}, "01201234")


def test_a_package_that_answers_otherwise_meets_the_oracle(run: Run, pytester: pytest.Pytester) -> None:
    run("--record")
    (pytester.path / "factor").write_text("3")
    assert run() == ({"failed": 2}, "0101")


def test_other_examples_of_a_right_package_pass_once_the_oracle_agrees(
    run: Run, pytester: pytest.Pytester
) -> None:
    run("--record")
    path = pytester.path / "tests" / "agreed.json"
    known = json.loads(path.read_text())
    laws = known[recorded.PYTHON]["test_law.py"]["laws"]
    laws["test_the_rule_holds[3]"] = "of other examples"
    path.write_text(json.dumps(known))
    assert run() == ({"passed": 2}, "012")


def test_an_oracle_that_changed_is_asked(run: Run, pytester: pytest.Pytester) -> None:
    run("--record")
    pytester.makepyfile(rule=RULE.replace("number + number", "2 * number"))
    assert run() == ({"passed": 2}, "01201234")


def test_another_python_asks(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("--record")
    monkeypatch.setattr(recorded_answers, "PYTHON", "python 9.9")
    assert run() == ({"passed": 2}, "01201234")


def test_a_law_that_fails_is_not_recorded(run: Run, pytester: pytest.Pytester) -> None:
    run("--record")
    (pytester.path / "factor").write_text("3")
    assert run("--record")[0] == {"failed": 2}
    assert json.loads((pytester.path / "tests" / "agreed.json").read_text()) == {recorded.PYTHON: {}}


def test_a_law_that_compares_nothing_fails(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_law="import pytest\n\n@pytest.mark.agreed\ndef test_nothing():\n    pass\n")
    assert run()[0] == {"failed": 1}
