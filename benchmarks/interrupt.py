"""Ctrl-C: how long native work of every kind goes on after the signal, at many moments of its run."""

import argparse
import hashlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import hornbeam
from benchmarks import common
from benchmarks.answers import confirm
from benchmarks.common import Verdict, format_seconds

PROMISE = 0.1  # seconds
MANY, SOME, KEYS = 4_000_000, 1_000_000, 100_000
# The system's own timers send the signals, so that nothing in the process can delay them.
CLOCKS = {
    "wall": (signal.ITIMER_REAL, signal.SIGALRM, time.perf_counter),
    "cpu": (signal.ITIMER_PROF, signal.SIGPROF, time.process_time),
}


@dataclass(frozen=True)
class Work:
    """What is interrupted, and what its answer is: that is worked out afterwards, in peace."""

    run: Callable[[], Any]
    answer: Callable[[Any], str]


@dataclass(frozen=True)
class Row:
    """The waits of one kind of work: from the signal until KeyboardInterrupt has left the call."""

    work: str
    seconds: float  # of a run that nobody interrupts
    waits: tuple[float, ...]

    @property
    def worst(self) -> float:
        return max(self.waits)


def draw(rows: int, columns: int, classes: int = 2) -> tuple[Any, Any]:
    """Numbers of many different values, and classes by a rule with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    score = X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=rows)
    return X, np.searchsorted(np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]), score)


def keys(rows: int, classes: int) -> tuple[Any, Any]:
    """A column of KEYS categories that say something about the class."""
    import pandas as pd

    rng = np.random.default_rng(0)
    codes = rng.integers(0, KEYS, rows)
    labels = pd.Index([f"key {i:06d}" for i in range(KEYS)], dtype="str")
    X = pd.DataFrame({"key": pd.Categorical.from_codes(codes, labels)})
    return X, (codes * 7919 % KEYS * classes // KEYS + (rng.random(rows) < 0.2)) % classes


def fit(X: Any, y: Any, **parameters: Any) -> Work:
    maker = hornbeam.TreeRegressor if "criterion" not in parameters else hornbeam.TreeClassifier
    given = {"min_samples_leaf": 20, **parameters}
    return Work(lambda: maker(**given).fit(X, y), lambda model: model.tree_.digest)


def classify(criterion: str, rows: int, columns: int, classes: int, n_jobs: int = 1) -> Work:
    X, y = draw(rows, columns, classes)
    return fit(X, y, criterion=criterion, n_jobs=n_jobs)


def regress(targets: int, n_jobs: int = 1) -> Work:
    X, _ = draw(SOME, 4)
    y = np.column_stack([X[:, 0] * X[:, 1], X[:, 1] + X[:, 2], X[:, 3] ** 2])[:, :targets]
    return fit(X, y + np.random.default_rng(1).normal(size=y.shape), n_jobs=n_jobs)


def tell_keys_apart(nominal: str, classes: int) -> Work:
    X, y = keys(SOME, classes)
    # A value test takes one key off: a full tree would be a chain of thousands of them.
    depth = 20 if nominal == "value" else None
    return fit(X, y, criterion="gini", nominal=nominal, max_depth=depth)


def regress_keys() -> Work:
    X, y = keys(SOME, 1000)
    return fit(X, np.column_stack([y, y % 31]).astype(np.float64), nominal="subset")


def encode(kind: str) -> Work:
    """Tables of one kind of column; growth ends at the root."""
    import pandas as pd

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, MANY)
    columns: dict[str, Callable[[], Any]] = {
        "floats": lambda: rng.normal(size=(MANY, 6)),
        "floats of few values": lambda: rng.integers(0, 300, (MANY, 6)).astype(np.float64),
        "integers": lambda: pd.DataFrame({f"i{k}": rng.integers(-(2**62), 2**62, MANY) for k in range(6)}),
        "strings": lambda: pd.DataFrame({"s": pd.array(texts(), dtype="str")}),
        "strings as objects": lambda: pd.DataFrame({"s": np.array(texts(), dtype=object)}, dtype=object),
    }

    def texts() -> list[str]:
        return [f"key {i}" for i in rng.integers(0, KEYS, MANY).tolist()]

    X = columns[kind]()
    names = ["s"] if "strings" in kind else "from_dtype"
    return fit(X, y, criterion="gini", max_depth=1, nominal_features=names)


def name_classes() -> Work:
    """Class labels as text."""
    X, codes = draw(MANY, 1, 26)
    return fit(X, np.array([f"class {k:02d}" for k in range(26)])[codes], criterion="gini", max_depth=1)


def predict(n_jobs: int) -> Work:
    X, y = draw(MANY, 4, 5)
    model = hornbeam.TreeClassifier(n_jobs=n_jobs).fit(X[:50_000], y[:50_000])
    return Work(lambda: model.predict(X), lambda labels: hashlib.sha256(labels.tobytes()).hexdigest())


WORKS: dict[str, Callable[[], Work]] = {
    "gini, 2 classes, 4M x 4": lambda: classify("gini", MANY, 4, 2),
    "gini, 26 classes, 4M x 2": lambda: classify("gini", MANY, 2, 26),
    "gini, 26 classes, 4M x 2, 2 threads": lambda: classify("gini", MANY, 2, 26, n_jobs=2),
    "entropy, 5 classes, 1M x 4": lambda: classify("entropy", SOME, 4, 5),
    "gain ratio, 5 classes, 200k x 4": lambda: classify("gain_ratio", 200_000, 4, 5),
    "variance, 1 target, 1M x 4": lambda: regress(1),
    "variance, 3 targets, 1M x 4": lambda: regress(3),
    "variance, 3 targets, 1M x 4, 2 threads": lambda: regress(3, n_jobs=2),
    "100k categories, subset, 2 classes": lambda: tell_keys_apart("subset", 2),
    "100k categories, subset, 10 classes": lambda: tell_keys_apart("subset", 10),
    "100k categories, subset, 2 targets": regress_keys,
    "100k categories, value, 2 classes": lambda: tell_keys_apart("value", 2),
    "100k categories, multiway, 2 classes": lambda: tell_keys_apart("multiway", 2),
    "table of 4M x 6 floats": lambda: encode("floats"),
    "table of 4M x 6 floats of few values": lambda: encode("floats of few values"),
    "table of 4M x 6 integers": lambda: encode("integers"),
    "table of 4M strings": lambda: encode("strings"),
    "table of 4M strings as objects": lambda: encode("strings as objects"),
    "4M class labels as text": name_classes,
    "predict 4M x 4": lambda: predict(1),
    "predict 4M x 4, 2 threads": lambda: predict(2),
}


def strike(work: Work, after: float, clock: str) -> float | None:
    """Interrupts the work after so many seconds; how long it went on, None where it was done before."""
    timer, _, now = CLOCKS[clock]
    begin = now()
    signal.setitimer(timer, after)
    try:
        work.run()
        return None
    except KeyboardInterrupt:
        return now() - begin - after
    finally:
        signal.setitimer(timer, 0)


def measure(name: str, strikes: int, clock: str) -> Row:
    """Strikes at moments spread evenly over a run; the answer before and after must be the same."""
    timer_signal, now = CLOCKS[clock][1:]
    signal.signal(timer_signal, signal.default_int_handler)
    work = WORKS[name]()
    begin = now()
    result = work.run()
    seconds = now() - begin
    answer = work.answer(result)
    del result
    waits = [strike(work, seconds * (k + 0.5) / strikes, clock) for k in range(strikes)]
    confirm(work.answer(work.run()) == answer, f"{name}: another answer after an interrupted run")
    heard = tuple(wait for wait in waits if wait is not None)
    confirm(len(heard) > strikes / 2, f"{name}: most runs ended before they were interrupted")
    return Row(name, seconds, heard)


def measure_apart(name: str, strikes: int, clock: str) -> Row:
    """In a process of its own, with the memory to itself."""
    command = [sys.executable, "-m", "benchmarks.interrupt", "--one", name]
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run(
        [*command, "--strikes", str(strikes), "--clock", clock], cwd=root, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise RuntimeError(f"{name}: {done.stderr.splitlines()[-1] if done.stderr else 'no answer'}")
    told = json.loads(done.stdout)
    return Row(told["work"], told["seconds"], tuple(told["waits"]))


def judge(rows: Sequence[Row]) -> list[Verdict]:
    return [
        Verdict(f"worst wait / 100 ms, {row.work}", row.worst / PROMISE, better="lower", floor=1)
        for row in rows
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strikes", type=int, default=10, help="moments at which each work is interrupted")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu: where the machine is busy")
    parser.add_argument("--only", default="", help="works whose names contain this")
    parser.add_argument("--one", choices=WORKS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(asdict(measure(options.one, options.strikes, options.clock))))
        return 0
    setting = common.environment(["hornbeam", "numpy", "pandas"])
    print("  ".join(f"{name} {version}" for name, version in setting.items()))
    print(f"From Ctrl-C to KeyboardInterrupt outside the call, {options.clock} seconds.")
    rows = []
    for name in WORKS:
        if options.only in name:
            rows.append(measure_apart(name, options.strikes, options.clock))
            print(f"  {name}: {format_seconds(rows[-1].worst)}", flush=True)
    body = [
        (
            row.work,
            format_seconds(row.seconds),
            str(len(row.waits)),
            format_seconds(float(np.median(row.waits))),
            format_seconds(row.worst),
        )
        for row in rows
    ]
    print("\n" + common.format_table(("work", "whole run", "strikes", "median wait", "worst wait"), body))
    records = {"setting": setting, "clock": options.clock, "rows": [asdict(row) for row in rows]}
    return common.close("interrupt", judge(rows), records, [])


if __name__ == "__main__":
    raise SystemExit(main())
