"""Queries of PostgreSQL, streamed by its Arrow driver (ADBC), which is not installed with Hornbeam."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hornbeam.errors import StorageError, UsageError, first_line
from hornbeam.table.sources.part import Batches, Origin, choose
from hornbeam.table.sources.queries import NO_NUMBERS, QueryPart, query_failed, query_of, quoted, show_query
from hornbeam.table.sources.types import normal_schema

PREFIXES = ("postgresql://", "postgres://")
_TABLES = "select table_name from information_schema.tables where table_schema = any(current_schemas(false))"


@dataclass(frozen=True)
class PostgreSQLPart(QueryPart):
    """A query of a PostgreSQL server; `place` is its address, password and all, and never shown."""

    def read(self, columns: list[str], chunk_rows: int, chunk_bytes: int) -> Batches:
        with _cursor(self.place) as cursor:
            cursor.execute(_wrapped(", ".join(map(quoted, columns)), self.sql))
            for batch in cursor.fetch_record_batch():
                yield batch, batch.nbytes

    def failures(self) -> tuple[type[Exception], ...]:
        return *super().failures(), _driver().Error


def open_postgresql(place: str, sql: str | None, table: str | None, columns: Sequence[str] | None) -> Origin:
    """A source over a query of a PostgreSQL server."""
    driver, safe = _driver(), _without_password(place)
    with _cursor(place) as cursor:
        try:
            tables: list[str] = []
            if sql is None:
                cursor.execute(_TABLES)
                tables = [row[0] for row in cursor.fetchall()]
            query = query_of(safe, sql, table, tables)
            shown = show_query(safe, query)
            cursor.execute(_wrapped("*", query) + " limit 0")
            found = cursor.fetch_record_batch().schema
        except driver.Error as error:
            raise query_failed(show_query(safe, sql or table or ""), error) from None
    schema = choose(normal_schema(found, shown), columns)
    part = PostgreSQLPart(0, shown, schema, None, 0, None, place, query)
    return Origin(shown, "PostgreSQL query", schema, (part,), ordered=False, cannot=(NO_NUMBERS,))


def _driver() -> Any:
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise UsageError(
            "PostgreSQL is read by its Arrow driver, which is not installed; "
            "say: pip install adbc-driver-postgresql"
        ) from None
    return dbapi


def _without_password(place: str) -> str:
    """The address as it may be shown: no password, and no options, which may hold one."""
    return re.sub(r"://([^/@:]*):.*@", r"://\1@", place.partition("?")[0])


def _wrapped(what: str, query: str) -> str:
    return f"select {what} from ({query}\n) as q"


@contextmanager
def _cursor(place: str) -> Iterator[Any]:
    driver = _driver()
    try:
        connection = driver.connect(place)
    except driver.Error as error:
        raise StorageError(
            f"{_without_password(place)!r} cannot be reached: {first_line(error)}; check the address"
        ) from None
    try:
        with connection.cursor() as cursor:
            yield cursor
    finally:
        connection.close()
