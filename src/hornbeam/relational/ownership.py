"""Whose rows are whose: the example of each row, found along references, up to the example's time."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam.errors import DataError, UsageError
from hornbeam.relational.coding import code_type
from hornbeam.relational.database import MISSING, Codes, Rows
from hornbeam.relational.linked import LinkedTables, SourceTable
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
    column: str
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
        row_times, example_times = _comparable((f"{table}.{column}", cells), (self.column, self.cells))
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
            raise UsageError(
                f"time_columns names {table}.{column}, which is not there; known are {known}",
                parameter="time_columns",
            )
    others = {table: column for table, column in time_columns.items() if table != target}
    if example_time is None:
        example_time = time_columns.get(target)
    if example_time is None:
        if others:
            raise UsageError(
                f"time_columns are given and the examples have no time; give time_columns[{target!r}], or "
                "example_time, a column of that table or one moment for all",
                named=(f"time_columns[{target!r}]", "time_columns", "example_time"),
            )
        return None
    if isinstance(example_time, str) and example_time in tables[target].columns:
        cells, column = tables[target].cells(example_time), f"{target}.{example_time}"
        missing = int((~cells.known()).sum())
        if missing:
            raise DataError(f"{column} is NULL in {missing} rows; every example needs its time")
        return ExampleTimes(tables, others, column, cells)
    if isinstance(example_time, str):
        kinds = {parse_type(tables[table].cells(column).type).group for table, column in others.items()}
        example_time = _moment_of(example_time, target, kinds)
    moment = np.array([example_time] * tables[target].n_rows, dtype=_dtype_of(example_time))
    return ExampleTimes(tables, others, "example_time", read_vector(moment, "example_time"))


def _moment_of(text: str, target: str, kinds: set[str]) -> Any:
    """A moment that is given as text, in the type of the times that it is compared with. A misspelt column is
    no moment."""
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
        f"example_time={text!r} is neither a column of {target!r} nor a moment; write one such as 2024-06-30",
        parameter="example_time",
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


MOST_PAIRS = 100_000_000


@dataclass(frozen=True)
class JoinStep:
    """A step towards the example: `column` holds what `target` holds in rows of `table`."""

    column: str
    table: str
    target: str

    def leads_down(self, data: LinkedTables, table: str) -> bool:
        """Whether it is a reference of this table, rather than one to it."""
        return data.references[table].get(self.column) == self.table


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of an example and a row that it sees: two arrays of one length."""

    examples: Rows
    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)


def steps_to_shared(data: LinkedTables, owned: Collection[str]) -> dict[str, tuple[JoinStep, ...]]:
    """The tables without owners that references link to those that have them, nearest first, with the steps
    that lead from each a table nearer; a table refers to one that is nearer, or is referred to by one."""
    near = dict.fromkeys(owned, 0)
    steps: dict[str, tuple[JoinStep, ...]] = {}
    while True:
        found = {table: steps_to(data, table, near) for table in data.tables if table not in near}
        found = {table: to_near for table, to_near in found.items() if to_near}
        if not found:
            return steps
        steps |= found
        near |= dict.fromkeys(found, 0)


def steps_to(data: LinkedTables, table: str, near: Collection[str]) -> tuple[JoinStep, ...]:
    """The references by which rows of a table are seen from tables that are near."""
    key = data.keys.get(table, "")
    up = [JoinStep(key, child, column) for child, column in data.children(table) if child in near]
    down = [
        JoinStep(column, to, data.keys[to]) for column, to in data.references[table].items() if to in near
    ]
    return (*up, *down)


def pairs_by(
    data: LinkedTables, table: str, steps: Collection[JoinStep], known: Mapping[str, Pairs]
) -> Pairs:
    """The rows of a table that examples see by any of some steps, each pair once."""
    n_rows = data.tables[table].n_rows
    found: list[Rows] = []
    for step in steps:
        pairs = known[step.table]
        down = step.leads_down(data, table)
        pairs = _referring(data, table, step, pairs) if down else _referred(data, step, pairs)
        found.append(pairs.examples * n_rows + pairs.rows)
    joined = np.unique(np.concatenate(found))
    return Pairs(joined // max(n_rows, 1), joined % max(n_rows, 1))


def _referred(data: LinkedTables, step: JoinStep, pairs: Pairs) -> Pairs:
    """The rows that rows which are seen refer to."""
    parents = data.parents[step.table, step.target][pairs.rows]
    there = parents >= 0
    return Pairs(pairs.examples[there], parents[there])


def _referring(data: LinkedTables, table: str, step: JoinStep, pairs: Pairs) -> Pairs:
    """The rows that refer to rows which are seen."""
    parents = data.parents[table, step.column]
    order = np.argsort(parents, kind="stable")
    first = np.searchsorted(parents[order], pairs.rows, side="left")
    many = np.searchsorted(parents[order], pairs.rows, side="right") - first
    total = int(many.sum())
    if total > MOST_PAIRS:
        raise DataError(
            f"table {table!r} has a time, and {total:,} pairs of an example and a row that it sees by "
            f"{step.column!r} are more than {MOST_PAIRS:,}; leave the time of {table!r} out, or the table"
        )
    within = np.arange(total) - np.repeat(np.cumsum(many) - many, many)
    return Pairs(np.repeat(pairs.examples, many), order[np.repeat(first, many) + within])


@dataclass(frozen=True, eq=False)
class RowOwners:
    """Rows of a table and the example of each; `owner` is None where all examples share them.

    A row stands once for each example that may see it. `hops` is how many references lead to the example,
    -1 where none do; `key` is the column of the first of them where it refers to the examples themselves.
    `torn` says that the references of its rows lead to different examples; `steps` are those by which
    examples see rows of a shared table that was divided among them by its time.
    """

    rows: Rows | None
    owner: Codes | None
    hops: int = -1
    key: str | None = None
    torn: bool = False
    steps: tuple[JoinStep, ...] = ()

    def describe(self) -> str:
        """Whose the rows are, in a few words."""
        if self.owner is None:
            torn = ", and its references lead to several examples" if self.torn else ""
            return f"shared by all examples{torn}"
        if self.hops == 0:
            return "the examples"
        if self.hops < 0:
            return f"seen by some examples, {len(self.owner):,} times"
        left = "" if self.rows is None else f", {len(self.rows):,} of its rows"
        return f"of one example each, {self.hops} reference{'s' if self.hops > 1 else ''} away{left}"

    def pairs(self) -> Pairs:
        """Each row of a table that has owners, with its own."""
        assert self.owner is not None
        rows = np.arange(len(self.owner)) if self.rows is None else self.rows
        return Pairs(self.owner.astype(np.int64), rows)


def row_owners(data: LinkedTables, target: str, times: ExampleTimes | None) -> dict[str, RowOwners]:
    """The owners of the rows of all tables, nearest to the examples first; rows of nobody are left out."""
    owned = _owned(data, target, times)
    owners: dict[str, RowOwners] = {}
    for table, references in data.references.items():
        if table not in owned:
            owners[table] = RowOwners(None, None, torn=sum(to in owned for to in references.values()) > 1)
            continue
        owner, hops, key = owned[table]
        rows = np.flatnonzero(owner != MISSING)
        everything = len(rows) == len(owner)
        owners[table] = RowOwners(
            None if everything else rows, owner if everything else owner[rows], hops, key
        )
    if times is not None:
        _divide_shared(data, owners, times)
    return owners


_Owned = dict[str, tuple[Codes, int, str | None]]


def _owned(data: LinkedTables, target: str, times: ExampleTimes | None) -> _Owned:
    """Walk from the examples against the references; a table whose references disagree is left to all."""
    owned: _Owned = {target: (np.arange(data.tables[target].n_rows, dtype=np.int32), 0, data.keys[target])}
    torn: set[str] = set()
    hops = 0
    while True:
        hops += 1
        found: _Owned = {}
        for table in data.tables:
            if table in owned or table in torn:
                continue
            by_column = _owners_by_column(data, table, owned, hops - 1)
            if not by_column:
                continue
            first, owner = next(iter(by_column.items()))
            if any(not np.array_equal(owner, other) for other in by_column.values()):
                torn.add(table)
                continue
            if times is not None:
                owner = times.without_later(table, owner)
            found[table] = (owner, hops, first if data.references[table][first] == target else None)
        if not found:
            return owned
        owned |= found


def _owners_by_column(data: LinkedTables, table: str, owned: _Owned, hops: int) -> dict[str, Codes]:
    """The owners of a table's rows by each of its references to tables that are so many hops away."""
    owners: dict[str, Codes] = {}
    for column, to in data.references[table].items():
        if to in owned and owned[to][1] == hops:
            # A row that was left out has no owner, nor has what refers to it, nor what refers nowhere.
            extended = np.append(owned[to][0], np.int32(MISSING))
            owners[column] = extended[data.parents[table, column]].astype(np.int32)
    return owners


def _divide_shared(data: LinkedTables, owners: dict[str, RowOwners], times: ExampleTimes) -> None:
    """Give each example its own rows of shared tables that have a time, and of those between them and the
    example: its time decides what it sees."""
    owned = [table for table in data.tables if owners[table].owner is not None]
    steps = steps_to_shared(data, owned)
    divided = _to_divide(data, owners, times, steps)
    pairs = {table: owners[table].pairs() for table in owned if divided}
    for table in (table for table in steps if table in divided):
        pairs[table] = pairs_by(data, table, steps[table], pairs)
        if times.has(table):
            early = times.earlier(table, pairs[table].rows, pairs[table].examples.astype(np.int32))
            pairs[table] = Pairs(pairs[table].examples[early], pairs[table].rows[early])
        owner = pairs[table].examples.astype(np.int32)
        owners[table] = RowOwners(pairs[table].rows, owner, torn=owners[table].torn, steps=steps[table])


def _to_divide(
    data: LinkedTables,
    owners: Mapping[str, RowOwners],
    times: ExampleTimes,
    steps: Mapping[str, tuple[JoinStep, ...]],
) -> set[str]:
    waiting = [table for table in data.tables if owners[table].owner is None and times.has(table)]
    lost = [table for table in waiting if table not in steps]
    if lost:
        raise DataError(
            f"table {lost[0]!r} has a time column and no reference links it to the examples; leave that out, "
            "or declare the reference"
        )
    divided = set(waiting)
    for table, to_near in steps.items():  # what is found by a row that is left out is left out with it
        if any(step.table in divided and step.leads_down(data, table) for step in to_near):
            divided.add(table)
    for table in reversed(list(steps)):
        if table in divided:
            divided |= {step.table for step in steps[table] if step.table in steps}
    return divided


def groups_by(data: LinkedTables, target: str, by: str) -> npt.NDArray[np.int64]:
    """The group of each example: those that rows of table `by` connect, in any number of steps."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    met = _meetings(data, target, by)
    n, m = data.tables[target].n_rows, int(met.rows.max(initial=-1)) + 1
    ones = np.ones(len(met), dtype=np.int8)
    graph: Any = coo_array((ones, (met.examples, met.rows + n)), shape=(n + m, n + m))
    _, labels = connected_components(graph, directed=False)
    _, groups = np.unique(labels[:n], return_inverse=True)
    return groups.astype(np.int64)


def are_shared(data: LinkedTables, target: str, table: str) -> bool:
    """Whether rows of a table that no example owns are children of what several examples refer to."""
    owners = row_owners(data, target, None)
    met = _below(data, owners, table)
    if met is None:
        return False
    pairs = np.unique(met.rows * data.tables[target].n_rows + met.examples)
    rows = pairs // max(data.tables[target].n_rows, 1)
    return len(np.unique(rows)) < len(rows)


def _meetings(data: LinkedTables, target: str, by: str) -> Pairs:
    """Which examples see which rows of a table that several of them may share, or of what those refer to."""
    if by not in data.tables:
        raise UsageError(f"groups: there is no table {by!r}; tables are {list_names(list(data.tables))}")
    owners = row_owners(data, target, None)
    if owners[by].owner is not None:
        raise UsageError(f"groups: each row of {by!r} belongs to one example; name a table that is shared")
    met = _directly(data, owners, by) or _below(data, owners, by)
    if met is None:
        raise UsageError(
            f"groups: no reference leads from the examples to {by!r}; name a table that is linked"
        )
    return met


def _directly(data: LinkedTables, owners: Mapping[str, RowOwners], by: str) -> Pairs | None:
    """The rows of a table that rows of examples refer to, or that refer to those, with the examples."""
    owned = {name: rows.pairs() for name, rows in owners.items() if rows.owner is not None}
    near = steps_to(data, by, owned)
    return pairs_by(data, by, near, owned) if near else None


def _below(data: LinkedTables, owners: Mapping[str, RowOwners], by: str) -> Pairs | None:
    """The rows of shared tables that rows of the table refer to, with the examples that see those."""
    for column, to in data.references[by].items():
        above = _directly(data, owners, to) if owners[to].owner is None and to != by else None
        if above is not None:
            kept = np.isin(above.rows, data.parents[by, column])
            return Pairs(above.examples[kept], above.rows[kept])
    return None
