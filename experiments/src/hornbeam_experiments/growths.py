"""Growths under the clock: folds or bags of a set, by each algorithm, in CPU seconds by kind of work."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hornbeam.ensemble import draw_bags
from hornbeam.growth import ClassTarget, Engine, Forest, TrainingSets, grow_sets
from hornbeam.validation import deal_classes, deal_rows
from hornbeam_experiments.sets import Loaded

# The paper's names, and ours: "auto" chooses by node.
ALGORITHMS = {"S": "serial", "OS": "overlapping", "CV": "folds", "auto": "auto"}
BAGGING = {"S": "serial", "OS": "overlapping", "auto": "auto"}
ONE = "one tree"
# A growth is repeated until it had nearly all of its core, or the CPU seconds of patience are over.
UNDISTURBED, PATIENCE = 0.9, 0.15

# Kinds of work, in the order of the core's own (growth.forest.COMPONENTS), after what comes before growth.
PRESORT = "presorting and calls"
WORKS = (
    PRESORT,
    "sending rows to children",
    "counting rows",
    "looking for the best test",
    "copies where sets part, records",
)


@dataclass(frozen=True, eq=False)
class Growth:
    """One growth: CPU seconds, those of each level by kind of work; entries of lists that it read, and those
    that its sets would have read one by one."""

    seconds: float
    levels: npt.NDArray[np.float64]
    entries: npt.NDArray[np.int64]
    own_entries: npt.NDArray[np.int64]
    share: float = 1.0
    """CPU seconds for each second of the wall."""

    @property
    def undisturbed(self) -> bool:
        return self.share > UNDISTURBED

    @property
    def works(self) -> dict[str, float]:
        """CPU seconds by kind of work; they sum up to `seconds`."""
        grown = self.levels.sum(axis=0)
        return dict(zip(WORKS, (self.seconds - float(grown.sum()), *grown.tolist()), strict=True))


def grow_undisturbed(loaded: Loaded, sets: TrainingSets, algorithm: str) -> tuple[Growth, Forest]:
    """A growth that had its core for itself, if one of a few does: where another process is let in, its time
    falls upon some level. The least disturbed one is taken."""
    best = grow(loaded, sets, algorithm)
    spent = best[0].seconds
    while not best[0].undisturbed and spent < PATIENCE:
        found = grow(loaded, sets, algorithm)
        spent += found[0].seconds
        best = max(best, found, key=lambda some: some[0].share)
    return best


def grow(loaded: Loaded, sets: TrainingSets, algorithm: str) -> tuple[Growth, Forest]:
    """The core's clock counts the time of the wall; its parts are scaled to the CPU seconds of the whole."""
    engine = Engine(algorithm=algorithm)
    wall, begin = time.perf_counter(), time.process_time()
    forest = grow_sets(loaded.table, loaded.target, loaded.parameters, sets, engine=engine)
    seconds, elapsed = time.process_time() - begin, time.perf_counter() - wall
    scale = min(1.0, seconds / elapsed) if elapsed > 0 else 1.0
    levels = forest.levels.seconds * scale
    if levels.sum() > seconds:  # clocks differ by a little
        levels *= seconds / levels.sum()
    return Growth(seconds, levels, forest.levels.entries, forest.levels.own_entries, scale), forest


def folds_of(loaded: Loaded, n: int, seed: int) -> TrainingSets:
    """All rows, then the training sets of n folds that are dealt at random."""
    target = loaded.target
    if isinstance(target, ClassTarget) and np.bincount(target.codes).max() >= n:
        fold = deal_classes(target.codes, n, seed)
    else:
        fold = deal_rows(loaded.n_rows, n, seed)
    return TrainingSets.of_rows(loaded.n_rows, (fold != i for i in range(n)), all_rows_first=True)


def bags_of(loaded: Loaded, n: int, seed: int) -> TrainingSets:
    """Bootstrap samples, each of as many rows as there are."""
    bags = draw_bags(loaded.n_rows, n, np.random.RandomState(seed))
    return TrainingSets.of_rows(loaded.n_rows, (bags.rows(i) for i in range(n)))


@dataclass(frozen=True, eq=False)
class Race:
    """One growth by each algorithm over the same training sets, and the forest, which all of them give."""

    growths: Mapping[str, Growth]
    forest: Forest

    def __getitem__(self, name: str) -> Growth:
        return self.growths[name]


def race(loaded: Loaded, sets: TrainingSets, algorithms: Mapping[str, str]) -> Race:
    """Everybody in turn."""
    growths = {}
    for name, algorithm in algorithms.items():
        growths[name], forest = grow(loaded, sets, algorithm)
    return Race(growths, forest)


def race_by_level(loaded: Loaded, sets: TrainingSets, algorithms: Mapping[str, str]) -> Race:
    """Everybody in turn, after the tree of all rows alone, with levels to rely on."""
    growths = {ONE: grow_undisturbed(loaded, all_rows(loaded), "auto")[0]}
    for name, algorithm in algorithms.items():
        growths[name], forest = grow_undisturbed(loaded, sets, algorithm)
    return Race(growths, forest)


def all_rows(loaded: Loaded) -> TrainingSets:
    return TrainingSets.of_rows(loaded.n_rows, (), all_rows_first=True)


def warm(sets: Iterable[Loaded]) -> None:
    """A first growth of each, which pays for what is loaded and allocated once."""
    for loaded in sets:
        grow(loaded, folds_of(loaded, 3, 0), "auto")
