"""`hornbeam.source`: which kind of source something is, by what it is and never by trying; and its files."""

import glob
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from hornbeam.errors import DataTypeError, StorageError, UsageError
from hornbeam.table.refusals import check_readable
from hornbeam.table.sources.arrow_data import is_table, open_dataset, open_function, open_stream, open_table
from hornbeam.table.sources.duckdb_queries import DATABASE_MEMORY, MEMORY, open_duckdb
from hornbeam.table.sources.part import Origin
from hornbeam.table.sources.source import Source
from hornbeam.table.sources.sqlite_queries import is_sqlite, open_sqlite

_DATABASES = (".duckdb", ".ddb", ".db", ".sqlite", ".sqlite3")
_ALLOWED = (
    "the path, glob or folder of Parquet or CSV files, a DuckDB or SQLite file or a PostgreSQL address with "
    "a query, an Arrow table, dataset or stream, a pandas or polars frame, a function that gives batches"
)
PARQUET, CSV = "Parquet", "CSV"
_ENDINGS = {".parquet": PARQUET, ".pq": PARQUET, ".csv": CSV, ".csv.gz": CSV}
_FILES = "Parquet and CSV files (.parquet, .csv, .csv.gz), globs and folders of them"


def source(
    data: Any,
    *,
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
    """
    if isinstance(data, os.PathLike):
        data = os.fspath(data)
    if isinstance(data, str) and _is_database(data):
        _only(types is None, "types", "CSV files; cast columns in the query")
        return Source(_database(data, sql, table, columns, memory_limit), weight)
    for option, given in (("sql", sql), ("table", table)):
        _only(given is None, option, "databases (.duckdb, .sqlite, postgresql://)")
    if isinstance(data, str) or _are_paths(data):
        return Source(_files(data, columns, types), weight)
    _only(types is None, "types", "CSV files; cast the columns of this source")
    return Source(_arrow(data, columns), weight)


def _only(fine: bool, option: str, what: str) -> None:
    if not fine:
        raise UsageError(f"{option}= is only for {what}", parameter=option)


def _is_database(path: str) -> bool:
    from hornbeam.table.sources.postgresql_queries import PREFIXES

    return path == MEMORY or path.startswith(PREFIXES) or path.lower().endswith(_DATABASES) or is_sqlite(path)


def _database(
    place: str, sql: str | None, table: str | None, columns: Sequence[str] | None, memory: str | int
) -> Origin:
    from hornbeam.table.sources.postgresql_queries import PREFIXES, open_postgresql

    if place.startswith(PREFIXES):
        return open_postgresql(place, sql, table, columns)
    if is_sqlite(place) or place.lower().endswith((".sqlite", ".sqlite3")):
        return open_sqlite(place, sql, table, columns)
    return open_duckdb(place, sql, table, columns, memory)


def _are_paths(data: Any) -> bool:
    return isinstance(data, (list, tuple)) and all(isinstance(path, (str, os.PathLike)) for path in data)


def _files(data: Any, columns: Sequence[str] | None, types: Mapping[str, Any] | None) -> Origin:
    if data == "-":
        raise UsageError(
            "standard input ('-') is read once; write it to a file, which a source can read again"
        )
    kind, paths = find_files(data)
    shown = repr(data) if isinstance(data, str) else repr(paths[0])
    if len(paths) > 1 and not isinstance(data, str):
        shown += f" and {len(paths) - 1} more"
    if kind == PARQUET:
        from hornbeam.table.sources.parquet_files import open_parquet

        _only(types is None, "types", "CSV files; Parquet files know theirs")
        return open_parquet(paths, shown, columns)
    from hornbeam.table.sources.csv_files import open_csv

    return open_csv(paths, shown, columns, types)


def _arrow(data: Any, columns: Sequence[str] | None) -> Origin:
    if is_table(data):
        return open_table(data, columns)
    dataset = sys.modules.get("pyarrow.dataset")
    if dataset is not None and isinstance(data, dataset.Dataset):
        return open_dataset(data, columns)
    if isinstance(data, pa.RecordBatchReader) or hasattr(data, "__arrow_c_stream__"):
        return open_stream(data, columns)
    if hasattr(data, "collect") and hasattr(data, "collect_schema"):
        raise DataTypeError(
            f"the source is a lazy frame ({type(data).__name__}); collect it, or sink it to a Parquet file"
        )
    if callable(data) and not isinstance(data, type):
        return open_function(data, columns)
    raise DataTypeError(f"a source cannot be made of a {type(data).__name__}; allowed are {_ALLOWED}")


def find_files(given: str | Sequence[str]) -> tuple[str, list[str]]:
    """The kind of the files, and their paths: of a glob or a folder sorted, of a list as given."""
    if isinstance(given, str):
        paths = _paths(given)
    else:
        paths = [os.fspath(path) for path in given]
        if not paths:
            raise UsageError("the list of files is empty; name at least one")
    kinds = {path: _kind(path) for path in paths}
    for path in paths:
        check_readable(Path(path))
    if len(set(kinds.values())) > 1:
        examples = " and ".join(repr(next(p for p in paths if kinds[p] == k)) for k in (PARQUET, CSV))
        raise UsageError(f"files of two kinds, {examples}; name one kind, for instance by '*.parquet'")
    return kinds[paths[0]], paths


def _paths(given: str) -> list[str]:
    if os.path.isdir(given):
        return _in_folder(given)
    if os.path.lexists(given) or not glob.has_magic(given):
        return [given]
    found = sorted(path for path in glob.glob(given, recursive=True) if not os.path.isdir(path))
    if not found:
        raise StorageError(f"no file matches {given!r}; check the folder and the ending")
    return found


def _in_folder(folder: str) -> list[str]:
    """Files of the folder and those below it, without hidden ones and marks such as _SUCCESS."""
    found: list[str] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name[0] not in "._")
        if any("=" in name for name in folders):
            raise UsageError(
                f"{folder!r} keeps values in the names of its folders ({folders[0]!r}); "
                "open it by pyarrow.dataset.dataset(path, partitioning='hive') and give that"
            )
        found += [os.path.join(place, name) for name in names if name[0] not in "._" and _known(name)]
    if not found:
        raise StorageError(f"{folder!r} has no Parquet or CSV file; check the folder and the endings")
    return sorted(found)


def _known(name: str) -> str | None:
    return next((kind for ending, kind in _ENDINGS.items() if name.lower().endswith(ending)), None)


def _kind(path: str) -> str:
    kind = _known(path)
    if kind is None:
        raise UsageError(f"{path!r}: files with this ending are no source; allowed are {_FILES}")
    return kind
