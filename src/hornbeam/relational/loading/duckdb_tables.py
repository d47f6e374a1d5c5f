"""Tables of a DuckDB database, with the keys and references of its constraints."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hornbeam.errors import DataError, DataTypeError, StorageError
from hornbeam.relational.loading.found import Found, choose_tables
from hornbeam.table.refusals import check_readable
from hornbeam.table.sources.arrow_data import first_line
from hornbeam.table.sources.queries import quoted

_WHERE = "by its constraint"


def read_duckdb(place: Any, tables: Sequence[str] | None) -> Found:
    """All tables and views of a database file, which is opened read-only, or of an open connection."""
    import duckdb

    with _connected(place) as (connection, shown):
        try:
            listed = connection.execute(
                "select table_name from information_schema.tables "
                "where table_schema = current_schema() order by table_name"
            ).fetchall()
            chosen = choose_tables(shown, [name for (name,) in listed], _list(tables))
            frames = {table: _rows(connection, table) for table in chosen}
            keys, references = _constraints(connection, chosen)
        except duckdb.Error as error:
            raise DataError(f"{shown}: {first_line(error)}") from None
    where = {f"{table}.{column}": _WHERE for table, column in keys.items()}
    where |= {f"{table}.{column}": _WHERE for table, columns in references.items() for column in columns}
    return Found(frames, keys, references, where)


def _list(tables: Sequence[str] | None) -> list[str] | None:
    return None if tables is None else list(tables)


@contextmanager
def _connected(place: Any) -> Iterator[tuple[Any, str]]:
    import duckdb

    if isinstance(place, duckdb.DuckDBPyConnection):
        with place.cursor() as cursor:
            yield cursor, "the DuckDB connection"
        return
    if not isinstance(place, str | os.PathLike):
        raise DataTypeError(f"a DuckDB database is a path or a connection, not a {type(place).__name__}")
    shown = os.fspath(place)
    check_readable(Path(shown))
    try:
        connection = duckdb.connect(shown, read_only=True)
    except duckdb.Error as error:
        raise StorageError(
            f"{shown!r} cannot be opened as a DuckDB database: {first_line(error)}; close it where it is "
            "open for writing, or write it again where it is damaged"
        ) from None
    with connection:
        yield connection, repr(shown)


def _rows(connection: Any, table: str) -> Any:
    """The rows as Arrow; identifiers that Arrow has no plain type for come as text."""
    described = connection.execute(f"describe select * from {quoted(table)}").fetchall()
    columns = [
        f"{quoted(name)}::varchar as {quoted(name)}" if type_ == "UUID" else quoted(name)
        for name, type_, *_ in described
    ]
    relation = connection.sql(f"select {', '.join(columns)} from {quoted(table)}")
    return relation.to_arrow_table()


def _constraints(connection: Any, tables: Sequence[str]) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Keys and references of one column each; those of several columns tell no row by one value."""
    rows = connection.execute(
        "select table_name, constraint_type, constraint_column_names, referenced_table, "
        "referenced_column_names from duckdb_constraints() where schema_name = current_schema() "
        "and constraint_type in ('PRIMARY KEY', 'FOREIGN KEY') order by table_name, constraint_index"
    ).fetchall()
    keys = {
        table: columns[0]
        for table, kind, columns, _, _ in rows
        if kind == "PRIMARY KEY" and len(columns) == 1 and table in tables
    }
    references: dict[str, dict[str, str]] = {}
    for table, kind, columns, to, to_columns in rows:
        known = table in tables and keys.get(to) is not None
        if kind == "FOREIGN KEY" and known and len(columns) == 1 and to_columns == [keys[to]]:
            references.setdefault(table, {})[columns[0]] = to
    return keys, references
