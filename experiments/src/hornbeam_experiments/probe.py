"""A process of its own that loads one set, grows it by each algorithm, and tells its memory as JSON."""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Callable, Mapping, Sequence
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


def by_folds(
    same: Mapping[str, object],
    folds: Sequence[int],
    algorithms: Mapping[str, str],
    runs: int,
    one_tree: Callable[[], float],
    of_folds: Callable[[int, int, str], float],
) -> list[dict[str, object]]:
    """What one tree and so many folds add at their peak in each run, which deals the folds anew; `same` is
    true of all of it."""
    one = [one_tree() for _ in range(runs)]
    return [
        {
            **same,
            "folds": n,
            "algorithm": name,
            "growth": [of_folds(n, run, algorithm) for run in range(runs)],
            "one tree": one,
        }
        for n in folds
        for name, algorithm in algorithms.items()
    ]


def answer(name: str, folds: Sequence[int], runs: int, most_rows: int | None) -> list[dict[str, object]]:
    """The paper's three points: the system, what the data adds to it, and what growth adds at its peak."""
    from hornbeam.growth import Engine, TrainingSets, grow_sets
    from hornbeam_experiments.growths import ALGORITHMS, all_rows, folds_of
    from hornbeam_experiments.sets import TABLE_1, read

    entry = next(entry for entry in TABLE_1 if entry.name == name)
    system = settled()
    loaded = read(entry, most_rows)

    def peak(sets: TrainingSets, algorithm: str) -> float:
        before = settled()
        engine = Engine(algorithm=algorithm)
        forest = grow_sets(loaded.table, loaded.target, loaded.parameters, sets, engine=engine)
        assert forest.tree(0).n_nodes > 0
        return max(status("VmHWM") - before, 0.0)

    peak(all_rows(loaded), "auto")  # pays for what is loaded once
    same = {"set": entry.title, "system": system, "data": settled() - system}
    return by_folds(
        same,
        folds,
        ALGORITHMS,
        runs,
        lambda: peak(all_rows(loaded), "auto"),
        lambda n, run, algorithm: peak(folds_of(loaded, n, run), algorithm),
    )


if __name__ == "__main__":
    print(json.dumps(answer(**json.loads(sys.argv[1]))))
