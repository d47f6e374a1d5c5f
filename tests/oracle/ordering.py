"""The order in which more than twelve present categories are cut (docs/law.md, "Many categories")."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from tests.oracle.quality import nearest, quotient
from tests.oracle.table import ClassCounts, Exact, Statistics, TargetSums

ROUNDS = 32


def order_categories(node: Statistics, groups: Sequence[Statistics]) -> tuple[list[int], bool]:
    """Positions of the present categories in cutting order, and whether prefix cuts are all there is."""
    if isinstance(node, ClassCounts):
        present = node.present
        counts = [group for group in groups if isinstance(group, ClassCounts)]
        if len(present) == 2:
            return by_key([Fraction(group.counts[present[1]], group.n) for group in counts]), True
        table = [[group.counts[k] for k in present] for group in counts]
        return by_key(principal_scores(table, [group.n for group in counts], 1)), False
    sums = [group for group in groups if isinstance(group, TargetSums)]
    if len(node.sums) == 1:
        return by_key([Fraction(group.sums[0], group.n) for group in sums]), True
    return by_key(principal_scores([list(g.sums) for g in sums], [g.n for g in sums], node.unit)), False


def by_key(keys: Sequence[Fraction] | Sequence[float]) -> list[int]:
    return sorted(range(len(keys)), key=lambda j: (keys[j], j))


def add_up(terms: Iterable[float]) -> float:
    """Left to right from 0.0; the built-in sum of floats compensates and so is not this."""
    result = 0.0
    for term in terms:
        result = result + term
    return result


def deviations(table: Sequence[Sequence[Exact]], sizes: Sequence[Exact], unit: int) -> list[list[float]]:
    width = range(len(table[0]))
    known = nearest(sum(sizes))
    mean = [quotient(nearest(sum(row[k] for row in table), unit), known) for k in width]
    return [
        [quotient(nearest(row[k], unit), nearest(n)) - mean[k] for k in width]
        for row, n in zip(table, sizes, strict=True)
    ]


def principal_scores(table: Sequence[Sequence[Exact]], sizes: Sequence[Exact], unit: int) -> list[float]:
    """Each category's score on the first principal component, by a fixed number of power iterations."""
    dev = deviations(table, sizes, unit)
    n = [nearest(size) for size in sizes]
    width = range(len(table[0]))
    spread = [add_up((n[j] * x) * x for x in dev[j]) for j in range(len(dev))]
    widest, start = 0.0, None
    for j, e in enumerate(spread):
        if e > widest:
            widest, start = e, j
    if start is None or not math.isfinite(widest):
        return [0.0] * len(dev)
    v = dev[start]
    for _ in range(ROUNDS):
        a = [n[j] * add_up(dev[j][k] * v[k] for k in width) for j in range(len(dev))]
        w = [add_up(a[j] * dev[j][k] for j in range(len(dev))) for k in width]
        norm = math.sqrt(add_up(x * x for x in w))
        if not math.isfinite(norm):
            return [0.0] * len(dev)
        if norm == 0.0:
            break
        v = [x / norm for x in w]
    scores = [add_up(dev[j][k] * v[k] for k in width) for j in range(len(dev))]
    return [score if math.isfinite(score) else 0.0 for score in scores]
