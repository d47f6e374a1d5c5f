"""What estimators that grow from a source share: rows that need not fit in memory, read as a task."""

from __future__ import annotations

import numbers
from functools import partial
from typing import TYPE_CHECKING, Any

from hornbeam.arguments import generator, is_number, threads_of
from hornbeam.growth import ClassCosts, Forest, check_class_weight, draw_seed

from .table_estimator import TableEstimator

if TYPE_CHECKING:
    from hornbeam.boat.stats import SourceStats
    from hornbeam.boat.task import SourceTask
    from hornbeam.table.sources import Source


class FromSource(TableEstimator):
    """An estimator that has `fit_source`."""

    scan_stats_: SourceStats
    forest_: Forest

    def _task_over(
        self, src: Source, target: Any, memory_limit: str | int | None, key: str | None, **how: Any
    ) -> SourceTask:
        """What is to be grown from a source; refuses what means nothing."""
        from hornbeam.boat.task import (
            SourceTask,
            check_key,
            check_memory,
            check_nominal,
            check_source,
            check_targets,
            read_as,
        )
        from hornbeam.distributed.opening import limit_for, scanner_for

        parameters, pruning = self._checked()
        source = check_source(src)
        limit = limit_for(source, check_memory(memory_limit))
        class_weight, matrix = (getattr(self, name, None) for name in ("class_weight", "cost_matrix"))
        check_class_weight(class_weight)
        nominal = check_nominal(self.nominal_features, source)
        of_classes = self._task == "classification"

        return SourceTask(
            read_as(source, check_targets(target), of_classes, nominal, check_key(key), limit),
            parameters,
            pruning,
            costs=partial(ClassCosts.checked, class_weight, matrix),
            memory_limit=limit,
            threads=threads_of(self.n_jobs),
            scanner=scanner_for(source),
            **how,
        )


def seed_of(random_state: Any) -> int:
    """What draws the sample and deals the folds; None is 0, so that folds are the same in every fit."""
    if random_state is None:
        return 0
    if is_number(random_state, numbers.Integral) and -(2**63) <= int(random_state) < 2**63:
        return int(random_state)
    return draw_seed(generator(random_state))
