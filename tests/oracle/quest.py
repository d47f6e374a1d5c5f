"""How QUEST chooses at a node (docs/quest.md): the attribute by its p-value, then a cut by discriminants."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.oracle.candidates import Candidate, Choice, Node, largest, midpoint, subset, total
from tests.oracle.coordinates import chi_square, coordinates
from tests.oracle.log_p import LARGEST, ln, log_p_chi_square, log_p_f
from tests.oracle.quality import clamped, gini_gain, nearest
from tests.oracle.table import ClassCounts, Column

Side = Callable[[Fraction], bool]  # whether a value goes left


@dataclass(frozen=True)
class Sums:
    """The exact sums of one class, or of several together: rows, values, squares."""

    n: int
    x: Fraction
    xx: Fraction

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.n + other.n, self.x + other.x, self.xx + other.xx)

    @property
    def spread(self) -> Fraction:
        return self.n * self.xx - self.x * self.x


NONE = Sums(0, Fraction(0), Fraction(0))


def finite(value: float | int) -> Fraction:
    """An infinity counts as the largest double of its sign."""
    if isinstance(value, float) and math.isinf(value):
        return Fraction(math.copysign(LARGEST, value))
    return Fraction(value)


def sums_of(values: Sequence[Fraction], counts: Sequence[ClassCounts]) -> list[Sums]:
    """Of each class that is present, in class order."""
    made = []
    for k in total(counts).present:  # type: ignore[union-attr]
        n = [int(stats.counts[k]) for stats in counts]
        x = sum((m * v for m, v in zip(n, values, strict=True)), Fraction(0))
        xx = sum((m * v * v for m, v in zip(n, values, strict=True)), Fraction(0))
        made.append(Sums(sum(n), x, xx))
    return made


def unit_of(spread: Fraction) -> Fraction:
    """2^h with 4^h <= spread < 4^(h + 1)."""
    exponent = spread.numerator.bit_length() - spread.denominator.bit_length()
    if Fraction(2) ** exponent > spread:
        exponent -= 1
    return Fraction(2) ** (exponent // 2)


def added(classes: Sequence[Sums]) -> Sums:
    whole = NONE
    for one in classes:
        whole = whole + one
    return whole


def deviation(one: Sums, whole: Sums, unit: Fraction) -> float:
    return nearest((whole.n * one.x - one.n * whole.x) / unit)


def log_p_of_values(classes: Sequence[Sums]) -> float:
    """The F test of the class means."""
    whole = added(classes)
    unit = unit_of(whole.spread)
    between = within = 0.0
    for one in classes:
        b = deviation(one, whole, unit) / nearest(whole.n)
        between = between + b * b / nearest(one.n)
        within = within + nearest(one.spread / (unit * unit)) / nearest(one.n)
    return log_p_f(between, within, len(classes) - 1, whole.n - len(classes))


def superclasses(classes: Sequence[Sums], unit: Fraction) -> list[bool]:
    """Which classes are in the first superclass: two means of the class means, from the extreme ones."""
    whole = added(classes)
    means = [deviation(one, whole, unit) / (nearest(whole.n) * nearest(one.n)) for one in classes]
    low, high = min(means), max(means)
    if low == high:
        most = max(range(len(classes)), key=lambda k: (classes[k].n, -k))
        return [k == most for k in range(len(classes))]
    first: list[bool] = []
    for _ in range(64):
        now = [abs(mean - low) <= abs(mean - high) for mean in means]
        if now == first or all(now) or not any(now):
            break
        first = now
        low = average([mean for mean, is_first in zip(means, first, strict=True) if is_first])
        high = average([mean for mean, is_first in zip(means, first, strict=True) if not is_first])
    return first


def average(means: Sequence[float]) -> float:
    s = 0.0
    for mean in means:
        s = s + mean
    return s / nearest(len(means))


def variance(one: Sums, unit: Fraction) -> float:
    scaled = nearest(one.spread / (unit * unit))
    return 0.0 if scaled == 0.0 else scaled / (nearest(one.n) * nearest(one.n - 1))


def place(value: Fraction, of: Sums, unit: Fraction) -> float:
    """A value by its distance from the mean of a superclass, in units."""
    return nearest((of.n * value - of.x) / unit) / nearest(of.n)


def sides(classes: Sequence[Sums]) -> list[Side]:
    """Two ways to part the values, to be tried in order: by discriminants, and half-way between the means."""
    unit = unit_of(added(classes).spread)
    is_first = superclasses(classes, unit)
    a = added([one for one, first in zip(classes, is_first, strict=True) if first])
    b = added([one for one, first in zip(classes, is_first, strict=True) if not first])
    gap = nearest((a.n * b.x - b.n * a.x) / unit) / (nearest(a.n) * nearest(b.n))
    halfway = gap / 2.0
    va, vb = variance(a, unit), variance(b, unit)
    if va > 0.0 and vb == 0.0:
        return [lambda v: place(v, b, unit) < 0.0, lambda v: place(v, a, unit) <= halfway]
    cut = 0.0 if va == 0.0 else root(gap, va, vb, a.n, b.n)
    return [lambda v: place(v, a, unit) <= cut, lambda v: place(v, a, unit) <= halfway]


def root(gap: float, va: float, vb: float, na: int, nb: int) -> float:
    """Where two normal densities, weighed by their rows, are equal: the root nearest to the first mean, 0."""
    level = (ln(nearest(na)) - ln(nearest(nb))) + (ln(vb) - ln(va)) / 2.0
    p, a = gap * va, va - vb
    c = gap * p + 2.0 * (va * vb) * level
    d = p * p - a * c
    if d < 0.0:
        return gap / 2.0
    q = p + math.sqrt(d) if p >= 0.0 else p - math.sqrt(d)
    if q == 0.0:
        return gap / 2.0
    near = c / q
    if a != 0.0:
        other = q / a
        if abs(other) < abs(near) or (abs(other) == abs(near) and other > near):
            return other
    return near


@dataclass(frozen=True)
class Entry:
    """An attribute that competes; its test may not be admissible."""

    quality: float
    candidate: Candidate | None


def entry(node: Node, column: Column) -> Entry | None:
    groups = node.groups
    counts = [g.stats for g in groups]
    if len(groups) < 2 or total(counts).is_pure():
        return None
    if column.kind != "nominal":
        values = [finite(g.value) for g in groups]  # type: ignore[arg-type]
        classes = sums_of(values, counts)  # type: ignore[arg-type]
        if added(classes).spread == 0:
            return None  # the largest double and an infinity
        return Entry(-log_p_of_values(classes) + 0.0, cut(node, values, classes))
    statistic, df = chi_square(groups)
    if statistic == 0.0:
        return None
    values = [Fraction(w) for w in coordinates(groups)]
    classes = sums_of(values, counts)  # type: ignore[arg-type]
    quality = -log_p_chi_square(statistic, df) + 0.0
    return Entry(quality, parted(node, values, classes))


def lower(values: Sequence[Fraction], classes: Sequence[Sums]) -> set[int]:
    """The places of the values that go left; none where no way parts them."""
    if added(classes).spread == 0:
        return set()
    for side in sides(classes):
        left = {i for i, value in enumerate(values) if side(value)}
        if 0 < len(left) < len(values):
            return left
    return set()


def cut(node: Node, values: Sequence[Fraction], classes: Sequence[Sums]) -> Candidate | None:
    left = lower(values, classes)
    if not left:
        return None
    at, groups = len(left), node.groups
    assert left == set(range(at))
    branches = total(g.stats for g in groups[:at]), total(g.stats for g in groups[at:])
    threshold = midpoint(groups[at - 1].value, groups[at].value)
    return Candidate("numeric", node.attribute, branches, threshold=threshold)


def parted(node: Node, values: Sequence[Fraction], classes: Sequence[Sums]) -> Candidate | None:
    left = lower(values, classes)
    return subset(node, left) if left else None


def choice(node: Node, found: Entry) -> Choice | None:
    """The test with its default branch, if it leaves every branch enough rows."""
    candidate = found.candidate
    if candidate is None or not node.has_objects(candidate):
        return None
    default = largest(candidate.branches)
    branches = candidate.branches
    if node.missing is not None:
        branches = tuple(b + node.missing if i == default else b for i, b in enumerate(branches))  # type: ignore[operator]
    if any(branch.rows < node.min_leaf for branch in branches):
        return None
    gain = clamped(gini_gain(node.stats, branches))  # type: ignore[arg-type]
    return Choice(candidate, default, branches, found.quality, gain)


def rank(nodes: Sequence[Node], columns: Sequence[Column]) -> tuple[Choice | None, list[Choice]]:
    """The test of the attribute with the smallest p-value, and those of the others in their order."""
    found = [(node, entry(node, column)) for node, column in zip(nodes, columns, strict=True)]
    ranked = sorted(((n, e) for n, e in found if e is not None), key=lambda pair: -pair[1].quality)
    choices = [choice(node, e) for node, e in ranked]
    return (choices[0], [c for c in choices[1:] if c is not None]) if choices else (None, [])
