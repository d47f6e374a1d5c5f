"""Tables of a SQLite database, with the keys and references of its schema."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from hornbeam.errors import DataError, StorageError
from hornbeam.relational.loading.found import Found, choose_tables
from hornbeam.table.refusals import check_readable
from hornbeam.table.sources import CHUNK_BYTES, CHUNK_ROWS
from hornbeam.table.sources.arrow_data import first_line
from hornbeam.table.sources.queries import quoted
from hornbeam.table.sources.sqlite_queries import is_sqlite, open_sqlite

_WHERE = "by its schema"


def read_sqlite(place: str | os.PathLike[str], tables: Sequence[str] | None) -> Found:
    """All tables and views of a database file, which is opened read-only."""
    shown = os.fspath(place)
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
            chosen = choose_tables(
                repr(shown), [name for (name,) in listed], None if tables is None else list(tables)
            )
            keys = {table: key for table in chosen if (key := _key(connection, table)) is not None}
            references = {table: _references(connection, table, keys) for table in chosen}
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise DataError(f"{shown!r}: {first_line(error)}") from None
    frames = {table: _rows(shown, table) for table in chosen}
    where = {f"{table}.{column}": _WHERE for table, column in keys.items()}
    where |= {f"{table}.{column}": _WHERE for table, columns in references.items() for column in columns}
    return Found(frames, keys, {table: found for table, found in references.items() if found}, where)


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


def _rows(shown: str, table: str) -> pa.Table:
    """The rows as Arrow, by the house's reader of SQLite."""
    origin = open_sqlite(shown, None, table, None)
    columns = [field.name for field in origin.schema]
    batches = [batch for part in origin.parts for batch, _ in part.read(columns, CHUNK_ROWS, CHUNK_BYTES)]
    if batches:
        return pa.Table.from_batches(batches)
    return pa.table({field.name: pa.array([], field.type) for field in origin.schema})
