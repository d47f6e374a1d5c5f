"""Rows of a source as native kernels take them: chunks encoded by what a survey found, and a scan of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hornbeam import _core
from hornbeam.boat.columns import ClassCodes, ColumnCodes, EncodedColumn
from hornbeam.boat.reading import CHUNK_ROWS, Reading, Report
from hornbeam.errors import SourceChanged, UsageError
from hornbeam.table import Attribute, encode_targets
from hornbeam.table.columns import Array
from hornbeam.table.sources import Part, Tally, fold_of
from hornbeam.table.sources.draws import numbered_row_words, row_words
from hornbeam.table.sources.hashing import Words

if TYPE_CHECKING:
    from hornbeam.boat.survey import Range, Survey

Folds = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
Span = tuple[int, int] | None  # of the exponents of numbers; None: all are 0


@dataclass(frozen=True, eq=False)
class EncodedChunk:
    """Rows of a source that weigh something, encoded by the survey's schema.

    A column is ("float", float32 or float64, NaN missing), ("integer", codes of any width but uint64, mask of
    missing cells or None) or ("nominal", int32 codes, -1 missing); arrays are Arrow's own where they can be,
    so they are for reading. `classes` or `values` ([rows, targets]) is the target.
    """

    n_rows: int
    columns: list[EncodedColumn]
    classes: npt.NDArray[np.uint16] | None
    values: npt.NDArray[np.float64] | None
    weights: npt.NDArray[np.float64] | None
    folds: Folds | None
    words: Words | None = None
    """That bags draw rows by."""

    def take(self, rows: npt.NDArray[np.int64]) -> EncodedChunk:
        """Some of the rows, each as often as it is named."""
        columns: list[Any] = [
            (kind, *(None if part is None else part[rows] for part in parts)) for kind, *parts in self.columns
        ]
        others: list[Any] = [self.classes, self.values, self.weights, self.folds, self.words]
        return EncodedChunk(len(rows), columns, *(None if one is None else one[rows] for one in others))

    def add_to(self, scan: _core.SourceScan, *, away: bool = False) -> None:
        """Let a scan take the rows in, or take them away again."""
        columns = [(column[1], column[2] if len(column) > 2 else None) for column in self.columns]
        folds = None if self.folds is None else self.folds.astype(np.uint16)
        weights = self.weights if scan.weighted else None
        scan.add(columns, self.classes, folds, weights, self.values, away=away)


class Encoder:
    """Encodes the chunks of a scan by the attributes and class labels that a survey found.

    What it did not find is refused at once, so that kernels need not look for it: the source has changed.
    """

    def __init__(
        self,
        reading: Reading,
        attributes: Sequence[Attribute],
        labels: Array,
        ranges: Sequence[Range] = (),
        folds: int | None = None,
        seed: int = 0,
        spans: Mapping[str, Span] | None = None,
        words: bool = False,
    ) -> None:
        self._reading, self._folds, self._seed, self._words = reading, folds, seed, words
        self._attributes, self._ranges, self._spans = attributes, ranges, spans or {}
        self._columns = ColumnCodes(attributes, self._changed)
        target = reading.targets[0]
        self._classes = ClassCodes(labels, partial(self._changed, target))
        if folds is not None and reading.key is None and not reading.source.ordered:
            raise UsageError(
                f"{reading.source.name}: its rows have no numbers, so folds need a key; name a column by key"
            )

    def encode(self, chunk: pa.RecordBatch, first: int = 0) -> EncodedChunk:
        """The rows of a chunk, the first of which has this number in the source."""
        reading = self._reading
        with reading.naming(first):
            weights = reading.weights(chunk)
            folds = self._folds_of(chunk, first)
            words = words_of(reading, chunk, first) if self._words else None
            if weights is not None and not weights.all():
                heavy = weights != 0
                chunk, weights = chunk.filter(pa.array(heavy)), weights[heavy]
                folds = None if folds is None else folds[heavy]
            classes = values = None
            if reading.classification:
                classes = self._classes.encode(chunk.column(reading.targets[0]))
            else:
                values = encode_targets(chunk.select(list(reading.targets)))
                self._check_numbers(reading.targets[0], values)
            if weights is not None and reading.source.weight is not None:
                self._check_numbers(reading.source.weight, weights)
            columns = self._columns.encode(chunk)
            self._check(columns)
            return EncodedChunk(chunk.num_rows, columns, classes, values, weights, folds, words)

    def _check(self, columns: list[EncodedColumn]) -> None:
        """Refuse what lies outside the ranges, where they are known."""
        for range_, column, attribute in zip(self._ranges, columns, self._attributes, strict=False):
            news = range_.news(column, attribute)
            if news is not None:
                raise self._changed(attribute.name, news)

    def _check_numbers(self, name: str, numbers: npt.NDArray[np.float64]) -> None:
        """Refuse numbers that exact sums have no room for, where it is known what all of them span."""
        found = _core.exponent_span(np.ascontiguousarray(numbers)) if name in self._spans else None
        known = self._spans.get(name)
        if found is not None and (known is None or found[0] < known[0] or found[1] > known[1]):
            raise self._changed(name, "numbers of other sizes")

    def _folds_of(self, chunk: pa.RecordBatch, first: int) -> Folds | None:
        if self._folds is None:
            return None
        found = folds_of(self._reading, chunk, first, self._folds, self._seed)
        return found.astype(np.uint8) if self._folds <= 2**8 else found.astype(np.uint16)

    def _changed(self, name: str, news: str) -> SourceChanged:
        return SourceChanged(
            f"{self._reading.source.name} changed between two scans (column {name!r} has {news} now); "
            "a query must give the same rows each time, and files must not be written to"
        )


def words_of(reading: Reading, chunk: pa.RecordBatch, first: int) -> Words:
    """What bags draw the rows of a chunk by: their keys, or their numbers from `first` on."""
    if reading.key is not None:
        return row_words(chunk.column(reading.key))
    return numbered_row_words(first, chunk.num_rows)


def folds_of(
    reading: Reading, chunk: pa.RecordBatch, first: int, folds: int, seed: int
) -> npt.NDArray[np.int32]:
    """The fold of each row of a chunk: by its key, or by its number from `first` on."""
    keys = np.arange(first, first + chunk.num_rows) if reading.key is None else chunk.column(reading.key)
    return fold_of(keys, folds, seed)


class Chunks:
    """The rows of a source, encoded by its survey; each iteration is a scan.

    `report` hears after each chunk how many rows were read. With `folds`, rows have a fold from 0 by the hash
    of their key and a seed, or of their number where no key is named and the source keeps its rows in order.
    With `words`, they have what bags draw them by.
    """

    def __init__(
        self,
        reading: Reading,
        survey: Survey,
        report: Report | None = None,
        folds: int | None = None,
        seed: int = 0,
        words: bool = False,
    ) -> None:
        self._reading, self._report, self._numbered = (
            reading,
            report,
            folds is not None and reading.key is None,
        )
        self._make = partial(encoder_of, reading, survey, folds, seed, words)
        self._encoder = self._make()

    def __iter__(self) -> Iterator[EncodedChunk]:
        for first, chunk in self._reading.scan(self._report):
            encoded = self._encoder.encode(chunk, first)
            if encoded.n_rows:
                yield encoded

    def scan_into(self, scan: _core.SourceScan, after: Callable[[], None], threads: int = 1) -> None:
        """Let a scan take all rows in, and call `after` now and then. Several threads scan parts of the rows
        apart, and what they find is merged: in whichever order, it is the same."""
        parts = self._reading.source.parts() if threads > 1 and self._reading.source.repeatable else ()
        if len(parts) < 2 or (self._numbered and any(part.first_row is None for part in parts)):
            for chunk in self:
                chunk.add_to(scan)
                after()
            return
        work = _PartScans(self._reading, self._make, scan, after, self._report, threads)
        with ThreadPoolExecutor(threads) as pool:
            try:
                tallies = [done.result() for done in [pool.submit(work.scan, part) for part in parts]]
            except BaseException:
                work.stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        self._reading.source.close_scan(tallies)


def encoder_of(
    reading: Reading, survey: Survey, folds: int | None = None, seed: int = 0, words: bool = False
) -> Encoder:
    """What encodes chunks by all that a survey found."""
    attributes, spans = survey.schema.attributes, _spans(reading, survey)
    return Encoder(reading, attributes, survey.labels, survey.ranges, folds, seed, spans, words)


@dataclass
class PartChunks:
    """The encoded chunks of a part whose first row has this number; its tally afterwards."""

    part: Part
    reading: Reading
    encoder: Encoder
    first: int
    chunk_bytes: int

    def __iter__(self) -> Iterator[tuple[int, EncodedChunk]]:
        """Each chunk, and how many rows were read for it."""
        self._chunks = self.part.scan(
            self.reading.columns, chunk_rows=CHUNK_ROWS, chunk_bytes=self.chunk_bytes
        )
        first = self.first
        for chunk in self._chunks:
            encoded = self.encoder.encode(chunk, first)
            first += chunk.num_rows
            yield chunk.num_rows, encoded

    @property
    def tally(self) -> Tally:
        return self._chunks.tally


def _spans(reading: Reading, survey: Survey) -> dict[str, Span]:
    """What the survey found of numbers that are summed: all targets have one span, under the first's name."""
    spans: dict[str, Span] = {}
    if not reading.classification:
        spans[reading.targets[0]] = survey.target_exponents
    if reading.source.weight is not None:
        spans[reading.source.weight] = survey.weight_exponents
    return spans


class _PartScans:
    """Scans of parts, each merged into the whole when it is complete."""

    def __init__(
        self,
        reading: Reading,
        make: Callable[[], Encoder],
        scan: _core.SourceScan,
        after: Callable[[], None],
        report: Report | None,
        threads: int,
    ) -> None:
        self._reading, self._make, self._whole, self._after = reading, make, scan, after
        self._report, self._rows, self._lock, self.stop = report, 0, Lock(), Event()
        self._bytes = max(1, reading.chunk_bytes // threads)

    def scan(self, part: Part) -> Tally:
        """Scan one part."""
        own = self._whole.fresh()
        chunks = PartChunks(part, self._reading, self._make(), part.first_row or 0, self._bytes)
        for rows, encoded in chunks:
            if self.stop.is_set():
                break
            if encoded.n_rows:
                encoded.add_to(own)
            self._tell(rows)
        with self._lock:
            self._whole.merge(own)
            self._after()
        return chunks.tally

    def _tell(self, rows: int) -> None:
        with self._lock:
            self._rows += rows
            if self._report is not None:
                self._report(self._rows)
