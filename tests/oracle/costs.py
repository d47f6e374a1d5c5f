"""What classes weigh and what mistakes cost: factors of the qualities, and the class a leaf predicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.oracle.quality import nearest
from tests.oracle.table import AllParameters, ClassCounts, Classes


@dataclass(frozen=True)
class Costs:
    """Of each class: its weight v, the factor z that qualities see, and loss[k][j] = v_k * cost[k][j]."""

    weight: tuple[float, ...]
    factor: tuple[float, ...]
    loss: tuple[tuple[float, ...], ...]
    present: tuple[int, ...]
    has_matrix: bool

    def label(self, stats: ClassCounts) -> int:
        """The class that a leaf with these counts predicts; among equals the first."""
        if not self.has_matrix:
            held = [v * nearest(c) for v, c in zip(self.weight, stats.counts, strict=True)]
            return max(self.present, key=lambda k: (held[k], -k))
        return min(self.present, key=lambda j: (self.expected_loss(stats, j), j))

    def expected_loss(self, stats: ClassCounts, said: int) -> float:
        total = 0.0
        for k in self.present:
            total = total + self.loss[k][said] * nearest(stats.counts[k])
        return total

    def shares(self, stats: ClassCounts) -> list[float]:
        """What predict_proba says of a leaf."""
        held = [v * nearest(c) for v, c in zip(self.weight, stats.counts, strict=True)]
        total = 0.0
        for share in held:
            total = total + share
        return [share / total for share in held]

    def errors(self, stats: ClassCounts) -> Fraction:
        """The weight of the rows of other classes than the predicted one."""
        return Fraction(stats.n - stats.counts[self.label(stats)])


def class_weights(target: Classes, everyone: ClassCounts, parameters: AllParameters) -> list[float]:
    given = parameters.class_weight
    if given is None:
        return [1.0] * len(target.order)
    if isinstance(given, str):
        k = nearest(len(everyone.present))
        return [nearest(everyone.n) / (k * nearest(c)) if c > 0 else 1.0 for c in everyone.counts]
    return [float(given.get(label, 1.0)) for label in target.order]


def costs_of(target: Classes, everyone: ClassCounts, parameters: AllParameters) -> Costs:
    """Everything that class_weight and cost_matrix say, for the training set with these counts."""
    v = class_weights(target, everyone, parameters)
    classes, present = range(len(v)), everyone.present
    matrix: Sequence[Sequence[float]] | None = parameters.cost_matrix
    if matrix is None:
        matrix = [[0.0 if k == j else 1.0 for j in classes] for k in classes]
        factor = v
    else:
        missed = [nearest(sum(Fraction(matrix[k][j]) for j in present)) for k in classes]
        factor = [v[k] * missed[k] if len(present) > 1 else v[k] for k in classes]
    return Costs(
        tuple(v),
        tuple(factor),
        tuple(tuple(v[k] * matrix[k][j] for j in classes) for k in classes),
        present,
        parameters.cost_matrix is not None,
    )
