"""The beginning of a file: the rows of a source are copied to it, and the trees of all of them are grown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import pyarrow as pa

from hornbeam.boat.growth import grow_source
from hornbeam.boat.meter import Meter
from hornbeam.boat.task import AllInOneFold, SourceTask
from hornbeam.maintained.ordering import by_leaf
from hornbeam.maintained.store import Store
from hornbeam.model import Tree


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
            store.rows.insert(_told(ordered, int(whole.arrays["rows"][0]), tell))
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


def _told(
    batches: Iterable[pa.RecordBatch], rows: int, tell: Callable[[float], None]
) -> Iterator[pa.RecordBatch]:
    """Batches of so many rows; after each it is told which share is done."""
    done = 0
    for batch in batches:
        yield batch
        done += batch.num_rows
        tell(min(1.0, done / max(1, rows)))
