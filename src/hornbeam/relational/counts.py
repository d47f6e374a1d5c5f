"""`count(child) >= k`: for each row of an example, how many rows of another table refer to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from hornbeam.relational.coding import TypedTable
from hornbeam.relational.ownership import Placed
from hornbeam.relational.schema import Links
from hornbeam.table.columns import Cells


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
