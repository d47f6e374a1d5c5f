"""The growth that all folds of a cross-validation share, and what an estimator must have to take part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import KFold

from hornbeam.growth import (
    Engine,
    Forest,
    Pair,
    Parameters,
    Pruning,
    Target,
    TrainingSet,
    bytes_of,
    grow_sets,
)
from hornbeam.model import RoutedTable
from hornbeam.table import Table
from hornbeam.validation.scoring import part_of
from hornbeam.validation.splits import Splits, metadata_of, rows_of, splits_of, splitter_of


class SharesGrowth(Protocol):
    """An estimator whose folds can grow together: the tree estimators, where `_shares_growth` holds."""

    n_jobs: int | None

    @property
    def _shares_growth(self) -> bool: ...

    def _reads(self, X: Any, y: Any, **params: Any) -> tuple[Table, Target]:
        """The table and target of a call to fit."""

    def _checked(self) -> tuple[Parameters, Pruning]:
        """How trees are grown and pruned."""

    def _seeds(self, n_folds: int, fitting: bool) -> list[int]:
        """What the tree of all rows draws its validation rows by, and what the folds' trees do."""

    def _threads(self, n_jobs: int | None) -> int:
        """The number of threads that n_jobs, or without it the estimator's own, stands for."""

    def _grown(self, pair: Pair, target: Target, rows: TrainingSet | None) -> Any:
        """A new estimator fitted with the trees of a training set; None: of all rows."""


def shares_growth(estimator: Any) -> bool:
    """Whether the folds of an estimator can grow together."""
    return getattr(estimator, "_shares_growth", False) is True  # of a class it is a property


@dataclass(eq=False)
class SharedWork:
    """One cross-validation of a tree estimator, read and ready to grow."""

    estimator: SharesGrowth
    X: Any
    y: Any
    table: Table
    target: Target
    splits: Splits
    parameters: Parameters
    pruning: Pruning
    engine: Engine
    memory_limit: int | None
    threads: int
    score_params: Mapping[str, Any] = field(default_factory=dict)
    reading: float = 0.0
    """Seconds that it took to come so far."""

    @classmethod
    def of(
        cls,
        caller: str,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        cv: Any,
        groups: Any,
        params: Mapping[str, Any] | None,
        scorer: Any,
        algorithm: str,
        memory_limit: int | str | None,
        n_jobs: int | None,
        keep_indices: bool = False,
    ) -> SharedWork:
        """Read what scikit-learn's functions are given."""
        begin = perf_counter()
        checked, limit, threads = estimator._checked(), bytes_of(memory_limit), estimator._threads(n_jobs)
        X, y = rows_of(X, y)
        # Numbers and lists of splits ask for no metadata, and become splitters once the target is known.
        asking = cv if hasattr(cv, "split") else KFold()
        metadata = metadata_of(caller, estimator, asking, scorer, groups, params)
        table, target = estimator._reads(X, y, **metadata.fit)
        splitter = splitter_of(cv, y, target)
        splits = splits_of(splitter, X, y, target, metadata.split, keep=keep_indices)
        splits.sets.checked(algorithm)
        return cls(
            estimator=estimator,
            X=X,
            y=y,
            table=table,
            target=target,
            splits=splits,
            parameters=checked[0],
            pruning=checked[1],
            engine=Engine(algorithm=algorithm),
            memory_limit=limit,
            threads=threads,
            score_params=metadata.score,
            reading=perf_counter() - begin,
        )

    @cached_property
    def routed(self) -> RoutedTable:
        """The table, ready to go down the trees."""
        return RoutedTable(self.table)

    @property
    def n_folds(self) -> int:
        return len(self.splits.tests)

    def grow(
        self, visit: Callable[[int, Pair], None], *, keep_failures: bool = True, fitting: bool = False
    ) -> Forest:
        """Grow set 0 and the folds; `visit` sees each as soon as it is there. `fitting`: the estimator itself
        is being fitted, so that its random_state is used up."""
        return grow_sets(
            self.table,
            self.target,
            self.parameters,
            self.splits.sets,
            pruning=self.pruning,
            random=self.estimator._seeds(self.n_folds, fitting) if self.pruning.holds_out else None,
            threads=self.threads,
            engine=self.engine,
            memory_limit=self.memory_limit,
            visit=visit,
            keep_failures=keep_failures,
        )

    def model(self, i: int, pair: Pair) -> Any:
        """The fitted estimator of a set."""
        rows = self.splits.sets[i] if i > 0 else None
        return self.estimator._grown(pair, self.target, rows)

    def part(self, rows: npt.NDArray[np.int64]) -> Any:
        """Some rows of X, as it was given."""
        return part_of(self.X, self.table.n_rows, rows)

    def test_rows(self, i: int) -> npt.NDArray[np.int64]:
        """The rows that judge set i, from 1."""
        return self.splits.tests[i - 1]
