"""Figures 10, 11 and 16: where the time goes, by kind of work and by level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hornbeam.growth import Forest
from hornbeam.model import Tree
from hornbeam_experiments.growths import (
    ALGORITHMS,
    BAGGING,
    ONE,
    WORKS,
    Growth,
    bags_of,
    folds_of,
    race_by_level,
)
from hornbeam_experiments.intervals import Mean
from hornbeam_experiments.plan import Plan
from hornbeam_experiments.records import Cell, Sheet
from hornbeam_experiments.sets import Loaded

TEN = 10


@dataclass(frozen=True, eq=False)
class Rounds:
    """The runs of one set: one growth by each algorithm, and that of the tree of all rows."""

    loaded: Loaded
    runs: tuple[Mapping[str, Growth], ...]

    def seconds(self, name: str) -> Mean:
        return Mean.of([run[name].seconds for run in self.runs])

    def ratio(self, above: str, below: str) -> Mean:
        return Mean.of([run[above].seconds / run[below].seconds for run in self.runs])

    def works(self, name: str) -> dict[str, float]:
        """Mean CPU seconds, divided by kind of work as in the usual run."""
        parts = [run[name].works for run in self.runs]
        usual = {work: float(np.median([part[work] for part in parts])) for work in WORKS}
        scale = self.seconds(name).value / (sum(usual.values()) or 1.0)
        return {work: seconds * scale for work, seconds in usual.items()}

    def levels(self, name: str) -> npt.NDArray[np.float64]:
        """CPU seconds of the growth by level and kind of work, the median of the runs: a moment in which
        another process was let in falls upon some level of one of them."""
        return median_of([run[name].levels for run in self.runs])


@dataclass(frozen=True, eq=False)
class TenFolds(Rounds):
    """Rounds of ten folds: what figures 10 and 11, the cost model and others read."""

    f: npt.NDArray[np.float64]
    """f of section 3.2 by level, the median of the runs."""
    forest: Forest
    """The trees of the first run."""

    @property
    def tree(self) -> Tree:
        """The tree of all rows."""
        return self.forest.tree(0)


def ten_folds(loaded: Loaded, plan: Plan) -> TenFolds:
    """Runs that differ in how the rows are dealt. Forests are large: only that of the first run is kept."""
    first = race_by_level(loaded, folds_of(loaded, TEN, 0), ALGORITHMS)
    growths, f = [first.growths], [first.forest.tests_by_level]
    for seed in range(1, plan.runs):
        found = race_by_level(loaded, folds_of(loaded, TEN, seed), ALGORITHMS)
        growths.append(found.growths)
        f.append(found.forest.tests_by_level)
    return TenFolds(loaded, tuple(growths), median_of(f), first.forest)


def drawn_bags(loaded: Loaded, plan: Plan, n: int) -> Rounds:
    """Runs that differ in which rows the bags draw."""
    return Rounds(
        loaded,
        tuple(race_by_level(loaded, bags_of(loaded, n, seed), BAGGING).growths for seed in range(plan.runs)),
    )


def median_of(arrays: Sequence[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """The median of arrays that may differ in their first length; what is absent counts as 0."""
    stacked = np.zeros((len(arrays), max(map(len, arrays)), *arrays[0].shape[1:]))
    for place, array in enumerate(arrays):
        stacked[place, : len(array)] = array
    middle: npt.NDArray[np.float64] = np.median(stacked, axis=0)
    return middle


def breakdown(name: str, all_runs: Sequence[Rounds]) -> tuple[Sheet, Sheet]:
    """Figures 11 and 16: seconds by kind of work, and in all, relative to the tree of all rows alone."""
    works: list[dict[str, Cell]] = []
    totals: list[dict[str, Cell]] = []
    for runs in all_runs:
        one = runs.seconds(ONE).value
        for algorithm in runs.runs[0]:
            relative = Mean.of([run[algorithm].seconds / one for run in runs.runs])
            for work, seconds in runs.works(algorithm).items():
                works.append(
                    {
                        "set": runs.loaded.title,
                        "algorithm": algorithm,
                        "work": work,
                        "seconds": seconds,
                        "relative": seconds / one,
                    }
                )
            totals.append(
                {
                    "set": runs.loaded.title,
                    "algorithm": algorithm,
                    "seconds": runs.seconds(algorithm).value,
                    "relative": relative.value,
                    "low": relative.low,
                    "high": relative.high,
                    "speedup": runs.ratio("S", algorithm).value,
                    "runs": len(runs.runs),
                }
            )
    return Sheet.of(f"{name}-works", works), Sheet.of(name, totals)


def by_level(all_runs: Sequence[TenFolds]) -> Sheet:
    """Figure 10: seconds of each level by algorithm, beside f of the level before; medians of the runs."""
    records: list[dict[str, Cell]] = []
    for runs in all_runs:
        seconds = {name: runs.levels(name).sum(axis=1) for name in (ONE, "S", "OS", "CV")}
        for level in range(max(map(len, seconds.values()))):
            records.append(
                {
                    "set": runs.loaded.title,
                    "level": level + 1,
                    **{name: float(own[level]) if level < len(own) else 0.0 for name, own in seconds.items()},
                    "f(i-1)": float(runs.f[level - 1]) if 0 < level <= len(runs.f) else 1.0,
                }
            )
    return Sheet.of("figure-10", records)
