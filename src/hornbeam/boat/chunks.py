"""A scan of a source as encoded chunks."""

from __future__ import annotations

from collections.abc import Iterator

from hornbeam.boat.encoded import EncodedChunk, Encoder
from hornbeam.boat.reading import Reading, Report
from hornbeam.boat.survey import Survey

__all__ = ["Chunks", "EncodedChunk"]


class Chunks:
    """The rows of a source, encoded by its survey; each iteration is a scan.

    `report` hears after each chunk how many rows were read. With `folds`, rows have a fold from 0 by the hash
    of their key and a seed, or of their number where no key is named and the source keeps its rows in order.
    """

    def __init__(
        self,
        reading: Reading,
        survey: Survey,
        report: Report | None = None,
        folds: int | None = None,
        seed: int = 0,
    ) -> None:
        self._reading, self._report = reading, report
        self._encoder = Encoder(reading, survey.schema.attributes, survey.labels, survey.ranges, folds, seed)

    def __iter__(self) -> Iterator[EncodedChunk]:
        for first, chunk in self._reading.scan(self._report):
            encoded = self._encoder.encode(chunk, first)
            if encoded.n_rows:
                yield encoded
