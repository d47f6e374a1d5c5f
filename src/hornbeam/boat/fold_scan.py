"""One more scan in which every row judges the tree that was grown without its fold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hornbeam.boat.chunks import Chunks, EncodedChunk
from hornbeam.boat.columns import wide
from hornbeam.boat.reading import Report
from hornbeam.boat.survey import Survey
from hornbeam.boat.task import SourceTask
from hornbeam.model import Tree
from hornbeam.table import Table
from hornbeam.validation import Estimate


def score_folds(task: SourceTask, survey: Survey, trees: Sequence[Tree], report: Report) -> Estimate:
    """The accuracy, or R² averaged over targets, of the tree of each fold on the rows of that fold."""
    assert task.folds is not None
    sums = [_Sums(tree, task.threads) for tree in trees]
    for chunk in Chunks(task.reading, survey, report, task.folds, task.seed):
        table = Table(survey.schema, tuple(map(wide, chunk.columns)), chunk.n_rows)
        assert chunk.folds is not None
        for fold in np.unique(chunk.folds).tolist():
            sums[fold].add(table, chunk, np.flatnonzero(chunk.folds == fold))
    measure = "accuracy" if task.reading.classification else "r2"
    return Estimate(measure, tuple(one.score for one in sums))


class _Sums:
    """What one tree got right until now."""

    def __init__(self, tree: Tree, threads: int) -> None:
        self._tree, self._threads, self.rows, self._right = tree, threads, 0, 0
        self._left = self._first = self._sum = self._squares = np.zeros(1)

    def add(self, table: Table, chunk: EncodedChunk, rows: npt.NDArray[np.int64]) -> None:
        asked = table.take(rows, self._tree.attributes_asked)
        if chunk.classes is not None:
            answers = self._tree.predict_codes(asked, self._threads)
            self._right += int(np.count_nonzero(answers == chunk.classes[rows]))
        else:
            assert chunk.values is not None
            self._add_numbers(chunk.values[rows], self._tree.predict_means(asked, self._threads))
        self.rows += len(rows)

    def _add_numbers(self, actual: npt.NDArray[np.float64], answered: npt.NDArray[np.float64]) -> None:
        if not self.rows:
            self._first = actual[0]  # sums about a value that occurs lose the least
        apart = actual - self._first
        self._left = self._left + ((actual - answered) ** 2).sum(axis=0)
        self._sum = self._sum + apart.sum(axis=0)
        self._squares = self._squares + (apart**2).sum(axis=0)

    @property
    def score(self) -> float:
        if self._tree.classes is not None:
            return self._right / self.rows
        whole = np.maximum(0.0, self._squares - self._sum**2 / self.rows)
        constant = whole == 0
        ratio = 1.0 - self._left / np.where(constant, 1.0, whole)
        return float(np.where(constant, np.where(self._left == 0, 1.0, 0.0), ratio).mean())
