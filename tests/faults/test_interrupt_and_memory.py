"""Ctrl-C and a memory limit in the middle of native work: one Python exception, soon, and never a crash."""

from __future__ import annotations

import subprocess
import sys

import pytest

# The promise is 100 ms; the machine may be busy, so more is allowed here, and what was seen is printed.
SLOWEST = 2.0

PREPARE = """
import os, resource, signal, sys, threading, time
import numpy as np, pandas as pd
from hornbeam.growth import ClassTarget, NumericTarget, Parameters, grow_tree
from hornbeam.table import from_data
from hornbeam import _core

kind, threads, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(0)
frame = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
noise = frame["a"] * frame["b"] + rng.normal(size=n)
criterion, nominal, k = "gini", "subset", 2
if kind == "26 classes":
    k = 26
elif kind in ("entropy", "gain_ratio"):
    criterion = kind
elif kind == "nominal":
    for i in range(3):
        frame[f"of {i}"] = pd.Categorical.from_codes(rng.integers(0, 5000, n), [f"v{j}" for j in range(5000)])
if kind == "regression":
    criterion = "variance"
    target = NumericTarget(noise.to_numpy()[:, None].copy(), ("y",))
else:
    cuts = np.quantile(noise, np.linspace(0, 1, k + 1)[1:-1])
    target = ClassTarget(np.searchsorted(cuts, noise).astype(np.int32), np.arange(k))
table = from_data(frame)
parameters = Parameters(criterion, nominal)
"""

INTERRUPTED = (
    PREPARE
    + """
sent = []

def strike():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

def encode():
    while True:
        _core.encode(table.native(), n, threads)

def grow():
    while True:
        grow_tree(table, target, parameters, threads=threads)

def apply():
    small = grow_tree(table, target, Parameters(criterion, nominal, max_depth=6), threads=threads)
    threading.Timer(0.15, strike).start()
    while True:
        small.apply(table, threads)

work = {"encoding": encode, "predicting": apply}.get(kind, grow)
if work is not apply:
    threading.Timer(0.15, strike).start()
try:
    work()
except KeyboardInterrupt:
    print(time.perf_counter() - sent[0])
# The table and the process are as good as before.
part = from_data(frame.head(1000))
y = target.values[:1000].copy() if criterion == "variance" else target.codes[:1000]
y = NumericTarget(y, ("y",)) if criterion == "variance" else ClassTarget(y, target.labels)
print(grow_tree(part, y, parameters, threads=threads).digest == grow_tree(part, y, parameters).digest)
"""
)

KINDS = ["gini", "26 classes", "entropy", "gain_ratio", "regression", "nominal", "encoding", "predicting"]


def run(script: str, *arguments: object) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_ctrl_c_leaves_native_work_soon(kind: str, threads: int) -> None:
    seconds, whole = run(INTERRUPTED, kind, threads, 200_000)
    print(f"{kind}, {threads} threads: left after {1000 * float(seconds):.0f} ms")
    assert float(seconds) < SLOWEST
    assert whole == "True"


LIMITED = (
    PREPARE
    + """
def size():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmSize"))

grown = refused = 0
# In steps from nothing to more than a growth takes; a thread alone asks for 8 MB of address space.
for extra in range(0, 50_000_000, 2_000_000):
    resource.setrlimit(resource.RLIMIT_AS, (size() + extra, resource.RLIM_INFINITY))
    try:
        grow_tree(table, target, parameters, threads=threads)
        grown += 1
    except MemoryError:
        refused += 1
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(grown, refused)
"""
)


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of the address space is Linux's")
@pytest.mark.parametrize(
    "threads",
    [
        1,
        pytest.param(
            2,
            marks=pytest.mark.xfail(
                reason="the C library ends the process where a new thread's own storage cannot be had",
                strict=False,
            ),
        ),
    ],
)
@pytest.mark.parametrize("kind", ["gini", "26 classes", "regression", "nominal"])
def test_a_memory_limit_is_a_MemoryError(kind: str, threads: int) -> None:
    grown, refused = map(int, run(LIMITED, kind, threads, 40_000)[0].split())
    assert refused > 0
    assert grown > 0
