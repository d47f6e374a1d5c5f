"""A pytest plugin: laws that are marked `agreed` ask the oracle where it is not recorded what they find.

The examples of a law are the same in every run, and the oracle takes most of their time. So `agreed.json`
has a hash for each law: of all that was given and found (`tests.agreement`) when the oracle agreed with it.
It has a hash of the inputs of each module of laws: of the oracle, the strategies and whatever else of this
repository the module imports (`tests.recorded`). Where the inputs are the same, a law runs without the
oracle and hashes what is given and found. Where that hash is another one, the law runs again and asks the
oracle, which decides. `make test-all` (`--run-recorded`) always asks it. `make record` (`--record`) asks it
and writes its answers down.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.agreement import transcript
from tests.recorded import PYTHON, fingerprint

HASH, ASKED = "agreed", "asked"  # properties of a report


class Agreements:
    """`agreed.json`: version of Python -> module of laws -> hash of its inputs, and a hash of each law."""

    def __init__(self, root: Path) -> None:
        self.root, self.path = root, root / "tests" / "agreed.json"
        self._known = json.loads(self.path.read_text()) if self.path.is_file() else {}
        self._now: dict[str, str] = {}

    def now(self, module: str) -> str:
        if module not in self._now:
            self._now[module] = fingerprint(self.root, self.root / module, of_library=True)
        return self._now[module]

    def of(self, law: str) -> str | None:
        """The hash of a law, if the inputs of its module are those with which it was written down."""
        module, _, name = law.partition("::")
        known = self._known.get(PYTHON, {}).get(module, {})
        if known.get("inputs") != self.now(module):
            return None
        found: str | None = known["laws"].get(name)
        return found

    def write(self, hashes: dict[str, dict[str, str]]) -> None:
        """Writes down the laws of these modules; a module with a law that failed comes with none."""
        known = self._known.setdefault(PYTHON, {})
        for module, laws in hashes.items():
            known.pop(module, None)
            if laws:
                known[module] = {"inputs": self.now(module), "laws": laws}
        for modules in self._known.values():
            for module in [name for name in modules if not (self.root / name).is_file()]:
                del modules[module]
        self.path.write_text(json.dumps(self._known, indent=1, sort_keys=True) + "\n")


AGREEMENTS = pytest.StashKey[Agreements]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "agreed: the answers of the oracle are recorded")
    config.stash[AGREEMENTS] = Agreements(config.rootpath)
    if config.option.record and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(config.stash[AGREEMENTS]))


def known_hash(item: pytest.Item) -> str | None:
    option = item.config.option
    is_repeatable: bool = settings.default.derandomize  # type: ignore[union-attr]
    if option.record or option.run_recorded or not is_repeatable:
        return None
    return item.config.stash[AGREEMENTS].of(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    if pyfuncitem.get_closest_marker("agreed") is None:
        return (yield)
    known = known_hash(pyfuncitem)
    with transcript(asks=known is None) as run:
        result = yield
    if known is not None and run.digest() != known:
        with transcript(asks=True) as run:
            names = pyfuncitem._fixtureinfo.argnames
            pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
    if not run.comparisons:
        pytest.fail("the law is marked `agreed` and compares nothing by `agree`")
    pyfuncitem.user_properties += [(HASH, run.digest()), (ASKED, run.asks)]
    return result


class Recorder:
    """Gathers the hashes of laws, and writes them down at the end."""

    def __init__(self, agreements: Agreements) -> None:
        self._agreements = agreements
        self._hashes: dict[str, dict[str, str]] = {}
        self._failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        module, _, name = report.nodeid.partition("::")
        if report.failed:
            self._failed.add(module)
        if report.when == "call" and HASH in dict(report.user_properties):
            self._hashes.setdefault(module, {})[name] = str(dict(report.user_properties)[HASH])

    def pytest_sessionfinish(self) -> None:
        failed = {module: dict[str, str]() for module in self._failed}
        self._agreements.write({**self._hashes, **failed})


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Says how many laws had to ask the oracle, which takes longer."""
    if config.option.record or config.option.run_recorded:
        return
    reports = [report for group in terminalreporter.stats.values() for report in group]
    calls = [report for report in reports if getattr(report, "when", "") == "call"]
    asked = [report for report in calls if dict(report.user_properties).get(ASKED)]
    if asked:
        terminalreporter.write_line(
            f"{len(asked)} laws asked the oracle: they are not in tests/agreed.json as they are now. "
            "`make record` writes them down."
        )
