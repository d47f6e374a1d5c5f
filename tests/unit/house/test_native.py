"""The core by itself: its own tests pass, and code for the newest machines stays where it is asked for."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.native import NoBuild, build_folder, driver, vector_objects

pytestmark = pytest.mark.house

WEAK = re.compile(r"^\S+ [WVu] (?P<name>.*)$", re.MULTILINE)
OWN = re.compile(r"\b(avx2|avx512)::|\(anonymous namespace\)|^DW\.ref\.")


def test_the_core_passes_its_own_tests() -> None:
    try:
        program = driver()
    except NoBuild as reason:
        pytest.skip(str(reason))
    found = subprocess.run([program], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert found.stdout == "native tests passed\n"


def test_no_function_of_all_machines_is_compiled_for_some_of_them() -> None:
    """The linker keeps one copy of an inline function: it might be one that other machines cannot run."""
    try:
        objects = vector_objects(build_folder())
    except NoBuild as reason:
        pytest.skip(str(reason))
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("nm is not installed, which lists the functions of an object")
    if not objects:
        pytest.skip("no object of this build is for some machines only")
    assert {name for path in objects for name in shared(nm, path)} == set()


def shared(nm: str, path: Path) -> list[str]:
    """What an object has that others may have too, by no name of its instruction set."""
    listed = subprocess.run([nm, "-C", "--defined-only", path], capture_output=True, text=True, check=True)
    return [f"{path.name}: {name}" for name in WEAK.findall(listed.stdout) if not OWN.search(name)]
