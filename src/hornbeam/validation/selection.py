"""From what each setting scored in each fold to the setting that is chosen, and why: pure functions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
class SettingScores:
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

    def among(self, settings: slice) -> SettingScores:
        """Those of some settings."""
        points = None if self.points is None else self.points[settings]
        return replace(self, scores=self.scores[settings], points=points)

    def of(self, repetition: int) -> SettingScores:
        """One repetition of them."""
        part = slice(repetition * self.folds, (repetition + 1) * self.folds)
        points = None if self.points is None else self.points[:, part]
        return SettingScores(self.scores[:, part], self.sizes[part], 1, points)

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


SELECT = ("best", "1se", "smallest")


@dataclass(frozen=True)
class SettingChoice:
    """The setting that is chosen, that of the highest score, and why the chosen one was."""

    chosen: int
    best: int
    reason: str


@dataclass(frozen=True)
class SelectionRule:
    """How a setting is chosen of the `params` of a grid."""

    params: Sequence[Mapping[str, Any]]
    metric: str
    """Among the names of what was scored."""
    measure: str
    """The same for people."""
    mean: str
    select: str

    def estimates(self, scores: SettingScores, leaves: Sequence[int]) -> SettingEstimates:
        """What it goes by."""
        return SettingEstimates.of(scores, self.mean, leaves, rounds=self.select == "smallest")

    def choose(self, estimates: SettingEstimates) -> SettingChoice:
        """By one of SELECT."""
        best = estimates.best()
        reason = _Reason(estimates, self, best)
        if self.select == "1se":
            chosen, near = estimates.simplest_near(best)
            return SettingChoice(chosen, best, reason.one_error(chosen, near))
        if self.select == "smallest" and estimates.rounds:
            chosen = estimates.smallest()
            return SettingChoice(chosen, best, reason.smallest(chosen))
        return SettingChoice(best, best, reason.best())


@dataclass(frozen=True)
class SettingEstimates:
    """What a choice is made by: the estimated score of each setting, the square of its standard error, and
    the leaves of its tree of all rows; `rounds` are the estimates of each repetition alone."""

    values: Sequence[Exact]
    squared_errors: Sequence[Exact]
    leaves: Sequence[int]
    rounds: Sequence[Sequence[Exact]] = ()

    @classmethod
    def of(
        cls, scores: SettingScores, mean: str, leaves: Sequence[int], *, rounds: bool = True
    ) -> SettingEstimates:
        several = range(scores.repeats) if rounds and scores.repeats > 1 else ()
        each = [scores.of(repetition).estimates(mean) for repetition in several]
        return cls(scores.estimates(mean), scores.squared_errors(), leaves, each)

    def best(self, estimates: Sequence[Exact] | None = None) -> int:
        """The highest estimate; of equal ones the tree of fewer leaves, then the first."""
        of = self.values if estimates is None else estimates
        return min(range(len(of)), key=lambda k: (-_comparable(of[k]), self.leaves[k], k))

    def simplest_near(self, best: int) -> tuple[int, int]:
        """The tree of fewest leaves among those within a standard error of the best, and how many they are;
        of equal ones the higher estimate, then the first."""
        top, far = _comparable(self.values[best]), self.squared_errors[best]
        gaps = [top - _comparable(estimate) for estimate in self.values]
        near = [k for k, gap in enumerate(gaps) if k == best or gap * gap <= far]
        return min(near, key=lambda k: (self.leaves[k], -_comparable(self.values[k]), k)), len(near)

    def smallest(self) -> int:
        """Each repetition chooses its best; of these the tree of fewest leaves, then the best estimate, then
        the first."""
        winners = [self.best(estimates) for estimates in self.rounds]
        return min(winners, key=lambda k: (self.leaves[k], -_comparable(self.values[k])))


def _comparable(estimate: Exact) -> Exact:
    """A score that is not a number is the worst."""
    return -math.inf if isinstance(estimate, float) and math.isnan(estimate) else estimate


@dataclass(frozen=True)
class _Reason:
    """The reason for a choice, in a sentence."""

    estimates: SettingEstimates
    rule: SelectionRule
    best_at: int

    def best(self) -> str:
        top = self.estimates.values[self.best_at]
        equal = sum(estimate == top for estimate in self.estimates.values)
        if equal < 2:
            return f"{shown(self.rule.params[self.best_at])} has {self._top()}."
        return f"Of {equal} settings that share {self._top()}, {self._simplest(self.best_at)}."

    def one_error(self, chosen: int, near: int) -> str:
        which = f"{near} settings" if near > 1 else "the only setting"
        error = math.sqrt(self.estimates.squared_errors[self.best_at])
        return (
            f"Of {which} within one standard error ({error:.4f}) of {self._top()}, {self._simplest(chosen)}."
        )

    def smallest(self, chosen: int) -> str:
        return (
            f"Of the settings that {len(self.estimates.rounds)} repetitions chose, each by its own folds, "
            f"{self._simplest(chosen)}."
        )

    def _top(self) -> str:
        """The best score; a loss, which is kept with its sign changed, is shown as it is."""
        name, score = self.rule.measure, float(self.estimates.values[self.best_at])
        if name != "cost" and not name.startswith("neg_"):
            return f"the highest cross-validated {'R²' if name == 'r2' else name}, {score:.4f}"
        return f"the lowest cross-validated {name.removeprefix('neg_').replace('_', ' ')}, {-score:.4f}"

    def _simplest(self, k: int) -> str:
        leaves = self.estimates.leaves[k]
        size = f"{leaves} {'leaf' if leaves == 1 else 'leaves'}"
        return f"{shown(self.rule.params[k])} gives the smallest tree ({size})"


def shown(params: Mapping[str, Any]) -> str:
    """`max_depth=3, min_samples_leaf=5`."""
    return ", ".join(f"{name}={_plain(value)}" for name, value in params.items())


def _plain(value: Any) -> str:
    if hasattr(value, "item"):
        value = value.item()
    return f"{value:.6g}" if isinstance(value, float) else str(value)
