"""Whether a new test is better than the old one by more than chance, on the rows that are present."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any, Self

import numpy as np
import numpy.typing as npt

CHANCE = 2.0  # standard errors that chance may bring

Counts = npt.NDArray[np.int64]
"""The rows of each class."""
Stats = Any
"""The rows of a part: Counts of each class, or the Moments of their numbers, which both add and subtract."""


def standard_errors(parts: Sequence[tuple[int, int, Counts]]) -> float:
    """By how many of its standard errors the mean difference of what both tests give the true class is above
    0. Parts are (branch of the old test, branch of the new one, rows); the mean is the difference of gini's
    gains. It is said as if both tests had been named before the rows were seen."""
    old, new = (
        {branch: rows / max(1, int(rows.sum())) for branch, rows in sums.items()}
        for sums in _by_branch(parts)
    )
    counts = np.array([rows for *_, rows in parts], dtype=np.float64)
    better = np.array([new[b] - old[a] for a, b, _ in parts])
    n = counts.sum()
    if n == 0:
        return 0.0
    mean = float((counts * better).sum() / n)
    variance = float((counts * better**2).sum() / n) - mean**2
    return mean / math.sqrt(variance / n) if variance > 0 else 0.0


def _by_branch(parts: Sequence[tuple[int, int, Stats]]) -> list[dict[int, Stats]]:
    """The rows of the branches of the old test, and of the new one."""
    found: list[dict[int, Stats]] = [{}, {}]
    for *branches, rows in parts:
        for sums, branch in zip(found, branches, strict=True):
            sums[branch] = sums[branch] + rows if branch in sums else rows
    return found


@dataclass(frozen=True)
class Moments:
    """Rows and their exact sums: of weights, and for each target of weight times value and times its square.
    Units do not matter here."""

    rows: int
    weight: int
    y: tuple[int, ...]
    yy: tuple[int, ...]

    @classmethod
    def read(cls, rows: int, words: npt.NDArray[np.uint64], fields: Sequence[int]) -> Self:
        """As the core adds them up: each sum in so many words."""
        ends = np.cumsum(fields)
        pieces = [words[end - n : end] for n, end in zip(fields, ends, strict=True)]
        sums = [int.from_bytes(piece.astype("<u8").tobytes(), "little", signed=True) for piece in pieces]
        weight = sums.pop(0) if len(sums) % 2 else rows
        half = len(sums) // 2
        return cls(rows, weight, tuple(sums[:half]), tuple(sums[half:]))

    def __add__(self, other: Self) -> Self:
        return self._with(other, 1)

    def __sub__(self, other: Self) -> Self:
        return self._with(other, -1)

    def _with(self, other: Self, times: int) -> Self:
        y, yy = (
            tuple(a + times * b for a, b in zip(mine, others, strict=True))
            for mine, others in ((self.y, other.y), (self.yy, other.yy))
        )
        return type(self)(self.rows + times * other.rows, self.weight + times * other.weight, y, yy)


def standard_errors_of_numbers(parts: Iterable[tuple[int, int, Moments]]) -> float:
    """The same for numbers that are predicted: of the mean difference of squared errors, which is that of the
    gains of variance. The errors of several targets count as if they came together, which they do at most."""
    present = [(a, b, rows) for a, b, rows in parts if rows.weight]
    if not present:
        return 0.0
    old, new = _by_branch(present)
    whole = reduce(add, (rows for *_, rows in present))
    mean, variances = Fraction(0), list[Fraction]()
    for t in range(len(whole.y)):
        first = second = Fraction(0)
        for a, b, rows in present:
            was, now = (Fraction(branch.y[t], branch.weight) for branch in (old[a], new[b]))
            # (y - was)^2 - (y - now)^2, its sum and that of its squares
            slope, constant = 2 * (now - was), was**2 - now**2
            first += slope * rows.y[t] + constant * rows.weight
            second += slope**2 * rows.yy[t] + 2 * slope * constant * rows.y[t] + constant**2 * rows.weight
        mean += first / whole.weight
        variances.append(second / whole.weight - (first / whole.weight) ** 2)
    largest = max(variances)
    if largest <= 0:
        return 0.0
    # What has a unit may be far outside the range of floats; ratios are not.
    together = sum(math.sqrt(variance / largest) for variance in variances)
    size = math.sqrt(mean**2 * whole.rows / largest) / together
    return size if mean > 0 else -size


def errors_of(parts: Sequence[tuple[int, int, Stats]]) -> float:
    """By how many standard errors the new test is better, whatever is predicted."""
    return (standard_errors_of_numbers if isinstance(parts[0][2], Moments) else standard_errors)(parts)
