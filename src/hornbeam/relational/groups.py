"""Examples that share rows, so that cross-validation can keep them on one side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam.errors import UsageError
from hornbeam.relational.ownership import Placed, own_pairs, place_rows
from hornbeam.relational.schema import Links
from hornbeam.relational.sharing import Pairs, pairs_by, ways_to
from hornbeam.table.schema import list_names


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
