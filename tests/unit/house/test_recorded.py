"""Recorded passes: what has passed is told as recorded, and runs again when one of its inputs changes."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import settings

from tests import recorded

Run = Callable[..., dict[str, int]]

LAW = """
import pytest
import rule

@pytest.mark.recorded
@pytest.mark.parametrize("number", [1, 2])
def test_the_rule_holds(number):
    assert rule.double(number) == 2 * number

def test_that_is_not_marked():
    pass
"""


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    """Runs a module of two recorded tests and a plain one, and counts the outcomes."""
    pytester.makepyfile(test_law=LAW, rule="def double(number):\n    return number + number\n")
    pytester.mkdir("tests")
    return lambda *args: pytester.runpytest_inprocess("-p", "tests.recorded", *args).parseoutcomes()


def test_what_has_not_passed_runs(run: Run) -> None:
    assert run() == {"passed": 3}


def test_what_has_passed_is_told_as_recorded(run: Run) -> None:
    assert run("--record") == {"passed": 2, "deselected": 1}
    assert run() == {"recorded": 2, "passed": 1}
    assert run("--run-recorded") == {"passed": 3}


def test_a_change_of_what_the_test_imports_runs_it(run: Run, pytester: pytest.Pytester) -> None:
    run("--record")
    pytester.makepyfile(rule="def double(number):\n    return number * number\n")
    assert run() == {"failed": 1, "passed": 2}


def test_a_change_of_the_test_itself_runs_it(run: Run, pytester: pytest.Pytester) -> None:
    run("--record")
    pytester.makepyfile(test_law=LAW.replace("[1, 2]", "[1, 2, 3]"))
    assert run() == {"passed": 4}


def test_another_python_runs_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("--record")
    monkeypatch.setattr(recorded, "PYTHON", "python 9.9")
    assert run() == {"passed": 3}


def test_versions_of_libraries_are_hashed(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    module = pytester.makepyfile(test_law="import numpy\n")
    before = recorded.fingerprint(pytester.path, module)
    monkeypatch.setattr(recorded, "version", lambda library: f"9 of {library}")
    assert recorded.fingerprint(pytester.path, module) != before


def test_other_numbers_of_examples_run_it(run: Run) -> None:
    run("--record")
    before = settings._current_profile
    try:
        settings.load_profile("light")
        assert run() == {"passed": 3}
    finally:
        settings.load_profile(before)


def test_fresh_examples_run_it(run: Run) -> None:
    run("--record")
    before = settings._current_profile
    settings.register_profile("fresh", settings.get_profile(before), derandomize=False)
    try:
        settings.load_profile("fresh")
        assert run() == {"passed": 3}
    finally:
        settings.load_profile(before)


def test_a_failure_is_not_recorded(run: Run, pytester: pytest.Pytester) -> None:
    run("--record")
    pytester.makepyfile(rule="def double(number):\n    return 2\n")
    assert run("--record")["failed"] == 1
    assert json.loads((pytester.path / "tests" / "recorded.json").read_text()) == {"test_law.py": {}}
    assert run() == {"failed": 1, "passed": 2}


@pytest.mark.parametrize("asked", [["-k", "rule"], ["-m", "recorded"], ["test_law.py::test_the_rule_holds"]])
@pytest.mark.usefixtures("run")
def test_parts_of_a_module_are_not_recorded(pytester: pytest.Pytester, asked: list[str]) -> None:
    result = pytester.runpytest_inprocess("-p", "tests.recorded", "--record", *asked)
    assert result.errlines[0] == "ERROR: --record takes whole files: leave out -k, -m and names of tests"


def test_a_test_of_the_library_cannot_be_recorded(pytester: pytest.Pytester) -> None:
    module = pytester.makepyfile(test_law="import hornbeam\n")
    with pytest.raises(pytest.UsageError, match="imports hornbeam; unmark its tests"):
        recorded.inputs(pytester.path, module)


def test_a_test_that_takes_a_fixture_cannot_be_recorded(run: Run, pytester: pytest.Pytester) -> None:
    marked = "import pytest\n\n@pytest.mark.recorded\ndef test_files(tmp_path):\n    pass\n"
    pytester.makepyfile(test_law=marked)
    result = pytester.runpytest_inprocess("-p", "tests.recorded")
    assert "is recorded and takes request; unmark it" in str(result.errlines)
