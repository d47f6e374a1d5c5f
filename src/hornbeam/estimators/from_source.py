"""How a tree estimator grows from a source: rows that need not fit in memory."""

from __future__ import annotations

import numbers
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.arguments import generator, threads_of
from hornbeam.growth import ClassCosts, Forest, Pair, Parameters, Pruning, check_class_weight, draw_seed

if TYPE_CHECKING:
    from collections.abc import Callable

    from hornbeam.boat.meter import Listener
    from hornbeam.boat.scanner import Scanner
    from hornbeam.boat.stats import SourceStats
    from hornbeam.boat.task import SourceTask
    from hornbeam.table.sources import Source


class SourceCosts:
    """What classes weigh and mistakes cost, once the labels of a source are known."""

    @property
    def _source_costs(self) -> Callable[[NDArray[Any]], ClassCosts]:
        from hornbeam.boat.task import no_costs

        return no_costs if self._weighs_alike else self._costs_of

    @property
    def _weighs_alike(self) -> bool:
        """Whether neither classes nor mistakes differ."""
        return all(getattr(self, name, None) is None for name in ("class_weight", "cost_matrix"))

    def _costs_of(self, labels: NDArray[Any]) -> ClassCosts:
        """What classes weigh and mistakes cost."""
        class_weight, matrix = (getattr(self, name, None) for name in ("class_weight", "cost_matrix"))
        return ClassCosts.checked(class_weight, matrix, labels)


class FromSource(SourceCosts):
    """`fit_source` of the tree estimators; what is learned is what `fit` would learn from all rows."""

    cv: Any
    n_jobs: int | None
    nominal_features: Any
    random_state: Any
    scan_stats_: SourceStats
    cv_results_: dict[str, Any]
    forest_: Forest
    _task: str

    if TYPE_CHECKING:  # what the estimators add

        def _checked(self) -> tuple[Parameters, Pruning]: ...
        def _learn(self, pair: Pair, labels: NDArray[Any] | None) -> None: ...
        def _forget_folds(self) -> None: ...

    def fit_source(
        self,
        src: Source,
        *,
        target: Any,
        memory_limit: str | int | None = None,
        algorithm: str = "auto",
        key: str | None = None,
        variant: str | None = None,
        progress: Listener | None = None,
    ) -> Self:
        """Grow the tree from a source (`hornbeam.source`): the very one that `fit` grows from all its rows.

        Parameters
        ----------
        src : Source
            Its `weight` column says what rows weigh; `nominal_features` must be names here.
        target : str or list of str
            The column of the class, or the column or columns of numbers.
        memory_limit : str, int or None, default=None
            What may be allocated: bytes, or a text such as "500MB"; at least 32MB.
        algorithm : str, default="auto"
            How to grow (docs/boat.md); the tree does not depend on it. "memory" reads all rows once.
        key : str or None, default=None
            The column that deals rows to the folds of an integer `cv`; never an attribute. Without one, row
            numbers do.
        variant : {"paper"} or None, default=None
            Of algorithm "boat": as the paper has it.
        progress : callable or None, default=None
            Hears of each scan ten times a second: a `hornbeam.boat.meter.Progress`.

        `scan_stats_` then says what it took.
        """
        from hornbeam.boat.growth import grow_source

        begin = perf_counter()
        task = self._source_task(
            src, target, memory_limit, algorithm=algorithm, key=key, variant=variant, progress=progress
        )
        growth = grow_source(task)
        self._learn(growth.pairs[0], growth.labels)
        self.scan_stats_ = growth.stats
        self._forget_folds()
        if growth.estimate is not None:
            k = growth.estimate.folds
            self.cv_results_ = {
                "fit_time": np.full(k, (perf_counter() - begin) / k),
                "score_time": np.full(k, growth.stats.seconds.get("judging", 0.0) / k),
                "test_score": np.array(growth.estimate.scores),
            }
            self.forest_ = growth.forest
        return self

    def _source_task(
        self, src: Source, target: Any, memory_limit: str | int | None, *, key: str | None = None, **how: Any
    ) -> SourceTask:
        """What is to be grown from a source; refuses what means nothing."""
        from hornbeam.boat.task import (
            SourceTask,
            check_cv,
            check_key,
            check_memory,
            check_nominal,
            check_source,
            check_targets,
            read_as,
        )

        parameters, pruning = self._checked()
        source = check_source(src)
        limit = memory_for(source, check_memory(memory_limit))
        check_class_weight(getattr(self, "class_weight", None))
        nominal = check_nominal(self.nominal_features, source)
        of_classes = self._task == "classification"
        return SourceTask(
            read_as(source, check_targets(target), of_classes, nominal, check_key(key), limit),
            parameters,
            pruning,
            costs=self._source_costs,
            memory_limit=limit,
            folds=check_cv(self.cv),
            threads=threads_of(self.n_jobs),
            seed=_seed(self.random_state),
            scanner=scanner_for(source),
            **how,
        )


def memory_for(source: Source, limit: int | None) -> int | None:
    """What may be allocated; of a cluster that says so, what each of its tasks may, if there is room here."""
    from hornbeam.boat.stats import available_memory
    from hornbeam.boat.task import LEAST_MEMORY

    if limit is not None or source.engine is None:
        return limit
    known: int | None = source.engine.memory
    return None if known is None else max(LEAST_MEMORY, min(known, available_memory() // 2))


def scanner_for(source: Source) -> Scanner | None:
    """Who scans a source: the cluster that it was given, or, None, this process."""
    if source.engine is None:
        return None
    from hornbeam.distributed.scanner import ClusterScanner

    return ClusterScanner(source.engine)


def _seed(random_state: Any) -> int:
    """What draws the sample and deals the folds; None is 0, so that folds are the same in every fit."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral) and -(2**63) <= int(random_state) < 2**63:
        return int(random_state)
    return draw_seed(generator(random_state))
