"""Files as Arrow tables: CSV and Parquet through pyarrow, ARFF, and queries on DuckDB database files."""

import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from hornbeam.errors import DataError, StorageError, UsageError
from hornbeam.table.frame import check_names
from hornbeam.table.refusals import (
    CSV_BLOCK,
    CSV_LAYOUT,
    DAMAGED,
    FILES,
    MISSING_MARKS,
    check_readable,
    check_text,
    other_format,
    refuse_file,
)

if TYPE_CHECKING:
    import pyarrow as pa

_LARGEST_BLOCK = 2**31 - 1  # that pyarrow takes


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
        content = _standard_input(stdin)
        table = _read_csv(None, lambda: io.BytesIO(content), "standard input", missing)
        return _checked(table, "standard input")
    ending = _ending(shown)
    if sql is not None and ending != ".duckdb":
        raise UsageError(
            f"{shown!r}: a query needs a DuckDB database file (.duckdb, .db, .ddb); leave it out for this one"
        )
    check_readable(Path(shown))
    if ending == ".duckdb":
        return _checked(_read_duckdb(shown, sql), shown)
    if ending in (".csv", ".csv.gz"):
        return _checked(_read_csv_file(shown, missing), shown)
    return _checked(_read_parquet(shown) if ending == ".parquet" else _read_arff_file(shown), shown)


def _standard_input(given: BinaryIO | None) -> bytes:
    if given is None and sys.stdin is None:
        raise StorageError("standard input ('-') is closed; send a CSV there, or name a file")
    return (given or sys.stdin.buffer).read()


def _ending(shown: str) -> str:
    name = os.path.basename(shown).lower()
    for ending in (".csv", ".csv.gz", ".parquet", ".arff", ".arff.gz", ".duckdb"):
        if name.endswith(ending):
            return ending
    if name.endswith((".db", ".ddb")):
        return ".duckdb"
    if name.endswith(".pq"):
        return ".parquet"
    raise UsageError(f"{shown!r}: files with this ending are not read; allowed are {FILES}")


def _checked(table: "pa.Table", shown: str) -> "pa.Table":
    try:
        check_names(list(table.column_names))
    except DataError as error:
        raise DataError(f"{shown!r}: {error}") from None
    return table


def _read_csv_file(shown: str, missing: Sequence[str]) -> "pa.Table":
    opener: Callable[..., Any] = gzip.open if shown.lower().endswith(".gz") else open
    return _read_csv(shown, lambda: opener(shown, "rb"), shown, missing)


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
    path: str | None, opened: Callable[[], BinaryIO], shown: str, missing: Sequence[str]
) -> "pa.Table":
    """Read a CSV; where a later block does not fit the first one's types, let all rows decide."""
    import pyarrow as pa
    from pyarrow import csv

    convert = csv.ConvertOptions(
        null_values=list(missing), strings_can_be_null=True, quoted_strings_can_be_null=False
    )
    parse = csv.ParseOptions(newlines_in_values=True)

    def read(whole: bool = False, threads: bool = True) -> "pa.Table":
        source: Any = path
        block = CSV_BLOCK
        if whole or path is None:
            with opened() as file:
                source, size = _native_file(file.read())
            block = min(size + 1, _LARGEST_BLOCK) if whole else CSV_BLOCK
        how = csv.ReadOptions(block_size=block, use_threads=threads)
        return csv.read_csv(source, read_options=how, parse_options=parse, convert_options=convert)

    try:
        try:
            table = read()
        except pa.ArrowInvalid as error:
            late, ragged = "conversion error" in str(error), "columns, got" in str(error)
            if not late and not ragged:
                raise
            table = read(whole=late, threads=not ragged)  # one thread knows the number of the row it refuses
        check_text(table, shown)
        return table
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError, zlib.error, DataError) as error:
        compressed = isinstance(error, OSError | EOFError | zlib.error)
        raise other_format(opened, shown) or (
            error
            if isinstance(error, DataError)
            else refuse_file(shown, error, "CSV", DAMAGED if compressed else CSV_LAYOUT)
        ) from None


def _read_parquet(shown: str) -> "pa.Table":
    import pyarrow as pa
    from pyarrow import parquet

    try:
        # A file, not a dataset: that import costs more than a second. Checksums are verified where written.
        with parquet.ParquetFile(shown, page_checksum_verification=True) as file:
            return file.read()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise refuse_file(shown, error, "Parquet") from None


def _read_duckdb(shown: str, sql: str | None) -> "pa.Table":
    """The result of a query; the database is opened read-only."""
    import duckdb

    try:
        connection = duckdb.connect(shown, read_only=True)
    except duckdb.Error as error:
        raise refuse_file(shown, error, "DuckDB database") from None
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
        raise refuse_file(shown, error, "ARFF") from None
