"""`hornbeam fit` over a source: files of a glob or folder, databases, or any file by --algorithm, scanned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.boat.growth import grow_source
from hornbeam.boat.meter import Listener
from hornbeam.boat.task import SourceTask, check_memory, read_as
from hornbeam.distributed.dask_engine import quiet
from hornbeam.distributed.opening import engine_of, limit_for, scanner_for
from hornbeam.distributed.spark_session import is_master
from hornbeam.errors import UsageError
from hornbeam.estimators.store import CLASSIFIER, REGRESSOR
from hornbeam.growth import ClassCosts, Pruning
from hornbeam.report import errors_of_leaves, score_leaves
from hornbeam.table.sources import Source, source

from .learn import Learned, model_of
from .output import scanning
from .plan import Plan, Settings, check_nominal, check_parameters, check_pruning, check_weights, without
from .targets import MOST_INTEGER_CLASSES, check_target_names, task_of

_DATABASE = 10**9  # bytes that DuckDB may hold at most; less where the limit is less


def learn_source(
    data: str,
    sql: str | None,
    plan: Plan,
    *,
    algorithm: str | None = None,
    key: str | None = None,
    variant: str | None = None,
    engine: str | None = None,
    scheduler: str | None = None,
) -> Learned:
    """The tree of the rows of a source; whoever waits sees each scan."""
    if plan.test is not None:
        raise UsageError("--test: rows of a source are judged by folds; use --cv K, or leave it out")
    with scanning() as listener, cluster(engine, scheduler, plan.threads) as workers:
        rows = open_source(data, sql, plan)
        rows.engine = workers
        task, settings = settle_source(rows, plan, key, listener)
        growth = grow_source(replace(task, algorithm=algorithm or "auto", variant=variant))
    tree, grown = growth.pairs[0]
    kind = CLASSIFIER if task.reading.classification else REGRESSOR
    return Learned(
        model_of(kind, tree, None if tree is grown else grown, settings),
        growth.sample,
        plan,
        score_leaves(tree),
        growth.stats.total_seconds,
        settings.draws,
        errors=errors_of_leaves(tree),
        estimate=growth.estimate,
        growth=growth,
    )


@contextmanager
def cluster(engine: str | None, scheduler: str | None, workers: int) -> Iterator[Any]:
    """The engine that was asked for, or None; what was started for it ends here."""
    if engine not in (None, "threads", "dask", "spark"):
        raise UsageError(f"--engine {engine!r}; allowed are threads, dask and spark")
    if scheduler is None and engine in (None, "threads"):
        yield None
        return
    if engine == "threads":
        raise UsageError("--scheduler is for --engine dask and spark, not 'threads'")
    if engine is None and "://" not in str(scheduler) and not is_master(str(scheduler)):
        raise UsageError(
            f"--scheduler {scheduler!r}; give the address of a Dask scheduler (tcp://...) or of a Spark "
            "master (spark://...)"
        )
    asked = engine or str(scheduler)
    with nullcontext() if asked == "spark" or is_master(asked) else quiet():
        made = engine_of(asked, workers=workers if workers > 1 else None, address=scheduler)
        try:
            yield made
        finally:
            made.close()


def open_source(data: str | Sequence[str], sql: str | None, plan: Plan) -> Source:
    """The rows that were asked for; a database holds no more of them than the limit of all."""
    limit = check_memory(plan.memory_limit)
    database = _DATABASE if limit is None else min(limit, _DATABASE)
    return source(data, sql=sql, weight=plan.weight, memory_limit=database)


def settle_source(
    rows: Source, plan: Plan, key: str | None, listener: Listener | None = None
) -> tuple[SourceTask, Settings]:
    """What to grow; whatever does not fit the columns is refused before a row is read."""
    limit = limit_for(rows, check_memory(plan.memory_limit))
    columns = rows.schema.empty_table()
    check_target_names(rows.schema.names, plan.targets)
    check_nominal(columns, plan)
    task = plan.task or _task_of(rows, plan.targets)
    options = {entry.name for entry in fields(Pruning)}
    parameters = check_parameters(without(plan.parameters, options), task)
    pruning = check_pruning(without(plan.parameters, set(plan.parameters) - options), task)
    check_weights(columns, plan, task)
    reading = read_as(rows, plan.targets, task == "classification", plan.nominal_features, key, limit)

    grown = SourceTask(
        reading,
        parameters,
        pruning,
        partial(ClassCosts.checked, plan.class_weight, None),
        limit,
        folds=plan.cv,
        threads=plan.threads if rows.engine is None else 1,  # a worker has one for a task
        scanner=scanner_for(rows),
        seed=plan.seed,
        progress=listener,
    )
    return grown, Settings(parameters, pruning, plan, None, limit)


def _task_of(rows: Source, targets: tuple[str, ...]) -> str:
    """As for tables; the values of a whole number are counted in a scan of it alone, up to the first that is
    too many."""
    if len(targets) > 1:
        return "regression"
    return task_of(rows.schema.field(targets[0]).type, lambda: _values(rows, targets[0]))


def _values(rows: Source, target: str) -> int:
    if not rows.repeatable:
        raise UsageError("--task: the source can be read once only; say classification or regression")
    found: set[int] = set()
    chunks = rows.scan([target], checksum=False)
    for chunk in chunks:
        values: NDArray[np.int64] = np.unique(chunk.column(0).drop_null().to_numpy(zero_copy_only=False))
        found.update(values[: MOST_INTEGER_CLASSES + 1].tolist())
        if len(found) > MOST_INTEGER_CLASSES:
            break
    close: Any = getattr(chunks, "close", None)
    if close is not None:
        close()
    return len(found)
