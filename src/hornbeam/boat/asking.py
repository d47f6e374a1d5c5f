"""Rows of a source as trees are asked about them: a table in the schema of all rows, what is true, and the
words that bags go by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hornbeam.boat.classes import ClassCodes
from hornbeam.boat.encoded import words_of
from hornbeam.boat.reading import Reading
from hornbeam.errors import SourceChanged
from hornbeam.table import Schema, Table, conform, encode_targets
from hornbeam.table.sources.hashing import Words


class AskedRows(NamedTuple):
    """Some rows; what is true of them are class codes, or numbers by target."""

    table: Table
    true: npt.NDArray[Any]
    words: Words


class Sums(Protocol):
    """What rows outside of bags say of trees; sums of parts merge."""

    @property
    def found(self) -> list[int]:
        """What `merge` takes."""

    def fresh(self) -> Sums:
        """The same before any row."""

    def add(self, rows: AskedRows) -> None:
        """Take rows in."""

    def merge(self, found: Sequence[int]) -> None:
        """Take in what another part has found."""


@dataclass(frozen=True, eq=False)
class Asking:
    """What of a source is asked about; `labels` are the classes, None for numbers."""

    reading: Reading
    schema: Schema
    labels: npt.NDArray[Any] | None

    def rows(self, chunk: pa.RecordBatch, first: int) -> AskedRows:
        """The rows of a chunk, the first of which has this number."""
        reading = self.reading
        with reading.naming(first):
            asked = chunk.select(list(reading.attributes))
            table = conform(asked, self.schema, estimator="the bags", what=reading.source.name)
            if self.labels is None:
                true: npt.NDArray[Any] = encode_targets(chunk.select(list(reading.targets)))
            else:
                true = self._codes.encode(chunk.column(reading.targets[0])).astype(np.int64)
            return AskedRows(table, true, words_of(reading, chunk, first))

    @cached_property
    def _codes(self) -> ClassCodes:
        assert self.labels is not None
        return ClassCodes(self.labels, self._changed)

    def _changed(self, news: str) -> SourceChanged:
        name = self.reading.source.name
        return SourceChanged(f"{name} changed between two scans (the classes have {news} now); read a copy")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_codes"}
