"""How well a tree answers on new rows, estimated by folds: the accuracy or R² of each fold's tree."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from hornbeam.errors import DataError
from hornbeam.growth import (
    ClassTarget,
    Forest,
    HowToGrow,
    Pair,
    Parameters,
    Pruning,
    Target,
    TrainingSets,
    grow_sets,
)
from hornbeam.model import RoutedTable
from hornbeam.table import Table
from hornbeam.validation.folds import FoldNumbers, rows_by_fold
from hornbeam.validation.measures import plain_measure, score_of


@dataclass(frozen=True)
class Estimate:
    """The score of each fold's tree on the rows that it was not grown from; NaN where it has no such rows, or
    there are no others to grow a tree from."""

    measure: str
    """"accuracy" or "r2"."""
    scores: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Of the folds that have a score."""
        return float(np.mean(self._known))

    @property
    def spread(self) -> float:
        """The standard deviation of the scores over the folds that have one."""
        return float(np.std(self._known))

    @property
    def folds(self) -> int:
        return len(self.scores)

    @property
    def judged(self) -> int:
        """How many folds have a score."""
        return len(self._known)

    @property
    def _known(self) -> list[float]:
        return [score for score in self.scores if not math.isnan(score)]


def small_fold(k: int, rows: int) -> DataError:
    """The one line for a fold whose numbers cannot be judged."""
    return DataError(f"{k} folds of {rows} rows: R² needs two rows a fold; use at most {rows // 2}")


def estimate_by_folds(
    table: Table,
    target: Target,
    parameters: Parameters,
    folds: FoldNumbers,
    *,
    pruning: Pruning,
    seed: int,
    **how: Unpack[HowToGrow],
) -> tuple[Forest, Estimate]:
    """Grow the tree of all rows and that of each fold, and score every fold on its own rows."""
    k = int(folds.max()) + 1
    if not isinstance(target, ClassTarget) and int(np.bincount(folds, minlength=k).min()) < 2:
        raise small_fold(k, table.n_rows)
    kept_out = rows_by_fold(folds, k)
    routed, scores, measure = RoutedTable(table), [0.0] * k, plain_measure(target)

    def judge(i: int, pair: Pair) -> None:
        if i > 0:
            rows = kept_out[i - 1]
            leaves = routed.leaves(pair.tree, rows, how.get("threads", 1))
            scores[i - 1] = score_of(measure, pair.tree, leaves, rows)

    forest = grow_folds(table, target, parameters, folds, k, pruning=pruning, seed=seed, visit=judge, **how)
    return forest, Estimate("accuracy" if isinstance(target, ClassTarget) else "r2", tuple(scores))


def grow_folds(
    table: Table,
    target: Target,
    parameters: Parameters,
    folds: FoldNumbers,
    k: int,
    *,
    pruning: Pruning,
    seed: int,
    visit: Callable[[int, Pair], None] | None = None,
    **how: Unpack[HowToGrow],
) -> Forest:
    """Grow the tree of all rows and that of each of k folds, which may be empty; `visit` sees each."""
    sets = TrainingSets.of_folds(table.n_rows, rows_by_fold(folds, k))
    drawn = int(np.random.RandomState(seed).randint(2**31 - 1)) if pruning.holds_out else 0
    return grow_sets(
        table,
        target,
        parameters,
        sets,
        pruning=pruning,
        random=[drawn] * (k + 1),
        visit=visit,
        **how,
    )
