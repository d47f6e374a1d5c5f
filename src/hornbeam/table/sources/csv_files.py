"""CSV files, also compressed: whole as a table, or as a source with a part a file.

Of a table all rows fix the types where the first ones do not; of a source the first rows of all files do, or
the caller does.
"""

import io
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow import csv

from hornbeam.errors import DataError, HornbeamError, UsageError
from hornbeam.table.refusals import (
    CSV_BLOCK,
    CSV_LAYOUT,
    DAMAGED,
    MISSING_MARKS,
    RECODE,
    check_text,
    other_format,
    refuse_file,
    unpacked,
)
from hornbeam.table.sources.part import Batches, Origin, Part, Stamp, choose, show_count
from hornbeam.table.sources.types import TEXT, join_schemas, normal_schema

TYPES = {
    "text": TEXT,
    "float64": pa.float64(),
    "int64": pa.int64(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}
_FAILURES = (pa.ArrowException, OSError, EOFError, UnicodeDecodeError, zlib.error, DataError)
_LARGEST_BLOCK = 2**31 - 1  # the largest block that pyarrow takes
_BLOCK = 1 << 20  # bytes; Arrow reads some 30 blocks ahead
_LATE = re.compile(r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to .*?: invalid value (.*)")


def read_csv(path: str, missing: Sequence[str]) -> pa.Table:
    """All rows of a file; `missing` are the marks of a missing cell (quoted cells are text)."""
    return _read(path, lambda: unpacked(path), path, missing)


def read_csv_bytes(content: bytes, shown: str, missing: Sequence[str]) -> pa.Table:
    """All rows of a file that is in memory already."""
    return _read(None, lambda: io.BytesIO(content), shown, missing)


def _read(path: str | None, opened: Callable[[], BinaryIO], shown: str, missing: Sequence[str]) -> pa.Table:
    def read(whole: bool = False, threads: bool = True) -> pa.Table:
        source: Any = path
        block = CSV_BLOCK
        if whole or path is None:
            with opened() as file:
                source, size = _native_file(file.read())
            block = min(size + 1, _LARGEST_BLOCK) if whole else CSV_BLOCK
        how = csv.ReadOptions(block_size=block, use_threads=threads)
        return csv.read_csv(source, read_options=how, **_format(missing))

    try:
        try:
            table = read()
        except pa.ArrowInvalid as error:
            late, ragged = "conversion error" in str(error), "columns, got" in str(error)
            if not late and not ragged:
                raise
            # With one thread Arrow knows the number of the row that it refuses.
            table = read(whole=late, threads=not ragged)
        check_text(table, shown)
        return table
    except _FAILURES as error:
        raise _refuse(shown, error, opened) from None


def _native_file(content: bytes) -> tuple[pa.NativeFile, int]:
    """The bytes as a file that Arrow owns.

    Arrow's threads may drop what they read after the interpreter began to end; were it a Python object, the
    process would abort there (apache/arrow 34314, 50482). So Arrow's readers are never given one.
    """
    buffer = pa.allocate_buffer(len(content))
    memoryview(buffer).cast("B")[:] = content
    return pa.BufferReader(buffer), len(content)


def _format(missing: Sequence[str], types: dict[str, pa.DataType] | None = None) -> dict[str, Any]:
    """How cells are told apart and read; with `types`, which columns are read and as what."""
    convert = csv.ConvertOptions(
        null_values=list(missing),
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        column_types=types,
        include_columns=None if types is None else list(types),
    )
    return {"parse_options": csv.ParseOptions(newlines_in_values=True), "convert_options": convert}


def _refuse(shown: str, error: Exception, opened: Callable[[], BinaryIO]) -> DataError:
    """The error for a file that cannot be read: of another format, damaged, or no CSV."""
    packed = isinstance(error, OSError | EOFError | zlib.error)
    return other_format(opened, shown) or (
        error
        if isinstance(error, DataError)
        else refuse_file(shown, error, "CSV", DAMAGED if packed else CSV_LAYOUT)
    )


@dataclass(frozen=True)
class CsvPart(Part):
    """A whole file; `names` are those of its header, in its order."""

    stamp: Stamp
    names: tuple[str, ...]
    typed: frozenset[str]
    """Columns whose types the caller has given."""

    def read(self, columns: list[str], chunk_rows: int, chunk_bytes: int) -> Batches:
        counted = 0
        with pa.OSFile(self.stamp.path) as file:
            types = {name: _plain(self.schema.field(name).type) for name in columns}
            for batch in _reader(file, self.stamp.path, types, _BLOCK):
                before, counted = counted, file.tell()  # which runs ahead of the batches
                yield batch, counted - before

    def failures(self) -> tuple[type[Exception], ...]:
        return pa.ArrowException, OSError, UnicodeDecodeError

    def refuse(self, error: Exception, rows: int) -> HornbeamError:
        path, late = self.stamp.path, _LATE.match(str(error))
        if "invalid UTF8" in str(error):
            return DataError(f"{path!r} is not UTF-8 text; {RECODE}")
        if late is None:
            return _refuse(path, error, lambda: unpacked(path))
        name, value = self.names[int(late[1])], late[3].strip("'")[:40]
        row = f" in line {late[2]}" if late[2] else ""
        type_ = self.schema.field(name).type
        if name in self.typed:
            return DataError(f"{path!r}: column {name!r} is {type_}, but has {value!r}{row}; mend that cell")
        return DataError(
            f"{path!r}: column {name!r} is {type_} by its first rows, but has {value!r}{row}; "
            f"say what it is by types={{{name!r}: 'text'}} (or {', '.join(list(TYPES)[1:])})"
        )


def open_csv(
    paths: Sequence[str], shown: str, columns: Sequence[str] | None, types: Mapping[str, Any] | None
) -> Origin:
    """A source over CSV files; the first 4 MB of each are read."""
    given = {name: _type(name, type_) for name, type_ in (types or {}).items()}
    stamps = [Stamp.of(path) for path in paths]
    headers = [_infer(path) for path in paths]
    found: list[tuple[str, pa.Schema]] = []
    for path, header in zip(paths, headers, strict=True):
        unknown = [name for name in given if name not in header.names]
        if unknown:
            raise UsageError(f"types names {unknown[0]!r}, which is not a column of {path!r}")
        fields = [(field.name, given.get(field.name, field.type)) for field in header]
        found.append((repr(path), choose(normal_schema(pa.schema(fields), repr(path)), columns)))
    schema = join_schemas(found, inferred=True)
    typed = frozenset(given)
    parts = tuple(
        CsvPart(i, repr(stamp.path), schema, None, None if i else 0, stamp, tuple(header.names), typed)
        for i, (stamp, header) in enumerate(zip(stamps, headers, strict=True))
    )
    return Origin(shown, show_count(len(paths), "CSV file"), schema, parts)


def _type(name: str, given: Any) -> pa.DataType:
    if isinstance(given, pa.DataType):
        return given
    if given not in TYPES:
        raise UsageError(f"types[{name!r}]={given!r}; allowed are {', '.join(TYPES)} and Arrow types")
    return TYPES[given]


def _infer(path: str) -> pa.Schema:
    """The names and types of a file by its first block: text where the column is no number, date or such."""
    try:
        with pa.OSFile(path) as file, _reader(file, path, None) as reader:
            first = reader.read_next_batch()
            check_text(pa.Table.from_batches([first]), path)
            return first.schema
    except StopIteration:
        return reader.schema
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _refuse(path, error, lambda: unpacked(path)) from None


def _plain(type_: pa.DataType) -> pa.DataType:
    return pa.string() if type_ == TEXT else type_


def _reader(
    file: pa.NativeFile, path: str, types: dict[str, pa.DataType] | None, block: int = CSV_BLOCK
) -> csv.CSVStreamingReader:
    stream = pa.CompressedInputStream(file, "gzip") if path.lower().endswith(".gz") else file
    how = csv.ReadOptions(block_size=block, use_threads=False)
    return csv.open_csv(stream, read_options=how, **_format(MISSING_MARKS, types))
