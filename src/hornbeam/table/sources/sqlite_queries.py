"""Tables and queries of SQLite, by Python's own module; a first pass inside SQLite finds the types."""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa

from hornbeam.errors import DataError, StorageError, first_line
from hornbeam.table.refusals import check_readable
from hornbeam.table.sources.part import Batches, Origin, ScanStats, choose
from hornbeam.table.sources.queries import (
    NO_NUMBERS,
    QueryPart,
    check_query_names,
    query_failed,
    query_of,
    quoted,
    show_query,
)
from hornbeam.table.sources.types import TEXT, normal_schema

MAGIC = b"SQLite format 3\0"
_CELLS = 1 << 17  # fetched at once: each is a Python object
_COLUMNS = 300  # asked for their types together: SQLite allows 2,000 expressions


@dataclass(frozen=True)
class SQLitePart(QueryPart):
    """A query of a SQLite database file."""

    def read(self, columns: list[str], chunk_rows: int, chunk_bytes: int) -> Batches:
        types = [self.schema.field(name).type for name in columns]
        plain = [pa.string() if type_ == TEXT else type_ for type_ in types]
        most = min(chunk_rows, max(1, _CELLS // len(columns)))
        with _connected(self.place) as connection:
            cursor = connection.execute(_wrapped(", ".join(map(quoted, columns)), self.sql))
            while rows := cursor.fetchmany(most):
                cells = zip(*rows, strict=True)
                arrays = [pa.array(column, type_) for column, type_ in zip(cells, plain, strict=True)]
                batch = pa.RecordBatch.from_arrays(arrays, names=columns)
                yield batch, batch.nbytes

    def failures(self) -> tuple[type[Exception], ...]:
        return *super().failures(), sqlite3.Error, TypeError


def is_sqlite(path: str) -> bool:
    """Whether a file begins as SQLite's do."""
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):  # a ValueError where the path has a null character
        return False


def open_sqlite(place: str, sql: str | None, table: str | None, columns: Sequence[str] | None) -> Origin:
    """A source over a table or a query of a SQLite database file."""
    check_readable(Path(place))
    with _connected(place) as connection:
        try:
            listed = connection.execute("select name from sqlite_master where type in ('table', 'view')")
            query = query_of(place, sql, table, [row[0] for row in listed])
            shown = show_query(place, query)
            names = _names(connection, query, shown)
            rows, types = _types(connection, query, names, shown)
        except sqlite3.Error as error:
            raise query_failed(show_query(place, sql or table or ""), error) from None
    schema = choose(normal_schema(pa.schema(list(zip(names, types, strict=True))), shown), columns)
    part = SQLitePart(0, shown, schema, rows, 0, None, place, query)
    asked = -(-len(names) // _COLUMNS)
    return Origin(
        shown,
        "SQLite query",
        schema,
        (part,),
        ordered=False,
        cannot=(NO_NUMBERS, "dates and times come as text"),
        stats=ScanStats(asked, asked * rows),
    )


def _names(connection: sqlite3.Connection, query: str, shown: str) -> tuple[str, ...]:
    described = connection.execute(_wrapped("*", query) + " limit 0").description
    names = [column[0] for column in described]
    # In a query around the query, SQLite calls the second column `a` by the name `a:1`.
    first = {name: re.sub(r":\d+$", "", name) for name in names}
    return check_query_names([first[name] if first[name] in names else name for name in names], shown)


def _types(
    connection: sqlite3.Connection, query: str, names: tuple[str, ...], shown: str
) -> tuple[int, list[pa.DataType]]:
    """The number of rows and the type of each column, which in SQLite only its values tell."""
    types: list[pa.DataType] = []
    count = 0
    for start in range(0, len(names), _COLUMNS):
        some = names[start : start + _COLUMNS]
        asked = [
            f"coalesce(max(typeof({quoted(name)}) = '{kind}'), 0)"
            for name in some
            for kind in ("integer", "real", "text", "blob")
        ]
        count, *found = connection.execute(_wrapped(f"count(*), {', '.join(asked)}", query)).fetchone()
        types += [_type(name, tuple(found[4 * i : 4 * i + 4]), shown) for i, name in enumerate(some)]
    return count, types


def _type(name: str, found: tuple[int, ...], shown: str) -> pa.DataType:
    integer, real, text, blob = found
    if blob or (text and (integer or real)):
        what = "blobs" if blob else "text among numbers"
        raise DataError(
            f"{shown}: column {name!r} has {what}; cast it in the query, for instance cast({name} as text)"
        )
    if text:
        return pa.string()
    if real:
        return pa.float64()
    return pa.int64() if integer else pa.null()


def _wrapped(what: str, query: str) -> str:
    return f"select {what} from ({query}\n)"


@contextmanager
def _connected(place: str) -> Iterator[sqlite3.Connection]:
    try:
        connection = sqlite3.connect(f"file:{quote(str(Path(place).absolute()))}?mode=ro", uri=True)
    except sqlite3.Error as error:
        raise StorageError(f"{place!r} cannot be opened as a SQLite database: {first_line(error)}") from None
    try:
        yield connection
    finally:
        connection.close()
