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

if TYPE_CHECKING:
    import pyarrow as pa

MISSING_MARKS = ("", "?", "NA", "NaN", "nan", "NULL", "null")
_ALLOWED = ".csv, .csv.gz, .parquet, .arff, .arff.gz, .duckdb (with a query), or - for CSV on standard input"
_RECODE = "save it as UTF-8, for instance with: iconv -f latin1 -t utf-8 old.csv > new.csv"
_CSV = "a CSV file has a line of names, then rows of as many cells, separated by commas"
_DAMAGED = "it is damaged or of another kind: write it again or get another copy"
# How files begin that people take for CSV.
_FORMATS = {
    b"PAR1": "Parquet; let its name end with .parquet",
    b"\x1f\x8b": "compressed by gzip; let its name end with .csv.gz",
    b"PK\x03\x04": "a spreadsheet or a zip archive; save the sheet as CSV, or unpack it",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet; save the sheet as CSV",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
    b"%PDF": "a PDF document; export the table as CSV",
}
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
        content = _standard_input(stdin)
        table = _read_csv(None, lambda: io.BytesIO(content), "standard input", missing)
        return _checked(table, "standard input")
    ending = _ending(shown)
    if sql is not None and ending != ".duckdb":
        raise UsageError(
            f"{shown!r}: a query needs a DuckDB database file (.duckdb, .db, .ddb); leave it out for this one"
        )
    _check_readable(Path(shown))
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
    raise UsageError(f"{shown!r}: files with this ending are not read; allowed are {_ALLOWED}")


def _check_readable(path: Path) -> None:
    if path.is_dir():
        raise StorageError(f"{str(path)!r} is a directory; give one file: {_ALLOWED}")
    if path.exists() and not path.is_file():
        raise StorageError(
            f"{str(path)!r} is a device or a pipe; send its rows to standard input ('-') as CSV"
        )
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


def _refuse(shown: str, error: BaseException, kind: str, advice: str = _DAMAGED) -> DataError:
    if isinstance(error, MemoryError):  # Arrow has one of its own, among its other errors
        raise error
    if isinstance(error, UnicodeDecodeError):
        return DataError(f"{shown!r} is not UTF-8 text; {_RECODE}")
    first = (str(error).splitlines() or [type(error).__name__])[0][:300].rstrip(".!")
    first = first.removeprefix("CSV parse error: ").removeprefix("IO Error: ")
    return DataError(f"{shown!r} is not a readable {kind} file: {first}; {advice}")


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
        block = _BLOCK
        if whole or path is None:
            with opened() as file:
                source, size = _native_file(file.read())
            block = min(size + 1, _LARGEST_BLOCK) if whole else _BLOCK
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
        _check_text(table, shown)
        return table
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError, zlib.error, DataError) as error:
        compressed = isinstance(error, OSError | EOFError | zlib.error)
        raise _other_format(opened, shown) or (
            error
            if isinstance(error, DataError)
            else _refuse(shown, error, "CSV", _DAMAGED if compressed else _CSV)
        ) from None


def _check_text(table: "pa.Table", shown: str) -> None:
    """Refuse what is no UTF-8: Arrow reads such a column as bytes, and such a name not at all."""
    import pyarrow as pa

    try:
        names = table.column_names
    except UnicodeDecodeError:
        raise DataError(f"{shown!r}: the header line is not UTF-8 text; {_RECODE}") from None
    for name, column in zip(names, table.columns, strict=True):
        if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
            cells = (cell for chunk in column.chunks for cell in chunk.to_pylist() if cell is not None)
            cell = next(cell for cell in cells if not _is_utf8(cell))
            raise DataError(f"{shown!r}: column {name!r} is not UTF-8 text, it has {cell[:20]!r}; {_RECODE}")


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _other_format(opened: Callable[[], BinaryIO], shown: str) -> DataError | None:
    """The error for a file that begins like one of another format, if it does."""
    try:
        with opened() as file:
            beginning = file.read(16)
    except (OSError, EOFError, zlib.error):
        return None
    found = next((what for magic, what in _FORMATS.items() if beginning.startswith(magic)), None)
    return DataError(f"{shown!r} is not a CSV file but {found}") if found else None


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
