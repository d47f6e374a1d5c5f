"""When rows came to be known: those at or after the time of their example are left out."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam.errors import DataError, UsageError
from hornbeam.relational.coding import code_type
from hornbeam.relational.records import MISSING, Codes, Rows
from hornbeam.relational.tables import SourceTable
from hornbeam.table.arrays import read_vector
from hornbeam.table.columns import Array, Cells
from hornbeam.table.schema import list_names
from hornbeam.table.storage import parse_type


@dataclass(frozen=True, eq=False)
class ExampleTimes:
    """The time of each example, and the columns that say when rows of other tables came to be known.

    A row without a time is left out: nothing says that it was known.
    """

    tables: Mapping[str, SourceTable]
    columns: Mapping[str, str]
    where: str
    cells: Cells

    def has(self, table: str) -> bool:
        return table in self.columns

    def without_later(self, table: str, owner: Codes) -> Codes:
        """The owners, MISSING for rows that come too late for their example."""
        if table not in self.columns:
            return owner
        rows = np.flatnonzero(owner != MISSING)
        kept = np.full(len(owner), MISSING, dtype=np.int32)
        early = rows[self.earlier(table, rows, owner[rows])]
        kept[early] = owner[early]
        return kept

    def earlier(self, table: str, rows: Rows, owner: Codes) -> npt.NDArray[np.bool_]:
        """Which of the rows are known before the time of the example that owns them."""
        column = self.columns[table]
        cells = self.tables[table].cells(column)
        if cells.source == "null":
            return np.zeros(len(rows), dtype=np.bool_)
        row_times, example_times = _comparable((f"{table}.{column}", cells), (self.where, self.cells))
        known = cells.known()[rows]
        early: npt.NDArray[np.bool_] = row_times[rows] < example_times[owner]
        return known & early


def example_times(
    tables: Mapping[str, SourceTable], target: str, time_columns: Mapping[str, str], example_time: Any
) -> ExampleTimes | None:
    """The times, if any were given. `example_time` is a column of the examples' table, or one moment for all;
    without it the time column of that table is meant."""
    for table, column in time_columns.items():
        if table not in tables or column not in tables[table].columns:
            known = list_names(list(tables)) if table not in tables else list_names(tables[table].columns)
            raise UsageError(f"time_columns names {table}.{column}, which is not there; known are {known}")
    others = {table: column for table, column in time_columns.items() if table != target}
    if example_time is None:
        example_time = time_columns.get(target)
    if example_time is None:
        if others:
            raise UsageError(
                f"time_columns are given and the examples have no time; give time_columns[{target!r}], or "
                "example_time, a column of that table or one moment for all"
            )
        return None
    if isinstance(example_time, str) and example_time in tables[target].columns:
        cells, where = tables[target].cells(example_time), f"{target}.{example_time}"
        missing = int((~cells.known()).sum())
        if missing:
            raise DataError(f"{where} is NULL in {missing} rows; every example needs its time")
        return ExampleTimes(tables, others, where, cells)
    if isinstance(example_time, str):
        kinds = {parse_type(tables[table].cells(column).type).group for table, column in others.items()}
        example_time = _moment_of(example_time, target, kinds)
    moment = np.array([example_time] * tables[target].n_rows, dtype=_dtype_of(example_time))
    return ExampleTimes(tables, others, "example_time", read_vector(moment, "example_time"))


def _moment_of(text: str, target: str, kinds: set[str]) -> Any:
    """One moment given as text, as the times that it is compared with; a misspelt column is none."""
    try:
        moment = datetime.datetime.fromisoformat(text)
        return text if kinds <= {"nominal"} else np.datetime64(moment.replace(tzinfo=None), "us")
    except ValueError:
        pass
    try:
        if kinds <= {"number"}:
            return float(text)
    except ValueError:
        pass
    raise UsageError(
        f"example_time={text!r} is neither a column of {target!r} nor a moment; write one such as 2024-06-30"
    )


def _dtype_of(moment: Any) -> Any:
    return None if isinstance(moment, np.datetime64 | np.generic) else object


def _comparable(row: tuple[str, Cells], example: tuple[str, Cells]) -> tuple[Array, Array]:
    """Arrays whose order is the order of the times: ranks where both are alike, else exact moments."""
    groups = [parse_type(cells.type).group for _, cells in (row, example)]
    if groups[0] != groups[1]:
        text = [parse_type(cells.type).description for _, cells in (row, example)]
        raise DataError(
            f"times cannot be compared: {row[0]} holds {text[0]} and {example[0]} holds {text[1]}; "
            "give them one type"
        )
    if row[1].type == example[1].type or groups[0] == "number":
        _, codes = code_type("time", [row, example])
        return codes[0], codes[1]
    return _moments(row[1]), _moments(example[1])


def _moments(cells: Cells) -> Array:
    storage = parse_type(cells.type)
    unit = "D" if storage.family == "date" else storage.unit
    return cells.values.view(f"datetime64[{unit}]") if storage.family != "time" else cells.values
