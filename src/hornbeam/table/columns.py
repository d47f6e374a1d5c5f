"""The table as the core takes it: one encoded column for each attribute of the schema."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from hornbeam.table.schema import Schema

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
