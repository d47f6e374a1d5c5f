"""Parquet files: parts are runs of row groups, whose numbers of rows the files tell without being read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import parquet

from hornbeam.errors import DataError, HornbeamError
from hornbeam.table.refusals import refuse_file
from hornbeam.table.sources.part import PART_ROWS, Batches, Origin, Part, Stamp, choose, show_count
from hornbeam.table.sources.types import TEXT, join_schemas, normal_schema

_FAILURES = (pa.ArrowException, OSError, UnicodeDecodeError)
_BUFFER = 1 << 18  # bytes of a column that are read at once; without it, all of a row group
_DICTIONARY, _CODE = (
    1 << 21,
    3,
)  # bytes of a dictionary and of a code, at most; text itself takes 4 and its own


@dataclass(frozen=True)
class ParquetPart(Part):
    """Neighbouring row groups of a file: the number of the first, the rows of each, and the text columns that
    are stored by dictionary."""

    stamp: Stamp
    first_group: int
    groups: tuple[int, ...]
    coded: tuple[str, ...]

    def narrow(self, rows: npt.NDArray[np.int64]) -> Iterator[tuple[Part, npt.NDArray[np.int64]]]:
        starts = np.cumsum((0, *self.groups))
        places = np.searchsorted(rows, starts)
        for i, (begin, end) in enumerate(pairwise(places.tolist())):
            if begin < end:
                number, group = self.first_group + i, self.groups[i]
                first = None if self.first_row is None else self.first_row + int(starts[i])
                one = replace(self, first_group=number, groups=(group,), rows=group, first_row=first)
                yield one, rows[begin:end] - starts[i]

    def read(self, columns: list[str], chunk_rows: int, chunk_bytes: int) -> Batches:
        groups = range(self.first_group, self.first_group + len(self.groups))
        with _open(self.stamp.path, [name for name in columns if name in self.coded]) as file:
            plain = sum(file.metadata.row_group(group).total_byte_size for group in groups)
            width = max(1, plain * len(columns) // max(1, sum(self.groups) * file.metadata.num_columns))
            most = min(chunk_rows, max(1, chunk_bytes // width))
            batch = None
            for batch in file.iter_batches(most, row_groups=list(groups), columns=columns, use_threads=False):
                yield batch, 0
            if batch is not None:
                stored = sum(chunk.total_compressed_size for chunk in _column_chunks(file, groups, columns))
                yield batch.slice(0, 0), stored

    def failures(self) -> tuple[type[Exception], ...]:
        return _FAILURES

    def refuse(self, error: Exception, rows: int) -> HornbeamError:
        return _refuse(self.stamp.path, error)


def read_parquet(path: str) -> pa.Table:
    """All rows of a file; checksums of pages are verified where they were written."""
    try:
        # A file, not a dataset: that import costs more than a second.
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            return file.read()
    except _FAILURES as error:
        raise _refuse(path, error) from None


def open_parquet(paths: Sequence[str], shown: str, columns: Sequence[str] | None) -> Origin:
    """A source over Parquet files, of which the footers are read."""
    found: list[tuple[str, pa.Schema]] = []
    cuts: list[tuple[Stamp, int, tuple[int, ...], tuple[str, ...]]] = []
    for path in paths:
        stamp = Stamp.of(path)
        try:
            with _open(path) as file:
                schema = normal_schema(choose(file.schema_arrow, columns), repr(path))
                metadata, coded = file.metadata, _coded(file, schema)
        except _FAILURES as error:
            raise _refuse(path, error) from None
        found.append((repr(path), schema))
        groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        cuts += [(stamp, first, tuple(groups[first:end]), coded) for first, end in _runs(groups)]
    schema = join_schemas(found)
    parts: list[Part] = []
    start = 0
    for stamp, first, sizes, coded in cuts:
        rows = sum(sizes)
        part = ParquetPart(len(parts), repr(stamp.path), schema, rows, start, stamp, first, sizes, coded)
        parts.append(part)
        start += rows
    return Origin(shown, show_count(len(paths), "Parquet file"), schema, tuple(parts))


def _refuse(path: str, error: Exception) -> DataError:
    if isinstance(error, UnicodeDecodeError):
        error = OSError("the name of a column is not UTF-8 text")
    return refuse_file(path, error, "Parquet")


def _runs(groups: list[int]) -> Iterator[tuple[int, int]]:
    """Row groups first to end - 1 that make a part."""
    first, rows = 0, 0
    for i, count in enumerate(groups):
        rows += count
        if rows >= PART_ROWS or i == len(groups) - 1:
            yield first, i + 1
            first, rows = i + 1, 0


def _open(path: str, coded: Sequence[str] = ()) -> parquet.ParquetFile:
    """A file of which nothing is read ahead, so that memory does not grow with the row groups."""
    return parquet.ParquetFile(
        path,
        read_dictionary=list(coded),
        pre_buffer=False,
        buffer_size=_BUFFER,
        page_checksum_verification=True,
    )


def _coded(file: parquet.ParquetFile, schema: pa.Schema) -> tuple[str, ...]:
    """Text columns that the first row group stores by dictionary, so that they can be read so.

    Where a dictionary becomes too large, writers go on without one, and reading by dictionary would build one
    of the whole row group; such columns are much larger than codes are.
    """
    texts = [field.name for field in schema if field.type == TEXT]
    if not texts or not file.metadata.num_row_groups:
        return ()
    next(file.iter_batches(1, row_groups=[0], columns=texts, use_threads=False), None)
    return tuple(
        chunk.path_in_schema
        for chunk in _column_chunks(file, range(1), texts)
        if chunk.total_uncompressed_size <= _DICTIONARY + _CODE * chunk.num_values
    )


def _column_chunks(file: parquet.ParquetFile, groups: range, columns: Sequence[str]) -> Iterator[Any]:
    """What the footer says of columns. They must have been read before: Arrow's reader refuses a damaged
    footer with an error, but asked for such an entry it ends the process."""
    wanted = set(columns)
    places = [i for i in range(len(file.schema)) if file.schema.column(i).path in wanted]
    for group in groups:
        row_group = file.metadata.row_group(group)
        yield from (row_group.column(i) for i in places)
