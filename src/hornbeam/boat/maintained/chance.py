"""Whether a new test is better than the old one by more than chance, on the rows that are present."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
"""The rows of each class."""


def standard_errors(parts: Sequence[tuple[int, int, Counts]]) -> float:
    """By how many of its standard errors the mean difference of what both tests give the true class is above
    0. Parts are (branch of the old test, branch of the new one, rows); the mean is the difference of gini's
    gains. It is said as if both tests had been named before the rows were seen."""
    old = _shares([(a, rows) for a, _, rows in parts])
    new = _shares([(b, rows) for _, b, rows in parts])
    counts = np.array([rows for *_, rows in parts], dtype=np.float64)
    better = np.array([new[b] - old[a] for a, b, _ in parts])
    n = counts.sum()
    if n == 0:
        return 0.0
    mean = float((counts * better).sum() / n)
    variance = float((counts * better**2).sum() / n) - mean**2
    return mean / math.sqrt(variance / n) if variance > 0 else 0.0


def _shares(parts: Sequence[tuple[int, Counts]]) -> dict[int, npt.NDArray[np.float64]]:
    """The share of each class in the branches of a test."""
    sums: dict[int, Counts] = {}
    for branch, rows in parts:
        sums[branch] = sums[branch] + rows if branch in sums else rows
    return {branch: rows / max(1, int(rows.sum())) for branch, rows in sums.items()}
