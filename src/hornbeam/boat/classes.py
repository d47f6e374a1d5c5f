"""Class labels over chunks: which there are and how often, as the whole column would say, and their codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hornbeam._core import recode
from hornbeam.boat.columns import LabelCodes
from hornbeam.errors import DataError, SourceChanged
from hornbeam.growth.grow import MAX_CLASSES
from hornbeam.table import encode_classes
from hornbeam.table.columns import Array

_NARROW = 1 << 16  # whole numbers between so few bounds are looked up, others searched for


class ClassTally:
    """The classes of the rows that go by, and how many rows of weight there are of each."""

    def __init__(self, type_: pa.DataType) -> None:
        self._type = type_
        self._counts: dict[Any, int] = {}

    def add(self, column: pa.Array, counted: pa.Array | None = None) -> None:
        """Take in the labels of a chunk, and count its rows, or those of them that are given besides."""
        self._join(column, int(counted is None))
        if counted is not None:
            self._join(counted, 1)

    def _join(self, column: pa.Array, times: int) -> None:
        self._add(zip(*_distinct(column), strict=True), times)

    def merge(self, other: ClassTally) -> None:
        """Take in the labels of another part."""
        self._add(other._counts.items(), 1)

    def _add(self, found: Iterable[tuple[Any, int]], times: int) -> None:
        counts = self._counts
        for label, count in found:
            counts[label] = counts.get(label, 0) + times * count
        if len(counts) > MAX_CLASSES:
            raise DataError(
                f"the target has more than {MAX_CLASSES} classes; up to {MAX_CLASSES} are allowed; "
                "for a number use TreeRegressor"
            )

    def settle(self) -> tuple[Array, npt.NDArray[np.int64]]:
        """The classes exactly as all rows together would give them, and the rows of each."""
        distinct = list(self._counts)
        if pa.types.is_dictionary(self._type):
            values: Array = np.fromiter(distinct, dtype=object, count=len(distinct))
        else:
            values = np.array(distinct, dtype=self._type.to_pandas_dtype())
        codes, classes = encode_classes(values)
        counts = np.zeros(len(classes), dtype=np.int64)
        np.add.at(counts, codes, list(self._counts.values()))
        return classes, counts


def _distinct(column: pa.Array) -> tuple[list[Any], list[int]]:
    """The labels of a column and how often each occurs; refused where `fit` refuses one of them."""
    if column.null_count:
        encode_classes(column)
    if pa.types.is_dictionary(column.type):
        counts = np.bincount(column.indices.to_numpy(), minlength=len(column.dictionary))
        used = np.flatnonzero(counts)
        labels = column.dictionary.take(pa.array(used)).to_pylist()
        if None in labels:
            encode_classes(column)
        return labels, counts[used].tolist()
    found = column.value_counts()
    values, counted = found.field("values"), found.field("counts")
    if pa.types.is_floating(column.type):
        numbers = values.to_numpy(zero_copy_only=False)
        if not (np.isfinite(numbers) & (numbers == np.floor(numbers))).all():
            encode_classes(column)
        return numbers.tolist(), counted.to_pylist()
    return values.to_pylist(), counted.to_pylist()


class ClassCodes:
    """The class codes of chunks; `refuse` makes the error for a label that is not known."""

    def __init__(self, labels: Array, refuse: Callable[[str], SourceChanged]) -> None:
        self._labels, self._refuse = labels, refuse
        self._texts = LabelCodes(labels.tolist(), refuse) if labels.dtype == object else None
        self._table: npt.NDArray[np.int32] | None = None
        self._low = 0
        if labels.dtype.kind in "iub" and len(labels):
            whole = [int(label) for label in labels.tolist()]
            if whole[-1] - whole[0] < _NARROW:
                self._low = whole[0] if whole[0] < 2**63 else whole[0] - 2**64
                self._table = np.full(whole[-1] - whole[0] + 2, -1, dtype=np.int32)
                self._table[[label - whole[0] for label in whole]] = np.arange(len(whole))

    def encode(self, column: pa.Array) -> npt.NDArray[np.uint16]:
        """The code of each row's class."""
        if column.null_count:
            raise self._refuse("missing cells")
        if not len(column):
            return np.empty(0, dtype=np.uint16)
        codes = self._numbers(column) if self._texts is None else self._texts.encode(column)
        if int(codes.min()) < 0:
            raise self._refuse(repr(str(column[int(codes.argmin())].as_py())[:40]))
        return codes.astype(np.uint16)

    def _numbers(self, column: pa.Array) -> Array:
        values: Array = column.to_numpy(zero_copy_only=False)
        if self._table is not None:
            return recode(
                values.view(np.uint8) if values.dtype == np.bool_ else values, self._table, self._low
            )
        codes = np.searchsorted(self._labels, values).clip(max=len(self._labels) - 1)
        return np.where(self._labels[codes] == values, codes, -1)
