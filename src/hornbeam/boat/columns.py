"""Columns of a chunk as native arrays: numbers as narrow as Arrow keeps them, labels by a schema's codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hornbeam.errors import SourceChanged
from hornbeam.table import Attribute, Column
from hornbeam.table.arrow import is_text, narrow_integers, read_chunked
from hornbeam.table.columns import Array, Mask
from hornbeam.table.labels import cell_texts

EncodedColumn: TypeAlias = tuple[str, Array] | tuple[str, Array, Mask | None]

_SIGN = np.uint64(2**63)
_UNSEEN = -2


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
        codes: npt.NDArray[np.int32] = self._table.take(places.to_numpy(), mode="clip")
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
