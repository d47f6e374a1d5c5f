"""What was grown from a source: trees of all rows and of folds, what they learned from, what it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hornbeam.boat.asking import Sums
from hornbeam.boat.ranges import Range
from hornbeam.boat.stats import SourceStats
from hornbeam.boat.task import SourceTask
from hornbeam.errors import DataError
from hornbeam.growth import Forest, Pair
from hornbeam.model import Tree
from hornbeam.table import Column, Schema, Table
from hornbeam.table.sources import fold_of
from hornbeam.validation import Estimate, small_fold

_SHOWN_ROWS = 10_000


class AllInOneFold(DataError):  # noqa: N818 - said of the rows, not of the error
    """Every row is in one fold, so that there are none to grow the tree without it from."""

    def __init__(self, message: str, fold: int) -> None:
        super().__init__(message)
        self.fold = fold


@dataclass(frozen=True, eq=False)
class SourceGrowth:
    """Trees, 0 of all rows and then those of the folds, or those of bags, each with what it was before
    pruning."""

    pairs: tuple[Pair, ...]
    labels: npt.NDArray[Any] | None
    """The classes; None for numbers."""
    rows: int
    sample: Table
    """Some of the rows, to describe the columns by."""
    ranges: tuple[Range, ...]
    """Of each attribute over all rows."""
    estimate: Estimate | None = None
    """What the folds say."""
    outside: Sums | None = None
    """What the rows outside of bags say."""
    stats: SourceStats = field(default_factory=lambda: SourceStats("memory", ""))

    @property
    def trees(self) -> list[Tree]:
        """The trees after pruning."""
        return [pair.tree for pair in self.pairs]

    @property
    def schema(self) -> Schema:
        """That of all rows."""
        return self.sample.schema

    @property
    def forest(self) -> Forest:
        """All trees, to compare."""
        return Forest(None, len(self.pairs)).settled(self.pairs)

    def told(self, stats: SourceStats) -> SourceGrowth:
        """The same with its record."""
        return replace(self, stats=stats)


def fold_numbers(task: SourceTask, first: int, chunk: pa.RecordBatch) -> npt.NDArray[np.int32]:
    """The fold of each row of a chunk that begins with row `first`: by its key, or by its number."""
    assert task.folds is not None
    key = task.reading.key
    keys = np.arange(first, first + chunk.num_rows) if key is None else chunk.column(key)
    return fold_of(keys, task.folds, task.seed)


def check_folds(task: SourceTask, sizes: Sequence[int]) -> None:
    """Refuse a fold of all rows, in one line; and where folds judge trees, one without rows, or with too few
    for a score."""
    name, key = task.reading.source.name, task.reading.key
    dealt = f"key {key!r}" if key is not None else "the numbers of the rows"
    if task.judging and 0 in sizes:
        fold = list(sizes).index(0)
        raise DataError(
            f"{name}: fold {fold + 1} of {len(sizes)} has no row, dealt by {dealt}; use fewer folds"
        )
    if max(sizes) == sum(sizes):
        fold = list(sizes).index(max(sizes))
        raise AllInOneFold(f"{name}: fold {fold + 1} of {len(sizes)} has all rows, dealt by {dealt}", fold)
    if not task.judging:
        return
    if not task.reading.classification and min(sizes) < 2:
        raise small_fold(len(sizes), sum(sizes))


def sample_of(table: Table) -> Table:
    """Some rows of a table, evenly spaced."""
    step = max(1, -(-table.n_rows // _SHOWN_ROWS))
    return table.take(np.arange(0, table.n_rows, step))


def ranges_of(table: Table) -> tuple[Range, ...]:
    """The range of each attribute of a table."""
    return tuple(map(_range, table.columns))


def _range(column: Column) -> Range:
    values = column.values
    if column.kind == "nominal":
        return Range(None, None, int(np.count_nonzero(values < 0)))
    if column.kind == "float":
        missing = int(np.count_nonzero(np.isnan(values)))
        if missing == len(values):
            return Range(None, None, missing)
        return Range(float(np.nanmin(values)), float(np.nanmax(values)), missing)
    missing = 0 if column.missing is None else int(np.count_nonzero(column.missing))
    if missing == len(values):
        return Range(None, None, missing)
    known = values if not missing or column.missing is None else values[column.missing == 0]
    return Range(int(known.min()), int(known.max()), missing)
