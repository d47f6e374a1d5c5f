"""Ways in: databases and folders of files as tables, with what they tell of keys and references."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from hornbeam.arguments import file_path
from hornbeam.errors import DataError, DataTypeError, StorageError, UsageError, first_line
from hornbeam.relational.linked import Found
from hornbeam.table.readers import read_path
from hornbeam.table.refusals import check_readable
from hornbeam.table.schema import list_names
from hornbeam.table.sources import CHUNK_BYTES, CHUNK_ROWS
from hornbeam.table.sources.queries import quoted
from hornbeam.table.sources.sqlite_queries import is_sqlite, open_sqlite

_ENDINGS = (".csv", ".csv.gz", ".parquet")


def choose_tables(place: str, there: list[str], wanted: Sequence[str] | None) -> list[str]:
    """The tables to read: all, or those that were named."""
    if not there:
        raise UsageError(f"{place} holds no tables")
    for table in wanted or ():
        if table not in there:
            raise UsageError(f"{place} has no table {table!r}; its tables are {list_names(there)}")
    return [table for table in there if wanted is None or table in wanted]


# databases


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
            keys = {table: key for table in chosen if (key := _sqlite_key(connection, table)) is not None}
            references = {table: _sqlite_references(connection, table, keys) for table in chosen}
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise DataError(f"{shown!r}: {first_line(error)}") from None
    frames = {table: _sqlite_rows(shown, table) for table in chosen}
    return Found(frames, keys, references, "by its schema")


def _sqlite_key(connection: sqlite3.Connection, table: str) -> str | None:
    """The primary key, where it is one column."""
    columns = connection.execute(f"pragma table_info({quoted(table)})").fetchall()
    keys = [name for _, name, _, _, _, position in columns if position]
    return keys[0] if len(keys) == 1 else None


def _sqlite_references(connection: sqlite3.Connection, table: str, keys: dict[str, str]) -> dict[str, str]:
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


# folders of files


def read_csv_folder(folder: str | os.PathLike[str], tables: Sequence[str] | None) -> Found:
    """Each file (.csv, .csv.gz, .parquet) is a table of its name."""
    shown = file_path("folder", folder)
    if not Path(shown).is_dir():
        raise StorageError(f"{shown!r} is no folder; give one that holds a CSV file for each table")
    paths: dict[str, Path] = {}
    for path in sorted(Path(shown).iterdir()):
        ending = next((ending for ending in _ENDINGS if path.name.lower().endswith(ending)), None)
        if ending is None or not path.is_file():
            continue
        name = path.name[: -len(ending)]
        if name in paths:
            raise UsageError(f"{shown!r} holds table {name!r} twice: {paths[name].name} and {path.name}")
        paths[name] = path
    chosen = choose_tables(repr(shown), list(paths), tables)
    frames = {name: read_path(paths[name]) for name in chosen}
    keys = {name: key for name in chosen if (key := _key(name, frames[name])) is not None}
    references = {name: _references(name, frames[name], keys) for name in chosen}
    return Found(frames, keys, references, "by its name", _spoilt_keys(frames, keys))


def _key(table: str, frame: Any) -> str | None:
    """`loan_id` or `id` in table loan or loans, where no value stands twice and none is missing."""
    for column in _called_keys(table, frame):
        cells = frame.column(column)
        if not cells.null_count and _n_distinct(cells) == len(cells):
            return column
    return None


def _called_keys(table: str, frame: Any) -> list[str]:
    return [
        str(column)
        for column in frame.column_names
        if column == "id" or (column.endswith("_id") and column[:-3] in _singular(table))
    ]


def _n_distinct(cells: Any) -> int:
    """How many values a column has, NULL left out."""
    return len(pc.unique(cells.drop_null()))


def _spoilt_keys(frames: Mapping[str, Any], keys: Mapping[str, str]) -> dict[str, str]:
    """Tables that others refer to by their names, and why what is called as their key is none."""
    called = {name: _called_keys(name, frame) for name, frame in frames.items() if name not in keys}
    would = {**keys, **{name: columns[0] for name, columns in called.items() if columns}}
    spoilt: dict[str, str] = {}
    for name, frame in frames.items():
        for column, to in _references(name, frame, would).items():
            if to not in keys and to != name:
                why = _not_a_key(frames[to].column(would[to]))
                spoilt.setdefault(
                    to, f"{would[to]!r} is no key, for {why}; so {name}.{column} refers to nothing"
                )
    return spoilt


def _not_a_key(cells: Any) -> str:
    repeated = len(cells) - cells.null_count - _n_distinct(cells)
    reasons = [f"{cells.null_count:,} of {len(cells):,} rows have none"] * (cells.null_count > 0)
    reasons += [f"{repeated:,} of {len(cells):,} rows repeat a value"] * (repeated > 0)
    return " and ".join(reasons)


def _singular(table: str) -> set[str]:
    """A table's name, and what it may be the plural of."""
    names = {table}
    if table.endswith("s"):
        names.add(table[:-1])
    if table.endswith("es"):
        names.add(table[:-2])
    if table.endswith("ies"):
        names.add(f"{table[:-3]}y")
    return names


def _references(table: str, frame: Any, keys: Mapping[str, str]) -> dict[str, str]:
    """`account_id`, `old_account_id` and `account2_id` refer to table account, or accounts, by its key."""
    found: dict[str, str] = {}
    for column in frame.column_names:
        if not column.endswith("_id") or keys.get(table) == column:
            continue
        name = re.sub(r"\d+$", "", column[:-3])
        to = [
            other
            for other in keys
            if any(name == one or name.endswith(f"_{one}") for one in _singular(other))
        ]
        exact = [other for other in to if name in _singular(other)]
        if len(exact or to) == 1:
            found[column] = (exact or to)[0]
    return found
