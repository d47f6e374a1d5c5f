"""A process of its own that loads one set, grows it by each algorithm, and tells its memory as JSON."""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path


def status(name: str) -> float:
    """Megabytes of an entry of Linux's status of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024 / 1e6


def settled() -> float:
    """What is held now, after what was freed went back; the peak is counted again from here."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return status("VmRSS")


def answer(question: dict[str, object]) -> list[dict[str, object]]:
    """The paper's three points: the system, what the data adds to it, and what growth adds at its peak, in
    each run, which deals the folds anew."""
    from hornbeam.growth import Engine, TrainingSets, grow_sets
    from hornbeam.reproduce.growths import ALGORITHMS, all_rows, folds_of
    from hornbeam.reproduce.sets import TABLE_1, Loaded, read

    def peak(loaded: Loaded, sets: TrainingSets, algorithm: str) -> float:
        before = settled()
        engine = Engine(algorithm=algorithm)
        forest = grow_sets(loaded.table, loaded.target, loaded.parameters, sets, engine=engine)
        assert forest.tree(0).n_nodes > 0
        return max(status("VmHWM") - before, 0.0)

    entry = next(entry for entry in TABLE_1 if entry.name == question["set"])
    most_rows, folds, runs = question["most_rows"], question["folds"], question["runs"]
    assert isinstance(folds, list)
    assert isinstance(runs, int)
    assert most_rows is None or isinstance(most_rows, int)
    system = settled()
    loaded = read(entry, most_rows)
    peak(loaded, all_rows(loaded), "auto")  # pays for what is loaded once
    data = settled() - system
    one = [peak(loaded, all_rows(loaded), "auto") for _ in range(runs)]
    return [
        {
            "folds": n,
            "algorithm": name,
            "system": system,
            "data": data,
            "growth": [peak(loaded, folds_of(loaded, n, run), algorithm) for run in range(runs)],
            "one tree": one,
        }
        for n in folds
        for name, algorithm in ALGORITHMS.items()
    ]


if __name__ == "__main__":
    print(json.dumps(answer(json.loads(sys.argv[1]))))
