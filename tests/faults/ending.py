"""A process that ends while daemon threads are in native work: what they do, and how it ends."""

from __future__ import annotations

import functools
import gc
import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from hornbeam import _core
from tests.golden.values import Case

Work = Callable[[], object]

# Each golden case is worked through once, for the first call of every native entry in it.
CASES = (
    "fit, c45, value, gaps, weights",
    "fit, gini, error_based, weights",
    "fit, variance, reduced_error",
    "folds, cost_complexity",
    "fit, types, gini",
    "search, costs",
    "search, path, nested",
    "search, variance",
    "bags, reduced_error",
    "linked, shop, folds",
    "look ahead, r=2, value",
    "anytime, size, parity, proved",
    "scan, folds, rf_hybrid",
    "maintained, gini",
)
SECONDS = 30.0  # after which a process that has not ended is held to hang

_calls: dict[str, Work] = {}
_entered: set[str] = set()
_cases: dict[str, Case] = {}


class Slow:
    """Something that the interpreter frees while it ends, and that lets other threads run meanwhile."""

    def __del__(self, sleep: Callable[[float], None] = time.sleep) -> None:
        sleep(0.02)


slow = Slow()


def prepare() -> None:
    """Keeps the first call of each native entry in the cases."""
    for name, entry in vars(_core).copy().items():
        if not isinstance(entry, type):
            _watch(_core, name, name)
            continue
        for method in vars(entry).copy():
            if not method.startswith("_") and callable(getattr(entry, method)):
                _watch(entry, method, f"{name}.{method}")
    from tests.golden import fits, linked, scanned, searched, shared

    for module in (fits, linked, scanned, searched, shared):
        _cases.update(module.cases())
    for name in CASES:
        _cases[name]()


def _watch(owner: Any, name: str, known_as: str) -> None:
    entry = getattr(owner, name)
    if name.startswith("_") or not callable(entry):
        return

    @functools.wraps(entry)
    def call(*args: Any, **given: Any) -> Any:
        if "consume" in given:
            given["consume"] = False  # the table is grown from again
        _calls.setdefault(known_as, functools.partial(entry, *args, **given))
        _entered.add(known_as)
        while threading.current_thread().name == known_as and known_as in GOLDEN:
            entry(*args, **given)
        return entry(*args, **given)

    setattr(owner, name, call)


def work_of(entry: str) -> Work:
    """What a thread does again and again: a call that was kept, a golden case, or something made here."""
    if entry in GOLDEN:
        return _cases[GOLDEN[entry]]
    return MADE[entry]() if entry in MADE else _calls[entry]


# Calls that change what they work on are made by a case. Its thread repeats the call in the middle of the
# case: the thread is then in our native work, and not in that of DuckDB, which aborts.
GOLDEN = {
    "SourceScan.add": "scan, gini, boat",
    "SourceScan.send_kept": "maintained, stable",
    "SourceScan.add_kept": "maintained, stable",
    "Settling.settle": "scan, boat, more rows than its sample",
    "Settling.look": "maintained, stable",
    "Settling.graft_kept": "maintained, stable",
    "bags": "bags, reduced_error",
    "predictions": "folds, predictions",
}


def _table(rows: int) -> tuple[Any, Any]:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(rows, 4))
    return X, (X[:, 0] * X[:, 1] + draw.normal(size=rows) > 0).astype(int)


def _fit(jobs: int) -> Work:
    from hornbeam import TreeClassifier

    return functools.partial(TreeClassifier(n_jobs=jobs).fit, *_table(20_000))


def _report() -> Work:
    """A growth that calls Python, which lets go of the lock."""
    from hornbeam import TreeClassifier

    table = _table(100_000)
    _calls.pop("grow")
    TreeClassifier(max_depth=1).fit(*table)
    grow = _calls["grow"]
    assert isinstance(grow, functools.partial)
    given = grow.keywords | {"max_depth": 40, "report": lambda share: time.sleep(0.001)}
    return functools.partial(grow.func, *grow.args, **given)


def _path() -> Work:
    router = _calls["Router.apply"]
    assert isinstance(router, functools.partial)
    return functools.partial(router.args[0].path, *router.args[1:], **router.keywords)


def _text() -> Work:
    from hornbeam.model.canonical import canonical_text

    tree = _fit(1)().tree_  # type: ignore[attr-defined]
    return functools.partial(canonical_text, tree)


def _verify() -> Work:
    from hornbeam import Tree

    tree = _fit(1)().tree_  # type: ignore[attr-defined]
    return functools.partial(Tree, tree.schema, tree.arrays, classes=tree.classes)


def _query() -> Work:
    grown = _calls["grow_first_order"]
    assert isinstance(grown, functools.partial)
    database, bias = grown.args[0], grown.args[1]
    query = next(test for test in _core.first_refinements(database, bias) if test)
    everybody = np.arange(100, dtype=np.uint32)
    return functools.partial(_core.solve_query, database, query, everybody)


def _lookahead(name: str) -> Work:
    built = _calls["Lookahead.build"]
    assert isinstance(built, functools.partial)
    lookahead, rows = built.args[:2]
    given = {"bound": (rows,), "size": (rows, 1), "totals": (rows, 1, 1)}
    return functools.partial(getattr(lookahead, name), *given[name])


def _scan() -> Work:
    """Rows are counted by scans of this thread's own, which are shipped and brought together."""
    added = _calls["SourceScan.add"]
    assert isinstance(added, functools.partial)
    scan, *args = added.args

    def work() -> None:
        mine, other = scan.fresh(), scan.fresh()
        mine.add(*args, **added.keywords)
        other.merge_bytes(mine.to_bytes())
        mine.merge(other)

    return work


MADE: dict[str, Callable[[], Work]] = {
    "fit, 1 thread": functools.partial(_fit, 1),
    "fit, 2 threads": functools.partial(_fit, 2),
    "report": _report,
    "Router.path": _path,
    "CanonicalText.next": _text,
    "solve_query": _query,
    "verify_tree": _verify,
    "SourceScan.merge": _scan,
} | {f"Lookahead.{name}": functools.partial(_lookahead, name) for name in ("bound", "size", "totals")}


def _repeat(work: Work) -> None:
    while True:
        work()


def _leave(signum: int, frame: object) -> None:
    sys.exit(0)


def end(how: str) -> None:
    """Ends this process; a return is its normal end."""
    if how == "sys.exit":
        sys.exit(3)
    if how == "an error":
        raise RuntimeError("the main thread fails")
    if how == "SIGTERM":
        signal.signal(signal.SIGTERM, _leave)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(SECONDS)
    if how == "a cancelled cell":
        signal.signal(signal.SIGINT, signal.default_int_handler)
        cell = _fit(2)
        try:
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
            while True:
                cell()
        except KeyboardInterrupt:
            pass


def answer(task: tuple[list[str], str]) -> Any:
    """[exit code, standard error] of a child with a daemon thread in each of some native entries."""
    entries, how = task
    with tempfile.TemporaryFile("w+") as errors:
        child = os.fork()
        if child == 0:
            for fd in (0, 1):
                os.dup2(os.open(os.devnull, os.O_RDWR), fd)
            os.dup2(errors.fileno(), 2)
            _enter(entries)
            end(how)
            return None
        code = _wait(child)
        errors.seek(0)
        return [code, errors.read()]


def _enter(entries: list[str]) -> None:
    """Starts a thread for each, and returns when all that a case enters in its middle have been entered."""
    works = [work_of(entry) for entry in entries]
    awaited = {entry for entry in entries if entry in GOLDEN and "." in entry}
    _entered.clear()
    for entry, work in zip(entries, works, strict=True):
        threading.Thread(target=_repeat, args=(work,), name=entry, daemon=True).start()
    until = time.monotonic() + SECONDS
    while not awaited <= _entered:
        assert time.monotonic() < until, f"{awaited - _entered} were not entered"
        time.sleep(0.001)
    time.sleep(0.01)


def _wait(child: int) -> int:
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -signal.SIGKILL


if __name__ == "__main__":
    prepare()
    gc.freeze()  # a child ends in half the time
    for line in sys.stdin:
        print("answer", json.dumps(answer(json.loads(line))), flush=True)
