"""A pytest plugin: which tests share a process under `-n`, and in which order they run.

Tests of a module share what its fixtures make, so they run in one process. So do all tests of a folder with a
`conftest.py` of its own: the tests of one start a cluster, those of another one run an experiment. What takes
longest begins first, so that no process is left with it at the end.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

# These take most of the time. Folders of one process come before them.
LONG = ("tests/laws/", "tests/faults/")


@cache
def scope_of(module: str, root: Path) -> str:
    """The module, or the folder whose tests run in one process."""
    for folder in Path(module).parents:
        if folder != Path() and (root / folder / "conftest.py").is_file():
            return folder.as_posix()
    return module


def order(scope: str) -> int:
    if not scope.endswith(".py"):
        return 0
    return 1 if scope.startswith(LONG) else 2


def module_of(nodeid: str) -> str:
    return nodeid.split("::", 1)[0]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: order(scope_of(module_of(item.nodeid), config.rootpath)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope_of(module_of(nodeid), config.rootpath)

    config.option.loadscopereorder = False
    return Scheduling(config, log)
