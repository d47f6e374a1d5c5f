"""`hornbeam.source`: any source, and who scans it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from hornbeam.distributed.frames import is_dask_frame, open_dask
from hornbeam.errors import UsageError
from hornbeam.table.sources import Source
from hornbeam.table.sources import source as open_source
from hornbeam.table.sources.duckdb_queries import DATABASE_MEMORY

_ALLOWED = "'threads', 'dask', a Dask client, or the address of a Dask scheduler (tcp://...)"


def source(
    data: Any,
    *,
    engine: Any = None,
    sql: str | None = None,
    table: str | None = None,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
    types: Mapping[str, Any] | None = None,
    memory_limit: str | int = DATABASE_MEMORY,
) -> Source:
    """Rows that need not fit in memory, to be scanned as often as a tree needs them.

    `columns` chooses some of them, `weight` names the one that says what a row weighs. `sql` or `table` says
    what to read of a database. `types` gives columns of CSV files a type: text, float64, int64, bool, date or
    timestamp. `memory_limit` is what DuckDB may hold before it spills to disk.

    `engine` says who scans: None or "threads", this process; "dask", the client that Dask has, or processes
    that are started here; a Dask client, or the address of a scheduler. Frames of Dask are scanned by the
    client that Dask has.
    """
    if is_dask_frame(data):
        for name, given in (("sql", sql), ("table", table), ("types", types)):
            if given is not None:
                raise UsageError(f"{name}= is not for frames of Dask; choose and cast columns there")
        made = Source(open_dask(data, columns), weight)
    else:
        made = open_source(
            data, sql=sql, table=table, columns=columns, weight=weight, types=types, memory_limit=memory_limit
        )
    made.engine = engine_of(engine, data)
    return made


def engine_of(given: Any, data: Any = None, workers: int | None = None) -> Any:
    """The engine that someone names or gives; None: this process."""
    if given is None and is_dask_frame(data):
        return _client_of_dask()
    if given is None or (isinstance(given, str) and given == "threads"):
        return None
    if all(hasattr(given, verb) for verb in ("map", "reduce", "shuffle", "cancel", "parts")):
        return given
    if (isinstance(given, str) and (given == "dask" or "://" in given)) or _is_client(given):
        from hornbeam.distributed.dask_engine import dask_engine

        return dask_engine(None if given == "dask" else given, workers=workers or os.cpu_count() or 1)
    raise UsageError(f"engine={given!r}; allowed are {_ALLOWED}")


def _client_of_dask() -> Any:
    """The client that Dask has; without one a frame is read here, partition by partition."""
    from hornbeam.distributed.dask_engine import DaskEngine, default_client

    client = default_client()
    return None if client is None else DaskEngine(client)


def _is_client(given: Any) -> bool:
    return type(given).__module__.startswith("distributed.") and hasattr(given, "submit")
