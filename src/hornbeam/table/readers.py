"""Files as Arrow tables: CSV and Parquet through pyarrow, ARFF, and queries on DuckDB database files."""

import gzip
import os
import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from hornbeam.errors import DataError, StorageError, UsageError
from hornbeam.table.frame import check_names

if TYPE_CHECKING:
    import pyarrow as pa

MISSING_MARKS = ("", "?", "NA", "NaN", "nan", "NULL", "null")
_ALLOWED = ".csv, .csv.gz, .parquet, .arff, .arff.gz, .duckdb (with a query), or - for CSV on standard input"
# pyarrow infers the types of columns from the first block; the second number is the largest block it takes.
_BLOCK = 1 << 22
_LARGEST_BLOCK = 2**31 - 1


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
        content = (stdin or sys.stdin.buffer).read()
        table = _read_csv(_native_file(content)[0], lambda: _native_file(content), "standard input", missing)
        return _checked(table, "standard input")
    ending = _ending(shown)
    if sql is not None and ending != ".duckdb":
        raise UsageError(
            f"{shown!r}: sql needs a DuckDB database file (.duckdb); load other files with a query on them"
        )
    _check_readable(Path(shown))
    if ending == ".duckdb":
        return _checked(_read_duckdb(shown, sql), shown)
    if ending in (".csv", ".csv.gz"):
        return _checked(_read_csv_file(shown, missing), shown)
    return _checked(_read_parquet(shown) if ending == ".parquet" else _read_arff_file(shown), shown)


def _ending(shown: str) -> str:
    name = os.path.basename(shown).lower()
    for ending in (".csv", ".csv.gz", ".parquet", ".arff", ".arff.gz", ".duckdb"):
        if name.endswith(ending):
            return ending
    if name.endswith((".db", ".ddb")):
        return ".duckdb"
    if name.endswith(".pq"):
        return ".parquet"
    raise UsageError(f"{shown!r}: files of this ending are not read; allowed are {_ALLOWED}")


def _check_readable(path: Path) -> None:
    if path.is_dir():
        raise StorageError(f"{str(path)!r} is a directory; give one file: {_ALLOWED}")
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise StorageError(
            f"{str(path)!r} cannot be opened: {error.strerror or error}; check the path"
        ) from None


def _checked(table: "pa.Table", shown: str) -> "pa.Table":
    try:
        check_names(list(table.column_names))
    except DataError as error:
        raise DataError(f"{shown!r}: {error}") from None
    return table


def _refuse(shown: str, error: BaseException, kind: str) -> DataError:
    if isinstance(error, MemoryError):  # Arrow has one of its own, among its other errors
        raise error
    first = (str(error).splitlines() or [type(error).__name__])[0][:300]
    return DataError(f"{shown!r} is not a readable {kind} file: {first}")


def _read_csv_file(shown: str, missing: Sequence[str]) -> "pa.Table":
    def whole() -> "tuple[pa.NativeFile, int]":
        opener: Callable[..., Any] = gzip.open if shown.lower().endswith(".gz") else open
        with opener(shown, "rb") as file:
            return _native_file(file.read())

    return _read_csv(shown, whole, shown, missing)


def _native_file(content: bytes) -> "tuple[pa.NativeFile, int]":
    """The bytes as a file that Arrow owns.

    Arrow's threads may drop what they read after the interpreter began to end; were it a Python object, the
    process would abort there (apache/arrow 34314, 50482). So Arrow's readers are never given one.
    """
    import pyarrow as pa

    buffer = pa.allocate_buffer(len(content))
    memoryview(buffer).cast("B")[:] = content
    return pa.BufferReader(buffer), len(content)


def _read_csv(
    source: Any, whole: "Callable[[], tuple[pa.NativeFile, int]]", shown: str, missing: Sequence[str]
) -> "pa.Table":
    """Read a CSV; where a later block does not fit the first one's types, let all rows decide."""
    import pyarrow as pa
    from pyarrow import csv

    convert = csv.ConvertOptions(
        null_values=list(missing), strings_can_be_null=True, quoted_strings_can_be_null=False
    )
    parse = csv.ParseOptions(newlines_in_values=True)
    try:
        try:
            return csv.read_csv(
                source,
                read_options=csv.ReadOptions(block_size=_BLOCK),
                parse_options=parse,
                convert_options=convert,
            )
        except pa.ArrowInvalid as error:
            if "conversion error" not in str(error):
                raise
        file, size = whole()
        block = csv.ReadOptions(block_size=min(size + 1, _LARGEST_BLOCK))
        return csv.read_csv(file, read_options=block, parse_options=parse, convert_options=convert)
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise _refuse(shown, error, "CSV") from None


def _read_parquet(shown: str) -> "pa.Table":
    import pyarrow as pa
    from pyarrow import parquet

    try:
        # A file, not a dataset: that import costs more than a second. Checksums are verified where written.
        with parquet.ParquetFile(shown, page_checksum_verification=True) as file:
            return file.read()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _refuse(shown, error, "Parquet") from None


def _read_duckdb(shown: str, sql: str | None) -> "pa.Table":
    """The result of a query; the database is opened read-only."""
    import duckdb

    try:
        connection = duckdb.connect(shown, read_only=True)
    except duckdb.Error as error:
        raise _refuse(shown, error, "DuckDB database") from None
    with connection:
        if sql is None:
            tables = ", ".join(row[0] for row in connection.execute("show tables").fetchall()[:8]) or "none"
            raise UsageError(
                f"{shown!r} is a database and needs a query (sql='select ...'); its tables are: {tables}"
            )
        try:
            relation: Any = connection.sql(sql)
            if relation is None:
                raise UsageError(f"{shown!r}: the statement gives no rows; sql must be a query (select ...)")
            return relation.to_arrow_table()
        except duckdb.Error as error:
            first = (str(error).splitlines() or ["failed"])[0][:300]
            raise DataError(f"{shown!r}: the query failed: {first}") from None


def _read_arff_file(shown: str) -> "pa.Table":
    from hornbeam.table.arff import read_arff

    opener: Callable[..., Any] = gzip.open if shown.lower().endswith(".gz") else open
    try:
        with opener(shown, "rt", encoding="utf-8-sig") as file:
            return read_arff(file, shown)
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise _refuse(shown, error, "ARFF") from None
