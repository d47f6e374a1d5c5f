"""A table as numbers from 0: category codes, and of numbers their ranks; complete rows only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam.errors import DataError
from hornbeam.growth import ClassTarget
from hornbeam.table import Column, Schema, Table

Codes = npt.NDArray[np.int32]
Rows = npt.NDArray[np.int64]
Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Coded:
    """`cells[row, attribute]`; `values[attribute]` are the numbers by rank, None where it is nominal."""

    schema: Schema
    cells: Codes
    values: tuple[Array | None, ...]
    classes: Codes
    labels: Array

    @classmethod
    def of(cls, table: Table, target: ClassTarget) -> Coded:
        check_complete(table)
        columns = [_ranks(column) for column in table.columns]
        cells = np.column_stack([cells for cells, _ in columns])
        return cls(table.schema, cells, tuple(values for _, values in columns), target.codes, target.labels)

    @property
    def n_rows(self) -> int:
        return len(self.classes)

    @property
    def n_classes(self) -> int:
        return len(self.labels)

    @property
    def n_attributes(self) -> int:
        return int(self.cells.shape[1])

    def is_nominal(self, attribute: int) -> bool:
        return self.values[attribute] is None

    def n_codes(self, attribute: int) -> int:
        """Categories, or different numbers."""
        values = self.values[attribute]
        return len(self.schema.attributes[attribute].labels) if values is None else len(values)

    def midpoint(self, attribute: int, low: int, high: int) -> float | int:
        """The threshold between two ranks, as the law of growth has it."""
        values = self.values[attribute]
        assert values is not None
        lo, hi = values[low].item(), values[high].item()
        if isinstance(lo, int):
            return int((lo + hi) // 2)
        middle = lo / 2 + hi / 2
        return float(middle if middle != hi and np.isfinite(middle) else lo) + 0.0


def check_complete(table: Table) -> None:
    """Refuse missing cells: none of these learners was published with a rule for them."""
    for column, attribute in zip(table.columns, table.schema.attributes, strict=True):
        if _missing(column).any():
            raise DataError(
                f"attribute {attribute.name!r} has missing cells; this baseline takes complete tables: fill "
                "them or leave the attribute out"
            )


def _missing(column: Column) -> npt.NDArray[np.bool_]:
    if column.kind == "nominal":
        return np.asarray(column.values < 0)
    if column.kind == "float":
        return np.isnan(column.values)
    return np.zeros(0, np.bool_) if column.missing is None else column.missing != 0


def _ranks(column: Column) -> tuple[Codes, Array | None]:
    """The codes of a complete column, and its different numbers."""
    if column.kind == "nominal":
        return column.values, None
    values, ranks = np.unique(
        column.values + 0.0 if column.kind == "float" else column.values, return_inverse=True
    )
    return ranks.astype(np.int32), values
