"""From what each fold scored to what settings are compared by: means, trimmed means, standard errors."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Exact = Fraction | float
"""An estimate as it is compared: exact where rows are counted."""

MEANS = ("mean", "trimmed")
TRIMMED = Fraction(1, 5)  # of the repetitions, at either end


@dataclass(frozen=True, eq=False)
class Marks:
    """The score of every setting in every fold, [setting, fold], repetition after repetition. Where rows are
    counted, a score is whole `points` by the size of the fold, and compared without rounding."""

    scores: Scores
    sizes: Counts
    """How many rows judged in each fold."""
    repeats: int = 1
    points: Counts | None = None
    """How many rows are right, or minus what mistakes cost."""

    @property
    def n_settings(self) -> int:
        return len(self.scores)

    @property
    def folds(self) -> int:
        """Of one repetition."""
        return len(self.sizes) // self.repeats

    def among(self, settings: slice) -> Marks:
        """Those of some settings."""
        points = None if self.points is None else self.points[settings]
        return replace(self, scores=self.scores[settings], points=points)

    def of(self, repetition: int) -> Marks:
        """One repetition of them."""
        part = slice(repetition * self.folds, (repetition + 1) * self.folds)
        points = None if self.points is None else self.points[:, part]
        return Marks(self.scores[:, part], self.sizes[part], 1, points)

    @cached_property
    def means(self) -> Scores:
        """The mean score over folds, by the arithmetic of scikit-learn."""
        return np.asarray(np.average(self.scores, axis=1))

    @cached_property
    def errors(self) -> Scores:
        """Standard errors. More repetitions tell the spread of fold scores more surely, but bring no new
        rows: it is divided by the root of the folds of one."""
        if len(self.sizes) < 2:
            return np.full(self.n_settings, math.nan)
        with np.errstate(invalid="ignore"):
            return np.asarray(self.scores.std(axis=1, ddof=1) / math.sqrt(self.folds))

    def squared_errors(self) -> list[Exact]:
        """The squares of standard errors, exact where rows are counted."""
        n = len(self.sizes)
        if self.points is None or n < 2:
            plain: list[Exact] = (self.errors**2).tolist()
            return plain
        scaled, scale = self._scaled
        total, squares = scaled.sum(axis=1).tolist(), (scaled * scaled).sum(axis=1).tolist()
        below = n * (n - 1) * self.folds * scale**2
        return [
            Fraction(n * of_squares - of_all**2, below)
            for of_all, of_squares in zip(total, squares, strict=True)
        ]

    @cached_property
    def _scaled(self) -> tuple[npt.NDArray[Any], int]:
        """The score of each fold as a whole number, and how many times too large it is."""
        assert self.points is not None
        scale = math.lcm(*np.unique(self.sizes).tolist())
        largest = scale * int(np.abs(self.points).max())
        small = len(self.sizes) * largest**2 < 2**62  # sums of squares fit 64 bits
        shares = np.array(
            [scale // size for size in self.sizes.tolist()], dtype=np.int64 if small else object
        )
        return self.points * shares, scale

    def estimates(self, mean: str) -> list[Exact]:
        """What settings are compared by: the mean over all folds, or the trimmed mean of repetitions."""
        if mean == "mean":
            return self._exact_means()
        pooled = [self.of(repetition).pooled() for repetition in range(self.repeats)]
        return [trimmed_mean(values) for values in zip(*pooled, strict=True)]

    def pooled(self) -> list[Exact]:
        """The score of all rows together: their points by their number, or the mean of folds by size."""
        total = int(self.sizes.sum())
        if self.points is not None:
            return [Fraction(points, total) for points in self.points.sum(axis=1).tolist()]
        together: list[Exact] = np.average(self.scores, axis=1, weights=self.sizes).tolist()
        return together

    def _exact_means(self) -> list[Exact]:
        if self.points is None:
            plain: list[Exact] = self.means.tolist()
            return plain
        scaled, scale = self._scaled
        return [Fraction(total, scale * len(self.sizes)) for total in scaled.sum(axis=1).tolist()]


def trimmed_mean(values: tuple[Exact, ...]) -> Exact:
    """The mean of what is left when a fifth of the values, rounded down, is dropped at each end."""
    drop = math.floor(TRIMMED * len(values))
    ordered = sorted(values)
    kept = ordered[drop : len(ordered) - drop]
    if all(isinstance(value, Fraction) for value in kept):
        return sum(kept, Fraction(0)) / len(kept)
    return float(np.mean([float(value) for value in kept]))
