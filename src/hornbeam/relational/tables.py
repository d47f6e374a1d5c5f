"""Tables as they came in, whose columns are read when they are first needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from hornbeam.errors import DataError, DataTypeError, UsageError
from hornbeam.relational.coding import Rows, code_type
from hornbeam.table.arrays import read_vector
from hornbeam.table.columns import Cells
from hornbeam.table.encoding import check_limits, open_frame
from hornbeam.table.frame import Frame, check_names
from hornbeam.table.labels import as_nominal, cell_texts
from hornbeam.table.schema import list_names

Keys: TypeAlias = Mapping[str, str]
References: TypeAlias = Mapping[str, Mapping[str, str]]

_NO_PARENT = -1


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


@dataclass(frozen=True, eq=False)
class Links:
    """Tables with checked keys and references; `parents[table, column]` is the row that each row refers to.

    NULL refers to no row (-1). `origin` says of a key or a reference where it was found, if not declared.
    """

    tables: Mapping[str, SourceTable]
    keys: Keys
    references: References
    parents: Mapping[tuple[str, str], Rows]

    def children(self, table: str) -> list[tuple[str, str]]:
        """The references to a table, as (table, column), in the order of the tables."""
        return [(name, column) for name in self.tables for column, to in self._of(name) if to == table]

    def _of(self, table: str) -> Sequence[tuple[str, str]]:
        return tuple(self.references.get(table, {}).items())


def link(tables: Mapping[str, SourceTable], keys: Keys, references: References) -> Links:
    """Check that what was declared is there, that keys are keys, and that references find their rows."""
    for table, column in keys.items():
        _check_column(tables, table, column, "keys")
    for table, columns in references.items():
        for column, to in columns.items():
            _check_column(tables, table, column, "references")
            if to not in tables:
                raise UsageError(
                    f"references: {table}.{column} refers to {to!r}, which is no table; "
                    f"tables are {list_names(list(tables))}"
                )
            if to not in keys:
                raise UsageError(
                    f"references: {table}.{column} refers to {to!r}, which has no key; "
                    f"name its key column, for instance keys={{{to!r}: {tables[to].columns[0]!r}}}"
                )
    for table, column in keys.items():
        _check_key(tables[table], column)
    parents = {
        (table, column): _parents(tables, keys, table, column, to)
        for table, columns in references.items()
        for column, to in columns.items()
    }
    return Links(tables, dict(keys), {table: dict(columns) for table, columns in references.items()}, parents)


def _check_column(tables: Mapping[str, SourceTable], table: str, column: str, option: str) -> None:
    if table not in tables:
        raise UsageError(f"{option} names table {table!r}; tables are {list_names(list(tables))}")
    if column not in tables[table].columns:
        raise UsageError(
            f"{option} names column {column!r} of table {table!r}; "
            f"its columns are {list_names(tables[table].columns)}"
        )


def _check_key(table: SourceTable, column: str) -> None:
    cells = table.cells(column)
    known = cells.known()
    missing = len(known) - int(known.sum())
    if missing:
        raise DataError(
            f"table {table.name!r}: key {column!r} is NULL in {missing} of {len(known)} rows "
            f"(first in row {int(np.flatnonzero(~known)[0])}); every row needs its key"
        )
    distinct, first, counts = np.unique(cells.values, return_index=True, return_counts=True)
    twice = np.flatnonzero(counts > 1)
    if len(twice):
        row = int(first[twice].min())
        raise DataError(
            f"table {table.name!r}: key {column!r} is not unique: {show_cell(cells, row)} stands in several "
            f"rows, {len(twice)} of {len(distinct)} values do; drop the duplicates or declare another key"
        )


def _parents(tables: Mapping[str, SourceTable], keys: Keys, table: str, column: str, to: str) -> Rows:
    cells = tables[table].cells(column)
    key = tables[to].cells(keys[to])
    places = ((f"{to}.{keys[to]}", key), (f"{table}.{column}", cells))
    domain, (of_key, of_cells) = code_type(to, places)
    row = np.full(len(domain.values) + 1, _NO_PARENT, dtype=np.int64)
    row[of_key] = np.arange(len(of_key))
    row[-1] = _NO_PARENT  # where the code of NULL leads
    found = row[of_cells]
    lost = np.flatnonzero((found == _NO_PARENT) & cells.known())
    if len(lost):
        values = len(np.unique(of_cells[lost]))
        raise DataError(
            f"table {table!r}: {column} = {show_cell(cells, int(lost[0]))} in row {int(lost[0])} refers to "
            f"no row of {to!r}, as do {len(lost)} of {len(found)} rows ({values} values); "
            "add what they refer to, or make them NULL"
        )
    return found


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
