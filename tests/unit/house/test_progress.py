"""A first build says what it does and how far it is, without a terminal."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.house

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "build_progress.py"
COMPILED = "  [37/120] Building CXX object CMakeFiles/hornbeam_core.dir/core/growth/grow.cpp.o\n"


def loaded():
    spec = importlib.util.spec_from_file_location("build_progress", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


build_progress = loaded()


def said(*happened: tuple[float, str | None]) -> list[str]:
    words: list[str] = []
    progress = build_progress.Progress("the package", words.append)
    for now, line in happened:
        if line is None:
            progress.wait(now)
        else:
            progress.hear(line, now)
    return words[1:]


def run(program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, SCRIPT, "the package", sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True)


def test_what_is_compiled_and_fetched_is_counted_and_named() -> None:
    assert said((1.0, COMPILED)) == ["the package: compiling 37 of 120"]
    assert said((1.0, "Collecting scikit-build-core<2,>=1.0\n")) == [
        "the package: fetching scikit-build-core"
    ]
    assert said((1.0, "  Running command Building wheel\n")) == []


def test_steps_that_follow_at_once_are_one_line_and_the_last_of_them_is_told() -> None:
    many = [(1.0 + i / 100, f"[{i}/120] Building CXX object a.o\n") for i in range(1, 51)]
    assert said(*many, (5.0, None)) == ["the package: compiling 1 of 120", "the package: compiling 50 of 120"]


def test_no_minute_is_silent() -> None:
    seconds = [(float(now), None) for now in range(2, 182)]
    spoken = said((1.0, COMPILED), *seconds)
    assert spoken[1:] == [
        f"the package: compiling 37 of 120, {now} s so far" for now in (31, 61, 91, 121, 151, 181)
    ]


def test_a_command_that_succeeds_shows_steps_and_not_its_own_words() -> None:
    ended = run(f"print('noise'); print({COMPILED!r}, end='')")
    assert ended.returncode == 0
    assert "noise" not in ended.stdout
    assert ended.stdout.splitlines()[0] == "the package: started"
    assert re.fullmatch(r"the package: done, \d+ s", ended.stdout.splitlines()[-1])


def test_a_command_that_fails_shows_its_last_words_and_gives_its_exit_code() -> None:
    ended = run("import sys; print('the reason', file=sys.stderr); sys.exit(3)")
    assert ended.returncode == 3
    assert "the reason" in ended.stdout
    assert re.fullmatch(r"the package: failed with exit code 3, \d+ s", ended.stdout.splitlines()[-1])


def test_the_makefile_installs_nothing_in_silence() -> None:
    recipes = [line for line in (ROOT / "Makefile").read_text().splitlines() if "pip" in line.lower()]
    assert [line for line in recipes if "--quiet" in line] == []
