"""How well a tree answers on new rows, estimated by folds: the accuracy or R² of each fold's tree."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hornbeam.errors import DataError
from hornbeam.growth import (
    ClassTarget,
    Engine,
    Forest,
    Pair,
    Parameters,
    Pruning,
    Target,
    TrainingSet,
    TrainingSets,
    grow_sets,
)
from hornbeam.model import RoutedTable
from hornbeam.table import Table
from hornbeam.validation.folds import FoldNumbers, rows_by_fold
from hornbeam.validation.scores import score_rows


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
    threads: int = 1,
    memory_limit: int | None = None,
    report: Callable[[float], None] | None = None,
    engine: Engine | None = None,
) -> tuple[Forest, Estimate]:
    """Grow the tree of all rows and that of each fold, and score every fold on its own rows."""
    k = int(folds.max()) + 1
    if not isinstance(target, ClassTarget) and int(np.bincount(folds, minlength=k).min()) < 2:
        raise small_fold(k, table.n_rows)
    kept_out = rows_by_fold(folds, k)
    routed, scores = RoutedTable(table), [0.0] * k

    def judge(i: int, pair: Pair) -> None:
        if i > 0:
            scores[i - 1] = score_rows(pair.tree, routed, target, kept_out[i - 1], threads)

    forest = grow_folds(
        table,
        target,
        parameters,
        folds,
        k,
        pruning=pruning,
        seed=seed,
        threads=threads,
        memory_limit=memory_limit,
        report=report,
        engine=engine,
        visit=judge,
    )
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
    threads: int = 1,
    memory_limit: int | None = None,
    report: Callable[[float], None] | None = None,
    engine: Engine | None = None,
    visit: Callable[[int, Pair], None] | None = None,
) -> Forest:
    """Grow the tree of all rows and that of each of k folds, which may be empty; `visit` sees each."""
    each = (TrainingSet(table.n_rows, left_out=rows) for rows in rows_by_fold(folds, k))
    sets = TrainingSets(table.n_rows, (TrainingSet(table.n_rows), *each))
    drawn = int(np.random.RandomState(seed).randint(2**31 - 1)) if pruning.holds_out else 0
    return grow_sets(
        table,
        target,
        parameters,
        sets,
        pruning=pruning,
        random=[drawn] * sets.n_sets,
        threads=threads,
        engine=engine,
        memory_limit=memory_limit,
        report=report,
        visit=visit,
    )
