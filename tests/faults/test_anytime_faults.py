"""A search that is interrupted in the middle of native work: soon, with a whole tree, and fit to go on."""

from __future__ import annotations

import subprocess
import sys

import pytest

# The promise is 100 ms; the machine may be busy, so more is allowed here, and what was seen is printed.
SLOWEST = 2.0

SCRIPT = """
import os, signal, sys, threading, time
import numpy as np
from hornbeam import AnytimeTreeClassifier

objective, way, threads, kind = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
random = np.random.default_rng(0)
n = 20000
table = random.integers(0, 2, (n, 24)).astype(float) if kind == "bits" else random.normal(size=(n, 12))
classes = (table[:, :11] > 0.5).sum(axis=1) % 2
model = AnytimeTreeClassifier(objective=objective, max_time=600, random_state=0, n_jobs=threads)
asked = []

def strike():
    asked.append(time.perf_counter())
    if way == "signal":
        os.kill(os.getpid(), signal.SIGINT)
    else:
        model.stop()

def begin(state):
    if state.iteration == 0:
        threading.Timer(0.4, strike).start()

model.set_params(callback=begin)
model.fit(table, classes)
print(time.perf_counter() - asked[0])
print(model.status_)
rows = model.tree_.arrays["rows"][model.tree_.arrays["kind"] == 0].sum()
print(int(rows) == n)
model.set_params(callback=None)
*_, last = model.improve(seconds=0.3)
print(last.status in ("time", "proved"))
"""


@pytest.mark.timed
@pytest.mark.parametrize(("threads", "kind"), [(1, "bits"), (2, "numbers")])
@pytest.mark.parametrize("way", ["signal", "thread"])
@pytest.mark.parametrize("objective", ["size", "error"])
def test_a_search_is_left_soon_with_a_whole_tree(objective: str, way: str, threads: int, kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, objective, way, str(threads), kind],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    seconds, status, whole, goes_on = done.stdout.split()
    print(f"{objective}, {way}, {threads} threads, {kind}: left after {1000 * float(seconds):.0f} ms")
    assert (status, whole, goes_on) == ("stopped", "True", "True")
    assert float(seconds) < SLOWEST
