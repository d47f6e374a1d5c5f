"""Files of every estimator that can be saved, forged with a right checksum: taken, or refused in one bounded
line, in bounded memory; never an error of another kind.

HORNBEAM_FUZZ sets the number of mutants of each model (60 without it); HORNBEAM_FUZZ_SEED where they begin.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hornbeam
from hornbeam.estimators.store import RELATIONAL

ROOT = Path(__file__).parents[2]
MUTANTS, FIRST_SEED = os.environ.get("HORNBEAM_FUZZ", "60"), os.environ.get("HORNBEAM_FUZZ_SEED", "0")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("forged")
    command = [sys.executable, "-m", "tests.faults.forged_models", str(folder), MUTANTS, FIRST_SEED]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def test_forged_files_of_every_estimator_end_in_one_bounded_line_or_in_answers(
    report: dict[str, Any],
) -> None:
    faults = [f"{name}: {fault}" for name, found in report.items() for fault in found["fault"]]
    assert not faults, f"{len(faults)} faults:\n" + "\n".join(faults[:40])
    for name, found in report.items():
        assert len(found["refused"]) >= int(MUTANTS) // 10, name
        assert found["taken"], name


def test_every_estimator_that_can_be_saved_is_among_them(report: dict[str, Any]) -> None:
    public = {name for name in hornbeam.__all__ if hasattr(getattr(hornbeam, name), "fit")}
    assert {*RELATIONAL, "AnytimeTreeClassifier"} < public
    tried = {found["estimator"] for found in report.values()} | {"CrossValidatedC45"}  # saves what it chose
    assert tried == public
