"""Linked tables made ready for one target: types of columns, owners of rows, counts of referring rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from hornbeam.errors import DataError, UsageError
from hornbeam.relational.coding import Arranged, TypedExamples, TypedTable
from hornbeam.relational.ownership import Placed, place_rows
from hornbeam.relational.tables import Links
from hornbeam.relational.times import example_times
from hornbeam.table.columns import Cells
from hornbeam.table.schema import list_names


@dataclass(frozen=True)
class CountColumn:
    """The relation `name(parent, count)`: how many rows of `child` refer by `column` to a row of `parent`."""

    name: str
    parent: str
    child: str
    column: str


def count_columns(links: Links, placed: Mapping[str, Placed]) -> tuple[CountColumn, ...]:
    """A count for each reference to a table whose rows have owners, nearest to the examples first."""
    found: list[CountColumn] = []
    owned = [table for table in links.tables if placed[table].hops >= 0]
    for parent in sorted(owned, key=lambda table: placed[table].hops):
        children = [(child, column) for child, column in links.children(parent) if child != parent]
        tables = [child for child, _ in children]
        for child, column in children:
            if placed[child].hops != placed[parent].hops + 1:
                continue
            name = f"count_{child}" if tables.count(child) == 1 else f"count_{child}_{column}"
            taken = {*links.tables, *(count.name for count in found)}
            while name in taken:
                name += "_"
            found.append(CountColumn(name, parent, child, column))
    return tuple(found)


def counted(
    count: CountColumn,
    links: Links,
    placed: Mapping[str, Placed],
    type_of: Callable[[str, str], str],
) -> TypedTable:
    """The counts of all rows of the parent, 0 where nothing refers to it; only rows that are seen count."""
    source, rows = links.tables[count.parent], placed[count.child].rows
    parents = links.parents[count.child, count.column]
    seen = parents if rows is None else parents[rows]
    numbers = np.bincount(seen[seen >= 0], minlength=source.n_rows).astype(np.int64)
    key, place = links.keys[count.parent], placed[count.parent]
    return TypedTable(
        count.name,
        (key, "count"),
        (type_of(count.parent, key), count.name),
        (source.cells(key), Cells("int64", numbers)),
        place.rows,
        place.owner,
        0 if place.hops == 0 else None,
        0,
        (count.child, count.column),
    )


def describe(
    links: Links, placed: Mapping[str, Placed] | None, target: str | None, found: Mapping[str, str]
) -> str:
    """A line for each table, below it its references. `found` says where keys and references come from."""
    lines = [] if target is None else [f"target {target}"]
    width = max(len(name) for name in links.tables)
    for name, table in links.tables.items():
        key = links.keys.get(name)
        shown = "no key" if key is None else f"key {key}{_from(found, name, key)}"
        whose = "" if placed is None else f"  {_whose(placed[name], name, target)}"
        lines.append(f"{name:<{width}}  {table.n_rows:>10,} rows  {shown}{whose}")
        for column, to in links.references.get(name, {}).items():
            lines.append(f"{'':<{width}}  {column} -> {to}.{links.keys[to]}{_from(found, name, column)}")
    return "\n".join(lines)


def _from(found: Mapping[str, str], table: str, column: str) -> str:
    where = found.get(f"{table}.{column}")
    return "" if where is None else f" ({where})"


def _whose(placed: Placed, name: str, target: str | None) -> str:
    if placed.owner is None:
        linked = ", and its references lead to several examples" if placed.torn else ""
        return f"shared by all examples{linked}"
    if placed.hops == 0:
        return "the examples"
    if placed.hops < 0:
        return f"seen by some examples, {len(placed.owner):,} times"
    left = "" if placed.rows is None else f", {len(placed.rows):,} of its rows"
    return f"of one example each, {placed.hops} reference{'s' if placed.hops > 1 else ''} away{left}"


@dataclass(frozen=True, eq=False)
class LinkedTables:
    """Tables with keys and references. `exclude` are columns (`table.column`) that nothing may ask about;
    `types` gives columns of several tables a type of their own, so that they can be joined."""

    links: Links
    exclude: frozenset[str] = frozenset()
    time_columns: Mapping[str, str] = field(default_factory=dict)
    example_time: Any = None
    types: Mapping[str, str] = field(default_factory=dict)
    found: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for option, names in (("exclude", self.exclude), ("types", self.types)):
            for name in names:
                self.check_column(name, option)

    def check_column(self, name: str, option: str) -> tuple[str, str]:
        """`table.column` as two names, refused where there is no such column."""
        tables = self.links.tables
        table, dot, column = self._parted(name)
        if table not in tables:
            raise UsageError(
                f"{option} {name!r}: there is no table {table!r}; write table.column; "
                f"tables are {list_names(list(tables))}"
            )
        if not dot or column not in tables[table].columns:
            raise UsageError(
                f"{option} {name!r}: table {table!r} has no column {column!r}; "
                f"its columns are {list_names(tables[table].columns)}"
            )
        return table, column

    def _parted(self, name: str) -> tuple[str, str, str]:
        """The table, a dot, the column; tables and columns may have dots in their names themselves."""
        parts = name.split(".")
        ways = [(".".join(parts[:i]), ".", ".".join(parts[i:])) for i in range(1, len(parts))]
        tables = self.links.tables
        there = [way for way in ways if way[0] in tables and way[2] in tables[way[0]].columns]
        known = [way for way in ways if way[0] in tables]
        return next(iter(there or known or ways), (name, "", ""))

    def target_of(self, name: str) -> tuple[str, str | None]:
        """The table and the column of a target; None where the column is missing: no labels."""
        table, dot, column = self._parted(name)
        if table in self.links.tables and dot and column not in self.links.tables[table].columns:
            found: tuple[str, str | None] = (table, None)
        else:
            found = self.check_column(name, "target")
        if self.links.keys.get(table) == column:
            raise UsageError(f"target {name!r} is the key of {table!r}; name another column to predict")
        if found[0] not in self.links.keys:
            raise UsageError(
                f"target {name!r}: table {found[0]!r} has no key, and its rows are the examples; "
                f"name its key column in keys"
            )
        return found

    def type_of(self, table: str, column: str) -> str:
        """A reference has the type of the key that it refers to, a key the table's name, others their own."""
        given = self.types.get(f"{table}.{column}")
        if given is not None:
            return given
        seen = [(table, column)]
        while (to := self.links.references.get(table, {}).get(column)) is not None:
            table, column = to, self.links.keys[to]
            if (table, column) in seen:  # keys that refer to each other are of one type
                return min(name for name, _ in seen[seen.index((table, column)) :])
            seen.append((table, column))
        return table if self.links.keys.get(table) == column else self._own_types[table, column]

    @cached_property
    def _own_types(self) -> dict[tuple[str, str], str]:
        """A type for each column by itself: `table_column`, numbered where something else is called so."""
        counts = {f"count_{child}" for child in self.links.tables}
        counts |= {f"count_{child}_{column}" for child, column in self.links.parents}
        taken = {*self.links.tables, *self.types.values(), *counts}
        names: dict[tuple[str, str], str] = {}
        for table, source in self.links.tables.items():
            for column in source.columns:
                name, number = f"{table}_{column}", 1
                while name in taken:
                    number += 1
                    name = f"{table}_{column}_{number}"
                taken.add(name)
                names[table, column] = name
        return names

    def columns_of(self, table: str, target: str | None) -> tuple[str, ...]:
        """The columns of a table that may be asked about: neither excluded nor the target."""
        return tuple(
            column
            for column in self.links.tables[table].columns
            if f"{table}.{column}" not in self.exclude and f"{table}.{column}" != target
        )

    def placed(self, table: str) -> dict[str, Placed]:
        """Whose the rows of all tables are when the rows of one are the examples."""
        times = example_times(self.links.tables, table, self.time_columns, self.example_time)
        return place_rows(self.links, table, times)

    def counts(self, table: str) -> tuple[CountColumn, ...]:
        """What can be counted: the rows that refer to a row of an example."""
        return self._counts(self.placed(table))

    def _counts(self, placed: Mapping[str, Placed]) -> tuple[CountColumn, ...]:
        found = count_columns(self.links, placed)
        return tuple(count for count in found if f"{count.child}.{count.column}" not in self.exclude)

    def arrange(self, target: str, wanted: Collection[str] | None = None) -> Arranged:
        """The tables that are wanted (None: all, and what can be counted) as they are coded."""
        table, column = self.target_of(target)
        placed = self.placed(table)
        counts = {count.name: count for count in self._counts(placed)}
        chosen = [*self.links.tables, *counts] if wanted is None else list(wanted)
        arranged: list[TypedTable] = []
        for name in chosen:
            if name in self.links.tables:
                arranged.append(self._typed(name, placed[name], target))
            elif name in counts:
                arranged.append(counted(counts[name], self.links, placed, self.type_of))
            else:
                known = list_names([*self.links.tables, *counts])
                raise DataError(f"the bias names {name!r}, which is no table of this data; there are {known}")
        self._warn_of_sharing(table, placed, {table.name for table in arranged})
        return Arranged(self._examples(table, column, target), tuple(arranged))

    def _examples(self, table: str, column: str | None, target: str) -> TypedExamples:
        source = self.links.tables[table]
        if source.n_rows == 0:
            raise DataError(f"table {table!r} has no rows, and its rows are the examples")
        key = self.links.keys[table]
        predicted = None if column is None else source.cells(column)
        return TypedExamples(
            self.type_of(table, key), (f"{table}.{key}", source.cells(key)), target, predicted
        )

    def _typed(self, name: str, placed: Placed, target: str) -> TypedTable:
        columns = self.columns_of(name, target)
        source = self.links.tables[name]
        if not columns:
            raise DataError(f"table {name!r} has no column that may be asked about; all are excluded")
        key = placed.key if placed.key in columns else None
        row_key = self.links.keys.get(name)
        return TypedTable(
            name,
            columns,
            tuple(self.type_of(name, column) for column in columns),
            tuple(source.cells(column) for column in columns),
            placed.rows,
            placed.owner,
            None if key is None else columns.index(key),
            columns.index(row_key) if row_key in columns else None,
        )

    def _warn_of_sharing(self, target: str, placed: Mapping[str, Placed], used: Collection[str]) -> None:
        from hornbeam.relational.ownership import are_shared

        torn = [name for name, rows in placed.items() if rows.torn and name in used]
        below = [name for name, rows in placed.items() if rows.hops < 0 and name in used and not rows.torn]
        shared = [name for name in below if are_shared(self.links, target, name)]
        for names, why in ((torn, "refer to several examples"), (shared, "are seen by several examples")):
            if names:
                warnings.warn(
                    f"rows of {list_names(names)} {why}, so folds share them; cross-validate with "
                    f"groups=db.groups({names[0]!r}) to keep such examples together",
                    stacklevel=4,
                )

    def groups(self, by: str, target: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        """A number for each example: equal where rows of a table are shared, directly or through others."""
        from hornbeam.relational.ownership import groups_by

        return groups_by(self.links, self.target_of(target)[0], by)

    def describe(self, target: str | None) -> str:
        """Tables, rows, keys, references; with a target also whose the rows are."""
        placed = None if target is None else self.placed(self.target_of(target)[0])
        return describe(self.links, placed, target, self.found)
