"""Parquet files: parts are runs of row groups, whose numbers of rows the files tell without being read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import parquet

from hornbeam.errors import HornbeamError
from hornbeam.table.refusals import refuse_file
from hornbeam.table.sources.origin import Origin, show_count
from hornbeam.table.sources.part import PART_ROWS, Batches, Part, Stamp, choose
from hornbeam.table.sources.types import TEXT, join_schemas, normal_schema

_BUFFER = 1 << 18  # bytes of a column that are read at once; without it, all of a row group
_DICTIONARY, _CODE = (
    1 << 21,
    3,
)  # bytes of a dictionary and of a code, at most; text itself takes 4 and its own


@dataclass(frozen=True)
class ParquetPart(Part):
    """Some neighbouring row groups of a file, the first of which has a number; `groups` are their rows."""

    stamp: Stamp
    first_group: int
    groups: tuple[int, ...]

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
        metadata = parquet.read_metadata(self.stamp.path)
        stored, plain, coded = _sizes(metadata, groups, set(columns))
        rows, done, counted = max(1, sum(self.groups)), 0, 0
        most = min(chunk_rows, max(1, chunk_bytes * rows // max(1, plain)))
        texts = [name for name in columns if self.schema.field(name).type == TEXT and name in coded]
        # Nothing is read ahead, so memory does not grow with the row groups.
        with parquet.ParquetFile(
            self.stamp.path,
            metadata=metadata,
            read_dictionary=texts,
            pre_buffer=False,
            buffer_size=_BUFFER,
            page_checksum_verification=True,
        ) as file:
            for batch in file.iter_batches(most, row_groups=list(groups), columns=columns, use_threads=False):
                done += batch.num_rows
                yield batch, stored * done // rows - counted
                counted = stored * done // rows

    def failures(self) -> tuple[type[Exception], ...]:
        return pa.ArrowException, OSError

    def refuse(self, error: Exception, rows: int) -> HornbeamError:
        return refuse_file(self.stamp.path, error, "Parquet")


def open_parquet(paths: Sequence[str], shown: str, columns: Sequence[str] | None) -> Origin:
    """A source over Parquet files, of which the footers are read."""
    found: list[tuple[str, pa.Schema]] = []
    cuts: list[tuple[Stamp, int, tuple[int, ...]]] = []
    for path in paths:
        stamp = Stamp.of(path)
        try:
            with parquet.ParquetFile(path) as file:
                schema, metadata = file.schema_arrow, file.metadata
        except (pa.ArrowException, OSError) as error:
            raise refuse_file(path, error, "Parquet") from None
        found.append((repr(path), normal_schema(choose(schema, columns), repr(path))))
        groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        cuts += [(stamp, first, tuple(groups[first:end])) for first, end in _runs(groups)]
    schema = join_schemas(found)
    parts: list[Part] = []
    start = 0
    for index, (stamp, first, groups_) in enumerate(cuts):
        rows = sum(groups_)
        parts.append(ParquetPart(index, repr(stamp.path), schema, rows, start, stamp, first, groups_))
        start += rows
    return Origin(shown, show_count(len(paths), "Parquet file"), schema, tuple(parts))


def _runs(groups: list[int]) -> Iterator[tuple[int, int]]:
    """Row groups first to end - 1 that make a part."""
    first, rows = 0, 0
    for i, count in enumerate(groups):
        rows += count
        if rows >= PART_ROWS or i == len(groups) - 1:
            yield first, i + 1
            first, rows = i + 1, 0


def _sizes(metadata: Any, groups: range, columns: set[str]) -> tuple[int, int, set[str]]:
    """Bytes of some columns of row groups, as stored and as they are, and which are stored by dictionary.

    Where a dictionary became too large, writers go on without one, and reading by dictionary would build one
    of the whole row group: such columns are much larger than codes are.
    """
    stored = plain = 0
    coded = set(columns)
    for group in groups:
        row_group = metadata.row_group(group)
        for i in range(row_group.num_columns):
            column = row_group.column(i)
            if column.path_in_schema in columns:
                stored += column.total_compressed_size
                plain += column.total_uncompressed_size
                if column.total_uncompressed_size > _DICTIONARY + _CODE * column.num_values:
                    coded.discard(column.path_in_schema)
    return stored, plain, coded
