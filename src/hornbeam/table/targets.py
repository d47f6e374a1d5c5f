"""What is to be predicted: numeric targets as float64, and class labels as a model keeps them."""

import math
import sys
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from hornbeam.errors import DataError
from hornbeam.table.arrays import read_vector
from hornbeam.table.columns import Array, Cells
from hornbeam.table.convert import nearest_floats, to_floats
from hornbeam.table.encoding import open_frame
from hornbeam.table.schema import is_unicode
from hornbeam.table.storage import parse_type


@dataclass(frozen=True, slots=True)
class Labels:
    """Class labels in the order in which numpy.unique sorts them; plain values, for files."""

    values: tuple[int | float | bool | str, ...]
    kind: Literal["int", "float", "bool", "str"]

    @classmethod
    def from_array(cls, classes: Array) -> "Labels":
        """The labels of a `classes_` array."""
        kinds: dict[str, Literal["int", "float", "bool", "str"]] = {
            "i": "int",
            "u": "int",
            "f": "float",
            "b": "bool",
        }
        return cls(tuple(classes.tolist()), kinds.get(classes.dtype.kind, "str"))

    def to_array(self) -> Array:
        """The labels as an array: int64 (or uint64), float64, bool or object."""
        if self.kind == "int":
            fits = all(-(2**63) <= value < 2**63 for value in self.values if not isinstance(value, str))
            return np.array(self.values, dtype=np.int64 if fits else np.uint64)
        return np.array(self.values, dtype={"float": np.float64, "bool": np.bool_, "str": object}[self.kind])

    def to_json(self) -> dict[str, Any]:
        """A plain dict that `from_json` turns back into equal labels."""
        return {"kind": self.kind, "values": list(self.values)}

    @classmethod
    def from_json(cls, content: object) -> "Labels":
        """Exactly what `to_json` gives; DataError, on one line, for anything else."""
        types: dict[Any, type] = {"int": int, "float": float, "bool": bool, "str": str}
        if (
            not isinstance(content, dict)
            or set(content) != {"kind", "values"}
            or not isinstance(content["kind"], str)
            or content["kind"] not in types
        ):
            raise _bad_labels("an object with a kind (int, float, bool, str) and values was expected")
        kind: Any = content["kind"]
        values = content["values"]
        if not isinstance(values, list) or not all(type(value) is types[kind] for value in values):
            raise _bad_labels(f"the values are not a list of {kind}")
        if kind == "int" and not (
            all(-(2**63) <= value < 2**63 for value in values) or all(0 <= value < 2**64 for value in values)
        ):
            raise _bad_labels("an integer does not fit 64 bits")
        if kind == "float" and not all(map(math.isfinite, values)):
            raise _bad_labels("a value is not finite")
        if kind == "str" and not is_unicode("".join(values)):
            raise _bad_labels("a value is not valid text")
        if any(not a < b for a, b in pairwise(values)):
            raise _bad_labels("the values are not in strictly ascending order")
        return cls(tuple(values), kind)


def _bad_labels(why: str) -> DataError:
    return DataError(f"stored class labels refused: {why}; the file is corrupt or not a Hornbeam model")


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
        from hornbeam.table.pandas_frames import read_series

        return [read_series(y if isinstance(y, pandas.Series) else y.to_series(), "y")]
    if is_arrow_vector(y):
        from hornbeam.table.arrow import read_chunked, to_chunked

        return [read_chunked(to_chunked(y), "y")]
    if isinstance(y, (list, tuple)) and not any(isinstance(row, (list, tuple, np.ndarray)) for row in y[:1]):
        return [read_vector(np.fromiter(y, dtype=object, count=len(y)), "y")]
    if hasattr(y, "__array__") and not isinstance(y, np.ndarray) and not hasattr(y, "columns"):
        return _read_columns(np.asarray(y))
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
