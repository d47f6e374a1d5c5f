"""How bagged trees grow from a source: bags drawn row by row, all trees in the same scans."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hornbeam.arguments import generator, threads_of
from hornbeam.ensemble import Bags, Committee, OutsideSums, SourceBags, draw_source_bags
from hornbeam.growth import ClassTarget, NumericTarget, Target, check_class_weight

from .from_source import SourceCosts, memory_for, scanner_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hornbeam.boat.grown import SourceGrowth
    from hornbeam.boat.meter import Listener
    from hornbeam.boat.stats import SourceStats
    from hornbeam.boat.task import SourceTask
    from hornbeam.growth import Forest, Parameters, Pruning
    from hornbeam.model import Tree
    from hornbeam.table import Schema
    from hornbeam.table.sources import Source
    from hornbeam.table.sources.draws import RowDraws


class BagsFromSource(SourceCosts):
    """`fit_source` of bagged trees."""

    n_estimators: int
    max_samples: Any
    bootstrap: bool
    oob_score: bool
    nominal_features: Any
    random_state: Any
    n_jobs: int | None
    voting: Any
    bags_: Bags
    estimators_: list[Any]
    forest_: Forest
    oob_score_: float
    scan_stats_: SourceStats
    _task: str
    _outside: str
    """The attribute that keeps what the rows outside were told."""

    if TYPE_CHECKING:  # what the estimators add

        def _checked(self) -> tuple[Parameters, Pruning]: ...
        def _check_outside(self) -> None: ...
        def _remember(self, schema: Schema) -> None: ...
        def _learn(self, target: Target) -> dict[str, Any]: ...
        def _members(self, forest: Forest, learned: dict[str, Any]) -> list[Any]: ...

    def fit_source(
        self,
        src: Source,
        *,
        target: Any,
        memory_limit: str | int | None = None,
        algorithm: str = "auto",
        key: str | None = None,
        progress: Listener | None = None,
    ) -> Self:
        """Draw bags from the rows of a source (`hornbeam.source`), and grow a tree from each.

        Parameters
        ----------
        src : Source
            `nominal_features` must be names here; a `weight` column is refused.
        target : str or list of str
            The column of the class, or the column or columns of numbers.
        memory_limit : str, int or None, default=None
            What may be allocated: bytes, or a text such as "500MB"; at least 32MB. As many bags grow in the
            same scans as have 32MB each.
        algorithm : str, default="auto"
            "memory", "rf_hybrid", "rf_write", "rf_read" or "rf_vertical" (docs/boat.md), or the one that the
            size of the rows calls for; the trees do not depend on it.
        key : str or None, default=None
            The column that bags draw rows by, those of equal keys together; never an attribute. Without one,
            row numbers do, which frames and queries do not have.
        progress : callable or None, default=None
            Hears of each scan ten times a second: a `hornbeam.boat.meter.Progress`.

        The bags are not those of `fit`: each has every row by Poisson's law, or, without `bootstrap`, by the
        share `max_samples` (docs/bagging.md). `scan_stats_` then says what it took; of the rows outside the
        bags only `oob_score_` is kept.
        """
        from hornbeam.boat.growth import grow_source

        self._check_outside()
        task = self._source_task(src, target, memory_limit, algorithm, key, progress)
        growth = grow_source(task)
        bags = task.bags
        assert bags is not None
        # Nothing changes before all is there.
        self._remember(growth.schema)
        self.bags_ = SourceBags(
            growth.rows,
            bags.expected(growth.rows),
            np.array(bags.seeds, dtype=np.int64),
            bags.replace,
            rate=bags.rate,
            keyed=key is not None,
        )
        self.forest_ = growth.forest
        self.estimators_ = self._members(self.forest_, self._learn(_no_rows(growth, task)))
        self.scan_stats_ = growth.stats
        for name in ("oob_score_", self._outside):
            self.__dict__.pop(name, None)
        if growth.outside is not None:
            self._keep_sums(growth.outside)
        return self

    def _source_task(
        self,
        src: Source,
        target: Any,
        memory_limit: str | int | None,
        algorithm: str,
        key: str | None,
        progress: Listener | None,
    ) -> SourceTask:
        from hornbeam.boat.task import (
            SourceTask,
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
        reading = read_as(source, check_targets(target), of_classes, nominal, check_key(key), limit)
        bags = draw_source_bags(
            source.rows,
            self.n_estimators,
            generator(self.random_state),
            max_samples=self.max_samples,
            bootstrap=self.bootstrap,
        )
        return SourceTask(
            reading,
            parameters,
            pruning,
            costs=self._source_costs,
            memory_limit=limit,
            algorithm=algorithm,
            bags=bags,
            outside=self._outside_of(bags) if self.oob_score else None,
            threads=threads_of(self.n_jobs),
            progress=progress,
            scanner=scanner_for(source),
        )

    def _outside_of(self, bags: RowDraws) -> Any:
        threads, voting = threads_of(self.n_jobs), self.voting

        def sums(trees: Sequence[Tree]) -> OutsideSums:
            return OutsideSums(Committee(trees, voting), bags, threads)

        return sums

    def _keep_sums(self, outside: Any) -> None:
        self.oob_score_ = outside.score
        if outside.known < outside.rows:
            warnings.warn(
                "Some inputs do not have OOB scores. This probably means too few estimators were used "
                "to compute any reliable oob estimates.",
                UserWarning,
                stacklevel=3,
            )


def _no_rows(growth: SourceGrowth, task: SourceTask) -> Target:
    """What the target of all rows was, without the rows."""
    if growth.labels is not None:
        return ClassTarget(np.empty(0, dtype=np.int32), growth.labels)
    names = task.reading.targets
    return NumericTarget(np.empty((0, len(names))), names)
