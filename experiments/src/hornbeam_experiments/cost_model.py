"""Sections 2.3 and 3.2: the paper's model of cost, with its times measured here, beside what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hornbeam.growth.forest import COMPONENTS
from hornbeam_experiments.cross_validation import TEN, TenFolds
from hornbeam_experiments.growths import ONE
from hornbeam_experiments.records import Cell, Sheet

SENDING, COUNTING, SEARCHING, OTHER = range(len(COMPONENTS))


@dataclass(frozen=True)
class Costs:
    """Seconds that one entry of a list, or one row, takes (section 2.3)."""

    tests: float
    """a: lists that the root looks through."""
    extract: float
    """t_e: read an entry of a list."""
    update: float
    """t_u: count it for one training set."""
    assign: float
    """t_p: send a row to its child."""

    def bound(self, n: int) -> float:
        """What no growth of n folds can gain where all choose different tests."""
        below = self.extract + self.assign
        ratio = self.tests * (self.extract + self.update) / below if below > 0 else float("inf")
        return min(float(n), 1.0 + ratio)


def costs_of(runs: TenFolds) -> Costs:
    """Searching the root once for one set costs t_e + t_u an entry, and by OS for n training sets that have
    each row t_e + n t_u: two measurements, two times. Sending rows gives t_p."""
    one, shared = runs.levels(ONE), runs.levels("OS")
    entries = int(runs.runs[0][ONE].entries[0])
    alone, together = (float(levels[0, SEARCHING]) / entries for levels in (one, shared))
    update = min(max((together - alone) / (TEN - 1), 0.0), alone)
    extract = alone - update
    arrays = runs.tree.arrays
    parted = int(arrays["rows"][arrays["n_children"] > 0].sum())
    assign = max(float(one[:, [SENDING, COUNTING]].sum()) / max(parted, 1) - extract, 0.0)
    return Costs(entries / runs.loaded.n_rows, extract, update, assign)


def predict(runs: TenFolds, costs: Costs) -> dict[str, float]:
    """Speedups by section 3.2: what f(i - 1) different nodes cost where one did, level by level."""
    levels = runs.levels(ONE)
    f = np.zeros(len(levels))
    f[: len(runs.f)] = runs.f[: len(f)]
    before = np.concatenate(([1.0], f[:-1]))
    search, part = levels[:, SEARCHING], levels[:, [SENDING, COUNTING]].sum(axis=1)
    both = costs.extract + costs.update
    extracting = costs.extract / both if both > 0 else 1.0
    serial = TEN * float((search + part).sum())
    folds = float((before * search + f * part).sum())
    overlapping = float((search * (before * extracting + TEN * (1 - extracting)) + f * part).sum())
    return {"OS": serial / overlapping, "CV": serial / folds}


def compare(all_runs: Sequence[TenFolds]) -> Sheet:
    """Predicted beside measured; growth alone is compared, without presorting, which the model leaves out."""
    records: list[dict[str, Cell]] = []
    for runs in all_runs:
        costs = costs_of(runs)
        said = predict(runs, costs)
        grown = {name: float(runs.levels(name).sum()) for name in ("S", "OS", "CV")}
        first = runs.runs[0]["CV"]
        records.append(
            {
                "set": runs.loaded.title,
                "a": round(costs.tests, 2),
                "t_e, ns": 1e9 * costs.extract,
                "t_u, ns": 1e9 * costs.update,
                "t_p, ns": 1e9 * costs.assign,
                "OS predicted": said["OS"],
                "OS measured": grown["S"] / grown["OS"],
                "CV predicted": said["CV"],
                "CV measured": grown["S"] / grown["CV"],
                "entries saved": float(first.own_entries.sum() / max(first.entries.sum(), 1)),
                "bound": costs.bound(TEN),
                "n": TEN,
            }
        )
    return Sheet.of("section-2.3", records)
