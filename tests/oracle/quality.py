"""The quality functions of docs/law.md: exact statistics, then doubles in the order written."""

from __future__ import annotations

import decimal
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from tests.oracle.table import ClassCounts, Exact, Statistics, TargetSums

CLAMP = 1e-12


def nearest(x: Exact, denominator: int = 1) -> float:
    """d(x): the double nearest to the exact quotient; beyond the largest double an infinity; zero is +0.0."""
    try:
        return x.numerator / (x.denominator * denominator) + 0.0  # Python rounds int / int correctly
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def quotient(a: float, b: float) -> float:
    """a / b as IEEE has it: Python alone refuses to divide by zero."""
    if b != 0.0:
        return a / b
    return math.copysign(math.inf, a) if a != 0.0 and not math.isnan(a) else math.nan


@functools.cache
def xlog_of_double(x: float) -> float:
    if x in (0.0, math.inf):
        return x
    with decimal.localcontext() as context:
        context.prec = 60
        return float(decimal.Decimal(x) * decimal.Decimal(x).ln() / decimal.Decimal(2).ln()) + 0.0


def xlog(x: Exact) -> float:
    """d(x) * log2(d(x)), correctly rounded; xlog(0) = 0."""
    return xlog_of_double(nearest(x))


@dataclass(frozen=True)
class Quality:
    """What the order of tests compares, and the impurity decrease that the stopping rule reads."""

    quality: float
    gain: float


def clamped(gain: float, bound: float = CLAMP) -> float:
    """Dust, and what is not a number, is 0."""
    return gain if gain >= bound else 0.0


def sum_of_squares(stats: ClassCounts) -> Exact:
    return sum(count * count for count in stats.counts)


def mean_square(stats: ClassCounts) -> float:
    return quotient(nearest(sum_of_squares(stats)), nearest(stats.n))


def gini_impurity(node: ClassCounts) -> float:
    return 1.0 - quotient(mean_square(node), nearest(node.n))


def gini_gain(node: ClassCounts, branches: Sequence[ClassCounts]) -> float:
    inner = mean_square(branches[0])
    for branch in branches[1:]:
        inner = inner + mean_square(branch)
    return quotient(inner - mean_square(node), nearest(node.n))


def total_entropy(stats: ClassCounts) -> float:
    inner = 0.0
    for count in stats.counts:
        inner = inner + xlog(count)
    return xlog(stats.n) - inner


def entropy_impurity(node: ClassCounts) -> float:
    return quotient(total_entropy(node), nearest(node.n))


def entropy_gain(whole: Exact, node: ClassCounts, branches: Sequence[ClassCounts]) -> float:
    """For all of a node's rows, or for the known ones, whose gain is then spread over the whole."""
    inner = total_entropy(branches[0])
    for branch in branches[1:]:
        inner = inner + total_entropy(branch)
    return quotient(total_entropy(node) - inner, nearest(whole))


def split_information(whole: Exact, outcomes: Sequence[ClassCounts]) -> float:
    inner = xlog(outcomes[0].n)
    for outcome in outcomes[1:]:
        inner = inner + xlog(outcome.n)
    return quotient(xlog(whole) - inner, nearest(whole))


def distance(node: ClassCounts, differences: Sequence[Exact]) -> float:
    inner = 0.0
    for k in node.present:
        inner = inner + quotient(nearest(differences[k]) * nearest(differences[k]), nearest(node.counts[k]))
    return inner


def correlation(node: ClassCounts, branches: Sequence[ClassCounts]) -> float:
    """Pearson's chi-squared of branches and classes, over the weight of the node."""
    n = nearest(node.n)
    if len(branches) == 2:
        left, right = branches
        differences = [right.n * a - left.n * b for a, b in zip(left.counts, right.counts, strict=True)]
        return quotient(distance(node, differences), n * (nearest(left.n) * nearest(right.n)))
    index = 0.0
    for branch in branches:
        differences = [node.n * a - branch.n * b for a, b in zip(branch.counts, node.counts, strict=True)]
        index = index + quotient(quotient(distance(node, differences), n * n), nearest(branch.n))
    return index


@functools.lru_cache(maxsize=64)
def variance_impurity(node: TargetSums) -> float:
    inner = 0.0
    for y, yy in zip(node.sums, node.squares, strict=True):
        inner = inner + nearest(node.n * yy - y * y, node.unit**2)
    return quotient(inner, nearest(node.n) * nearest(node.n))


def squared_distance(differences: Sequence[Exact], unit: int) -> float:
    inner = 0.0
    for difference in differences:
        inner = inner + nearest(difference, unit) * nearest(difference, unit)
    return inner


def variance_gain_binary(node: TargetSums, left: TargetSums, right: TargetSums) -> float:
    differences = [right.n * a - left.n * b for a, b in zip(left.sums, right.sums, strict=True)]
    n = nearest(node.n)
    size = (n * n) * (nearest(left.n) * nearest(right.n))
    return quotient(squared_distance(differences, node.unit), size)


def variance_gain_multiway(node: TargetSums, branches: Sequence[TargetSums]) -> float:
    n, gain = nearest(node.n), 0.0
    for branch in branches:
        differences = [node.n * a - branch.n * b for a, b in zip(branch.sums, node.sums, strict=True)]
        inner = quotient(squared_distance(differences, node.unit), n * n)
        gain = gain + quotient(inner, n * nearest(branch.n))
    return gain


def impurity(criterion: str, node: Statistics) -> float:
    if isinstance(node, TargetSums):
        return variance_impurity(node)
    by_squares = criterion in ("gini", "correlation", "quest")
    return gini_impurity(node) if by_squares else entropy_impurity(node)


def quality(criterion: str, node: Statistics, branches: Sequence[Statistics]) -> Quality | None:
    """The quality of a test; None where gain_ratio does not admit it."""
    if isinstance(node, TargetSums):
        sums = [branch for branch in branches if isinstance(branch, TargetSums)]
        gain = variance_gain_binary(node, *sums) if len(sums) == 2 else variance_gain_multiway(node, sums)
        gain = clamped(gain, CLAMP * variance_impurity(node))
        return Quality(gain, gain)
    counts = [branch for branch in branches if isinstance(branch, ClassCounts)]
    if criterion == "gini":
        gain = clamped(gini_gain(node, counts))
        return Quality(gain, gain)
    if criterion == "correlation":
        return Quality(clamped(correlation(node, counts)), clamped(gini_gain(node, counts)))
    gain = clamped(entropy_gain(node.n, node, counts))
    if criterion == "entropy":
        return Quality(gain, gain)
    split = split_information(node.n, counts)
    return Quality(gain / split, gain) if gain > 0.0 and split > 0.0 else None
