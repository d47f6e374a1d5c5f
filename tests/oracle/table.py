"""What the oracle grows from: columns, a target, a sample of their rows, parameters, and exact statistics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

Value = float | int | str
Label = bool | int | float | str
Exact = int | Fraction  # a number that is never rounded


@dataclass(frozen=True)
class Column:
    """One attribute: kind is "float", "integer" or "nominal"; None is a missing value."""

    name: str
    kind: str
    values: tuple[Value | None, ...]

    def at(self, row: int) -> Value | None:
        value = self.values[row]
        if value is None or self.kind != "float":
            return value
        return float(value) + 0.0  # -0.0 is 0.0

    def ascending(self, values: Iterable[Value]) -> list[Value]:
        """Numbers by value, labels by their UTF-8 bytes."""
        if self.kind == "nominal":
            return sorted(values, key=lambda label: str(label).encode("utf-8"))
        return sorted(values)


def exact(x: float) -> Exact:
    """A double as the number it is."""
    number = Fraction(x)
    return number.numerator if number.denominator == 1 else number


@dataclass(frozen=True)
class Sample:
    """A training set: how often each row of the table is in it, and what it weighs each time."""

    times: tuple[int, ...]
    weights: tuple[Exact, ...]

    @staticmethod
    def of(n: int, times: Sequence[int] | None = None, weights: Sequence[float] | None = None) -> Sample:
        """Every row of n once and of weight 1, unless said otherwise."""
        if weights is not None and not all(math.isfinite(w) and w >= 0 for w in weights):
            raise ValueError("a weight is negative or not finite; give finite weights from 0")
        return Sample(
            (1,) * n if times is None else tuple(times),
            (1,) * n if weights is None else tuple(exact(w) for w in weights),
        )

    def present(self) -> tuple[int, ...]:
        """The rows that are there at all."""
        return tuple(row for row, m in enumerate(self.times) if m > 0 and self.weights[row] > 0)

    def count(self, rows: Iterable[int]) -> int:
        return sum(self.times[row] for row in rows)

    def weight(self, row: int) -> Exact:
        return self.times[row] * self.weights[row]


@dataclass(frozen=True)
class ClassCounts:
    """The sum of weights, that of each class, in class order, and the number of rows."""

    n: Exact
    counts: tuple[Exact, ...]
    rows: int

    def __add__(self, other: ClassCounts) -> ClassCounts:
        return ClassCounts(
            self.n + other.n,
            tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)),
            self.rows + other.rows,
        )

    def is_pure(self) -> bool:
        return len(self.present) <= 1

    @property
    def present(self) -> tuple[int, ...]:
        """The classes that occur."""
        return tuple(k for k, count in enumerate(self.counts) if count > 0)

    def times(self, factors: Sequence[float] | None) -> ClassCounts:
        """As the qualities see it: the sum of each class times the factor of the class, exactly."""
        if factors is None:
            return self
        counts = tuple(exact(z) * c for z, c in zip(factors, self.counts, strict=True))
        return ClassCounts(sum(counts), counts, self.rows)


@dataclass(frozen=True)
class TargetSums:
    """The sum of weights, exact weighted sums and sums of squares of each target, and the number of rows.
    A sum counts units of 1/unit, a sum of squares counts units of 1/unit^2. The unit is a power of two that
    fits the table: without weights all numbers are integers."""

    n: Exact
    sums: tuple[Exact, ...]
    squares: tuple[Exact, ...]
    unit: int
    rows: int

    def __add__(self, other: TargetSums) -> TargetSums:
        return TargetSums(
            self.n + other.n,
            tuple(a + b for a, b in zip(self.sums, other.sums, strict=True)),
            tuple(a + b for a, b in zip(self.squares, other.squares, strict=True)),
            self.unit,
            self.rows + other.rows,
        )

    def is_pure(self) -> bool:
        return all(self.n * yy == y * y for y, yy in zip(self.sums, self.squares, strict=True))


Statistics = ClassCounts | TargetSums


@dataclass(frozen=True)
class Classes:
    """A class label for each row; labels are of one type."""

    labels: tuple[Label, ...]

    @cached_property
    def order(self) -> tuple[Label, ...]:
        """classes_: the distinct labels, ascending."""
        return tuple(sorted(set(self.labels)))

    def statistics(self, rows: Sequence[int], sample: Sample) -> ClassCounts:
        counts: dict[Label, Exact] = dict.fromkeys(self.order, 0)
        for row in rows:
            counts[self.labels[row]] += sample.weight(row)
        return ClassCounts(
            sum(counts.values()), tuple(counts[label] for label in self.order), sample.count(rows)
        )


@dataclass(frozen=True)
class Targets:
    """One or several finite numeric targets for each row."""

    rows: tuple[tuple[float, ...], ...]

    @cached_property
    def unit(self) -> int:
        return max((Fraction(y).denominator for row in self.rows for y in row), default=1)

    @cached_property
    def in_units(self) -> list[list[int]]:
        """The targets as exact integers: a double's denominator is a power of two, so it divides the unit."""
        return [[int(Fraction(y) * self.unit) for y in row] for row in self.rows]

    def statistics(self, rows: Sequence[int], sample: Sample) -> TargetSums:
        columns = [[self.in_units[row][t] for row in rows] for t in range(len(self.rows[0]))]
        weights = [sample.weight(row) for row in rows]
        return TargetSums(
            sum(weights),
            tuple(sum(w * y for w, y in zip(weights, column, strict=True)) for column in columns),
            tuple(sum(w * y * y for w, y in zip(weights, column, strict=True)) for column in columns),
            self.unit,
            sample.count(rows),
        )


Target = Classes | Targets


@dataclass(frozen=True)
class Parameters:
    """The names and meanings of the estimators' parameters."""

    criterion: str = "gini"
    nominal: str = "subset"
    max_depth: int | None = None
    min_samples_split: int | float = 2
    min_samples_leaf: int | float = 1
    min_impurity_decrease: float = 0.0


@dataclass(frozen=True)
class AllParameters(Parameters):
    """Those that only some calls need: C4.5's size, weights of classes, losses [true class][said class]."""

    min_objs: float | None = None
    class_weight: Mapping[Label, float] | str | None = None
    cost_matrix: tuple[tuple[float, ...], ...] | None = None

    @staticmethod
    def of(parameters: Parameters) -> AllParameters:
        return parameters if isinstance(parameters, AllParameters) else AllParameters(**vars(parameters))
