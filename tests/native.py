"""The core's own driver, from the library that this Python's module was linked with."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

BUILDS = Path(__file__).resolve().parents[1] / "build"
FOUND = BUILDS / "soak"  # where the smallest case that goes wrong is written down
DRIVER = "hornbeam_native_tests"


class NoBuild(Exception):  # noqa: N818 - said of the checkout
    """The module was not built here, or cannot be built any more."""


def build_folder() -> Path:
    """Where the module of this Python was built."""
    for cache in sorted(BUILDS.glob("*/CMakeCache.txt")):
        found = re.search(r"^Python_EXECUTABLE:\w+=(.+)$", cache.read_text(), re.MULTILINE)
        if found is not None and Path(found[1]).parent == Path(sys.executable).parent:
            return cache.parent
    raise NoBuild(f"{BUILDS} has no build for {sys.executable}: run `make test`")


def driver() -> Path:
    """The driver, built if it is not there or older than what it is made of."""
    folder = build_folder()
    cache = (folder / "CMakeCache.txt").read_text()
    cmake = re.search(r"^CMAKE_COMMAND:INTERNAL=(.+)$", cache, re.MULTILINE)
    if cmake is None or shutil.which(cmake[1]) is None:
        raise NoBuild(f"the CMake that filled {folder} is gone: run `make test`")
    command = [cmake[1], "--build", str(folder), "--target", DRIVER]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{built.stdout}{built.stderr}")
    return folder / DRIVER


def vector_objects(folder: Path) -> list[Path]:
    """The objects that are compiled for machines with more instructions than others have."""
    rules = (folder / "build.ninja").read_text()
    found = re.findall(
        r"^build (CMakeFiles/hornbeam_core\S+\.o):.*\n(?:  .*\n)*?  FLAGS = .*-mavx", rules, re.MULTILINE
    )
    return [folder / name for name in found]


def soak(seconds: float, seed: int) -> int:
    """Grows random forests for so long, and compares them; the driver's exit code."""
    return subprocess.run([driver(), "--soak", str(seconds), str(seed), FOUND]).returncode
