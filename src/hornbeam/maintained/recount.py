"""Whether a tree has the counts of the rows that it is of, whatever its tests are."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hornbeam.model import Tree
from hornbeam.table import Table, conform


def has_counts_of(tree: Tree, batches: Iterable[pa.RecordBatch], weight: str | None) -> bool:
    """Whether as many rows come to every leaf as it says; rows that weigh nothing are absent."""
    names = [attribute.name for attribute in tree.schema.attributes]
    found = np.zeros(tree.n_nodes, dtype=np.int64)
    for batch in batches:
        rows = pa.Table.from_batches([batch])
        if weight is not None:
            rows = rows.filter(pc.greater(rows[weight], 0))
        table: Table = conform(rows.select(names), tree.schema, estimator="MaintainedTree")
        found += np.bincount(tree.apply(table), minlength=tree.n_nodes)
    leaves = tree.arrays["n_children"] == 0
    return bool(np.array_equal(found[leaves], tree.arrays["rows"][leaves]))
