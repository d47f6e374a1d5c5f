"""Every command and every refusal says what it said before the house was rebuilt, with the same exit code."""

from __future__ import annotations

import pytest

from . import texts
from .sessions import SESSIONS


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_says_what_it_said(name: str) -> None:
    if name in texts.WORDED_BY_CLICK and texts.click_version() != texts.CLICK:
        pytest.skip(
            f"written down with click {texts.CLICK}, which words its part as {texts.click_version()} does not"
        )
    different = texts.differences(texts.read(name), texts.run(name))
    assert not different, (
        f"session {name!r} does not say what was written down in texts/{name}.txt (-: before, +: now):\n"
        f"{different}\nIf that is meant: python -m tests.golden texts {name}"
    )


def test_nothing_is_written_down_that_is_not_said() -> None:
    assert {place.stem for place in texts.PLACE.glob("*.txt")} == set(SESSIONS)


def test_a_change_is_told_with_its_command() -> None:
    before = "$ hornbeam a\nexit 0\n--- stdout\none\n\n$ hornbeam b\nexit 0\n"
    told = texts.differences(before, before.replace("one", "two"))
    assert told.splitlines()[0] == "$ hornbeam a (1)"
    assert {"-one", "+two"} <= set(told.splitlines())
    assert texts.differences(before, before) == ""
