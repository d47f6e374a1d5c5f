"""Scores as the law defines them: exact fractions of the numbers given, rounded once at the end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

Row = Sequence[float]


def mean(values: Sequence[float]) -> float:
    """The mean of doubles: log loss and mean costs are means of what each row brings."""
    return float(sum(map(Fraction, values), Fraction(0)) / len(values))


def accuracy(
    actual: Sequence[object], answered: Sequence[object], weights: Sequence[float] | None = None
) -> float:
    """The share of the rows' weight whose class is answered."""
    mass = [Fraction(1)] * len(actual) if weights is None else list(map(Fraction, weights))
    right = sum((w for w, a, b in zip(mass, actual, answered, strict=True) if a == b), Fraction(0))
    return float(right / sum(mass))


def r2(actual: Sequence[Row], answered: Sequence[Row], weights: Sequence[float] | None = None) -> float:
    """What of each target's variation is explained, averaged over targets."""
    mass = [Fraction(1)] * len(actual) if weights is None else list(map(Fraction, weights))
    targets = zip(zip(*actual, strict=True), zip(*answered, strict=True), strict=True)
    each = [explained(list(map(Fraction, y)), list(map(Fraction, p)), mass) for y, p in targets]
    return -math.inf if -math.inf in each else mean(each)


def explained(y: list[Fraction], p: list[Fraction], w: list[Fraction]) -> float:
    middle = sum((b * a for a, b in zip(y, w, strict=True)), Fraction(0)) / sum(w)
    whole = sum((b * (a - middle) ** 2 for a, b in zip(y, w, strict=True)), Fraction(0))
    left = sum((c * (a - b) ** 2 for a, b, c in zip(y, p, w, strict=True)), Fraction(0))
    if whole == 0:
        return 1.0 if left == 0 else 0.0
    try:
        return float(1 - left / whole)
    except OverflowError:
        return -math.inf


def mean_absolute_error(actual: Sequence[float], answered: Sequence[float]) -> float:
    """The mean distance of answers from what is true, of one target."""
    far = [abs(Fraction(a) - Fraction(b)) for a, b in zip(actual, answered, strict=True)]
    return float(sum(far, Fraction(0)) / len(far))
