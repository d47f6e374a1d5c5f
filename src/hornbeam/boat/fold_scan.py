"""One more scan in which every row judges the tree that was grown without its fold."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hornbeam.boat.chunks import Chunks, EncodedChunk
from hornbeam.boat.columns import wide
from hornbeam.boat.reading import Report
from hornbeam.boat.survey import Survey
from hornbeam.boat.task import SourceTask
from hornbeam.model import Tree
from hornbeam.table import Schema, Table
from hornbeam.validation import Estimate
from hornbeam.validation.scores import fold_score, sums_of


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
