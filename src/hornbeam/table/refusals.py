"""Why a file is refused, in one line that names it: what readers of whole files and of sources share."""

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from hornbeam.errors import DataError, HornbeamError, StorageError, first_line

if TYPE_CHECKING:
    import pyarrow as pa

MISSING_MARKS = ("", "?", "NA", "NaN", "nan", "NULL", "null")
FILES = ".csv, .csv.gz, .parquet, .arff, .arff.gz, .duckdb (with a query), or - for CSV on standard input"
RECODE = "save it as UTF-8, for instance with: iconv -f latin1 -t utf-8 old.csv > new.csv"
CSV_LAYOUT = "a CSV file has a line of names, then rows of as many cells, separated by commas"
DAMAGED = "it is damaged or of another kind: write it again or get another copy"
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
# pyarrow infers the types of columns from the first block of so many bytes.
CSV_BLOCK = 1 << 22


def check_readable(path: Path) -> None:
    """Refuse what is no file, or one that may not be read."""
    try:
        if path.is_dir():
            raise StorageError(f"{str(path)!r} is a directory; give one file: {FILES}")
        if path.exists() and not path.is_file():
            raise StorageError(
                f"{str(path)!r} is a device or a pipe; send its rows to standard input ('-') as CSV"
            )
        with path.open("rb"):
            pass
    except HornbeamError:
        raise
    except (OSError, ValueError) as error:  # a ValueError where the path has a null character
        why = getattr(error, "strerror", None) or error
        raise StorageError(f"{str(path)!r} cannot be opened: {why}; check the path") from None


def refuse_file(shown: str, error: BaseException, kind: str, advice: str = DAMAGED) -> DataError:
    """The error for a file that its reader refused."""
    if isinstance(error, MemoryError):  # Arrow has one of its own, among its other errors
        raise error
    if isinstance(error, UnicodeDecodeError):
        return DataError(f"{shown!r} is not UTF-8 text; {RECODE}")
    first = first_line(error).removeprefix("CSV parse error: ").removeprefix("IO Error: ")
    return DataError(f"{shown!r} is not a readable {kind} file: {first}; {advice}")


def check_text(table: "pa.Table", shown: str) -> None:
    """Refuse what is no UTF-8: Arrow reads such a column as bytes, and such a name not at all."""
    import pyarrow as pa

    try:
        names = table.column_names
    except UnicodeDecodeError:
        raise DataError(f"{shown!r}: the header line is not UTF-8 text; {RECODE}") from None
    for name, column in zip(names, table.columns, strict=True):
        if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
            cells = (cell for chunk in column.chunks for cell in chunk.to_pylist() if cell is not None)
            cell = next(cell for cell in cells if not _is_utf8(cell))
            raise DataError(f"{shown!r}: column {name!r} is not UTF-8 text, it has {cell[:20]!r}; {RECODE}")


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def unpacked(path: str) -> BinaryIO:
    """A file to read, unpacked where its name ends with .gz."""
    return gzip.open(path, "rb") if path.lower().endswith(".gz") else open(path, "rb")  # type: ignore[return-value]


def other_format(opened: Callable[[], BinaryIO], shown: str) -> DataError | None:
    """The error for a file that begins like one of another format, if it does."""
    try:
        with opened() as file:
            beginning = file.read(16)
    except (OSError, EOFError, zlib.error):
        return None
    found = next((what for magic, what in _FORMATS.items() if beginning.startswith(magic)), None)
    return DataError(f"{shown!r} is not a CSV file but {found}") if found else None
