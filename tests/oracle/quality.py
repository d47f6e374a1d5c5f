"""The quality functions of docs/law.md: exact statistics, then doubles in the order written."""

from __future__ import annotations

import decimal
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from tests.oracle.table import ClassCounts, Statistics, TargetSums

CLAMP = 1e-12


def nearest(numerator: int, denominator: int = 1) -> float:
    """d(x): the double nearest to the exact quotient; beyond the largest double an infinity; zero is +0.0."""
    try:
        return numerator / denominator + 0.0  # Python rounds int / int correctly
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


@functools.cache
def xlog(m: int) -> float:
    """m * log2(m), correctly rounded; xlog(0) = 0."""
    if m < 2:
        return 0.0
    with decimal.localcontext() as context:
        context.prec = 60
        return float(decimal.Decimal(m) * decimal.Decimal(m).ln() / decimal.Decimal(2).ln())


@dataclass(frozen=True)
class Quality:
    """What the order of tests compares, and the impurity decrease that the stopping rule reads."""

    quality: float
    gain: float


def sum_of_squares(stats: ClassCounts) -> int:
    return sum(count * count for count in stats.counts)


def gini_impurity(node: ClassCounts) -> float:
    return 1.0 - nearest(sum_of_squares(node)) / nearest(node.n) / nearest(node.n)


def gini_gain(node: ClassCounts, branches: Sequence[ClassCounts]) -> float:
    inner = nearest(sum_of_squares(branches[0])) / nearest(branches[0].n)
    for branch in branches[1:]:
        inner = inner + nearest(sum_of_squares(branch)) / nearest(branch.n)
    return (inner - nearest(sum_of_squares(node)) / nearest(node.n)) / nearest(node.n)


def total_entropy(stats: ClassCounts) -> float:
    inner = 0.0
    for count in stats.counts:
        inner = inner + xlog(count)
    return xlog(stats.n) - inner


def entropy_impurity(node: ClassCounts) -> float:
    return total_entropy(node) / nearest(node.n)


def entropy_gain(node: ClassCounts, branches: Sequence[ClassCounts]) -> float:
    inner = total_entropy(branches[0])
    for branch in branches[1:]:
        inner = inner + total_entropy(branch)
    return (total_entropy(node) - inner) / nearest(node.n)


def split_information(node: ClassCounts, branches: Sequence[ClassCounts]) -> float:
    inner = xlog(branches[0].n)
    for branch in branches[1:]:
        inner = inner + xlog(branch.n)
    return (xlog(node.n) - inner) / nearest(node.n)


@functools.lru_cache(maxsize=64)
def variance_impurity(node: TargetSums) -> float:
    inner = 0.0
    for y, yy in zip(node.sums, node.squares, strict=True):
        inner = inner + nearest(node.n * yy - y * y, node.unit**2)
    return inner / (nearest(node.n) * nearest(node.n))


def squared_distance(differences: Sequence[int], unit: int) -> float:
    inner = 0.0
    for difference in differences:
        inner = inner + nearest(difference, unit) * nearest(difference, unit)
    return inner


def variance_gain_binary(node: TargetSums, left: TargetSums, right: TargetSums) -> float:
    differences = [right.n * a - left.n * b for a, b in zip(left.sums, right.sums, strict=True)]
    n = nearest(node.n)
    return squared_distance(differences, node.unit) / ((n * n) * (nearest(left.n) * nearest(right.n)))


def variance_gain_multiway(node: TargetSums, branches: Sequence[TargetSums]) -> float:
    n, gain = nearest(node.n), 0.0
    for branch in branches:
        differences = [node.n * a - branch.n * b for a, b in zip(branch.sums, node.sums, strict=True)]
        gain = gain + squared_distance(differences, node.unit) / (n * n) / (n * nearest(branch.n))
    return gain


def impurity(criterion: str, node: Statistics) -> float:
    if isinstance(node, TargetSums):
        return variance_impurity(node)
    return gini_impurity(node) if criterion == "gini" else entropy_impurity(node)


def quality(criterion: str, node: Statistics, branches: Sequence[Statistics]) -> Quality | None:
    """The quality of a test; None where gain_ratio does not admit it."""
    if isinstance(node, TargetSums):
        sums = [branch for branch in branches if isinstance(branch, TargetSums)]
        gain = variance_gain_binary(node, *sums) if len(sums) == 2 else variance_gain_multiway(node, sums)
        gain = 0.0 if gain < CLAMP * variance_impurity(node) else gain
        return Quality(gain, gain)
    counts = [branch for branch in branches if isinstance(branch, ClassCounts)]
    gain = gini_gain(node, counts) if criterion == "gini" else entropy_gain(node, counts)
    gain = 0.0 if gain < CLAMP else gain
    if criterion != "gain_ratio":
        return Quality(gain, gain)
    return Quality(gain / split_information(node, counts), gain) if gain > 0.0 else None
