"""One more scan of the rows, which judge trees that have not seen them: those of folds and those of bags."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hornbeam.boat.chunks import Chunks, EncodedChunk, words_of
from hornbeam.boat.columns import ClassCodes, wide
from hornbeam.boat.reading import Reading, Report
from hornbeam.errors import SourceChanged
from hornbeam.model import Tree
from hornbeam.table import Schema, Table, conform, encode_targets
from hornbeam.table.sources.hashing import Words
from hornbeam.validation import Estimate
from hornbeam.validation.scores import fold_score, sums_of

if TYPE_CHECKING:
    from hornbeam.boat.survey import Survey
    from hornbeam.boat.task import SourceTask


def score_folds(task: SourceTask, survey: Survey, trees: Sequence[Tree | None], report: Report) -> Estimate:
    """The accuracy, or R² averaged over targets, of the tree of each fold on the rows of that fold; NaN where
    there is no such tree, or the fold has too few rows."""
    assert task.folds is not None
    judged = FoldSums(survey.schema, trees, task.threads)
    for chunk in Chunks(task.reading, survey, report, task.folds, task.seed):
        judged.add(chunk)
    return judged.estimate


class FoldSums:
    """What the trees of folds, and so all of them, got right until now. Those of parts merge."""

    def __init__(self, schema: Schema, trees: Sequence[Tree | None], threads: int = 1) -> None:
        self._schema, self._trees, self._threads = schema, trees, threads
        self._sums = [None if tree is None else sums_of(tree) for tree in trees]

    def add(self, chunk: EncodedChunk) -> None:
        """Let every row judge the tree of its fold."""
        table = Table(self._schema, tuple(map(wide, chunk.columns)), chunk.n_rows)
        assert chunk.folds is not None
        for fold in np.unique(chunk.folds).tolist():
            tree, sums = self._trees[fold], self._sums[fold]
            if tree is None or sums is None:
                continue
            rows = np.flatnonzero(chunk.folds == fold)
            leaves = tree.apply(table.take(rows, tree.attributes_asked), self._threads)
            if chunk.classes is not None:
                sums.add(chunk.classes[rows], tree.leaf_class[leaves])
            else:
                assert chunk.values is not None
                sums.add(chunk.values[rows], tree.means[leaves])

    def merge(self, found: Sequence[Sequence[int]]) -> None:
        """Take in what another part has found, by fold."""
        for sums, other in zip(self._sums, found, strict=True):
            if sums is not None:
                sums.merge(other)

    @property
    def found(self) -> list[list[int]]:
        """What `merge` takes."""
        return [[] if sums is None else sums.found for sums in self._sums]

    @property
    def estimate(self) -> Estimate:
        measure = next(sums.measure for sums in self._sums if sums is not None)
        return Estimate(measure, tuple(math.nan if sums is None else fold_score(sums) for sums in self._sums))


class OutsideRows(NamedTuple):
    """Some rows; what is true of them are class codes, or numbers by target."""

    table: Table
    true: npt.NDArray[Any]
    words: Words


class RowSums(Protocol):
    """What rows outside of bags say of trees; sums of parts merge."""

    @property
    def found(self) -> list[int]:
        """What `merge` takes."""

    def fresh(self) -> RowSums:
        """The same before any row."""

    def add(self, rows: OutsideRows) -> None:
        """Take rows in."""

    def merge(self, found: Sequence[int]) -> None:
        """Take in what another part has found."""


@dataclass(frozen=True, eq=False)
class OutsideReader:
    """What of a source is asked about; `labels` are the classes, None for numbers."""

    reading: Reading
    schema: Schema
    labels: npt.NDArray[Any] | None

    def rows(self, chunk: pa.RecordBatch, first: int) -> OutsideRows:
        """The rows of a chunk, the first of which has this number."""
        reading = self.reading
        with reading.naming(first):
            asked = chunk.select(list(reading.attributes))
            table = conform(asked, self.schema, estimator="the bags", what=reading.source.name)
            if self.labels is None:
                true: npt.NDArray[Any] = encode_targets(chunk.select(list(reading.targets)))
            else:
                true = self._codes.encode(chunk.column(reading.targets[0])).astype(np.int64)
            return OutsideRows(table, true, words_of(reading, chunk, first))

    @cached_property
    def _codes(self) -> ClassCodes:
        assert self.labels is not None
        return ClassCodes(self.labels, self._changed)

    def _changed(self, news: str) -> SourceChanged:
        name = self.reading.source.name
        return SourceChanged(f"{name} changed between two scans (the classes have {news} now); read a copy")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_codes"}
