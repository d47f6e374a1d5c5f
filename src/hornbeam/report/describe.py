"""What the columns of a table hold, in a few words each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hornbeam.boat.survey import Range
from hornbeam.drawing.text import number_text
from hornbeam.table import Attribute, Column, Table


@dataclass(frozen=True)
class ColumnSummary:
    """One attribute of the training rows."""

    name: str
    kind: str
    missing: int
    values: str
    importance: float


def describe_columns(
    table: Table,
    importances: np.ndarray[tuple[int], np.dtype[np.float64]],
    ranges: Sequence[Range] | None = None,
) -> tuple[ColumnSummary, ...]:
    """A line for every attribute of the table. Of a source the `ranges` are those of all rows, which the
    table is a sample of: its most common labels are those of the sample."""
    attributes = zip(table.schema.attributes, table.columns, importances.tolist(), strict=True)
    lines = tuple(_summary(attribute, column, importance) for attribute, column, importance in attributes)
    if ranges is None:
        return lines
    return tuple(
        replace(line, missing=range_.missing, values=_range(attribute, range_) or line.values)
        for attribute, line, range_ in zip(table.schema.attributes, lines, ranges, strict=True)
    )


def _range(attribute: Attribute, range_: Range) -> str | None:
    if range_.lowest is None or range_.highest is None:
        return None
    if attribute.type == "float64":
        return f"{number_text(range_.lowest)} to {number_text(range_.highest)}"
    return f"{attribute.format(range_.lowest)} to {attribute.format(range_.highest)}"


def _summary(attribute: Attribute, column: Column, importance: float) -> ColumnSummary:
    if column.kind == "nominal":
        missing = int(np.count_nonzero(column.values < 0))
        known = np.bincount(column.values[column.values >= 0], minlength=len(attribute.labels))
        order = np.argsort(-known, kind="stable")[:4].tolist()
        names = ", ".join(attribute.labels[code] for code in order)
        kind = f"nominal, {len(attribute.labels)} labels"
        return ColumnSummary(attribute.name, kind, missing, names or "all missing", importance)
    if column.kind == "float":
        known = column.values[~np.isnan(column.values)]
        missing = len(column.values) - len(known)
        values = f"{number_text(known.min())} to {number_text(known.max())}" if len(known) else "all missing"
        return ColumnSummary(attribute.name, "numeric", missing, values, importance)
    known = column.values if column.missing is None else column.values[column.missing == 0]
    missing = len(column.values) - len(known)
    values = (
        f"{attribute.format(known.min())} to {attribute.format(known.max())}" if len(known) else "all missing"
    )
    kind = "numeric" if attribute.type in ("int64", "uint64") else attribute.type.partition(":")[0]
    return ColumnSummary(attribute.name, kind, missing, values, importance)
