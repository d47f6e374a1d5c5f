"""A part of a source: rows described so that any process can read them, in chunks, and what that came to."""

import numbers
import os
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hornbeam import arguments
from hornbeam.errors import DataError, HornbeamError, SourceChanged, StorageError, UsageError
from hornbeam.table.schema import duplicate_names, list_names
from hornbeam.table.sources.hashing import Checksum
from hornbeam.table.sources.types import normalise

CHUNK_ROWS = 1 << 16
CHUNK_BYTES = 1 << 24
PART_ROWS = 1 << 20  # what a part has at least, where the source can be cut

Batches = Generator[tuple[pa.RecordBatch, int], None, None]


@dataclass(frozen=True, slots=True)
class ScanStats:
    """What was read of a source: scans begun, rows, and bytes, as stored (files) or handed over (others)."""

    scans: int = 0
    rows: int = 0
    bytes: int = 0


NOTHING = ScanStats()


@dataclass(frozen=True, slots=True)
class Tally:
    """What reading one part came to: rows, bytes, and the checksum of the rows over those columns."""

    part: int
    columns: tuple[str, ...]
    rows: int
    bytes: int
    checksum: int | None


@dataclass(frozen=True, slots=True)
class Stamp:
    """The size and time of a file: where either differs, the file was written again."""

    path: str
    size: int
    time: int

    @classmethod
    def of(cls, path: str) -> "Stamp":
        """The stamp that a file has now."""
        try:
            found = os.stat(path)
        except OSError as error:
            raise StorageError(f"{path!r} cannot be opened: {error.strerror}; check the path") from None
        return cls(path, found.st_size, found.st_mtime_ns)

    def check(self) -> None:
        """Refuse a file that is not the one that was opened."""
        now = Stamp.of(self.path)
        if now != self:
            what = (
                f"{self.size:,} bytes, now {now.size:,}" if now.size != self.size else "it was written again"
            )
            raise SourceChanged(
                f"{self.path!r} changed since the source was opened ({what}); "
                "read from a copy that nobody writes to"
            )


@dataclass(frozen=True)
class Part(ABC):
    """Rows that one worker reads. `rows` and `first_row` (its place in the source) are None where unknown."""

    index: int
    shown: str
    schema: pa.Schema
    rows: int | None
    first_row: int | None
    stamp: Stamp | None

    def scan(
        self,
        columns: Sequence[str] | None = None,
        *,
        chunk_rows: int = CHUNK_ROWS,
        chunk_bytes: int = CHUNK_BYTES,
        checksum: bool = True,
    ) -> "PartScan":
        """The rows in chunks of at most so many rows, bytes too unless a row has more: see `PartScan`."""
        check_count("chunk_rows", chunk_rows)
        check_count("chunk_bytes", chunk_bytes)
        return PartScan(self, choose(self.schema, columns), chunk_rows, chunk_bytes, checksum)

    def narrow(self, rows: npt.NDArray[np.int64]) -> "Iterator[tuple[Part, npt.NDArray[np.int64]]]":
        """The least that must be read for some of its rows: parts, and the places of the rows in them."""
        yield self, rows

    def check(self) -> None:
        """Refuse a part whose file changed."""
        if self.stamp is not None:
            self.stamp.check()

    @abstractmethod
    def read(self, columns: list[str], chunk_rows: int, chunk_bytes: int) -> Batches:
        """Batches of about so many rows, in any of the types that `normalise` takes, and the bytes read."""

    @abstractmethod
    def failures(self) -> tuple[type[Exception], ...]:
        """The exceptions of reading that are due to the data."""

    @abstractmethod
    def refuse(self, error: Exception, rows: int) -> HornbeamError:
        """The one line for such a failure after so many rows."""


@dataclass
class PartScan(Iterator[pa.RecordBatch]):
    """The chunks of a part, once; `tally` counts those that were given out."""

    part: Part
    schema: pa.Schema
    chunk_rows: int
    chunk_bytes: int
    hashed: bool
    rows: int = 0
    bytes: int = 0
    _sum: Checksum = field(default_factory=Checksum)
    _chunks: Iterator[pa.RecordBatch] | None = None

    def __next__(self) -> pa.RecordBatch:
        if self._chunks is None:
            self._chunks = self._read()
        return next(self._chunks)

    def close(self) -> None:
        """Leave all further rows unread."""
        close: Any = getattr(self._chunks, "close", None)
        if close is not None:
            close()

    @property
    def tally(self) -> Tally:
        checksum = self._sum.value if self.hashed else None
        return Tally(self.part.index, tuple(self.schema.names), self.rows, self.bytes, checksum)

    def _read(self) -> Iterator[pa.RecordBatch]:
        part = self.part
        part.check()
        try:
            with closing(part.read(self.schema.names, self.chunk_rows, self.chunk_bytes)) as batches:
                for batch, size in batches:
                    self.bytes += size
                    with self._naming():
                        normal = normalise(batch, self.schema)
                    for chunk in cut(normal, self.chunk_rows, self.chunk_bytes):
                        self._count(chunk)
                        yield chunk
        except HornbeamError:
            raise
        except part.failures() as error:
            if isinstance(error, MemoryError):  # Arrow has one of its own, among its other errors
                raise
            part.check()
            raise part.refuse(error, self.rows) from None
        part.check()
        if part.rows is not None and part.rows != self.rows:
            raise changed(part, part.rows, self.rows)

    def _count(self, chunk: pa.RecordBatch) -> None:
        if self.hashed:
            with self._naming():
                self._sum.add(chunk)
        self.rows += chunk.num_rows

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """Name the part and the row in errors about values."""
        try:
            yield
        except DataError as error:
            raise DataError(f"{self.part.shown}, rows from {self.rows:,}: {error}") from None


def check_count(name: str, value: int) -> None:
    """Refuse a number of rows or bytes that is none."""
    if not isinstance(value, numbers.Integral) or not 1 <= value < 2**63:
        raise UsageError(f"{name}={value!r}; whole numbers from 1 are allowed")


def changed(part: Part, rows: int, then: int) -> SourceChanged:
    """The error for a part that had so many rows and then others."""
    what = f"{rows:,} rows, then {then:,}" if rows != then else "other values"
    return SourceChanged(
        f"{part.shown} changed between two scans ({what}); "
        "a query must give the same rows each time, and files must not be written to"
    )


def choose(schema: pa.Schema, columns: Sequence[str] | None) -> pa.Schema:
    """The schema of the columns that are asked for, in their order."""
    if columns is None:
        return schema
    names = [] if isinstance(columns, str) else arguments.texts("columns", columns)
    if not names or len(set(names)) != len(names):
        raise UsageError(f"columns={columns!r}; give a list of different names, at least one")
    unknown = [name for name in names if name not in schema.names]
    if unknown:
        raise UsageError(f"column {unknown[0]!r} is not in the source; it has {list_names(schema.names)}")
    if len(set(schema.names)) < len(schema.names):
        raise duplicate_names(schema.names)
    return pa.schema([schema.field(name) for name in names])


def cut(batch: pa.RecordBatch, chunk_rows: int, chunk_bytes: int) -> Iterator[pa.RecordBatch]:
    """Slices of at most so many rows, and so many bytes on average; none for no rows."""
    size = row_bytes(batch)
    rows = min(chunk_rows, max(1, batch.num_rows * chunk_bytes // max(1, size)))
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def row_bytes(batch: pa.RecordBatch) -> int:
    """The bytes of the rows themselves, without the dictionaries they share."""
    return sum(
        column.indices.nbytes if pa.types.is_dictionary(column.type) else column.nbytes
        for column in batch.columns
    )


@dataclass(frozen=True)
class Origin:
    """`name` and `kind` are for people; `ordered` says that every scan brings the rows in the same order."""

    name: str
    kind: str
    schema: pa.Schema
    parts: tuple[Part, ...]
    repeatable: bool = True
    ordered: bool = True
    cannot: tuple[str, ...] = ()  # what this source cannot do, a clause each
    stats: ScanStats = NOTHING  # what finding this out has read already


def show_count(count: int, what: str) -> str:
    """`3 Parquet files`."""
    return f"{count:,} {what}{'s' * (count != 1)}"
