"""Figure 12: two splits that are equally good, what bootstrap trees make of them, and what it costs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt
from pyarrow import parquet

import hornbeam
from hornbeam.boat.guessing import grow_bootstraps
from hornbeam.boat.survey import survey
from hornbeam.boat.task import Sampling, read_as
from hornbeam.datasets import generate
from hornbeam.growth import Parameters
from hornbeam_experiments.boat.curves import compare, records_of
from hornbeam_experiments.boat.people import write
from hornbeam_experiments.boat.plan import Plan
from hornbeam_experiments.records import Cell, Sheet

VALUES = 81
EXTRA = 4  # attributes that say nothing, so that there is something to disagree on


def unstable(plan: Plan) -> tuple[Sheet, Sheet, Sheet]:
    """(the impurity by cut, where the bootstrap trees cut, what the contestants took)."""
    curve: list[dict[str, Cell]] = []
    cuts: list[dict[str, Cell]] = []
    works: list[dict[str, Cell]] = []
    for title, tilt in (("equal quarters", 0.0), (f"first quarter {100 * plan.tilt:g} % larger", plan.tilt)):
        plan.tell(f"figure 12: {title}")
        with TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            write(iter(generate("instability", plan.middle, seed=1, tilt=tilt, extra=EXTRA)), path)
            curve += impurities(title, path)
            cuts += bootstrap_cuts(plan, title, path)
            works += records_of(title, "rows", plan.middle, compare(plan, title, [path]))
    return Sheet.of("figure-12", curve), Sheet.of("figure-12-cuts", cuts), Sheet.of("figure-12-work", works)


def impurities(title: str, path: Path) -> list[dict[str, Cell]]:
    """Gini's impurity after each cut of x, of all rows."""
    table = parquet.read_table(path, columns=["x", "class"])
    of_a = np.asarray(table["class"]) == "A"
    x = np.asarray(table["x"])
    counts = np.stack([np.bincount(x[side], minlength=VALUES) for side in (of_a, ~of_a)])
    left = counts.cumsum(axis=1)[:, :-1]
    right = counts.sum(axis=1)[:, None] - left
    after = (_impure_rows(left) + _impure_rows(right)) / len(x)
    return [{"set": title, "cut": cut, "impurity": float(value)} for cut, value in enumerate(after)]


def _impure_rows(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Rows of a side times its impurity."""
    total = counts.sum(axis=0)
    impure: npt.NDArray[np.float64] = total - (counts.astype(np.float64) ** 2).sum(axis=0) / np.maximum(
        total, 1
    )
    return impure


def bootstrap_cuts(plan: Plan, title: str, path: Path) -> list[dict[str, Cell]]:
    """How many of the bootstrap trees cut x where, at their roots."""
    how = Sampling(**plan.sampling)
    reading = read_as(hornbeam.source(str(path)), ("class",), True, (), None, None)
    found = survey(reading, how.sample, 0)
    parameters = Parameters(min_samples_split=plan.stop)
    drawn = grow_bootstraps(found.sample, found.sample_target, parameters, found.rows, how, 0, 1)
    cuts = Counter(int(tree.arrays["threshold_integer"][0]) for tree in drawn.trees)
    return [{"set": title, "cut": cut, "bootstrap trees": number} for cut, number in sorted(cuts.items())]
