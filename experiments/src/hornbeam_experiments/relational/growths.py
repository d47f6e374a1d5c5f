"""Growths of first-order trees under the clock: folds or bags, by algorithm, level and kind of work."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hornbeam.ensemble import draw_bags
from hornbeam.errors import DataError
from hornbeam.growth import TrainingSets
from hornbeam.relational.forest import FirstOrderForest
from hornbeam.relational.growth import FirstOrderParameters, QueryEngine, grow_first_order
from hornbeam.validation import deal_classes, deal_rows
from hornbeam_experiments.intervals import Mean
from hornbeam_experiments.relational.sets import Loaded

# The papers' names; with the cache, which they had not, S shares answers too.
ALGORITHMS = {"S": "serial", "OS": "overlapping", "CV": "folds"}
BAGGING = {"S": "serial", "OS": "overlapping"}
ONE, CACHED = "one tree", "cache"
LEAST = 0.05  # CPU seconds that a growth is repeated for: many take less than the clock can tell
WORKS = ("calls", "running tests", "updating statistics", "sending examples to branches", "other")


@dataclass(frozen=True, eq=False)
class Growth:
    """CPU seconds of one growth, and of each level by kind of work, in the order of WORKS without calls."""

    seconds: float
    levels: npt.NDArray[np.float64]

    @property
    def works(self) -> dict[str, float]:
        parts = self.levels.sum(axis=0)
        return dict(zip(WORKS, (max(self.seconds - float(parts.sum()), 0.0), *parts.tolist()), strict=True))


@dataclass(frozen=True, eq=False)
class Race:
    """One growth by each algorithm over the same training sets, and what all of them gave."""

    growths: Mapping[str, Growth]
    forest: FirstOrderForest


def grow(loaded: Loaded, sets: TrainingSets, algorithm: str, cache: bool = False) -> FirstOrderForest:
    parameters = FirstOrderParameters(loaded.criterion, loaded.min_samples_leaf)
    engine = QueryEngine(cache=cache)
    return grow_first_order(
        loaded.coded, loaded.bias, replace(parameters, algorithm=algorithm, engine=engine), sets
    )


def timed(
    loaded: Loaded, sets: TrainingSets, algorithm: str, cache: bool = False
) -> tuple[Growth, FirstOrderForest]:
    """The mean of as many growths as the clock needs; their levels are scaled to the CPU seconds."""
    times, forest = 0, None
    levels: npt.NDArray[np.float64] | None = None
    begin = time.process_time()
    while times == 0 or time.process_time() - begin < LEAST:
        forest = grow(loaded, sets, algorithm, cache)
        levels = forest.levels.seconds if levels is None else levels + forest.levels.seconds
        times += 1
    seconds = (time.process_time() - begin) / times
    assert forest is not None
    assert levels is not None
    levels = levels / times
    total = float(levels.sum())
    return Growth(seconds, levels * min(1.0, seconds / total) if total > 0 else levels), forest


def race(loaded: Loaded, sets: TrainingSets, algorithms: Mapping[str, str]) -> Race:
    """The tree of all examples, then everybody in turn; they must have grown the same trees."""
    everyone = TrainingSets.of_rows(loaded.n_examples, (), all_rows_first=True)
    growths = {ONE: timed(loaded, everyone, "auto")[0]}
    grown = []
    for name, algorithm in algorithms.items():
        growths[name], forest = timed(loaded, sets, algorithm)
        grown.append([forest.tree(i) for i in range(len(forest))])
    if any(trees != grown[0] for trees in grown):
        raise DataError(f"{loaded.title}: the trees depend on the algorithm")
    if "CV" in algorithms:
        growths[CACHED] = timed(loaded, sets, "folds", cache=True)[0]
    return Race(growths, forest)


def fold_of(loaded: Loaded, n: int, seed: int) -> npt.NDArray[np.int64]:
    target = loaded.coded.examples.target
    assert target is not None
    if np.bincount(target).max() >= n:
        return np.asarray(deal_classes(target, n, seed))
    return np.asarray(deal_rows(loaded.n_examples, n, seed))


def folds_of(loaded: Loaded, n: int, seed: int) -> TrainingSets:
    """All examples, then the training sets of n folds that are dealt at random; no more than there are."""
    n = min(n, loaded.n_examples)
    fold = fold_of(loaded, n, seed)
    return TrainingSets.of_rows(len(fold), (fold != i for i in range(n)), all_rows_first=True)


def bags_of(loaded: Loaded, n: int, seed: int) -> TrainingSets:
    bags = draw_bags(loaded.n_examples, n, np.random.RandomState(seed))
    return TrainingSets.of_rows(loaded.n_examples, (bags.rows(i) for i in range(n)))


def accuracy(loaded: Loaded, forest: FirstOrderForest) -> float:
    """The share of examples that the tree of their fold gets right."""
    target, right = loaded.coded.examples.target, 0
    assert target is not None
    for i in range(1, len(forest)):
        held = forest.held_out(i)
        right += int((held.predicted == target[held.examples]).sum())
    return right / loaded.n_examples


@dataclass(frozen=True, eq=False)
class Rounds:
    """Runs over one set that differ in how examples are dealt or drawn."""

    loaded: Loaded
    races: tuple[Race, ...]

    def seconds(self, name: str) -> Mean:
        return Mean.of([race.growths[name].seconds for race in self.races])

    def ratio(self, above: str, below: str) -> Mean:
        return Mean.of([race.growths[above].seconds / race.growths[below].seconds for race in self.races])

    def works(self, name: str) -> dict[str, float]:
        parts = [race.growths[name].works for race in self.races]
        return {work: float(np.mean([part[work] for part in parts])) for work in WORKS}

    def levels(self, name: str) -> list[float]:
        """CPU seconds by level, the median of the runs."""
        return median([race.growths[name].levels.sum(axis=1) for race in self.races])

    @property
    def f(self) -> list[float]:
        return median([race.forest.levels.f for race in self.races])


def median(arrays: Sequence[npt.NDArray[np.float64]]) -> list[float]:
    """Of arrays that may differ in length; what is absent counts as 0."""
    stacked = np.zeros((len(arrays), max(map(len, arrays), default=0)))
    for place, array in enumerate(arrays):
        stacked[place, : len(array)] = array
    return [float(value) for value in np.median(stacked, axis=0)]
