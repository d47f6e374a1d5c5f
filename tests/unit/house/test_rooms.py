"""The rooms of the house: who may import whom, how long a file may get, what the installed package holds."""

import ast
import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hornbeam

pytestmark = pytest.mark.house

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "src" / "hornbeam"
LIMIT = 500


def sources(*folders: str) -> list[Path]:
    kinds = (".py", ".cpp", ".hpp")
    return [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in kinds]


def test_nothing_imports_upward() -> None:
    script = Path(sys.executable).parent / "lint-imports"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [script, "--no-cache"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_import_contracts_ignore_nothing() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert not [c["name"] for c in contracts if {"ignore_imports", "exhaustive_ignores"} & set(c)]


def test_no_source_file_is_longer_than_its_limit() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in sources("core", "src", "tests", "benchmarks", "experiments")
        if (lines := len(path.read_text().splitlines())) > LIMIT
    }
    assert long == {}


def test_every_module_opens_with_a_sentence() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in sources("src", "benchmarks", "experiments")
        if path.suffix == ".py" and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []


def test_the_library_needs_no_experiments() -> None:
    """They import the library; what it knows of them is the name of their package, for who asks for it."""
    seen = [
        str(path.relative_to(ROOT)) for path in sources("src") if "hornbeam_experiments" in path.read_text()
    ]
    assert seen == []


def test_the_rooms_of_the_core_include_only_what_is_below_them() -> None:
    listed = re.search(r"set\(HORNBEAM_ROOMS ([\w\s]+)\)", (ROOT / "CMakeLists.txt").read_text())
    assert listed is not None
    rooms = [*listed[1].split(), "bind", "tests"]
    assert {path.parent.name for path in sources("core")} == set(rooms)
    upward = [
        f"{path.relative_to(ROOT)} includes {room}/{header}"
        for path in sources("core")
        for room, header in re.findall(r'#include "(\w+)/(\w+\.hpp)"', path.read_text())
        if rooms.index(room) > rooms.index(path.parent.name)
    ]
    assert upward == []


def test_the_core_includes_no_python() -> None:
    seen = [
        str(path.relative_to(ROOT))
        for path in sources("core")
        if path.parent.name != "bind" and ("nanobind" in path.read_text() or "Python.h" in path.read_text())
    ]
    assert seen == []


def test_the_version_is_the_same_everywhere() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert hornbeam.__version__ == declared == importlib.metadata.version("hornbeam")
    assert f"## {declared}" in (ROOT / "CHANGELOG.md").read_text()
    experiments = tomllib.loads((ROOT / "experiments" / "pyproject.toml").read_text())["project"]
    assert experiments["version"] == declared
    assert f"hornbeam=={declared}" in experiments["dependencies"]


def test_the_installed_package_holds_every_module_of_the_sources() -> None:
    files = importlib.metadata.files("hornbeam")
    assert files is not None
    installed = {str(file) for file in files}
    wanted = {str(path.relative_to(PACKAGE.parent)) for path in PACKAGE.rglob("*.py")}
    assert wanted <= installed
    assert "hornbeam/py.typed" in installed
    assert any(name.startswith("hornbeam/_core.") and name.endswith((".so", ".pyd")) for name in installed)
    assert any(name.endswith("licenses/LICENSE") for name in installed)


def test_the_gate_and_the_readme_name_the_same_commands() -> None:
    readme = (ROOT / "README.md").read_text()
    assert "make demo" in readme
    assert "make test" in readme
    assert (ROOT / ".ci" / "run").read_text().splitlines()[-1] == "make test"
