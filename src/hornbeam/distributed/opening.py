"""`hornbeam.source`: any source, and who scans it; frames of Dask, whose partitions are parts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hornbeam.distributed.spark_engine import SparkEngine
from hornbeam.distributed.spark_frames import is_spark_frame, open_spark
from hornbeam.distributed.spark_session import is_master, is_session, spark_engine
from hornbeam.errors import DataError, UsageError
from hornbeam.table.sources import Source
from hornbeam.table.sources import source as open_source
from hornbeam.table.sources.arrow_data import ArrowPart, TablePart
from hornbeam.table.sources.duckdb_queries import DATABASE_MEMORY
from hornbeam.table.sources.part import Batches, Origin, Part, choose, show_count
from hornbeam.table.sources.types import normal_schema

if TYPE_CHECKING:
    from hornbeam.boat.scans import Scanner

_UNORDERED = "its rows have no numbers, so folds need a key"


def is_dask_frame(data: Any) -> bool:
    """Whether something is a frame of Dask, without importing it."""
    module = type(data).__module__
    return module.startswith(("dask.", "dask_expr.")) and hasattr(data, "to_delayed")


@dataclass(frozen=True)
class DaskPart(ArrowPart):
    """A partition of a frame. Where an engine makes its rows, they come to it on the worker."""

    delayed: Any

    def read(self, columns: list[str], chunk_rows: int, chunk_bytes: int) -> Batches:
        yield from self.of(self.delayed.compute(scheduler="synchronous")).read(
            columns, chunk_rows, chunk_bytes
        )

    def of(self, frame: Any) -> Part:
        """The same part with its rows."""
        table = _table(frame, self.shown)
        return TablePart(self.index, self.shown, self.schema, self.rows, self.first_row, None, table)


def open_dask(data: Any, columns: Sequence[str] | None) -> Origin:
    """A source over a frame of Dask."""
    partitions = data.to_delayed()
    shown = f"the Dask frame of {show_count(len(partitions), 'partition')}"
    schema = choose(normal_schema(_schema(data, partitions, shown), shown), columns)
    parts = tuple(
        DaskPart(i, f"partition {i} of {shown}", schema, None, None, None, delayed)
        for i, delayed in enumerate(partitions)
    )
    return Origin(shown, "Dask frame", schema, parts, ordered=False, cannot=(_UNORDERED,))


def _schema(data: Any, partitions: Sequence[Any], shown: str) -> pa.Schema:
    """The types that Dask tells; of columns of objects those that the first partition has."""
    schema = _table(data._meta, shown).schema
    unknown = [field.name for field in schema if pa.types.is_null(field.type)]
    if not unknown or not partitions:
        return schema
    first = _table(partitions[0].compute(), shown).schema
    for name in unknown:
        schema = schema.set(schema.get_field_index(name), first.field(name))
    return schema


def _table(frame: Any, shown: str) -> pa.Table:
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataError(
            f"{shown} cannot be read as an Arrow table: {error}; give each column one type"
        ) from None
    return table.replace_schema_metadata(None)


_ALLOWED = (
    "'threads', 'dask', a Dask client, the address of a Dask scheduler (tcp://...), 'spark', "
    "a Spark session, or the address of a Spark master (spark://...)"
)


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
    that are started here; a Dask client, or the address of a scheduler; "spark", the session that this
    process has, or one that is started here; a Spark session, or the address of a master. Frames of Dask are
    scanned by the client that Dask has, those of Spark by their session.
    """
    if is_dask_frame(data) or is_spark_frame(data):
        whose, opened = ("Dask", open_dask) if is_dask_frame(data) else ("Spark", open_spark)
        for name, given in (("sql", sql), ("table", table), ("types", types)):
            if given is not None:
                raise UsageError(f"{name}= is not for frames of {whose}; choose and cast columns there")
        made = Source(opened(data, columns), weight)
    else:
        made = open_source(
            data, sql=sql, table=table, columns=columns, weight=weight, types=types, memory_limit=memory_limit
        )
    made.engine = engine_of(engine, data)
    return made


def engine_of(given: Any, data: Any = None, workers: int | None = None, address: str | None = None) -> Any:
    """The engine that someone names, at an address where that is known, or gives; None: this process."""
    if is_spark_frame(data):
        return _session_of(data, given)
    if given is None and is_dask_frame(data):
        return _client_of_dask()
    if given is None or (isinstance(given, str) and given == "threads"):
        return None
    if all(hasattr(given, verb) for verb in ("map", "reduce", "shuffle", "cancel", "parts")):
        return given
    if (isinstance(given, str) and (given == "spark" or is_master(given))) or is_session(given):
        return spark_engine(address if given == "spark" else given, workers=workers or os.cpu_count() or 1)
    if (isinstance(given, str) and (given == "dask" or "://" in given)) or _is_client(given):
        from hornbeam.distributed.dask_engine import dask_engine

        return dask_engine(address if given == "dask" else given, workers=workers or os.cpu_count() or 1)
    raise UsageError(f"engine={given!r}; allowed are {_ALLOWED}")


def _client_of_dask() -> Any:
    """The client that Dask has; without one a frame is read here, partition by partition."""
    from hornbeam.distributed.dask_engine import DaskEngine, default_client

    client = default_client()
    return None if client is None else DaskEngine(client)


def _session_of(frame: Any, given: Any) -> Any:
    """The session of a frame; nobody else can make its rows."""
    session = frame.sparkSession
    mine = given is None or given == "spark" or given is session
    if not mine and not isinstance(given, SparkEngine):
        raise UsageError(
            f"engine={given!r}; a frame of Spark is scanned by its own session: leave engine= out"
        )
    return given if isinstance(given, SparkEngine) else SparkEngine(session)


def _is_client(given: Any) -> bool:
    return type(given).__module__.startswith("distributed.") and hasattr(given, "submit")


def limit_for(source: Source, limit: int | None) -> int | None:
    """What may be allocated; of a cluster that says so, what each of its tasks may, if there is room here."""
    from hornbeam.boat.meter import available_memory
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
