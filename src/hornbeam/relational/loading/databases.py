"""Tables of DuckDB and SQLite databases, with the keys and references of their constraints."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from hornbeam.arguments import file_path
from hornbeam.errors import DataError, DataTypeError, StorageError, first_line
from hornbeam.relational.loading.found import Found, choose_tables
from hornbeam.table.refusals import check_readable
from hornbeam.table.sources import CHUNK_BYTES, CHUNK_ROWS
from hornbeam.table.sources.queries import quoted
from hornbeam.table.sources.sqlite_queries import is_sqlite, open_sqlite


def read_duckdb(place: Any, tables: Sequence[str] | None) -> Found:
    """All tables and views of a database file, which is opened read-only, or of an open connection."""
    import duckdb

    with _connected(place) as (connection, shown):
        try:
            listed = connection.execute(
                "select table_name from information_schema.tables "
                "where table_schema = current_schema() order by table_name"
            ).fetchall()
            chosen = choose_tables(shown, [name for (name,) in listed], tables)
            frames = {table: _duckdb_rows(connection, table) for table in chosen}
            keys, references = _constraints(connection, chosen)
        except duckdb.Error as error:
            raise DataError(f"{shown}: {first_line(error)}") from None
    return Found(frames, keys, references, "by its constraint")


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


def _duckdb_rows(connection: Any, table: str) -> Any:
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


def read_sqlite(place: str | os.PathLike[str], tables: Sequence[str] | None) -> Found:
    """All tables and views of a database file, which is opened read-only."""
    shown = file_path("database", place)
    check_readable(Path(shown))
    if not is_sqlite(shown):
        raise StorageError(f"{shown!r} is no SQLite database; give the path of one")
    address = f"file:{quote(str(Path(shown).absolute()))}?mode=ro"
    try:
        connection = sqlite3.connect(address, uri=True)
        try:
            listed = connection.execute(
                "select name from sqlite_master where type in ('table', 'view') "
                "and name not like 'sqlite\\_%' escape '\\' order by name"
            )
            chosen = choose_tables(repr(shown), [name for (name,) in listed], tables)
            keys = {table: key for table in chosen if (key := _key(connection, table)) is not None}
            references = {table: _references(connection, table, keys) for table in chosen}
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise DataError(f"{shown!r}: {first_line(error)}") from None
    frames = {table: _sqlite_rows(shown, table) for table in chosen}
    return Found(frames, keys, references, "by its schema")


def _key(connection: sqlite3.Connection, table: str) -> str | None:
    """The primary key, where it is one column."""
    columns = connection.execute(f"pragma table_info({quoted(table)})").fetchall()
    keys = [name for _, name, _, _, _, position in columns if position]
    return keys[0] if len(keys) == 1 else None


def _references(connection: sqlite3.Connection, table: str, keys: dict[str, str]) -> dict[str, str]:
    """References of one column to the key of another table; SQLite leaves the key's name out where it may."""
    rows: list[tuple[Any, ...]] = connection.execute(f"pragma foreign_key_list({quoted(table)})").fetchall()
    wide = {number for number, position, *_ in rows if position > 0}
    names = {name.lower(): name for name in keys}
    found: dict[str, str] = {}
    for number, _, to, column, to_column, *_ in sorted(rows, key=lambda row: -row[0]):
        known = names.get(to.lower())
        if number in wide or known is None:
            continue
        if to_column is None or to_column.lower() == keys[known].lower():
            found[column] = known
    return found


def _sqlite_rows(shown: str, table: str) -> pa.Table:
    """The rows as Arrow, by the house's reader of SQLite."""
    origin = open_sqlite(shown, None, table, None)
    columns = [field.name for field in origin.schema]
    batches = [batch for part in origin.parts for batch, _ in part.read(columns, CHUNK_ROWS, CHUNK_BYTES)]
    if batches:
        return pa.Table.from_batches(batches)
    return pa.table({field.name: pa.array([], field.type) for field in origin.schema})
