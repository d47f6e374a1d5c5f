"""Queries of DuckDB, streamed: the database is opened read-only for each scan and nothing is materialised."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from hornbeam.errors import StorageError, UsageError
from hornbeam.table.refusals import check_readable
from hornbeam.table.sources.arrow_data import first_line
from hornbeam.table.sources.origin import Origin
from hornbeam.table.sources.part import Batches, choose
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


def open_duckdb(
    place: str, sql: str | None, table: str | None, columns: Sequence[str] | None, memory: str | int
) -> Origin:
    """A source over a query of a DuckDB database file, or of no file at all (":memory:")."""
    import duckdb

    if place != MEMORY:
        check_readable(Path(place))
    limit = f"{memory}B" if isinstance(memory, int) else memory
    with _connected(place, limit) as connection:
        tables = [row[0] for row in connection.execute("show tables").fetchall()]
        query = query_of(place, sql, table, tables)
        shown = show_query(place, query)
        try:
            relation: Any = connection.sql(query)
            if relation is None:
                raise UsageError(f"{shown}: the statement gives no rows; sql must be a query (select ...)")
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
            raise UsageError(f"memory_limit={memory!r}; give a text such as '500MB' or '2GB'") from None
        quiet = spilled.replace("'", "''")
        connection.execute(f"set temp_directory = '{quiet}'")
        yield connection
