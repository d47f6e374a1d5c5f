"""Ctrl-C and a memory limit in the middle of native work: one Python exception, soon, and never a crash."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

import pytest

from tests.children import Forks

# The promise is 100 ms; the machine may be busy, so more is allowed here, and what was seen is printed.
SLOWEST = 2.0
KINDS = ["gini", "26 classes", "entropy", "gain_ratio", "regression", "nominal", "encoding", "predicting"]
KINDS += ["validating"]


@pytest.fixture(scope="module")
def children() -> Iterator[Forks]:
    driver = Forks("from tests.faults.interrupted import work")
    yield driver
    driver.close()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_ctrl_c_leaves_native_work_soon(children: Forks, kind: str, threads: int) -> None:
    seconds, whole = children.run("interrupt", kind, threads, 200_000).splitlines()
    print(f"{kind}, {threads} threads: left after {1000 * float(seconds):.0f} ms")
    assert float(seconds) < SLOWEST
    assert whole == "True"


# From nothing to more than a growth takes: closely where the table's memory and the stacks of two threads
# (8 MB each) come up against the limit, then up to where each worker gets a heap (64 or 128 MB) of its own.
LIMITS = {
    1: [*range(0, 12_000_000, 500_000), 50_000_000],
    2: [*range(0, 32_000_000, 500_000), *range(32_000_000, 320_000_000, 32_000_000)],
}


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of the address space is Linux's")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", ["gini", "26 classes", "regression", "nominal"])
def test_a_memory_limit_is_a_MemoryError(children: Forks, kind: str, threads: int) -> None:
    """Every limit ends in a MemoryError or in the same tree, never in an abort (another exit code)."""
    ends = ast.literal_eval(children.run("limit", kind, threads, 33_000, LIMITS[threads]))
    assert set(ends) == {0, 1}, {code: limits for code, limits in ends.items() if code not in (0, 1)}
