"""Whose rows are whose: the example that each row of each table belongs to, found along the references."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hornbeam.errors import DataError
from hornbeam.relational.coding import Rows
from hornbeam.relational.records import MISSING, Codes
from hornbeam.relational.schema import Links
from hornbeam.relational.times import ExampleTimes


@dataclass(frozen=True, eq=False)
class Placed:
    """Rows of a table and the example of each; `owner` is None where all examples share them.

    A row stands once for each example that may see it. `hops` is how many references lead to the example,
    -1 where none do; `key` is the column of the first of them where it refers to the examples themselves.
    `torn` says that the references of its rows lead to different examples.
    """

    rows: Rows | None
    owner: Codes | None
    hops: int = -1
    key: str | None = None
    torn: bool = False


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
    """Give each example its own rows of shared tables that have a time: its time decides what it sees."""
    waiting = [table for table in links.tables if placed[table].owner is None and times.has(table)]
    while waiting:
        ready = [table for table in waiting if _seen_from_owned(links, placed, table)]
        if not ready:
            raise DataError(
                f"table {waiting[0]!r} has a time column and all examples share its rows; leave that out, "
                "or give it a reference to the examples"
            )
        for table in ready:
            placed[table] = _divided(links, placed, table, times)
        waiting = [table for table in waiting if table not in ready]


def _seen_from_owned(links: Links, placed: Mapping[str, Placed], table: str) -> bool:
    seen_from = links.children(table)
    return bool(seen_from) and all(placed[name].owner is not None for name, _ in seen_from)


def _divided(links: Links, placed: Mapping[str, Placed], table: str, times: ExampleTimes) -> Placed:
    n_rows = links.tables[table].n_rows
    pairs: list[npt.NDArray[np.int64]] = []
    for name, column in links.children(table):
        source = placed[name]
        assert source.owner is not None
        parents = links.parents[name, column]
        seen = parents if source.rows is None else parents[source.rows]
        there = seen >= 0
        pairs.append(source.owner[there].astype(np.int64) * n_rows + seen[there])
    joined = np.unique(np.concatenate(pairs))
    rows, owner = joined % n_rows, (joined // n_rows).astype(np.int32)
    kept = times.earlier(table, rows, owner)
    return Placed(rows[kept], owner[kept])
