"""Ctrl-C: how long work of every kind goes on after the signal, at many moments of its run."""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks import common
from benchmarks.answers import confirm
from benchmarks.common import Verdict, format_seconds
from benchmarks.long_works import BORROWED, WORKS, Work

PROMISE = 0.1  # seconds
# Another process strikes, so that nothing in this one can delay it, and says when it did.
STRIKER = """
import os, signal, sys, time
victim, clock = int(sys.argv[1]), int(sys.argv[2])
moment = float(sys.stdin.readline())
while (left := moment - time.clock_gettime(clock)) > 0:
    time.sleep(max(left / 2, 0.0005))
moment = time.clock_gettime(clock)
os.kill(victim, signal.SIGINT)
print(moment, flush=True)
"""


def clock_of(name: str) -> int:
    """A clock that other processes can read: of the wall, or of the CPU seconds of this process (Linux)."""
    return time.CLOCK_MONOTONIC if name == "wall" else (~os.getpid() << 3) | 2


@dataclass(frozen=True)
class Row:
    """The waits of one kind of work: from the signal until KeyboardInterrupt has left the call."""

    work: str
    seconds: float  # of a run that nobody interrupts
    waits: tuple[float, ...]

    @property
    def worst(self) -> float:
        return max(self.waits)


def strike(work: Work, after: float, clock: int) -> float | None:
    """Interrupts the work after so many seconds; how long it went on, None where it was done before."""
    command = [sys.executable, "-c", STRIKER, str(os.getpid()), str(clock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as striker:
        assert striker.stdin is not None
        assert striker.stdout is not None
        striker.stdin.write(f"{time.clock_gettime(clock) + after}\n")
        striker.stdin.flush()
        try:
            work.run()
            striker.kill()
            striker.wait()
            return None
        except KeyboardInterrupt:
            end = time.clock_gettime(clock)
        return end - float(striker.stdout.readline())


def measure(name: str, strikes: int, clock: str) -> Row:
    """Strikes at moments spread evenly over a run; the answer before and after must be the same."""
    work, time_of = WORKS[name](), clock_of(clock)
    begin = time.clock_gettime(time_of)
    result = work.run()
    seconds = time.clock_gettime(time_of) - begin
    answer = work.answer(result)
    del result
    waits = [strike(work, seconds * (k + 0.5) / strikes, time_of) for k in range(strikes)]
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
        Verdict(
            f"worst wait / 100 ms, {row.work}",
            row.worst / PROMISE,
            better="lower",
            floor=None if row.work in BORROWED else 1,
        )
        for row in rows
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strikes", type=int, default=10, help="moments at which each work is interrupted")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help="cpu: on a busy machine")
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
