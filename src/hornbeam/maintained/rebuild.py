"""Trees of all rows of a file at once: when it begins, and when a tree is verified."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hornbeam.boat.growth import grow_source
from hornbeam.boat.meter import Meter
from hornbeam.boat.task import AllInOneFold, SourceTask
from hornbeam.maintained.store import Store
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


def fill(store: Store, task: SourceTask, present: Callable[[], SourceTask]) -> list[Tree | None]:
    """Copy the rows of a source and grow their trees: first, where they can be read again, so that those of a
    leaf lie together; else from the `present` rows."""
    chunks = (store.rows.checked(chunk) for _, chunk in task.reading.scan())
    if task.reading.source.repeatable:
        trees = grown(task)
        whole = trees[0]
        assert whole is not None
        with Meter(task.reading.source, task.progress).phase("copying the rows") as tell:
            ordered = by_leaf(whole, chunks, task.budget)
            store.rows.insert(_reporting(ordered, int(whole.arrays["rows"][0]), tell))
        return trees
    store.rows.insert(chunks)
    return grown(replace(present(), algorithm=task.algorithm, folds=task.folds, progress=task.progress))


def grown(task: SourceTask) -> list[Tree | None]:
    """The trees of all rows and of those without each fold, before pruning; None: of no rows."""
    folds = task.folds
    if folds is None:
        return [grow_source(task).pairs[0].unpruned]
    if task.algorithm == "boat":  # which guesses one tree
        task = replace(task, algorithm="auto")
    try:
        return [pair.unpruned for pair in grow_source(replace(task, judging=False)).pairs]
    except AllInOneFold as found:
        whole = grow_source(replace(task, folds=None)).pairs[0].unpruned
        return [whole, *(None if fold == found.fold else whole for fold in range(folds))]


def _reporting(
    batches: Iterable[pa.RecordBatch], rows: int, tell: Callable[[float], None]
) -> Iterator[pa.RecordBatch]:
    """Batches of so many rows; after each it is told which share is done."""
    done = 0
    for batch in batches:
        yield batch
        done += batch.num_rows
        tell(min(1.0, done / max(1, rows)))


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
