"""The order that rows are stored in: those of a leaf together, so that they are found in few places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from hornbeam.model import Tree
from hornbeam.table import Table, conform

_MOST_ROWS = 1 << 20  # in order at a time
_PART = 16  # of the memory, what they may take


def by_leaf(tree: Tree, batches: Iterable[pa.RecordBatch], memory: int) -> Iterator[pa.RecordBatch]:
    """The same rows, many at a time, in the order of the leaves that they come to."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        rows, size = sum(b.num_rows for b in held), sum(b.nbytes for b in held)
        if rows >= _MOST_ROWS or size >= memory // _PART:
            yield from _ordered(tree, held)
            held = []
    if held:
        yield from _ordered(tree, held)


def _ordered(tree: Tree, batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    rows = pa.Table.from_batches(batches)
    names = [attribute.name for attribute in tree.schema.attributes]
    table: Table = conform(rows.select(names), tree.schema, estimator="MaintainedTree")
    order = np.argsort(tree.apply(table), kind="stable")
    yield from rows.take(pa.array(order)).to_batches(max_chunksize=1 << 17)
