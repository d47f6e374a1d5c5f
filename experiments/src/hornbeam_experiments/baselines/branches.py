"""Every test of a table at once: which rows go into which branch, as a matrix that products count by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hornbeam.errors import DataError
from hornbeam.model.arrays import MULTIWAY, NUMERIC
from hornbeam_experiments.baselines.coded import Coded, Rows
from hornbeam_experiments.baselines.growing import Question

MOST_CELLS = 2**28  # a gigabyte of them

Matrix = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Branches:
    """Some rows, and the tests that part them. A nominal attribute has one test with a branch for each
    category, a numeric one a test for each cut; of cuts that part the rows alike the first.

    `inside[row, branch]` is 1 where the row goes there; test i has the branches from `start[i]` on. Cells are
    32-bit, which counts exactly up to 2^24 rows.
    """

    rows: Rows
    tests: tuple[Question, ...]
    start: Places
    inside: Matrix
    classes: npt.NDArray[np.int32]
    n_classes: int

    @classmethod
    def of(cls, coded: Coded) -> Branches:
        """All rows of a table."""
        tests: list[Question] = []
        lengths: list[int] = []
        blocks = [np.zeros((coded.n_rows, 0), np.float32)]
        for a in range(coded.n_attributes):
            cells, n = coded.cells[:, a, None], coded.n_codes(a)
            codes = np.arange(n)
            if coded.is_nominal(a):
                tests.append(Question(MULTIWAY, a))
                lengths.append(n)
                blocks.append((cells == codes).astype(np.float32))
            else:
                is_left = cells <= codes[:-1]
                tests += [Question(NUMERIC, a, code) for code in range(n - 1)]
                lengths += [2] * (n - 1)
                both = np.stack((is_left, ~is_left), axis=2).reshape(coded.n_rows, -1)
                blocks.append(both.astype(np.float32))
        rows = np.arange(coded.n_rows)
        inside = np.concatenate(blocks, axis=1)
        whole = cls(rows, tuple(tests), _starts(lengths), inside, coded.classes, coded.n_classes)
        return whole.part(rows)

    def part(self, places: Places) -> Branches:
        """Some of these rows, by their places here."""
        inside, classes, rows = self.inside[places], self.classes[places], self.rows[places]
        kept = self._parting(inside.sum(axis=0))
        if len(kept) == len(self.tests):
            return replace(self, rows=rows, inside=inside, classes=classes)
        lengths = self.lengths[kept]
        start = _starts(lengths)
        columns = np.repeat(self.start[kept] - start, lengths) + np.arange(int(lengths.sum()))
        tests = tuple(self.tests[i] for i in kept)
        return Branches(rows, tests, start, inside[:, columns], classes, self.n_classes)

    def _parting(self, totals: Matrix) -> Places:
        """The tests with rows in two branches or more, and in the left one more than the cut before."""
        if len(self.tests) == 0:
            return np.zeros(0, np.int64)
        parts = np.add.reduceat(totals > 0, self.start, dtype=np.int64) >= 2
        is_new = (self._before < 0) | (totals[self.start] > totals[self._before])
        return np.flatnonzero(parts & is_new)

    @cached_property
    def lengths(self) -> Places:
        """How many branches each test has."""
        return np.diff(np.append(self.start, self.inside.shape[1]))

    @cached_property
    def attributes(self) -> Places:
        """The attribute of each test."""
        return np.array([test.attribute for test in self.tests], np.int64)

    @cached_property
    def is_cut(self) -> npt.NDArray[np.bool_]:
        return np.array([test.kind == NUMERIC for test in self.tests], np.bool_)

    @cached_property
    def _before(self) -> Places:
        """The left branch of the next lower cut of the same attribute; -1 where there is none."""
        is_next = np.concatenate(([False], np.diff(self.attributes) == 0)) & self.is_cut
        return np.where(is_next, np.roll(self.start, 1), -1)

    @cached_property
    def of_class(self) -> list[Places]:
        """The places of the rows of each class that is there."""
        counts = np.bincount(self.classes, minlength=self.n_classes)
        return [np.flatnonzero(self.classes == k) for k in np.flatnonzero(counts)]

    @cached_property
    def by_class(self) -> list[Matrix]:
        """The rows of `inside` by class."""
        return [self.inside[places] for places in self.of_class]

    def by_test(self, of_branches: Numbers) -> Numbers:
        """Sums over the branches of each test, along the last axis."""
        summed: Numbers = np.add.reduceat(of_branches, self.start, axis=-1)
        return summed


def check_cells(coded: Coded) -> None:
    """Refuse what has so many rows and different numbers that a matrix of them is out of the question."""
    sizes = [(coded.n_codes(a), coded.is_nominal(a)) for a in range(coded.n_attributes)]
    width = sum(n if nominal else 2 * (n - 1) for n, nominal in sizes)
    if width * coded.n_rows > MOST_CELLS:
        raise DataError(
            f"{coded.n_rows} rows with {width} branches of tests; this baseline takes up to {MOST_CELLS} of "
            "rows times branches: use fewer rows, or numbers with fewer digits"
        )


def _starts(lengths: Sequence[int] | Places) -> Places:
    return np.concatenate(([0], np.cumsum(lengths)))[:-1].astype(np.int64)
