"""A source: rows that are scanned in bounded chunks as often as needed, counted, and watched for changes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import parquet

from hornbeam import arguments
from hornbeam.errors import DataError, NoRows, StorageError, UsageError
from hornbeam.files import new_file
from hornbeam.table.arrow import read_chunked
from hornbeam.table.schema import list_names
from hornbeam.table.sources.part import (
    CHUNK_BYTES,
    CHUNK_ROWS,
    Origin,
    Part,
    PartScan,
    ScanStats,
    Tally,
    changed,
    check_count,
    choose,
)
from hornbeam.table.sources.sampling import Reservoir, joined, plain_rows, sample_rows
from hornbeam.table.sources.types import plain_schema
from hornbeam.table.storage import parse_type


class Source:
    """Rows from files, tables, streams or queries; made by `hornbeam.source`, which says what can be given.

    Text and categories come by dictionary (int32 to string), all else in the Arrow type that `schema` tells.
    """

    def __init__(self, origin: Origin, weight: str | None = None) -> None:
        self._origin, self.weight = origin, weight
        self._stats, self._begun = origin.stats, False
        self._seen: dict[frozenset[str], dict[int, Tally]] = {}
        known = [part.rows for part in origin.parts if part.rows is not None]
        self._rows = sum(known) if len(known) == len(origin.parts) else None
        self.engine: Any = None  # the cluster that scans the source (`hornbeam.distributed`), if one does
        _check_weight(weight, origin)
        if self._rows == 0:
            raise _no_rows(origin)

    def __repr__(self) -> str:
        return f"<hornbeam source: {self._origin.kind}, {self._origin.name}>"

    @property
    def name(self) -> str:
        """What the source is called in errors."""
        return self._origin.name

    @property
    def schema(self) -> pa.Schema:
        """The columns and their Arrow types, as chunks have them."""
        return self._origin.schema

    @property
    def rows(self) -> int | None:
        """How many rows there are; None before the first scan where only reading tells."""
        return self._rows

    @property
    def repeatable(self) -> bool:
        """Whether it can be scanned more than once."""
        return self._origin.repeatable

    @property
    def ordered(self) -> bool:
        """Whether every scan brings the rows in the same order, so that a row's number stands for it."""
        return self._origin.ordered

    @property
    def stats(self) -> ScanStats:
        """What was read so far."""
        return self._stats

    @property
    def fingerprint(self) -> str | None:
        """The checksum of all rows and columns, in hexadecimal; None before a whole scan of all columns.

        Equal rows have equal fingerprints, in any order and from any kind of source.
        """
        tallies = self._seen.get(frozenset(self.schema.names))
        return f"{sum(t.checksum or 0 for t in tallies.values()) % 2**64:016x}" if tallies else None

    def elsewhere(self) -> "Source":
        """The source as others know it who are given its parts one by one: it has none of its own."""
        found = copy(self)
        found._origin, found._seen, found.engine = replace(self._origin, parts=()), {}, None
        return found

    def parts(self) -> tuple[Part, ...]:
        """Independent parts, in the order of the rows: read each by `part.scan`, here or in another process,
        and give all tallies to `close_scan`."""
        self._begin()
        return self._origin.parts

    def scan(
        self,
        columns: Sequence[str] | None = None,
        *,
        chunk_rows: int = CHUNK_ROWS,
        chunk_bytes: int = CHUNK_BYTES,
        checksum: bool = True,
    ) -> Iterator[pa.RecordBatch]:
        """All rows once, in chunks of at most so many rows, and so many bytes unless a row has more.

        At the end of a whole scan its checksum is compared with that of earlier scans of the same columns:
        SourceChanged where they differ. Without `checksum` that is left out.
        """
        read = partial(Part.scan, columns=columns, chunk_rows=chunk_rows, chunk_bytes=chunk_bytes)
        read(self._origin.parts[0])  # refuses what means nothing, now and not at the first chunk
        self._begin()
        hashed = arguments.flag("checksum", checksum)
        return self._scan(partial(read, checksum=hashed))

    def _scan(self, read: Callable[[Part], PartScan]) -> Iterator[pa.RecordBatch]:
        self._count(scans=1)
        tallies: list[Tally] = []
        for part in self._origin.parts:
            chunks = read(part)
            try:
                yield from chunks
            finally:
                chunks.close()
                tallies.append(chunks.tally)
                self._count(rows=chunks.rows, bytes=chunks.bytes)
        self._compare(tallies)

    def close_scan(self, tallies: Iterable[Tally]) -> None:
        """Count a scan that was made part by part, in any order; a part that was read twice counts once.

        SourceChanged where its rows are not those of an earlier scan of the same columns.
        """
        found: dict[int, Tally] = {}
        for tally in tallies:
            other = found.setdefault(tally.part, tally)
            if (other.rows, other.checksum) != (tally.rows, tally.checksum):
                raise changed(self._origin.parts[tally.part], other.rows, tally.rows)
        absent = [part.shown for part in self._origin.parts if part.index not in found]
        if absent or len({tally.columns for tally in found.values()}) > 1:
            what = f"{absent[0]} was not read" if absent else "its parts were read with different columns"
            raise UsageError(f"the scan of {self.name} is not whole: {what}; read every part alike")
        self._count(
            1, sum(tally.rows for tally in found.values()), sum(tally.bytes for tally in found.values())
        )
        self._compare(list(found.values()))

    def sample(
        self,
        n: int,
        seed: int = 0,
        columns: Sequence[str] | None = None,
        *,
        chunk_rows: int = CHUNK_ROWS,
        chunk_bytes: int = CHUNK_BYTES,
    ) -> pa.Table:
        """n rows, every choice of which is equally likely, in their order; all rows where there are fewer.

        Equal rows and seeds give equal samples, whatever the chunks, files and formats. It counts as a scan;
        where the numbers of rows are known, only row groups that have some of the sample are read.
        """
        check_count("n", n)
        schema = choose(self.schema, columns)
        if any(part.rows is None or part.first_row is None for part in self._origin.parts):
            reservoir = Reservoir(n, seed, schema)
            for chunk in self.scan(columns, chunk_rows=chunk_rows, chunk_bytes=chunk_bytes):
                reservoir.add(chunk)
            return reservoir.table()
        self._begin()
        self._count(scans=1)
        read = partial(
            Part.scan, columns=columns, chunk_rows=chunk_rows, chunk_bytes=chunk_bytes, checksum=False
        )
        rows = sample_rows(n, seed, sum(part.rows or 0 for part in self._origin.parts))
        return joined(
            [table for part in self._origin.parts for table in self._take(part, rows, read)], schema
        )

    def _take(
        self, part: Part, rows: npt.NDArray[np.int64], read: Callable[[Part], PartScan]
    ) -> Iterator[pa.Table]:
        """The rows of a part that are among some rows of the source, with text as it is."""
        first, count = part.first_row or 0, part.rows or 0
        begin, end = np.searchsorted(rows, [first, first + count])
        for piece, places in part.narrow(rows[begin:end] - first):
            chunks = read(piece)
            start = 0
            for chunk in chunks:
                here = slice(*np.searchsorted(places, [start, start + chunk.num_rows]))
                if here.start < here.stop:
                    yield plain_rows(chunk, places[here] - start)
                start += chunk.num_rows
            self._count(rows=chunks.rows, bytes=chunks.bytes)

    def spool(self, path: str) -> "Source":
        """Write all rows to a new Parquet file and give the source over it: for what can be read once only,
        or is slow to read. Nothing is left behind where that fails."""
        from hornbeam.table.sources.parquet_files import open_parquet

        spool(self.scan, self.schema, path)
        return Source(open_parquet([path], repr(path), None), self.weight)

    def describe(self) -> str:
        """The source in a few lines for people."""
        rows = "number of rows unknown before a scan" if self._rows is None else f"{self._rows:,} rows"
        lines = [f"{self._origin.kind}: {self.name}", f"{rows}, {len(self.schema)} columns"]
        for field in self.schema:
            stored = read_chunked(pa.chunked_array([], field.type), field.name).type
            kind = stored if stored == "nominal" else f"numeric, {stored}"
            lines.append(f"  {field.name!r}: {kind}{' (weight)' if field.name == self.weight else ''}")
        again = "can be scanned again" if self.repeatable else "can be scanned once"
        return "\n".join([*lines, again, *(f"note: {clause}" for clause in self._origin.cannot)])

    def _begin(self) -> None:
        if not self.repeatable and self._begun:
            raise UsageError(
                f"{self.name} can be read once, and was; write it to a file by .spool('rows.parquet') first"
            )
        self._begun = True

    def _count(self, scans: int = 0, rows: int = 0, bytes: int = 0) -> None:
        so_far = self._stats
        self._stats = ScanStats(so_far.scans + scans, so_far.rows + rows, so_far.bytes + bytes)

    def _compare(self, tallies: list[Tally]) -> None:
        total = sum(tally.rows for tally in tallies)
        if total == 0:
            raise _no_rows(self._origin)
        self._rows = total
        if tallies[0].checksum is None:
            return
        first = self._seen.setdefault(frozenset(tallies[0].columns), {tally.part: tally for tally in tallies})
        for tally in tallies:
            before = first[tally.part]
            if (tally.rows, tally.checksum) != (before.rows, before.checksum):
                raise changed(self._origin.parts[tally.part], before.rows, tally.rows)


def _check_weight(weight: str | None, origin: Origin) -> None:
    if weight is None:
        return
    if not isinstance(weight, str) or weight not in origin.schema.names:
        raise UsageError(
            f"weight={weight!r} is not a column of {origin.name}; it has {list_names(origin.schema.names)}",
            parameter="weight",
        )
    stored = read_chunked(pa.chunked_array([], origin.schema.field(weight).type), weight).type
    if parse_type(stored).group != "number":
        raise DataError(
            f"{origin.name}: the weight {weight!r} is no number but {parse_type(stored).description}"
        )


def _no_rows(origin: Origin) -> NoRows:
    return NoRows(f"{origin.name} has no rows; at least one is needed")


_GROUP = 2 * CHUNK_ROWS


def spool(scan: Callable[[], Iterator[pa.RecordBatch]], schema: pa.Schema, path: str) -> None:
    """Write all rows of a scan; what exists under the name already is not touched."""
    place = Path(arguments.file_path("path", path))
    if place.suffix != ".parquet" or place.exists():
        why = "exists already" if place.exists() else "does not end with .parquet"
        raise StorageError(f"{path!r} {why}; give the name of a new Parquet file")
    with (
        new_file(path) as file,
        parquet.ParquetWriter(file, plain_schema(schema), write_page_checksum=True) as writer,
    ):
        for group in _groups(scan()):
            writer.write_table(group.cast(writer.schema), row_group_size=_GROUP)


def _groups(chunks: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Row groups put together from chunks of any size."""
    held: list[pa.RecordBatch] = []
    for chunk in chunks:
        held.append(chunk)
        if sum(batch.num_rows for batch in held) >= _GROUP:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)
