"""Figures 10 and 11: where the time of a cross-validation goes, by kind of work and by level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hornbeam.growth import Forest
from hornbeam.model import Tree
from hornbeam.reproduce.growths import ALGORITHMS, ONE, WORKS, Growth, Race, folds_of, race_by_level
from hornbeam.reproduce.intervals import Mean
from hornbeam.reproduce.plan import Plan
from hornbeam.reproduce.records import Cell, Sheet
from hornbeam.reproduce.sets import Loaded

TEN = 10


@dataclass(frozen=True, eq=False)
class TenFolds:
    """The runs of one set with ten folds: what figures 10 and 11, the cost model and others read."""

    loaded: Loaded
    runs: tuple[Mapping[str, Growth], ...]
    f: npt.NDArray[np.float64]
    """f of section 3.2 by level, the mean of all runs."""
    forest: Forest
    """The trees of the first run."""

    @property
    def tree(self) -> Tree:
        """The tree of all rows."""
        return self.forest.tree(0)

    def seconds(self, name: str) -> Mean:
        return Mean.of([run[name].seconds for run in self.runs])

    def ratio(self, above: str, below: str) -> Mean:
        return Mean.of([run[above].seconds / run[below].seconds for run in self.runs])

    def works(self, name: str) -> dict[str, float]:
        """Mean CPU seconds by kind of work."""
        parts = [run[name].works for run in self.runs]
        return {work: float(np.mean([part[work] for part in parts])) for work in WORKS}

    def levels(self, name: str) -> npt.NDArray[np.float64]:
        """Mean CPU seconds by level and kind of work of the growth."""
        return mean_of([run[name].levels for run in self.runs])


def ten_folds(loaded: Loaded, plan: Plan) -> TenFolds:
    """Runs that differ in how the rows are dealt. Forests are large: only that of the first run is kept."""
    races, f = [], []
    for seed in range(plan.runs):
        found = race_by_level(loaded, folds_of(loaded, TEN, seed), ALGORITHMS)
        f.append(found.forest.tests_by_level)
        races.append(found if seed == 0 else found.growths)
    first = races[0]
    assert isinstance(first, Race)
    growths = tuple(run.growths if isinstance(run, Race) else run for run in races)
    return TenFolds(loaded, growths, mean_of(f), first.forest)


def mean_of(arrays: Sequence[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """The mean of arrays that may differ in their first length; what is absent counts as 0."""
    total = np.zeros((max(map(len, arrays)), *arrays[0].shape[1:]))
    for array in arrays:
        total[: len(array)] += array
    return total / len(arrays)


def breakdown(all_runs: Sequence[TenFolds]) -> tuple[Sheet, Sheet]:
    """Figure 11: seconds by kind of work relative to the tree of all rows alone; and the speedups."""
    works: list[dict[str, Cell]] = []
    totals: list[dict[str, Cell]] = []
    for runs in all_runs:
        one = runs.seconds(ONE).value
        for name in (ONE, *ALGORITHMS):
            relative = Mean.of([run[name].seconds / one for run in runs.runs])
            for work, seconds in runs.works(name).items():
                works.append(
                    {
                        "set": runs.loaded.title,
                        "algorithm": name,
                        "work": work,
                        "seconds": seconds,
                        "relative": seconds / one,
                    }
                )
            totals.append(
                {
                    "set": runs.loaded.title,
                    "algorithm": name,
                    "seconds": runs.seconds(name).value,
                    "relative": relative.value,
                    "low": relative.low,
                    "high": relative.high,
                    "speedup": runs.ratio("S", name).value,
                    "runs": len(runs.runs),
                }
            )
    return Sheet.of("figure-11-works", works), Sheet.of("figure-11", totals)


def by_level(all_runs: Sequence[TenFolds]) -> Sheet:
    """Figure 10: mean seconds of each level by algorithm, beside f of the level before."""
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
