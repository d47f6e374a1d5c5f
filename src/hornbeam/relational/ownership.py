"""Whose rows are whose: the example that each row of each table belongs to, found along the references."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hornbeam.errors import DataError
from hornbeam.relational.coding import Rows
from hornbeam.relational.records import MISSING, Codes
from hornbeam.relational.schema import Links
from hornbeam.relational.sharing import Pairs, Way, pairs_by, ways_to_shared
from hornbeam.relational.times import ExampleTimes


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
    ways: tuple[Way, ...] = ()


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
    links: Links, placed: Mapping[str, Placed], times: ExampleTimes, ways: Mapping[str, tuple[Way, ...]]
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
