"""Files as Arrow tables, each by the reader of its format, which its ending names."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from hornbeam.errors import DataError, StorageError, UsageError
from hornbeam.table.columns import check_names
from hornbeam.table.refusals import FILES, MISSING_MARKS, check_readable

if TYPE_CHECKING:
    import pyarrow as pa

_ENDINGS = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arff": "arff",
    ".arff.gz": "arff",
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    ".db": "duckdb",
}


def read_path(
    path: str | os.PathLike[str],
    *,
    sql: str | None = None,
    missing: Sequence[str] = MISSING_MARKS,
    stdin: BinaryIO | None = None,
) -> "pa.Table":
    """Read a file by its ending; `missing` are the marks of a missing cell in CSV (quoted cells are text)."""
    shown = os.fspath(path)
    if shown == "-":
        if sql is not None:
            raise UsageError("sql needs a DuckDB database file, and standard input ('-') is read as CSV")
        shown, table = "standard input", _read_standard_input(stdin, missing)
    else:
        table = _read_file(shown, sql, missing)
    try:
        check_names(list(table.column_names))
    except DataError as error:
        raise DataError(f"{shown!r}: {error}") from None
    return table


def _read_standard_input(given: BinaryIO | None, missing: Sequence[str]) -> "pa.Table":
    from hornbeam.table.sources.csv_files import read_csv_bytes

    if given is None and sys.stdin is None:
        raise StorageError("standard input ('-') is closed; send a CSV there, or name a file")
    return read_csv_bytes((given or sys.stdin.buffer).read(), "standard input", missing)


def _read_file(path: str, sql: str | None, missing: Sequence[str]) -> "pa.Table":
    name = os.path.basename(path).lower()
    kind = next((kind for ending, kind in _ENDINGS.items() if name.endswith(ending)), None)
    if kind is None:
        raise UsageError(f"{path!r}: files with this ending are not read; allowed are {FILES}")
    if sql is not None and kind != "duckdb":
        raise UsageError(
            f"{path!r}: a query needs a DuckDB database file (.duckdb, .db, .ddb); leave it out for this one"
        )
    check_readable(Path(path))
    if kind == "csv":
        from hornbeam.table.sources.csv_files import read_csv

        return read_csv(path, missing)
    if kind == "parquet":
        from hornbeam.table.sources.parquet_files import read_parquet

        return read_parquet(path)
    if kind == "duckdb":
        from hornbeam.table.sources.duckdb_queries import read_duckdb

        return read_duckdb(path, sql)
    from hornbeam.table.arff import read_arff_file

    return read_arff_file(path)
