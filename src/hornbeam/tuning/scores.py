"""From what each fold scored to what settings are compared by: means, trimmed means, standard errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

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
    """The score of every setting in every fold, [setting, fold], repetition after repetition; of accuracy
    also how many rows were `right`, so that it is compared without rounding."""

    scores: Scores
    sizes: Counts
    """How many rows judged in each fold."""
    repeats: int = 1
    right: Counts | None = None

    @property
    def n_settings(self) -> int:
        return len(self.scores)

    @property
    def folds(self) -> int:
        """Of one repetition."""
        return len(self.sizes) // self.repeats

    def of(self, repetition: int) -> Marks:
        """One repetition of them."""
        part = slice(repetition * self.folds, (repetition + 1) * self.folds)
        right = None if self.right is None else self.right[:, part]
        return Marks(self.scores[:, part], self.sizes[part], 1, right)

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

    def estimates(self, mean: str) -> list[Exact]:
        """What settings are compared by: the mean over all folds, or the trimmed mean of repetitions."""
        if mean == "mean":
            return self._exact_means()
        pooled = [self.of(repetition).pooled() for repetition in range(self.repeats)]
        return [trimmed_mean(values) for values in zip(*pooled, strict=True)]

    def pooled(self) -> list[Exact]:
        """The score of all rows together: what share is right, or the mean of fold scores by size."""
        total = int(self.sizes.sum())
        if self.right is not None:
            return [Fraction(right, total) for right in self.right.sum(axis=1).tolist()]
        together: list[Exact] = np.average(self.scores, axis=1, weights=self.sizes).tolist()
        return together

    def _exact_means(self) -> list[Exact]:
        if self.right is None:
            plain: list[Exact] = self.means.tolist()
            return plain
        sizes = np.unique(self.sizes).tolist()
        right = np.stack([self.right[:, self.sizes == size].sum(axis=1) for size in sizes], axis=1)
        scale = math.lcm(*sizes)
        return [
            Fraction(
                sum(scale // size * n for size, n in zip(sizes, row, strict=True)), scale * len(self.sizes)
            )
            for row in right.tolist()
        ]


def trimmed_mean(values: tuple[Exact, ...]) -> Exact:
    """The mean of what is left when a fifth of the values, rounded down, is dropped at each end."""
    drop = math.floor(TRIMMED * len(values))
    ordered = sorted(values)
    kept = ordered[drop : len(ordered) - drop]
    if all(isinstance(value, Fraction) for value in kept):
        return sum(kept, Fraction(0)) / len(kept)
    return float(np.mean([float(value) for value in kept]))
