"""What each row weighs, as float64."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from hornbeam.errors import DataError, NoRows
from hornbeam.table.columns import Array
from hornbeam.table.targets import is_arrow_vector


def encode_weights(weights: Any, n_rows: int, name: str = "sample_weight") -> Array | None:
    """Finite numbers from 0, not all of them 0, one for each row; None where there are none.

    Errors call them by their name.
    """
    if weights is None:
        return None
    if isinstance(weights, numbers.Real) and not isinstance(weights, bool):
        weights = np.full(n_rows, weights)  # one for all, as scikit-learn takes it
    if is_arrow_vector(weights) and not isinstance(getattr(weights, "dtype", None), np.dtype):
        from hornbeam.table.arrow import to_chunked

        weights = to_chunked(weights, name)
    try:
        given = np.asarray(weights)
        if given.dtype.kind == "c":
            raise DataError(
                f"Complex data not supported: {name} has type {given.dtype}; give a weight from 0 for "
                "each row"
            )
        values = np.asarray(given, dtype=np.float64)
    except DataError:
        raise
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{name} is not a list of numbers; give a weight from 0 for each row") from None
    if values.ndim != 1:
        raise DataError(f"{name} has shape {values.shape}; give one weight for each row")
    if len(values) != n_rows:
        raise DataError(f"{name} has {len(values)} weights for {n_rows} rows; give one for each row")
    check_weights(values, name)
    if not values.any():
        raise no_weight(name)
    return np.ascontiguousarray(values)


def check_weights(values: Array, name: str = "sample_weight") -> None:
    """Refuse weights that are no finite numbers from 0."""
    wrong = np.flatnonzero(~(values >= 0) | np.isinf(values))
    if len(wrong):
        raise DataError(
            f"{name} of row {wrong[0]} is {values[wrong[0]]:g}; finite numbers from 0 are allowed"
        )


def no_weight(name: str = "sample_weight") -> NoRows:
    """The error for rows none of which weighs anything."""
    return NoRows(f"{name} is zero for every row; at least one row needs a weight above zero")
