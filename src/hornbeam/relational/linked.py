"""Linked tables: the key of each, the columns that refer to others, and the types of columns.

Readers of databases and files (`loading`) say by `Found` what they found of keys and references.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from hornbeam import arguments
from hornbeam.arguments import refuse
from hornbeam.errors import DataError, DataTypeError, UsageError
from hornbeam.relational.coding import code_type
from hornbeam.relational.database import Rows
from hornbeam.table.arrays import read_vector
from hornbeam.table.columns import Cells, Frame, check_names
from hornbeam.table.encoding import check_limits, open_frame
from hornbeam.table.labels import as_nominal, cell_texts
from hornbeam.table.schema import list_names

if TYPE_CHECKING:
    from hornbeam.relational.target_tables import TargetTables


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
    missing = None if cells.missing is None else cells.missing[one]
    (text,) = cell_texts(replace(cells, values=cells.values[one], missing=missing))
    return repr(text[:60]) if cells.type == "nominal" and text is not None else str(text)


def source_tables(
    frames: Mapping[str, Any], nominal: Mapping[str, Sequence[str]] | None = None
) -> dict[str, SourceTable]:
    """The tables by name; `nominal` lists columns of numbers that are labels."""
    if not isinstance(frames, Mapping):
        raise DataTypeError(f"a database is given as {{table: frame}}, not as {type(frames).__name__}")
    if not frames:
        raise DataTypeError("a database needs at least one table; give {table: frame}")
    chosen = arguments.mapping("nominal", nominal, "{'orders': ['code']}")
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
    nominal = arguments.texts("nominal", nominal)
    unknown = [column for column in nominal if column not in frame.names]
    if unknown:
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


Keys: TypeAlias = Mapping[str, str]
References: TypeAlias = Mapping[str, Mapping[str, str]]

_NO_PARENT = -1
_SHAPES = {
    "keys": "{table: column}",
    "references": "{table: {column: table it refers to}}",
    "types": "{'table.column': type}",
    "time_columns": "{table: column}",
}


def check_shapes(**options: Any) -> None:
    """Refuse options that are no mappings of names to names, by the shape that each has to have."""
    for option, given in options.items():
        nested = option == "references"
        if not isinstance(given, Mapping) or not all(_is_named(value, nested) for value in given.values()):
            refuse(option, given, f"{_SHAPES[option]} is allowed, each by its name")


def _is_named(value: object, nested: bool) -> bool:
    """Whether a value is a name, or None, which takes one away; of nested mappings, whether all are."""
    if nested:
        return isinstance(value, Mapping) and all(_is_named(name, False) for name in value.values())
    return value is None or isinstance(value, str)


@dataclass(frozen=True, eq=False)
class LinkedTables:
    """Tables with keys that are unique and references that find their rows.

    `exclude` are columns (`table.column`) that no test may ask about; `types` gives columns of several tables
    a type of their own, so that they can be joined; `found` says of a key or a reference that was not
    declared where it was found. `parents[table, column]` is the row that each row refers to, -1 for NULL.
    """

    tables: Mapping[str, SourceTable]
    keys: Keys
    references: References
    exclude: Collection[str] = ()
    time_columns: Mapping[str, str] = field(default_factory=dict)
    example_time: Any = None
    types: Mapping[str, str] = field(default_factory=dict)
    found: Mapping[str, str] = field(default_factory=dict)
    parents: Mapping[tuple[str, str], Rows] = field(init=False)

    def __post_init__(self) -> None:
        check_shapes(types=self.types, time_columns=self.time_columns)
        self._check_links()
        given = {
            (table, column): to for table, links in self.references.items() for column, to in links.items()
        }
        object.__setattr__(self, "parents", {place: self._parents(*place, to) for place, to in given.items()})
        everywhere = {table: dict(self.references.get(table, {})) for table in self.tables}
        object.__setattr__(self, "references", everywhere)
        for option, names in (("exclude", self.exclude), ("types", self.types)):
            for name in names:
                self.check_column(name, option)

    def _check_links(self) -> None:
        for table, column in self.keys.items():
            self._check_declared(table, column, "keys")
        for table, links in self.references.items():
            for column, to in links.items():
                self._check_declared(table, column, "references")
                if to not in self.tables:
                    raise UsageError(
                        f"references: {table}.{column} refers to {to!r}, which is no table; "
                        f"tables are {list_names(list(self.tables))}"
                    )
                if to not in self.keys:
                    raise UsageError(
                        f"references: {table}.{column} refers to {to!r}, which has no key; "
                        f"name its key column, for instance keys={{{to!r}: {self.tables[to].columns[0]!r}}}"
                    )
        for table, column in self.keys.items():
            _check_key(self.tables[table], column)

    def _check_declared(self, table: str, column: str, option: str) -> None:
        _check_table(option, table, self.tables)
        if column not in self.tables[table].columns:
            raise UsageError(
                f"{option} names column {column!r} of table {table!r}; "
                f"its columns are {list_names(self.tables[table].columns)}"
            )

    def _parents(self, table: str, column: str, to: str) -> Rows:
        cells, key = self.tables[table].cells(column), self.tables[to].cells(self.keys[to])
        places = ((f"{to}.{self.keys[to]}", key), (f"{table}.{column}", cells))
        domain, (of_key, of_cells) = code_type(to, places)
        row = np.full(len(domain.values) + 1, _NO_PARENT, dtype=np.int64)
        row[of_key] = np.arange(len(of_key))
        row[-1] = _NO_PARENT  # where the code of NULL leads
        found = row[of_cells]
        lost = np.flatnonzero((found == _NO_PARENT) & cells.known())
        if len(lost):
            values = len(np.unique(of_cells[lost]))
            raise DataError(
                f"table {table!r}: {column} = {show_cell(cells, int(lost[0]))} in row {int(lost[0])} refers "
                f"to no row of {to!r}, as do {len(lost)} of {len(found)} rows ({values} values); "
                "add what they refer to, or make them NULL"
            )
        return found

    def children(self, table: str) -> list[tuple[str, str]]:
        """The references to a table, as (table, column), in the order of the tables."""
        return [
            (name, by) for name, links in self.references.items() for by, to in links.items() if to == table
        ]

    # names of columns

    def check_column(self, name: str, option: str) -> tuple[str, str]:
        """`table.column` as two names, refused where there is no such column."""
        if not isinstance(name, str):
            raise UsageError(f"{option} {name!r}: write table.column, as text")
        table, column = self._parted(name)
        if table not in self.tables:
            raise UsageError(
                f"{option} {name!r}: there is no table {table!r}; write table.column; "
                f"tables are {list_names(list(self.tables))}"
            )
        if column not in self.tables[table].columns:
            raise UsageError(
                f"{option} {name!r}: table {table!r} has no column {column or ''!r}; "
                f"its columns are {list_names(self.tables[table].columns)}"
            )
        return table, column

    def _parted(self, name: str) -> tuple[str, str | None]:
        """The table and the column of a name; both may have dots in their names themselves."""
        parts = name.split(".")
        splits = [(".".join(parts[:i]), ".".join(parts[i:])) for i in range(1, len(parts))]
        known = [split for split in splits if split[0] in self.tables]
        there = [split for split in known if split[1] in self.tables[split[0]].columns]
        return next(iter(there or known or splits), (name, None))

    def target_of(self, name: str) -> tuple[str, str | None]:
        """The table and the column of a target; None where the column is missing: no labels."""
        table, column = self._parted(name)
        if table in self.tables and column is not None and column not in self.tables[table].columns:
            column = None
        else:
            self.check_column(name, "target")
        if column is not None and self.keys.get(table) == column:
            raise UsageError(f"target {name!r} is the key of {table!r}; name another column to predict")
        if table not in self.keys:
            raise UsageError(
                f"target {name!r}: table {table!r} has no key, and its rows are the examples; "
                f"name its key column in keys"
            )
        return table, column

    # types of columns

    def type_of(self, table: str, column: str) -> str:
        """A reference has the type of the key that it refers to, a key the table's name, others their own."""
        given = self.types.get(f"{table}.{column}")
        if given is not None:
            return given
        seen = [(table, column)]
        while (to := self.references[table].get(column)) is not None:
            table, column = to, self.keys[to]
            if (table, column) in seen:  # keys that refer to each other are of one type
                return min(name for name, _ in seen[seen.index((table, column)) :])
            seen.append((table, column))
        return table if self.keys.get(table) == column else self._own_types[table, column]

    @cached_property
    def _own_types(self) -> dict[tuple[str, str], str]:
        """A type for each column by itself: `table_column`, numbered where something else is called so."""
        counts = {f"count_{child}" for child in self.tables}
        counts |= {f"count_{child}_{column}" for child, column in self.parents}
        taken = {*self.tables, *self.types.values(), *counts}
        names: dict[tuple[str, str], str] = {}
        for table, source in self.tables.items():
            for column in source.columns:
                name, number = f"{table}_{column}", 1
                while name in taken:
                    number += 1
                    name = f"{table}_{column}_{number}"
                taken.add(name)
                names[table, column] = name
        return names

    # what is made of them

    def of_target(self, target: str) -> TargetTables:
        """The tables as the examples of one target see them."""
        from hornbeam.relational.target_tables import TargetTables

        if target not in self._of_targets:
            self._of_targets[target] = TargetTables(self, target)
        return self._of_targets[target]

    @cached_property
    def _of_targets(self) -> dict[str, TargetTables]:
        return {}

    def describe(self, target: str | None) -> str:
        """Tables, rows, keys and references; with a target also whose the rows are."""
        lines = [] if target is None else [f"target {target}"]
        width = max(len(name) for name in self.tables)
        for name, table in self.tables.items():
            key = self.keys.get(name)
            shown = "no key" if key is None else f"key {key}{self._origin(name, key)}"
            whose = "" if target is None else f"  {self.of_target(target).owners[name].describe()}"
            lines.append(f"{name:<{width}}  {table.n_rows:>10,} rows  {shown}{whose}")
            for column, to in self.references[name].items():
                origin = self._origin(name, column)
                lines.append(f"{'':<{width}}  {column} -> {to}.{self.keys[to]}{origin}")
        return "\n".join(lines)

    def _origin(self, table: str, column: str) -> str:
        origin = self.found.get(f"{table}.{column}")
        return "" if origin is None else f" ({origin})"


def _check_table(option: str, table: str, tables: Collection[str]) -> None:
    if table not in tables:
        raise UsageError(f"{option} names table {table!r}; tables are {list_names(list(tables))}")


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


@dataclass(frozen=True)
class Found:
    """Frames by table, and what was found of keys and references; `how` says in a few words by what.

    `spoilt` says of tables that others refer to by name why what is called as their key is none. `origins`
    has `how` for each find (`table.column`) that no declaration replaced.
    """

    frames: Mapping[str, Any]
    keys: Keys
    references: References
    how: str = ""
    spoilt: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)


def declared_over(found: Found, keys: Keys | None, references: References | None) -> Found:
    """What was found, with what is declared in its place, column by column; None takes a find away."""
    keys, references = checked_links(keys, references)
    for option, given in (("keys", keys), ("references", references)):
        for table in given:
            _check_table(option, table, found.frames)
    all_keys = _merged(found.keys, keys)
    linked: dict[str, dict[str, str]] = {}
    for table in found.frames:
        known = {column: to for column, to in found.references.get(table, {}).items() if to in all_keys}
        linked[table] = _merged(known, references.get(table, {}))
    declared = _columns_in(keys, references)
    origins = {name: found.how for name in _columns_in(found.keys, found.references) if name not in declared}
    for table, text in found.spoilt.items():
        if table not in keys:
            warnings.warn(
                f"table {table!r}: {text}; mend the column, or name the key of the table (None: it has none)",
                stacklevel=3,
            )
    return Found(found.frames, all_keys, linked, origins=origins)


def checked_links(keys: Keys | None, references: References | None) -> tuple[Keys, References]:
    """What is declared, where it is declared in the right form; None declares nothing."""
    keys, references = {} if keys is None else keys, {} if references is None else references
    check_shapes(keys=keys, references=references)
    return keys, references


def _columns_in(keys: Keys, references: References) -> list[str]:
    """The columns, `table.column`, that keys and references name."""
    links = [(table, column) for table, columns in references.items() for column in columns]
    return [f"{table}.{column}" for table, column in (*keys.items(), *links)]


def _merged(found: Mapping[str, str], given: Mapping[str, str | None]) -> dict[str, str]:
    """What was found, with what was given in its place; None takes it away."""
    both = {**found, **given}
    return {name: value for name, value in both.items() if value is not None}
