"""What classes weigh and mistakes cost, and the class that the counts of a leaf then predict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam.errors import DataError
from hornbeam.model.arrays import Array, is_finite


@dataclass(frozen=True)
class Costs:
    """The weight of each class; the cost of each true (row) and predicted class (column), where given."""

    weights: tuple[float, ...]
    matrix: tuple[tuple[float, ...], ...] | None = None

    @classmethod
    def checked(cls, weights: Any, matrix: Any, n_classes: int) -> Costs:
        """Numbers from anywhere; DataError in one line where they are not the costs of so many classes."""
        if not _is_row(weights, n_classes) or not all(w > 0 for w in weights):
            raise DataError(f"tree: 'class_weight' is not a list of {n_classes} numbers above 0")
        if matrix is None:
            return cls(tuple(map(float, weights)))
        if not isinstance(matrix, (list, tuple)) or len(matrix) != n_classes:
            raise DataError(f"tree: 'cost_matrix' is not a list of {n_classes} rows")
        for k, row in enumerate(matrix):
            if not _is_row(row, n_classes) or not all(
                (c == 0) if j == k else c > 0 for j, c in enumerate(row)
            ):
                raise DataError(
                    f"tree: row {k} of 'cost_matrix' is not {n_classes} numbers, 0 on the diagonal and "
                    "above 0 elsewhere"
                )
        return cls(tuple(map(float, weights)), tuple(tuple(map(float, row)) for row in matrix))

    def factors(self, present: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        """What the qualities multiply the sum of each class by; `present` are the classes of the rows."""
        weights = np.array(self.weights)
        if self.matrix is None or present.sum() < 2:
            return weights
        return weights * [math.fsum(np.array(row)[present]) for row in self.matrix]

    def predicted(self, start: Array, classes: Array, counts: Array) -> npt.NDArray[np.int32]:
        """The class of least expected cost of each node; among equals the first. The root is node 0."""
        n_classes = len(self.weights)
        assert self.matrix is not None
        losses = np.array(self.weights)[:, None] * np.array(self.matrix)
        owner = np.repeat(np.arange(len(start) - 1), np.diff(start))
        total = np.zeros((len(start) - 1, n_classes))
        for k in range(n_classes):  # in the order of the classes, as the sum is written
            at = np.flatnonzero(classes == k)
            total[owner[at]] += counts[at, None] * losses[k]
        total[:, np.setdiff1d(np.arange(n_classes), classes[start[0] : start[1]])] = np.inf
        cheapest: npt.NDArray[np.int32] = total.argmin(axis=1).astype(np.int32)
        return cheapest


def _is_row(values: Any, size: int) -> bool:
    """A list of so many finite numbers."""
    return isinstance(values, (list, tuple)) and len(values) == size and all(map(is_finite, values))


def sums_in_order(start: Array, values: Array) -> npt.NDArray[np.float64]:
    """The sum of each node's values from left to right, one rounding an addition."""
    lengths = np.diff(start)
    total = np.zeros(len(lengths))
    for place in range(int(lengths.max(initial=0))):
        at = np.flatnonzero(lengths > place)
        total[at] += values[start[at] + place]
    return total


def costs_of(weights: Sequence[float], matrix: tuple[tuple[float, ...], ...] | None) -> Costs | None:
    """The costs that the grower was given; None where all classes weigh and cost the same."""
    return Costs(tuple(weights), matrix) if len(weights) else None
