"""Tables as they came in, whose columns are read when they are first needed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hornbeam.errors import DataError, DataTypeError, UsageError
from hornbeam.table.arrays import read_vector
from hornbeam.table.columns import Cells
from hornbeam.table.encoding import check_limits, open_frame
from hornbeam.table.frame import Frame, check_names
from hornbeam.table.labels import as_nominal, cell_texts
from hornbeam.table.schema import list_names


@dataclass(frozen=True, eq=False)
class SourceTable:
    """A table by its name. A column is read when it is first asked for, and kept."""

    name: str
    frame: Frame
    nominal: frozenset[str] = frozenset()
    _read: dict[str, Cells] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.frame.names or ()

    @property
    def n_rows(self) -> int:
        return self.frame.n_rows

    def cells(self, column: str) -> Cells:
        """The cells of a column; types that no table holds are refused with the table's name."""
        if column not in self._read:
            labels = column in self.nominal
            try:
                cells = self.frame.cells(self.columns.index(column), column, labels)
                self._read[column] = as_nominal(cells, column) if labels else cells
            except DataError as error:
                raise DataError(f"table {self.name!r}: {error}") from None
        return self._read[column]


def show_cell(cells: Cells, row: int) -> str:
    """One cell as text for an error."""
    one = slice(row, row + 1)
    part = Cells(
        cells.type,
        cells.values[one],
        None if cells.missing is None else cells.missing[one],
        cells.labels,
        cells.source,
    )
    text = cell_texts(part)[0]
    return repr(text[:60]) if cells.type == "nominal" and text is not None else str(text)


def source_tables(
    frames: Mapping[str, Any], nominal: Mapping[str, Sequence[str]] | None = None
) -> dict[str, SourceTable]:
    """The tables by name; `nominal` lists columns of numbers that are labels."""
    if not isinstance(frames, Mapping) or not frames:
        raise DataTypeError(
            f"a database is given as {{table: frame}}, not as {type(frames).__name__}"
            if not isinstance(frames, Mapping)
            else "a database needs at least one table; give {table: frame}"
        )
    chosen = dict(nominal or {})
    tables = {str(name): _table(str(name), data, chosen.pop(name, ())) for name, data in frames.items()}
    if chosen:
        raise UsageError(
            f"nominal names tables {list_names(list(chosen))}; tables are {list_names(list(tables))}"
        )
    return tables


def _table(name: str, data: Any, nominal: Sequence[str]) -> SourceTable:
    try:
        frame = _columns_frame(data) if isinstance(data, Mapping) else open_frame(data, f"table {name!r}")
        check_limits(frame)
    except DataError as error:
        raise type(error)(f"table {name!r}: {error}") from None
    if not frame.names:
        raise DataError(f"table {name!r} has no column names; give a frame with names or a dict of columns")
    if not isinstance(nominal, Collection):
        raise UsageError(f"nominal of table {name!r} is {nominal!r}; give a list of columns")
    unknown = [column for column in nominal if column not in frame.names]
    if isinstance(nominal, str) or unknown:
        raise UsageError(
            f"nominal of table {name!r} names {list_names(unknown)}; columns are {list_names(frame.names)}"
        )
    return SourceTable(name, frame, frozenset(nominal))


def _columns_frame(data: Mapping[Any, Any]) -> Frame:
    """A frame over a dict of columns, each a list or an array."""
    names = check_names(list(data))
    columns = [
        column if isinstance(column, np.ndarray) else np.fromiter(column, dtype=object, count=len(column))
        for column in data.values()
    ]
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise DataError(
            f"columns have {min(lengths)} to {max(lengths)} cells; every column needs the same number"
        )
    n_rows = lengths.pop() if lengths else 0
    return Frame(names, n_rows, len(columns), lambda j, name, nominal: read_vector(columns[j], name, nominal))
