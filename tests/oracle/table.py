"""What the oracle grows from: columns, a target, multiplicities, parameters, and exact statistics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

Value = float | int | str
Label = bool | int | float | str


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


@dataclass(frozen=True)
class ClassCounts:
    """Rows and class counts, in class order."""

    n: int
    counts: tuple[int, ...]

    def __add__(self, other: ClassCounts) -> ClassCounts:
        return ClassCounts(
            self.n + other.n, tuple(a + b for a, b in zip(self.counts, other.counts, strict=True))
        )

    def is_pure(self) -> bool:
        return sum(1 for count in self.counts if count > 0) <= 1


@dataclass(frozen=True)
class TargetSums:
    """Rows, exact sums and exact sums of squares of each target, as integers: a sum counts units of
    1/unit, a sum of squares counts units of 1/unit^2. The unit is a power of two that fits the table."""

    n: int
    sums: tuple[int, ...]
    squares: tuple[int, ...]
    unit: int

    def __add__(self, other: TargetSums) -> TargetSums:
        return TargetSums(
            self.n + other.n,
            tuple(a + b for a, b in zip(self.sums, other.sums, strict=True)),
            tuple(a + b for a, b in zip(self.squares, other.squares, strict=True)),
            self.unit,
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

    def statistics(self, rows: Sequence[int], times: Sequence[int]) -> ClassCounts:
        counts = dict.fromkeys(self.order, 0)
        for row in rows:
            counts[self.labels[row]] += times[row]
        return ClassCounts(sum(counts.values()), tuple(counts[label] for label in self.order))


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

    def statistics(self, rows: Sequence[int], times: Sequence[int]) -> TargetSums:
        columns = [[self.in_units[row][t] for row in rows] for t in range(len(self.rows[0]))]
        counts = [times[row] for row in rows]
        return TargetSums(
            sum(counts),
            tuple(sum(m * y for m, y in zip(counts, column, strict=True)) for column in columns),
            tuple(sum(m * y * y for m, y in zip(counts, column, strict=True)) for column in columns),
            self.unit,
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
