"""Scores by the law (docs/law.md, "Scores"): sums over rows are exact, and a score is rounded once.

So a score depends neither on the order of rows nor on how they come: at once, in chunks, in parts whose sums
are merged. Whatever Hornbeam scores itself is scored here, without scikit-learn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.model import Tree

Numbers = npt.NDArray[np.float64]
Codes = npt.NDArray[Any]

_UNIT = 1074
"""Every double is a whole number of 2 ** -1074."""


def exact_sum(*factors: Numbers) -> int:
    """The sum over rows of the products of one to three columns: a whole number of 2 ** -1074 to the power of
    the number of columns."""
    return int.from_bytes(_core.exact_sum(list(factors)), "little", signed=True)


def exact_mean(values: Numbers) -> float:
    """The mean of doubles, rounded once."""
    return exact_sum(values) / (len(values) << _UNIT)


def means_of(values: Numbers) -> Numbers:
    """The mean of each target: [row, target]."""
    return np.array([exact_mean(column) for column in values.T])


def deviation(values: Numbers) -> float:
    """The standard deviation of doubles, of an exact variance."""
    n = len(values)
    return math.sqrt((n * exact_sum(values, values) - exact_sum(values) ** 2) / (n**2 << 2 * _UNIT))


class ScoreSums(Protocol):
    """What a score is made of, added up as rows come."""

    measure: str
    """"accuracy" or "r2"."""
    rows: int
    least_rows: int
    """The score of fewer rows says nothing."""

    def add(self, actual: Any, answered: Any) -> None:
        """Take in rows: the class codes, or the numbers of each target, that are true and answered."""

    @property
    def found(self) -> list[int]:
        """What `merge` takes."""

    def merge(self, found: Sequence[int]) -> None:
        """Take in what another part has found."""

    @property
    def score(self) -> float: ...


class RightAnswers:
    """How many rows are answered by their class: accuracy."""

    measure = "accuracy"
    least_rows = 1

    def __init__(self) -> None:
        self.rows = self._right = 0

    def add(self, actual: Codes, answered: Codes) -> None:
        self.rows += len(actual)
        self._right += int(np.count_nonzero(answered == actual))

    @property
    def found(self) -> list[int]:
        return [self.rows, self._right]

    def merge(self, found: Sequence[int]) -> None:
        self.rows, self._right = self.rows + found[0], self._right + found[1]

    @property
    def score(self) -> float:
        return self._right / self.rows if self.rows else math.nan


class SquaredErrors:
    """The sums of each target, of its squares, and of the squared errors of its answers: R²."""

    measure = "r2"
    least_rows = 2

    def __init__(self, n_targets: int) -> None:
        self.rows = self._mass = 0
        self._sums = [(0, 0, 0)] * n_targets

    def add(self, actual: Numbers, answered: Numbers, weights: Numbers | None = None) -> None:
        """Rows count once, or by their weights; these all have some, or none has."""
        w = () if weights is None else (weights,)
        self.rows += len(actual)
        self._mass += len(actual) if weights is None else exact_sum(weights)
        for t, (total, squares, left) in enumerate(self._sums):
            y, p = actual[:, t], answered[:, t]
            own = exact_sum(*w, y, y)
            apart = own - 2 * exact_sum(*w, y, p) + exact_sum(*w, p, p)
            self._sums[t] = total + exact_sum(*w, y), squares + own, left + apart

    @property
    def found(self) -> list[int]:
        return [self.rows, self._mass, *(number for sums in self._sums for number in sums)]

    def merge(self, found: Sequence[int]) -> None:
        self.rows, self._mass = self.rows + found[0], self._mass + found[1]
        added = zip(found[2::3], found[3::3], found[4::3], strict=True)
        self._sums = [(a + x, b + y, c + z) for (a, b, c), (x, y, z) in zip(self._sums, added, strict=True)]

    @property
    def score(self) -> float:
        """R², averaged over targets."""
        if self.rows == 0:
            return math.nan
        explained = [self._explained(*sums) for sums in self._sums]
        return exact_mean(np.array(explained)) if -math.inf not in explained else -math.inf

    def _explained(self, total: int, squares: int, left: int) -> float:
        """A constant target scores 1 when it is met exactly and 0 otherwise."""
        whole = self._mass * squares - total**2
        if whole == 0:
            return 1.0 if left == 0 else 0.0
        try:
            return (whole - self._mass * left) / whole
        except OverflowError:
            return -math.inf


def sums_of(tree: Tree) -> RightAnswers | SquaredErrors:
    """Sums for the answers of a tree, before any row."""
    return RightAnswers() if tree.classes is not None else SquaredErrors(tree.n_targets)


def fold_score(sums: ScoreSums) -> float:
    """The score of a fold; NaN where it has too few rows."""
    return sums.score if sums.rows >= sums.least_rows else math.nan


def accuracy(actual: Codes, answered: Codes, weights: Numbers | None = None) -> float:
    """The share of the rows, or of their weight, that is answered by its class."""
    if weights is None:
        sums = RightAnswers()
        sums.add(actual, answered)
        return sums.score
    right = (answered == actual).astype(np.float64)
    return exact_sum(right, weights) / (exact_sum(weights) << _UNIT)


def r2(actual: Numbers, answered: Numbers, weights: Numbers | None = None) -> float:
    """The coefficient of determination, averaged over targets: [row, target]."""
    sums = SquaredErrors(actual.shape[1])
    sums.add(actual, answered, weights)
    return sums.score


def mean_absolute_error(actual: Numbers, answered: Numbers) -> float:
    """The mean distance of answers from what is true, of one target."""
    side = np.where(actual < answered, -1.0, 1.0)
    return (exact_sum(side, actual) - exact_sum(side, answered)) / (len(actual) << 2 * _UNIT)
