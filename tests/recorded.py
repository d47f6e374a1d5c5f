"""A pytest plugin: tests that are marked `recorded` run when their inputs have changed since they passed.

Such a test involves the oracle, strategies and Python alone, so it says the same as long as these stay the
same. `recorded.json` has, for each module of such tests and each version of Python, a hash of the inputs with
which all of them passed: the module, every module of this repository that it imports, the versions of the
libraries that these import, and how many examples Hypothesis draws. Where the hash is the same, the test is
told as `recorded` in place of `passed`. `make test-all` (`--run-recorded`) runs all of them,
`make record` (`--record`) runs them alone and writes their hashes down.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

UNCHANGED = "recorded: its inputs are those with which it passed"
# Examples depend on the whole version of Hypothesis, what the others compute on two numbers of it.
EXACT = {"hypothesis"}
OURS = {"hornbeam", "hornbeam_experiments"}
PYTHON = f"python {sys.version_info.major}.{sys.version_info.minor}"


def imported(source: Path) -> Iterator[str]:
    """The names that a module imports: `from a.b import c` may mean the module `a.b.c`."""
    for statement in ast.walk(ast.parse(source.read_bytes())):
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            if statement.level or not statement.module:
                raise pytest.UsageError(f"{source} is recorded and imports relatively; say the whole name")
            yield statement.module
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names)


def own_files(root: Path, name: str) -> list[Path]:
    """The modules of this repository that an import of the name runs: packages first."""
    parts = name.split(".")
    places = [root.joinpath(*parts[: i + 1]) for i in range(len(parts))]
    files = [path for place in places for path in (place / "__init__.py", place.with_suffix(".py"))]
    return [path for path in files if path.is_file()]


def inputs(root: Path, module: Path, *, of_library: bool = False) -> tuple[list[Path], list[str]]:
    """The sources that a module of tests depends on, and the libraries. Tests of the library itself, which
    `tests.recorded_answers` records, depend on it as well: it is left out."""
    sources, libraries, waiting = set(), set(), [module]
    while waiting:
        source = waiting.pop()
        if source in sources:
            continue
        sources.add(source)
        for name in imported(source):
            found, first = own_files(root, name), name.split(".")[0]
            if found:
                waiting += found
            elif first in OURS and of_library:
                continue
            elif first in OURS:
                raise pytest.UsageError(
                    f"{module} is recorded and {source} imports hornbeam; unmark its tests"
                )
            elif first not in sys.stdlib_module_names:
                libraries.add(first)
    return sorted(sources), sorted(libraries - {"pytest"})


def version(library: str) -> str:
    full: str = importlib.import_module(library).__version__
    return full if library in EXACT else ".".join(full.split(".")[:2])


def fingerprint(root: Path, module: Path, *, of_library: bool = False) -> str:
    """The hash of all inputs of a module of tests, under the profile of Hypothesis that is loaded."""
    sources, libraries = inputs(root, module, of_library=of_library)
    found = hashlib.sha256(f"{PYTHON}, {settings.default.max_examples} examples\n".encode())  # type: ignore[union-attr]
    for library in libraries:
        found.update(f"{library} {version(library)}\n".encode())
    for source in sources:
        content = source.read_bytes()
        found.update(f"{source.relative_to(root).as_posix()} {len(content)}\n".encode() + content)
    return found.hexdigest()


class Record:
    """`recorded.json`: module of tests -> version of Python -> hash of the inputs with which all passed."""

    def __init__(self, root: Path) -> None:
        self.root, self.path = root, root / "tests" / "recorded.json"
        self._passed = json.loads(self.path.read_text()) if self.path.is_file() else {}
        self._now: dict[str, str] = {}

    def now(self, module: str) -> str:
        if module not in self._now:
            self._now[module] = fingerprint(self.root, self.root / module)
        return self._now[module]

    def holds(self, module: str) -> bool:
        """Whether the module has passed with the inputs that it has now."""
        return bool(self._passed.get(module, {}).get(PYTHON) == self.now(module))

    def write(self, passed: dict[str, bool]) -> None:
        for module, has_passed in passed.items():
            known = self._passed.setdefault(module, {})
            known.pop(PYTHON, None)
            if has_passed:
                known[PYTHON] = self.now(module)
        kept = {module: known for module, known in self._passed.items() if (self.root / module).is_file()}
        self.path.write_text(json.dumps(kept, indent=2, sort_keys=True) + "\n")


RECORD = pytest.StashKey[Record]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-recorded", action="store_true", help="run tests that are recorded as passed, too")
    parser.addoption(
        "--record",
        action="store_true",
        help="run tests marked `recorded` or `agreed` alone; write the record",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "recorded: runs when its inputs have changed since it passed")
    config.stash[RECORD] = Record(config.rootpath)
    if config.option.record:
        if config.option.keyword or config.option.markexpr or any("::" in arg for arg in config.args):
            raise pytest.UsageError("--record takes whole files: leave out -k, -m and names of tests")
        config.pluginmanager.register(Recorder(config))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    marked = [
        item for item in items if item.get_closest_marker("recorded") or item.get_closest_marker("agreed")
    ]
    for item in marked:
        # A law may take real tables, for what it is given is hashed.
        allowed = {"real_set"} if item.get_closest_marker("agreed") else set()
        if fixtures := fixtures_of(item) - allowed:
            raise pytest.UsageError(f"{item.nodeid} is recorded and takes {min(fixtures)}; unmark it")
    if config.option.record:
        config.hook.pytest_deselected(items=[item for item in items if item not in marked])
        items[:] = marked


def fixtures_of(item: pytest.Item) -> set[str]:
    """What a test takes beside its parameters."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return set(getattr(item, "fixturenames", ())) - set(parameters)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    config = item.config
    if config.option.record or config.option.run_recorded or not item.get_closest_marker("recorded"):
        return
    module = item.path.relative_to(config.rootpath).as_posix()
    if settings.default.derandomize and config.stash[RECORD].holds(module):  # type: ignore[union-attr]
        pytest.skip(UNCHANGED)


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    reason = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else ""
    return ("recorded", "r", "RECORDED") if reason.endswith(UNCHANGED) else None


class Recorder:
    """Notes which modules pass, and writes them down at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.passed: dict[str, bool] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        module = report.nodeid.split("::")[0]
        if "recorded" in report.keywords:
            self.passed[module] = self.passed.get(module, True) and report.passed

    def pytest_sessionfinish(self) -> None:
        if not hasattr(self.config, "workerinput"):
            self.config.stash[RECORD].write(self.passed)
