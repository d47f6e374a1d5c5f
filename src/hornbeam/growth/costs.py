"""The parameters class_weight and cost_matrix, checked against the classes that there are."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam.arguments import brief, is_number, refuse
from hornbeam.errors import UsageError


@dataclass(frozen=True, eq=False)
class ClassCosts:
    """What classes weigh ("balanced", or a number each) and what mistakes cost, in the order of labels."""

    weights: npt.NDArray[np.float64] | str | None = None
    matrix: npt.NDArray[np.float64] | None = None

    @classmethod
    def checked(cls, class_weight: Any, cost_matrix: Any, labels: npt.NDArray[Any]) -> ClassCosts:
        """UsageError in one line where they do not say what these classes weigh and cost."""
        if class_weight is cost_matrix is None:
            return cls()
        return cls(_weights(class_weight, labels), _matrix(cost_matrix, labels))

    @property
    def rows(self) -> tuple[tuple[float, ...], ...] | None:
        """The matrix as plain numbers."""
        return None if self.matrix is None else tuple(map(tuple, self.matrix.tolist()))


def check_class_weight(class_weight: Any) -> None:
    """What can be said before the classes are known."""
    balanced = isinstance(class_weight, str) and class_weight == "balanced"
    if class_weight is None or balanced or isinstance(class_weight, Mapping):
        return
    refuse("class_weight", class_weight, "use 'balanced', a dict of class to weight, or None")


def _weights(given: Any, labels: npt.NDArray[Any]) -> npt.NDArray[np.float64] | str | None:
    check_class_weight(given)
    if given is None or isinstance(given, str):
        return given
    place = {label: k for k, label in enumerate(labels.tolist())}
    weights = np.ones(len(labels))
    for label, weight in given.items():
        plain = _plain(label)
        if plain not in place:
            raise UsageError(f"class_weight names the class {brief(plain)}; {_listed(labels)}")
        if not is_number(weight, numbers.Real) or not 0 < weight < math.inf:
            raise UsageError(
                f"class_weight of the class {brief(plain)} is {brief(_plain(weight))}; "
                "a finite number above 0 is allowed"
            )
        weights[place[plain]] = float(weight)
    return None if (weights == 1.0).all() else weights


def _matrix(given: Any, labels: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
    if given is None:
        return None
    k = len(labels)
    try:
        matrix = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(
            f"cost_matrix is not a table of numbers; give {k} rows of {k} numbers in the order of the classes"
        ) from None
    if matrix.shape != (k, k):
        raise UsageError(
            f"cost_matrix has shape {matrix.shape}; it needs a row and a column for each of the {k} classes: "
            f"{_listed(labels)}"
        )
    for i, j in np.argwhere(~np.isfinite(matrix) | ((matrix <= 0) != np.eye(k, dtype=bool)) | (matrix < 0)):
        rule = "0 is the cost of the right class" if i == j else "a finite number above 0 is allowed"
        raise UsageError(
            f"cost_matrix[{i}][{j}] = {matrix[i, j]:g}: {rule}; rows are true classes, columns said ones"
        )
    return matrix


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _listed(labels: npt.NDArray[Any]) -> str:
    shown = ", ".join(repr(label) for label in labels[:8].tolist())
    return f"classes are {shown}{f' and {len(labels) - 8} more' if len(labels) > 8 else ''}"
