"""Numeric targets and the weights of rows, as float64."""

from __future__ import annotations

import numbers
import sys
from typing import Any

import numpy as np

from hornbeam.errors import DataError, NoRows
from hornbeam.table.arrays import read_vector
from hornbeam.table.columns import Array, Cells
from hornbeam.table.convert import nearest_floats, to_floats
from hornbeam.table.encoding import open_frame
from hornbeam.table.storage import parse_type


def check_same_length(n_rows: int, n_labels: int) -> None:
    """Refuse X and y of different lengths."""
    if n_rows != n_labels:
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: [{n_rows}, {n_labels}]; "
            f"X has {n_rows} rows and y has {n_labels}, they must be equal"
        )


def encode_targets(y: Any) -> Array:
    """Numeric targets as a C-contiguous float64 array of shape [n, q]; q is 1 for a vector."""
    if isinstance(y, np.ndarray) and y.dtype.kind == "f" and y.dtype.itemsize <= 8 and y.ndim in (1, 2):
        table = y if y.ndim == 2 else y[:, None]
    else:
        columns = [_numbers(cells) for cells in _read_columns(y)]
        table = np.column_stack(columns) if columns else np.empty((0, 0))
    targets: Array = np.ascontiguousarray(table, dtype=np.float64)
    if targets.size == 0 and targets.shape[1] == 0:
        raise DataError("y has no target columns; give one number for each row")
    finite = np.isfinite(targets)
    if not finite.all():
        raise _refuse_target(targets, finite)
    return targets


def _read_columns(y: Any) -> list[Cells]:
    """The columns of y; a vector is one column."""
    pandas = sys.modules.get("pandas")
    if isinstance(y, np.ndarray) and y.ndim == 1:
        return [read_vector(y, "y")]
    if pandas is not None and isinstance(y, (pandas.Series, pandas.Index)):
        from hornbeam.table.arrays import read_series

        return [read_series(y if isinstance(y, pandas.Series) else y.to_series(), "y")]
    if is_arrow_vector(y):
        from hornbeam.table.arrow import read_chunked, to_chunked

        return [read_chunked(to_chunked(y, "y"), "y")]
    if isinstance(y, (list, tuple)) and not any(isinstance(row, (list, tuple, np.ndarray)) for row in y[:1]):
        return [read_vector(np.fromiter(y, dtype=object, count=len(y)), "y")]
    if hasattr(y, "__array__") and not isinstance(y, np.ndarray) and not hasattr(y, "columns"):
        return _read_columns(np.asarray(y))
    if getattr(y, "ndim", 2) > 2:
        raise DataError(f"y has shape {y.shape}; give a number, or a row of numbers, for each row of X")
    frame = open_frame(y, "y")
    return [frame.cells(j, "y", False) for j in range(frame.n_columns)]


def is_arrow_vector(data: Any) -> bool:
    """Whether this is one column that speaks Arrow (a polars Series, an Arrow array), not a table of them."""
    speaks = hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")
    return (
        speaks
        and not hasattr(data, "columns")
        and not hasattr(data, "column_names")
        and not hasattr(data, "schema")
    )


def _numbers(cells: Cells) -> Array:
    if cells.source == "boolean":
        truth = np.array([label == "true" for label in cells.labels] + [np.nan], dtype=np.float64)
        return truth[cells.values]
    storage = parse_type(cells.type)
    if cells.source == "null":
        return np.full(len(cells.values), np.nan)
    if storage.group != "number":
        raise DataError(
            f"y holds {storage.description} where numbers are needed; use a classifier, or convert it to "
            "numbers"
        )
    return nearest_floats(cells) if storage.family == "decimal" else to_floats(cells, "y")


def _refuse_target(targets: Array, finite: Array) -> DataError:
    row = int(np.flatnonzero(~finite.all(axis=1))[0])
    if np.isnan(targets).any():
        row = int(np.flatnonzero(np.isnan(targets).any(axis=1))[0])
        return DataError(f"Input y contains NaN. Row {row} has no target; drop such rows or fill them in")
    return DataError(
        f"Input y contains infinity or a value too large for dtype('float64'). Row {row} is not finite; drop "
        "or bound it"
    )


def encode_weights(weights: Any, n_rows: int, name: str = "sample_weight") -> Array | None:
    """Finite numbers from 0, not all of them 0, one for each row; None where there are none.

    Errors call the weights by `name`.
    """
    if weights is None:
        return None
    if isinstance(weights, numbers.Real) and not isinstance(weights, bool):
        weights = np.full(n_rows, weights)  # one number weighs every row, as in scikit-learn
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
