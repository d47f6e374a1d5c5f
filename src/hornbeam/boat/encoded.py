"""A chunk as native kernels take it: attributes, targets, weights and folds of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hornbeam import _core
from hornbeam.boat.classes import ClassCodes
from hornbeam.boat.columns import ColumnCodes, EncodedColumn
from hornbeam.boat.ranges import Range
from hornbeam.boat.reading import Reading
from hornbeam.errors import SourceChanged, UsageError
from hornbeam.table import Attribute, encode_targets
from hornbeam.table.columns import Array
from hornbeam.table.sources import fold_of
from hornbeam.table.sources.draws import numbered_row_words, row_words
from hornbeam.table.sources.hashing import Words

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
        key = self._reading.key
        keys = pa.array(np.arange(first, first + chunk.num_rows)) if key is None else chunk.column(key)
        found = fold_of(keys, self._folds, self._seed)
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
