"""Examples that share rows, so that cross-validation can keep them on one side."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam.errors import UsageError
from hornbeam.relational.coding import Rows
from hornbeam.relational.ownership import place_rows
from hornbeam.relational.schema import Links
from hornbeam.table.schema import list_names


def groups_by(links: Links, target: str, by: str) -> npt.NDArray[np.int64]:
    """The group of each example: those that rows of table `by` connect, in any number of steps."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    examples, rows = _meetings(links, target, by)
    n, m = links.tables[target].n_rows, links.tables[by].n_rows
    ones = np.ones(len(examples), dtype=np.int8)
    graph: Any = coo_array((ones, (examples, rows + n)), shape=(n + m, n + m))
    _, labels = connected_components(graph, directed=False)
    _, groups = np.unique(labels[:n], return_inverse=True)
    return groups.astype(np.int64)


def _meetings(links: Links, target: str, by: str) -> tuple[Rows, Rows]:
    """Which examples see which rows of a table that several of them may share."""
    if by not in links.tables:
        raise UsageError(f"groups: there is no table {by!r}; tables are {list_names(list(links.tables))}")
    placed = place_rows(links, target, None)
    if placed[by].owner is not None:
        raise UsageError(f"groups: each row of {by!r} belongs to one example; name a table that is shared")
    examples: list[Rows] = []
    rows: list[Rows] = []
    for name, column in links.children(by):
        owner = placed[name].owner
        if owner is not None:
            parents = links.parents[name, column]
            seen = parents if placed[name].rows is None else parents[placed[name].rows]
            examples.append(owner[seen >= 0].astype(np.int64))
            rows.append(seen[seen >= 0])
    for column, to in links.references.get(by, {}).items():
        if placed[to].owner is not None and placed[to].rows is None:
            owner = placed[to].owner
            assert owner is not None
            parents = links.parents[by, column]
            there = np.flatnonzero(parents >= 0)
            examples.append(owner[parents[there]].astype(np.int64))
            rows.append(there)
    if not examples:
        raise UsageError(
            f"groups: no reference leads from the examples to {by!r}; name a table that is linked"
        )
    return np.concatenate(examples), np.concatenate(rows)
