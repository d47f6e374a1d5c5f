"""A process ends as it should while daemon threads are in native work: no thread takes Python's lock back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.children import Driver

CORE = Path(__file__).parents[2] / "core" / "bind"
ENTRIES = {
    "fits": ("fit, 1 thread", "fit, 2 threads", "report", "predictions", "bags"),
    "growth": (
        "collapse",
        "complexity_path",
        "cut_tree",
        "ends_of_alphas",
        "ends_of_cuts",
        "grow",
        "masses",
        "prune_by_complexity",
        "prune_by_errors",
        "prune_by_validation",
    ),
    "trees": (
        "CanonicalText.next",
        "RoutedTable.leaves",
        "Router.apply",
        "Router.path",
        "verify_tree",
    ),
    "tables": (
        "checksum",
        "deal_folds",
        "encode",
        "encode_ints",
        "encode_labels",
        "hash_rows",
        "recode",
    ),
    "lookahead": (
        "Lookahead.bound",
        "Lookahead.build",
        "Lookahead.prove",
        "Lookahead.size",
        "Lookahead.totals",
    ),
    "linked tables": ("grow_first_order", "route_first_order", "solve_query"),
    "sources": (
        "KeptRows.encode",
        "Settling.settle",
        "SourceScan.add",
        "SourceScan.merge",
    ),
    "maintained trees": (
        "Settling.graft_kept",
        "Settling.look",
        "SourceScan.add_kept",
        "SourceScan.send_kept",
    ),
}
ENDINGS = {
    "the end of the script": (0, ""),
    "sys.exit": (3, ""),
    "an error": (1, "RuntimeError: the main thread fails"),
    "SIGTERM": (0, ""),
    "a cancelled cell": (0, ""),
}


@pytest.fixture(scope="module")
def children() -> Iterator[Driver]:
    driver = Driver("import runpy; runpy.run_module('tests.faults.ending', run_name='__main__')\n")
    yield driver
    driver.close()


@pytest.mark.parametrize("entries", ENTRIES)
@pytest.mark.parametrize("how", ENDINGS)
def test_a_process_ends_while_daemon_threads_are_in_native_work(
    children: Driver, entries: str, how: str
) -> None:
    code, errors = children.ask([ENTRIES[entries], how])
    expected, last = ENDINGS[how]
    lines = [line for line in errors.splitlines() if not line.startswith(("Traceback", " "))]
    assert (code, lines) == (expected, [last] if last else [])


def test_the_lock_is_given_away_and_taken_back_in_one_place() -> None:
    """Whatever takes the lock elsewhere would abort a process that ends."""
    assert CORE.is_dir()
    taking = re.compile(r"gil_scoped|PyGILState|PyEval_|call_guard")
    found = {path.name for path in CORE.iterdir() if taking.search(path.read_text())}
    assert found == {"gil.cpp"}
