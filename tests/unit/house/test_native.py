"""The core by itself: its own tests pass."""

from __future__ import annotations

import subprocess

import pytest

from tests.native import NoBuild, driver

pytestmark = pytest.mark.house


def test_the_core_passes_its_own_tests() -> None:
    try:
        program = driver()
    except NoBuild as reason:
        pytest.skip(str(reason))
    found = subprocess.run([program], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert found.stdout == "native tests passed\n"
