"""What children do whom Ctrl-C or a memory limit meets in the middle of native work.

`tests.faults.test_interrupt_and_memory` forks them from one process that has imported all of this.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from hornbeam import C45Classifier, _core
from hornbeam.growth import ClassTarget, NumericTarget, Parameters, grow_tree
from hornbeam.model_selection import cross_validate
from hornbeam.table import Table, from_data

BEFORE = 0.15  # seconds of work before Ctrl-C
Target = ClassTarget | NumericTarget


def problem(kind: str, n: int) -> tuple[pd.DataFrame, Target, Parameters]:
    """Rows and a target that six normal columns say little about."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    noise = frame["a"] * frame["b"] + rng.normal(size=n)
    if kind == "nominal":
        labels = [f"v{j}" for j in range(5000)]
        for i in range(3):
            frame[f"of {i}"] = pd.Categorical.from_codes(rng.integers(0, 5000, n), labels)
    if kind == "regression":
        target: Target = NumericTarget(noise.to_numpy()[:, None].copy(), ("y",))
        return frame, target, Parameters("variance")
    k = 26 if kind == "26 classes" else 2
    cuts = np.quantile(noise, np.linspace(0, 1, k + 1)[1:-1])
    target = ClassTarget(np.searchsorted(cuts, noise).astype(np.int32), np.arange(k))
    return frame, target, Parameters(kind if kind in ("entropy", "gain_ratio") else "gini")


def repeat(work: Callable[[], object]) -> NoReturn:
    while True:
        work()


def interrupt(kind: str, threads: int, n: int) -> None:
    """Prints the seconds from Ctrl-C to the exception, and whether the process still grows a right tree."""
    frame, target, parameters = problem(kind, n)
    table = from_data(frame)
    sent = []

    def strike() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    again = native_work(kind, threads, table, frame, target, parameters)
    threading.Timer(BEFORE, strike).start()
    try:
        repeat(again)
    except KeyboardInterrupt:
        print(time.perf_counter() - sent[0])
    # The table and the process are as good as before.
    part, few = from_data(frame.head(1000)), target.take(np.arange(1000))
    trees = [grow_tree(part, few, parameters, threads=t).digest for t in (threads, 1)]
    print(trees[0] == trees[1])


def native_work(
    kind: str, threads: int, table: Table, frame: pd.DataFrame, target: Target, parameters: Parameters
) -> Callable[[], object]:
    if kind == "encoding":
        return lambda: _core.encode(table.native(), table.n_rows, threads)
    if kind == "validating":
        classes = target.codes if isinstance(target, ClassTarget) else None
        return lambda: cross_validate(C45Classifier(n_jobs=threads), frame, classes, cv=10)
    if kind == "predicting":
        some = np.arange(20_000)
        small = grow_tree(table.take(some), target.take(some), replace(parameters, max_depth=6))
        return lambda: small.apply(table, threads)
    return lambda: grow_tree(table, target, parameters, threads=threads)


def limit(kind: str, threads: int, n: int, limits: list[int]) -> None:
    """Prints, for each exit code, the limits with which a child that grows a tree ends so: 0 with the same
    tree as without a limit, 1 with a MemoryError."""
    frame, target, parameters = problem(kind, n)
    table = from_data(frame)
    # Shallow: the memory is taken at the top, and where the C library cannot keep a heap for a worker each
    # small block costs a system call.
    parameters = Parameters(parameters.criterion, max_depth=4)

    def digest() -> str:
        return grow_tree(table, target, parameters, threads=threads).digest

    whole = told_by_a_child(digest)
    ends: dict[int, list[int]] = {}
    for extra in limits:
        ends.setdefault(exit_code_within(extra, digest, whole), []).append(extra)
    print(ends)


def told_by_a_child(ask: Callable[[], str]) -> str:
    """Asked in a child, so that this process has taken no memory for it."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.write(writing, ask().encode())
        os._exit(0)
    os.wait()
    return os.read(reading, 1000).decode()


def exit_code_within(extra: int, ask: Callable[[], str], expected: str) -> int:
    child = os.fork()
    if child == 0:
        code = 3
        try:
            use_up_what_was_freed()
            restrict(extra)
            code = 0 if ask() == expected else 2
        except MemoryError:
            code = 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def restrict(extra: int) -> None:
    """Allows this process so many bytes more than it has."""
    with open("/proc/self/status") as status:
        size = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmSize"))
    resource.setrlimit(resource.RLIMIT_AS, (size + extra, resource.RLIM_INFINITY))


_taken: list[Any] = []


def use_up_what_was_freed() -> None:
    """It is had again under any limit. It is not written to, which would take the system some time."""
    restrict(0)
    for block in (1 << 20, 1 << 17):
        with contextlib.suppress(MemoryError):
            while True:
                _taken.append(np.empty(block, dtype=np.uint8))


WORKS: dict[str, Callable[..., None]] = {"interrupt": interrupt, "limit": limit}


def work(name: str, *args: Any) -> None:
    WORKS[name](*args)
