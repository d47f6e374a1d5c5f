"""Queries of DuckDB, streamed: the database is opened read-only for each scan and nothing is materialised."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from hornbeam.errors import StorageError, UsageError, first_line
from hornbeam.table.refusals import check_readable, refuse_file
from hornbeam.table.sources.part import Batches, Origin, choose
from hornbeam.table.sources.queries import (
    NO_NUMBERS,
    QueryPart,
    check_query_names,
    query_failed,
    query_of,
    quoted,
    show_query,
)
from hornbeam.table.sources.types import normal_schema

MEMORY = ":memory:"
DATABASE_MEMORY = "1GB"


@dataclass(frozen=True)
class DuckDBPart(QueryPart):
    """A query of DuckDB, and what the database may hold in memory before it spills to disk."""

    memory: str

    def read(self, columns: list[str], chunk_rows: int, chunk_bytes: int) -> Batches:
        with _connected(self.place, self.memory) as connection:
            relation = connection.sql(self.sql).project(", ".join(map(quoted, columns)))
            # The older name warns in 2.0, the newer one came with it.
            stream = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
            with stream(chunk_rows) as reader:
                for batch in reader:
                    yield batch, batch.nbytes

    def failures(self) -> tuple[type[Exception], ...]:
        import duckdb

        return *super().failures(), duckdb.Error


def read_duckdb(place: str, sql: str | None) -> pa.Table:
    """All rows of a query of a database file, which is opened read-only."""
    import duckdb

    try:
        connection = duckdb.connect(place, read_only=True)
    except duckdb.Error as error:
        raise refuse_file(place, error, "DuckDB database") from None
    with connection:
        if sql is None:
            tables = ", ".join(_tables(connection)[:8]) or "none"
            raise UsageError(
                f"{place!r} is a database and needs a query (sql='select ...'); its tables are: {tables}"
            )
        try:
            return _relation(connection, sql, repr(place)).to_arrow_table()
        except duckdb.Error as error:
            raise query_failed(repr(place), error) from None


def _tables(connection: Any) -> list[str]:
    return [row[0] for row in connection.execute("show tables").fetchall()]


def _relation(connection: Any, sql: str, shown: str) -> Any:
    relation = connection.sql(sql)
    if relation is None:
        raise UsageError(f"{shown}: the statement gives no rows; sql must be a query (select ...)")
    return relation


def open_duckdb(
    place: str, sql: str | None, table: str | None, columns: Sequence[str] | None, memory: str | int
) -> Origin:
    """A source over a query of a DuckDB database file, or of no file at all (":memory:")."""
    import duckdb

    if place != MEMORY:
        check_readable(Path(place))
    limit = f"{memory}B" if isinstance(memory, int) else memory
    with _connected(place, limit) as connection:
        query = query_of(place, sql, table, _tables(connection))
        shown = show_query(place, query)
        try:
            relation = _relation(connection, query, shown)
            check_query_names(
                relation.columns, shown
            )  # a query around it would call the second one otherwise
            found: pa.Schema = relation.limit(0).to_arrow_table().schema
        except duckdb.Error as error:
            raise query_failed(shown, error) from None
    schema = choose(normal_schema(found, shown), columns)
    part = DuckDBPart(0, shown, schema, None, 0, None, place, query, limit)
    return Origin(shown, "DuckDB query", schema, (part,), ordered=False, cannot=(NO_NUMBERS,))


@contextmanager
def _connected(place: str, memory: str) -> Iterator[Any]:
    import duckdb

    try:
        connection = duckdb.connect(place, read_only=place != MEMORY)
    except duckdb.Error as error:
        raise StorageError(
            f"{place!r} cannot be opened as a DuckDB database: {first_line(error)}; "
            "close it where it is open for writing, or write it again where it is damaged"
        ) from None
    with tempfile.TemporaryDirectory(prefix="hornbeam-") as spilled, connection:
        try:
            connection.execute(f"set memory_limit = '{memory}'")
        except duckdb.Error:
            raise UsageError(
                f"memory_limit={memory!r}; give a text such as '500MB' or '2GB'", parameter="memory_limit"
            ) from None
        quiet = spilled.replace("'", "''")
        connection.execute(f"set temp_directory = '{quiet}'")
        yield connection
