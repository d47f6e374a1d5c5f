"""Columns of a chunk as codes: numbers as narrow as Arrow keeps them, labels and classes by their places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hornbeam._core import recode
from hornbeam.errors import DataError, SourceChanged
from hornbeam.growth.grow import MAX_CLASSES
from hornbeam.table import Attribute, Column, encode_classes
from hornbeam.table.arrow import is_text, narrow_integers, read_chunked
from hornbeam.table.columns import Array, Mask
from hornbeam.table.labels import cell_texts

EncodedColumn: TypeAlias = tuple[str, Array] | tuple[str, Array, Mask | None]

_SIGN = np.uint64(2**63)
_UNSEEN = -2
_NARROW = 1 << 16  # whole numbers between so few bounds are looked up, others searched for


def floats(column: pa.Array) -> Array:
    """The values of a float column, float32 or float64, NaN where missing."""
    values: Array = column.to_numpy(zero_copy_only=False)
    return values.astype(np.float32) if values.dtype == np.float16 else values


def integers(column: pa.Array, name: str) -> tuple[Array, Mask | None]:
    """The codes of an exact column, 0 where missing, and the mask of missing ones; uint64 as value - 2^63."""
    values, missing = narrow_integers(column, name)
    return (values ^ _SIGN).view(np.int64) if values.dtype == np.uint64 else values, missing


class LabelCodes:
    """Codes of the cells of a column by its labels; `refuse` makes the error for what is not known."""

    def __init__(self, labels: Sequence[str], refuse: Callable[[str], SourceChanged]) -> None:
        self._codes = {label: code for code, label in enumerate(labels)}
        self._refuse = refuse
        self._dictionary: pa.Array | None = None
        self._table: npt.NDArray[np.int32] = np.empty(0, dtype=np.int32)

    def encode(self, column: pa.Array) -> npt.NDArray[np.int32]:
        """int32 codes, -1 where missing."""
        if pa.types.is_null(column.type):
            return np.full(len(column), -1, dtype=np.int32)
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        dictionary, places = column.dictionary, column.indices
        if self._dictionary is None or not dictionary.equals(self._dictionary):  # often a chunk shares one
            self._dictionary, self._table = dictionary, self._table_of(dictionary)
        if places.null_count:
            places = places.fill_null(len(dictionary))
        codes = recode(places.to_numpy(), self._table)
        if len(codes) and int(self._table.min()) == _UNSEEN and int(codes.min()) == _UNSEEN:
            place = int(places[int(codes.argmin())].as_py())
            raise self._refuse(repr(str(dictionary[place].as_py())[:40]))
        return codes

    def _table_of(self, dictionary: pa.Array) -> npt.NDArray[np.int32]:
        """The code of each place of a dictionary, and then that of missing cells."""
        codes = self._codes
        found = [-1 if text is None else codes.get(text, _UNSEEN) for text in texts_of(dictionary)]
        return np.array([*found, -1], dtype=np.int32)


def texts_of(dictionary: pa.Array) -> list[str | None]:
    """The label that each value of a dictionary has; None where it is missing."""
    if is_text(dictionary.type):
        texts: list[str | None] = dictionary.to_pylist()
        return texts
    return cell_texts(read_chunked(pa.chunked_array([dictionary]), "a dictionary"))


class ColumnCodes:
    """The columns of chunks by the attributes of a schema; `refuse` makes the error for what is new."""

    def __init__(self, attributes: Sequence[Attribute], refuse: Callable[[str, str], SourceChanged]) -> None:
        self._attributes = tuple(attributes)
        self._labels = {
            attribute.name: LabelCodes(attribute.labels, partial(refuse, attribute.name))
            for attribute in attributes
            if attribute.kind == "nominal"
        }

    def encode(self, chunk: pa.RecordBatch) -> list[EncodedColumn]:
        """The columns of the attributes, in their order."""
        return [self._column(chunk.column(attribute.name), attribute) for attribute in self._attributes]

    def _column(self, column: pa.Array, attribute: Attribute) -> EncodedColumn:
        if attribute.kind == "nominal":
            return "nominal", self._labels[attribute.name].encode(column)
        if attribute.is_integer:
            return "integer", *integers(column, attribute.name)
        return "float", floats(column)


def wide(encoded: EncodedColumn) -> Column:
    """The column as a table holds it."""
    kind, values, *rest = encoded
    missing: Any = rest[0] if rest else None
    if kind == "float":
        return Column("float", values.astype(np.float64, copy=False))
    if kind == "integer":
        return Column("integer", values.astype(np.int64, copy=False), missing)
    return Column("nominal", values)


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
