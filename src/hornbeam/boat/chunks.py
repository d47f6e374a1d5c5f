"""A scan of a source as encoded chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Event, Lock

from hornbeam import _core
from hornbeam.boat.encoded import EncodedChunk, Encoder, Span
from hornbeam.boat.reading import CHUNK_ROWS, Reading, Report
from hornbeam.boat.survey import Survey
from hornbeam.table.sources import Part, Tally

__all__ = ["Chunks", "EncodedChunk", "PartChunks", "encoder_of"]


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
