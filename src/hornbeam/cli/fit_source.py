"""`hornbeam fit` over a source: files of a glob or folder, databases, or any file by --algorithm, scanned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
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
from hornbeam.growth import ClassCosts
from hornbeam.report import judge_leaves
from hornbeam.table.sources import Source, source

from .learn import Learned, learned_of, model_of
from .output import scanning
from .request import FitRequest, Settings, check_nominal, check_weights, tree_parameters
from .targets import MOST_INTEGER_CLASSES, check_target_names, task_of

_DATABASE = 10**9  # bytes that DuckDB may hold at most; less where the limit is less


def learn_source(
    data: str,
    sql: str | None,
    request: FitRequest,
    *,
    algorithm: str | None = None,
    key: str | None = None,
    variant: str | None = None,
    engine: str | None = None,
    scheduler: str | None = None,
) -> Learned:
    """The tree of the rows of a source; whoever waits sees each scan."""
    if request.test is not None:
        raise UsageError("--test: rows of a source are judged by folds; use --cv K, or leave it out")
    with scanning() as listener, cluster(engine, scheduler, request.threads) as workers:
        rows = open_source(data, sql, request)
        rows.engine = workers
        task, settings = settle_source(rows, request, key, listener)
        growth = grow_source(replace(task, algorithm=algorithm or "auto", variant=variant))
    return learned_of(
        model_of(growth.pairs[0], settings),
        request,
        growth.stats.total_seconds,
        settings.draws,
        table=growth.sample,
        estimate=growth.estimate,
        growth=growth,
        **judge_leaves(growth.pairs[0].tree),
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


def open_source(data: str | Sequence[str], sql: str | None, request: FitRequest) -> Source:
    """The rows that were asked for; a database holds no more of them than the limit of all."""
    limit = check_memory(request.memory_limit)
    database = _DATABASE if limit is None else min(limit, _DATABASE)
    return source(data, sql=sql, weight=request.weight, memory_limit=database)


def settle_source(
    rows: Source, request: FitRequest, key: str | None, listener: Listener | None = None
) -> tuple[SourceTask, Settings]:
    """What to grow; whatever does not fit the columns is refused before a row is read."""
    limit = limit_for(rows, check_memory(request.memory_limit))
    columns = rows.schema.empty_table()
    check_target_names(rows.schema.names, request.targets)
    check_nominal(columns, request)
    task = request.task or _task_of(rows, request.targets)
    parameters, pruning = tree_parameters(request, task)
    check_weights(columns, request, task)
    reading = read_as(rows, request.targets, task == "classification", request.nominal_features, key, limit)

    grown = SourceTask(
        reading,
        parameters,
        pruning,
        partial(ClassCosts.checked, request.class_weight, None),
        limit,
        folds=request.cv,
        threads=request.threads if rows.engine is None else 1,  # a worker has one for a task
        scanner=scanner_for(rows),
        seed=request.seed,
        progress=listener,
    )
    return grown, Settings(parameters, pruning, request, None, limit)


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
