"""One more scan in which every row judges the tree that was grown without its fold."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hornbeam.boat.chunks import Chunks, EncodedChunk
from hornbeam.boat.columns import wide
from hornbeam.boat.reading import Report
from hornbeam.boat.survey import Survey
from hornbeam.boat.task import SourceTask
from hornbeam.model import Tree
from hornbeam.table import Schema, Table
from hornbeam.validation import Estimate

Numbers = npt.NDArray[np.float64]


def score_folds(task: SourceTask, survey: Survey, trees: Sequence[Tree | None], report: Report) -> Estimate:
    """The accuracy, or R² averaged over targets, of the tree of each fold on the rows of that fold; NaN where
    there is no such tree, or the fold has too few rows."""
    assert task.folds is not None
    judged = Judged(survey.schema, trees, task.threads)
    for chunk in Chunks(task.reading, survey, report, task.folds, task.seed):
        judged.add(chunk)
    return judged.estimate


class Judged:
    """What the trees of folds, and so all of them, got right until now. Those of parts merge."""

    def __init__(self, schema: Schema, trees: Sequence[Tree | None], threads: int = 1) -> None:
        self._schema, self._sums = schema, [None if tree is None else _Sums(tree, threads) for tree in trees]

    def add(self, chunk: EncodedChunk) -> None:
        """Let every row judge the tree of its fold."""
        table = Table(self._schema, tuple(map(wide, chunk.columns)), chunk.n_rows)
        assert chunk.folds is not None
        for fold in np.unique(chunk.folds).tolist():
            sums = self._sums[fold]
            if sums is not None:
                sums.add(table, chunk, np.flatnonzero(chunk.folds == fold))

    def merge(self, found: Sequence[Sequence[float]]) -> None:
        """Take in what another part has found, by fold."""
        for sums, other in zip(self._sums, found, strict=True):
            if sums is not None:
                sums.merge(other)

    @property
    def found(self) -> list[list[float]]:
        """What `merge` takes."""
        return [[] if sums is None else sums.found for sums in self._sums]

    @property
    def estimate(self) -> Estimate:
        known = [sums for sums in self._sums if sums is not None]
        measure = "r2" if known[0].tree.classes is None else "accuracy"
        return Estimate(measure, tuple(math.nan if sums is None else sums.score for sums in self._sums))


class _Sums:
    """What one tree got right until now: rows that it knows; or of each target sums about the tree's own
    mean, and the least and greatest value, which tell better than sums whether all are the same."""

    def __init__(self, tree: Tree, threads: int) -> None:
        self.tree, self._threads, self._rows, self._right = tree, threads, 0, 0
        n_targets = 0 if tree.classes is not None else tree.n_targets
        self._sums: Numbers = np.zeros((3, n_targets))
        self._ends: Numbers = np.stack([np.full(n_targets, np.inf), np.full(n_targets, -np.inf)])

    def add(self, table: Table, chunk: EncodedChunk, rows: npt.NDArray[np.int64]) -> None:
        asked = table.take(rows, self.tree.attributes_asked)
        if chunk.classes is not None:
            answers = self.tree.predict_codes(asked, self._threads)
            self._right += int(np.count_nonzero(answers == chunk.classes[rows]))
        else:
            assert chunk.values is not None
            self._add_numbers(chunk.values[rows], self.tree.predict_means(asked, self._threads))
        self._rows += len(rows)

    def _add_numbers(self, actual: Numbers, answered: Numbers) -> None:
        left, apart = actual - answered, actual - self.tree.means[0]
        self._sums += np.stack([(left**2).sum(axis=0), apart.sum(axis=0), (apart**2).sum(axis=0)])
        self._reach(actual.min(axis=0), actual.max(axis=0))

    def _reach(self, lowest: Numbers, highest: Numbers) -> None:
        self._ends = np.stack([np.minimum(self._ends[0], lowest), np.maximum(self._ends[1], highest)])

    @property
    def found(self) -> list[float]:
        return [self._rows, self._right, *self._sums.ravel().tolist(), *self._ends.ravel().tolist()]

    def merge(self, found: Sequence[float]) -> None:
        self._rows, self._right = self._rows + int(found[0]), self._right + int(found[1])
        numbers = np.array(found[2:]).reshape(5, -1)
        self._sums += numbers[:3]
        self._reach(numbers[3], numbers[4])

    @property
    def score(self) -> float:
        if self._rows < (1 if self.tree.classes is not None else 2):
            return math.nan
        if self.tree.classes is not None:
            return self._right / self._rows
        left, total, squares = self._sums
        whole = squares - total**2 / self._rows
        constant = (self._ends[0] == self._ends[1]) | (whole <= 0)
        ratio = 1.0 - left / np.where(constant, 1.0, whole)
        return float(np.where(constant, np.where(left == 0, 1.0, 0.0), ratio).mean())
