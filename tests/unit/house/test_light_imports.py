"""Importing the package and asking the command for help must stay light."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.house

HEAVY = ("sklearn", "scipy", "pandas", "matplotlib", "duckdb", "pyarrow", "polars")
HELP = """
from hornbeam.cli import main
try:
    main(["--help"])
except SystemExit as end:
    assert not end.code
"""


def loaded_by(code: str) -> list[str]:
    """Which of the heavy packages a fresh interpreter has loaded after running `code`."""
    report = f"{code}\nimport json, sys\nprint(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_by("import hornbeam") == []


def test_help_of_the_command_loads_nothing_heavy() -> None:
    assert loaded_by(HELP) == []
