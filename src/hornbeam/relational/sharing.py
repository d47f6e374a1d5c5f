"""Rows that no example owns: which examples see them, along references in both directions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from hornbeam.errors import DataError
from hornbeam.relational.coding import Rows
from hornbeam.relational.schema import Links

MOST_PAIRS = 100_000_000


@dataclass(frozen=True)
class Way:
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


def ways_to_shared(links: Links, owned: Collection[str]) -> dict[str, tuple[Way, ...]]:
    """The tables without owners that references link to those that have them, nearest first, with the steps
    that lead from each a table nearer; a table refers to one that is nearer, or is referred to by one."""
    near = dict.fromkeys(owned, 0)
    ways: dict[str, tuple[Way, ...]] = {}
    while True:
        found = {table: ways_to(links, table, near) for table in links.tables if table not in near}
        found = {table: steps for table, steps in found.items() if steps}
        if not found:
            return ways
        ways |= found
        near |= dict.fromkeys(found, 0)


def ways_to(links: Links, table: str, near: Collection[str]) -> tuple[Way, ...]:
    """The references by which rows of a table are seen from tables that are near."""
    key = links.keys.get(table, "")
    up = [Way(key, child, column) for child, column in links.children(table) if child in near]
    down = [
        Way(column, to, links.keys[to])
        for column, to in links.references.get(table, {}).items()
        if to in near
    ]
    return (*up, *down)


def pairs_by(links: Links, table: str, ways: Collection[Way], known: Mapping[str, Pairs]) -> Pairs:
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


def _referred(links: Links, way: Way, pairs: Pairs) -> Pairs:
    """The rows that rows which are seen refer to."""
    parents = links.parents[way.table, way.target][pairs.rows]
    there = parents >= 0
    return Pairs(pairs.examples[there], parents[there])


def _referring(links: Links, table: str, way: Way, pairs: Pairs) -> Pairs:
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
