"""Columns as the core takes them, and frames: the columns of a caller, read where they are asked for."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from hornbeam.errors import DataError, DataTypeError
from hornbeam.table.schema import Schema, duplicate_names, is_unicode, show_name

Array: TypeAlias = npt.NDArray[Any]
Mask: TypeAlias = npt.NDArray[np.uint8]
NativeColumn: TypeAlias = tuple[int, Array, Mask | None, int]

_STORED = {"float": np.float64, "integer": np.int64, "nominal": np.int32}
_NATIVE_KIND = {"float": 0, "integer": 1, "nominal": 2}


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """float: float64, NaN missing. integer: int64 and a mask. nominal: int32, -1 missing, -2 unseen."""

    kind: Literal["float", "integer", "nominal"]
    values: Array
    missing: Mask | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Encoded columns in the order of the schema's attributes."""

    schema: Schema
    columns: tuple[Column, ...]
    n_rows: int

    def take(self, rows: npt.NDArray[np.int64], needed: Collection[int] | None = None) -> "Table":
        """The table of some rows, in their order; the schema stays. Neighbours are not copied.

        Where `needed` names columns, the others hold zeros: for a tree that never asks for them.
        """
        part: slice | npt.NDArray[np.int64] = rows
        if len(rows) and rows[-1] - rows[0] + 1 == len(rows) and (np.diff(rows) == 1).all():
            part = slice(int(rows[0]), int(rows[-1]) + 1)
        zeros = {kind: np.zeros(len(rows), dtype) for kind, dtype in _STORED.items()}
        columns = tuple(
            Column(column.kind, column.values[part], None if column.missing is None else column.missing[part])
            if needed is None or j in needed
            else Column(column.kind, zeros[column.kind])
            for j, column in enumerate(self.columns)
        )
        return Table(self.schema, columns, len(rows))

    def native(self) -> list[NativeColumn]:
        """The columns as `_core` takes them: (kind, values, missing, number of categories)."""
        return [
            (_NATIVE_KIND[column.kind], column.values, column.missing, len(attribute.labels))
            for column, attribute in zip(self.columns, self.schema.attributes, strict=True)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """One column as the caller gave it, before a schema is asked: its storage type and codes, exact.

    `labels` are those that occur, sorted; `source` says what nominal cells were: text, boolean or null.
    """

    type: str
    values: Array
    missing: Mask | None = None
    labels: tuple[str, ...] = ()
    source: Literal["text", "boolean", "null", "number"] = "number"

    def to_column(self) -> Column:
        """The column that a schema made from these cells would hold."""
        if self.type == "float64":
            return Column("float", self.values)
        if self.type == "nominal":
            return Column("nominal", self.values)
        return Column("integer", self.values, self.missing)

    def known(self) -> npt.NDArray[np.bool_]:
        """True where the cell is not missing."""
        if self.type == "float64":
            return ~np.isnan(self.values)
        if self.type == "nominal":
            return np.asarray(self.values >= 0)
        if self.missing is None:
            return np.ones(len(self.values), dtype=np.bool_)
        return np.asarray(self.missing == 0)


CellReader = Callable[[int, str, bool], Cells]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """`cells(position, name, nominal)` reads a column; name is for errors, nominal lets mixed cells be text.

    `matrix`, where given, is the whole table as a float64 array whose columns are used as they are.
    """

    names: tuple[str, ...] | None
    n_rows: int
    n_columns: int
    cells: CellReader
    matrix: Array | None = None


@lru_cache(maxsize=64)
def positional_names(count: int) -> tuple[str, ...]:
    """Names of the columns of data that has none."""
    return tuple(f"x{i}" for i in range(count))


def check_names(names: list[object]) -> tuple[str, ...] | None:
    """Column names as a tuple; None where none of them is text (then only positions count)."""
    if all(type(name) is str for name in names):
        texts = [name for name in names if isinstance(name, str)]
    elif not any(isinstance(name, str) for name in names):
        return None
    elif all(isinstance(name, str) for name in names):
        texts = [str(name) for name in names]
    else:
        types = sorted({type(name).__name__ for name in names})
        raise DataTypeError(
            f"column names must all be text or all not; given are {', '.join(types)}; rename the columns"
        )
    if len(set(texts)) != len(texts):
        raise duplicate_names(texts)
    if not is_unicode("".join(texts)):
        bad = next(text for text in texts if not is_unicode(text))
        raise DataError(
            f"{show_name(bad)}: the name is not valid Unicode (a lone surrogate); rename the column"
        )
    return tuple(texts)


def refuse_type(name: str, type_name: str) -> DataError:
    """The error for a column of a type that has no place in a table."""
    hints = {
        "list": "split it into columns or take a summary of it",
        "struct": "split it into columns",
        "binary": "decode it to text",
        "complex": "Complex data not supported; give real and imaginary parts as two columns",
    }
    hint = next(
        (text for word, text in hints.items() if word in type_name), "cast it to a supported type or drop it"
    )
    return DataError(
        f"{show_name(name)}: type {type_name} is not supported; {hint} (docs/types.md lists the types)"
    )


def refuse_shape(shape: tuple[int, ...]) -> DataError:
    """The error for data that is not two-dimensional, in scikit-learn's words."""
    if len(shape) == 1:
        return DataError(
            f"Expected 2D array, got 1D array instead (shape={shape}). Reshape your data either using "
            "array.reshape(-1, 1) if it has a single feature or array.reshape(1, -1) if it is a single "
            "sample."
        )
    if not shape:
        return DataError("Expected 2D array, got scalar array instead; X must be a table of rows and columns")
    return DataError(
        f"Found array with dim {len(shape)}, while dim <= 2 is required; X must be rows and columns"
    )
