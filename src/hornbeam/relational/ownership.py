"""Whose rows are whose: the example of each row, found along references, and the examples that share rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam.errors import DataError, UsageError
from hornbeam.relational.coding import Rows
from hornbeam.relational.records import MISSING, Codes
from hornbeam.relational.tables import Links
from hornbeam.relational.times import ExampleTimes
from hornbeam.table.schema import list_names

MOST_PAIRS = 100_000_000


@dataclass(frozen=True)
class JoinStep:
    """A step towards the example: `column` holds what `target` holds in rows of `table`."""

    column: str
    table: str
    target: str

    def leads_down(self, links: Links, table: str) -> bool:
        """Whether it is a reference of this table, rather than one to it."""
        return links.references.get(table, {}).get(self.column) == self.table


@dataclass(frozen=True, eq=False)
class Pairs:
    """Examples, and rows that they see."""

    examples: Rows
    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)


def ways_to_shared(links: Links, owned: Collection[str]) -> dict[str, tuple[JoinStep, ...]]:
    """The tables without owners that references link to those that have them, nearest first, with the steps
    that lead from each a table nearer; a table refers to one that is nearer, or is referred to by one."""
    near = dict.fromkeys(owned, 0)
    ways: dict[str, tuple[JoinStep, ...]] = {}
    while True:
        found = {table: ways_to(links, table, near) for table in links.tables if table not in near}
        found = {table: steps for table, steps in found.items() if steps}
        if not found:
            return ways
        ways |= found
        near |= dict.fromkeys(found, 0)


def ways_to(links: Links, table: str, near: Collection[str]) -> tuple[JoinStep, ...]:
    """The references by which rows of a table are seen from tables that are near."""
    key = links.keys.get(table, "")
    up = [JoinStep(key, child, column) for child, column in links.children(table) if child in near]
    down = [
        JoinStep(column, to, links.keys[to])
        for column, to in links.references.get(table, {}).items()
        if to in near
    ]
    return (*up, *down)


def pairs_by(links: Links, table: str, ways: Collection[JoinStep], known: Mapping[str, Pairs]) -> Pairs:
    """The rows of a table that examples see by any of its ways, each pair once."""
    n_rows = links.tables[table].n_rows
    found: list[Rows] = []
    for way in ways:
        pairs = known[way.table]
        down = way.leads_down(links, table)
        step = _referring(links, table, way, pairs) if down else _referred(links, way, pairs)
        found.append(step.examples * n_rows + step.rows)
    joined = np.unique(np.concatenate(found))
    return Pairs(joined // max(n_rows, 1), joined % max(n_rows, 1))


def _referred(links: Links, way: JoinStep, pairs: Pairs) -> Pairs:
    """The rows that rows which are seen refer to."""
    parents = links.parents[way.table, way.target][pairs.rows]
    there = parents >= 0
    return Pairs(pairs.examples[there], parents[there])


def _referring(links: Links, table: str, way: JoinStep, pairs: Pairs) -> Pairs:
    """The rows that refer to rows which are seen."""
    parents = links.parents[table, way.column]
    order = np.argsort(parents, kind="stable")
    first = np.searchsorted(parents[order], pairs.rows, side="left")
    many = np.searchsorted(parents[order], pairs.rows, side="right") - first
    total = int(many.sum())
    if total > MOST_PAIRS:
        raise DataError(
            f"table {table!r} has a time, and {total:,} pairs of an example and a row that it sees by "
            f"{way.column!r} are more than {MOST_PAIRS:,}; leave the time of {table!r} out, or the table"
        )
    within = np.arange(total) - np.repeat(np.cumsum(many) - many, many)
    return Pairs(np.repeat(pairs.examples, many), order[np.repeat(first, many) + within])


@dataclass(frozen=True, eq=False)
class Placed:
    """Rows of a table and the example of each; `owner` is None where all examples share them.

    A row stands once for each example that may see it. `hops` is how many references lead to the example,
    -1 where none do; `key` is the column of the first of them where it refers to the examples themselves.
    `torn` says that the references of its rows lead to different examples; `ways` are those by which examples
    see rows of a shared table that was divided among them by its time.
    """

    rows: Rows | None
    owner: Codes | None
    hops: int = -1
    key: str | None = None
    torn: bool = False
    ways: tuple[JoinStep, ...] = ()


def place_rows(links: Links, target: str, times: ExampleTimes | None) -> dict[str, Placed]:
    """The owners of the rows of all tables, nearest to the examples first; rows of nobody are left out."""
    owners = _owners(links, target, times)
    placed: dict[str, Placed] = {}
    for table in links.tables:
        if table not in owners:
            placed[table] = Placed(None, None, torn=_reaches(links, table, owners))
            continue
        owner, hops, key = owners[table]
        rows = np.flatnonzero(owner != MISSING)
        everything = len(rows) == len(owner)
        placed[table] = Placed(None if everything else rows, owner if everything else owner[rows], hops, key)
    if times is not None:
        _divide_shared(links, placed, times)
    return placed


_Owned = dict[str, tuple[Codes, int, str | None]]


def _owners(links: Links, target: str, times: ExampleTimes | None) -> _Owned:
    """Walk from the examples against the references; a table whose references disagree is left to all."""
    owned: _Owned = {target: (np.arange(links.tables[target].n_rows, dtype=np.int32), 0, links.keys[target])}
    torn: set[str] = set()
    hops = 0
    while True:
        hops += 1
        found: _Owned = {}
        for table in links.tables:
            if table in owned or table in torn:
                continue
            ways = _ways(links, table, owned, hops - 1)
            if not ways:
                continue
            first, owner = next(iter(ways.items()))
            if any(not np.array_equal(owner, other) for other in ways.values()):
                torn.add(table)
                continue
            if times is not None:
                owner = times.without_later(table, owner)
            found[table] = (owner, hops, first if links.references[table][first] == target else None)
        if not found:
            return owned
        owned |= found


def _ways(links: Links, table: str, owned: _Owned, hops: int) -> dict[str, Codes]:
    """The owners of a table's rows by each of its references to tables that are so many hops away."""
    ways: dict[str, Codes] = {}
    for column, to in links.references.get(table, {}).items():
        if to in owned and owned[to][1] == hops:
            # A row that was left out has no owner, nor has what refers to it, nor what refers nowhere.
            extended = np.append(owned[to][0], np.int32(MISSING))
            ways[column] = extended[links.parents[table, column]].astype(np.int32)
    return ways


def _reaches(links: Links, table: str, owned: Mapping[str, object]) -> bool:
    return sum(to in owned for to in links.references.get(table, {}).values()) > 1


def _divide_shared(links: Links, placed: dict[str, Placed], times: ExampleTimes) -> None:
    """Give each example its own rows of shared tables that have a time, and of those between them and the
    example: its time decides what it sees."""
    owned = [table for table in links.tables if placed[table].owner is not None]
    ways = ways_to_shared(links, owned)
    divided = _to_divide(links, placed, times, ways)
    pairs = {table: own_pairs(placed[table]) for table in owned if divided}
    for table in (table for table in ways if table in divided):
        pairs[table] = pairs_by(links, table, ways[table], pairs)
        if times.has(table):
            pairs[table] = _earlier(times, table, pairs[table])
        owner = pairs[table].examples.astype(np.int32)
        placed[table] = Placed(pairs[table].rows, owner, torn=placed[table].torn, ways=ways[table])


def _to_divide(
    links: Links, placed: Mapping[str, Placed], times: ExampleTimes, ways: Mapping[str, tuple[JoinStep, ...]]
) -> set[str]:
    waiting = [table for table in links.tables if placed[table].owner is None and times.has(table)]
    lost = [table for table in waiting if table not in ways]
    if lost:
        raise DataError(
            f"table {lost[0]!r} has a time column and no reference links it to the examples; leave that out, "
            "or declare the reference"
        )
    divided = set(waiting)
    for table, steps in ways.items():  # what is found by a row that is left out is left out with it
        if any(way.table in divided and way.leads_down(links, table) for way in steps):
            divided.add(table)
    for table in reversed(list(ways)):
        if table in divided:
            divided |= {way.table for way in ways[table] if way.table in ways}
    return divided


def own_pairs(placed: Placed) -> Pairs:
    """The rows of a table that has owners, each with its own."""
    assert placed.owner is not None
    rows = np.arange(len(placed.owner)) if placed.rows is None else placed.rows
    return Pairs(placed.owner.astype(np.int64), rows)


def _earlier(times: ExampleTimes, table: str, pairs: Pairs) -> Pairs:
    kept = times.earlier(table, pairs.rows, pairs.examples.astype(np.int32))
    return Pairs(pairs.examples[kept], pairs.rows[kept])


def groups_by(links: Links, target: str, by: str) -> npt.NDArray[np.int64]:
    """The group of each example: those that rows of table `by` connect, in any number of steps."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    met = _meetings(links, target, by)
    n, m = links.tables[target].n_rows, int(met.rows.max(initial=-1)) + 1
    ones = np.ones(len(met), dtype=np.int8)
    graph: Any = coo_array((ones, (met.examples, met.rows + n)), shape=(n + m, n + m))
    _, labels = connected_components(graph, directed=False)
    _, groups = np.unique(labels[:n], return_inverse=True)
    return groups.astype(np.int64)


def are_shared(links: Links, target: str, table: str) -> bool:
    """Whether rows of a table that no example owns are children of what several examples refer to."""
    placed = place_rows(links, target, None)
    met = _below(links, placed, table)
    if met is None:
        return False
    pairs = np.unique(met.rows * links.tables[target].n_rows + met.examples)
    rows = pairs // max(links.tables[target].n_rows, 1)
    return len(np.unique(rows)) < len(rows)


def _meetings(links: Links, target: str, by: str) -> Pairs:
    """Which examples see which rows of a table that several of them may share, or of what those refer to."""
    if by not in links.tables:
        raise UsageError(f"groups: there is no table {by!r}; tables are {list_names(list(links.tables))}")
    placed = place_rows(links, target, None)
    if placed[by].owner is not None:
        raise UsageError(f"groups: each row of {by!r} belongs to one example; name a table that is shared")
    met = _directly(links, placed, by) or _below(links, placed, by)
    if met is None:
        raise UsageError(
            f"groups: no reference leads from the examples to {by!r}; name a table that is linked"
        )
    return met


def _directly(links: Links, placed: Mapping[str, Placed], by: str) -> Pairs | None:
    """By rows of examples that refer to rows of the table, or that those refer to."""
    owned = {name: own_pairs(rows) for name, rows in placed.items() if rows.owner is not None}
    near = ways_to(links, by, owned)
    return pairs_by(links, by, near, owned) if near else None


def _below(links: Links, placed: Mapping[str, Placed], by: str) -> Pairs | None:
    """The rows of shared tables that rows of the table refer to, with the examples that see those."""
    for column, to in links.references.get(by, {}).items():
        above = _directly(links, placed, to) if placed[to].owner is None and to != by else None
        if above is not None:
            kept = np.isin(above.rows, links.parents[by, column])
            return Pairs(above.examples[kept], above.rows[kept])
    return None
