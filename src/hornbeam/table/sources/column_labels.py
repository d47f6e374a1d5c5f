"""The labels of nominal columns, gathered while rows go by, and the exact schema that they complete."""

import sys
from collections.abc import Collection
from typing import Any

import numpy as np
import pyarrow as pa

from hornbeam.errors import DataError
from hornbeam.table.arrow import not_utf8, read_chunked
from hornbeam.table.labels import as_nominal, check_labels
from hornbeam.table.schema import MAX_CATEGORIES, Attribute, Schema, show_name
from hornbeam.table.sources.types import TEXT

_PLACE = 64  # bytes of a label's place in a set, at most


class ColumnLabels:
    """Which labels each nominal column has; in memory the labels alone, at most 10^6 a column and, where a
    `memory_limit` is given, that many bytes of all columns.

    `nominal` names further columns whose values are labels, as `nominal_features` does. `schema()` is then
    that of a table of all rows, and `hornbeam.table.conform(chunk, schema)` encodes a chunk by its codes.
    """

    def __init__(
        self, schema: pa.Schema, nominal: Collection[str] = (), memory_limit: int | None = None
    ) -> None:
        self.bytes, self._limit = 0, memory_limit
        self._types = {
            name: read_chunked(pa.chunked_array([], schema.field(name).type), name).type
            for name in schema.names
        }
        wanted = [name for name, type_ in self._types.items() if type_ == "nominal" or name in set(nominal)]
        self._labels: dict[str, set[str]] = {name: set() for name in wanted}
        # the last dictionary of each column all of whose labels were taken in
        self._whole: dict[str, pa.Array] = dict.fromkeys(wanted, pa.array([], pa.string()))

    def add(self, chunk: pa.RecordBatch) -> None:
        """Take in the labels that occur in a chunk."""
        for name, known in self._labels.items():
            column = chunk.column(name)
            if column.type != TEXT:
                cells = as_nominal(read_chunked(pa.chunked_array([column.unique()]), name), name)
                self._join(name, known, cells.labels)
            elif not column.dictionary.equals(self._whole[name]):  # neighbouring chunks often share one
                texts = _occurring(column, name)
                self._join(name, known, texts - {None})
                if len(texts) == len(column.dictionary):
                    self._whole[name] = column.dictionary

    def merge(self, other: "ColumnLabels") -> None:
        """Take in the labels of another part of the same source; the order of merging does not matter."""
        for name, known in self._labels.items():
            self._join(name, known, other._labels[name])

    def _join(self, name: str, known: set[str], labels: Collection[Any]) -> None:
        new = set(labels) - known
        known.update(new)
        if len(known) > MAX_CATEGORIES:
            check_labels(sorted(known), name)
        self.bytes += sum(map(sys.getsizeof, new)) + _PLACE * len(new)
        if self._limit is not None and self.bytes > self._limit:
            raise DataError(
                f"{show_name(name)}: the labels of nominal columns take more than the {self._limit:,} bytes "
                "allowed; leave the column out or allow more"
            )

    def is_nominal(self, name: str) -> bool:
        """Whether the values of a column are labels."""
        return name in self._labels

    def labels(self, name: str) -> tuple[str, ...]:
        """The labels of a nominal column, sorted by their UTF-8 bytes."""
        return tuple(sorted(self._labels[name]))

    def schema(self) -> Schema:
        """The schema of all rows that were taken in."""
        return Schema(
            tuple(
                Attribute(name, "nominal", "nominal", self.labels(name))
                if name in self._labels
                else Attribute(name, "numeric", type_)
                for name, type_ in self._types.items()
            )
        )


def _occurring(column: pa.Array, name: str) -> set[str | None]:
    """The texts of a dictionary that occur in a column."""
    occurs = np.zeros(len(column.dictionary), dtype=np.bool_)
    occurs[column.indices.drop_null().to_numpy()] = True
    try:
        return set(column.dictionary.filter(pa.array(occurs)).to_pylist())
    except UnicodeDecodeError:
        raise not_utf8(name) from None
