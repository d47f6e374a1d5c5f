"""The entrance: whatever the caller has becomes one encoded table with its schema."""

import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from hornbeam.errors import DataError, DataTypeError, UsageError
from hornbeam.table.arrays import read_array, read_rows
from hornbeam.table.columns import Cells, Column, Frame, Table, check_names, positional_names, refuse_shape
from hornbeam.table.labels import as_nominal
from hornbeam.table.schema import MAX_COLUMNS, MAX_ROWS, Attribute, Schema, list_names

_ALLOWED = (
    "a NumPy array, a pandas or polars frame, an Arrow table or stream, a DuckDB relation, a list of rows"
)
_HINTS: dict[type, str] = {
    str: "; read a file first, for instance with pandas.read_csv",
    Path: "; read a file first, for instance with pandas.read_csv",
    dict: "; make a frame of it, for instance with pandas.DataFrame",
}
_ALLOWED_NOMINAL = "allowed are 'from_dtype' or a list of names or positions"


def open_frame(data: Any, what: str = "X") -> Frame:
    """The caller's table as a frame; a library is imported only for its own data. `what` is for errors."""
    if isinstance(data, np.ndarray):
        return read_array(data)
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(data, pandas.DataFrame):
        from hornbeam.table.arrays import read_pandas

        return read_pandas(data)
    if pandas is not None and isinstance(data, (pandas.Series, pandas.Index)):
        raise refuse_shape((len(data),))
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        from hornbeam.table.arrow import read_stream

        return read_stream(data, what)
    if hasattr(data, "tocsr") or hasattr(data, "sparse_format"):
        raise DataTypeError(
            f"Sparse data was passed for {what}, which is not supported; use .toarray() to make it dense"
        )
    if isinstance(data, (list, tuple)):
        return read_rows(data)
    if hasattr(data, "collect") and hasattr(data, "collect_schema"):
        raise DataTypeError(f"{what} is a lazy frame ({type(data).__name__}); call .collect() first")
    if hasattr(data, "__array__"):
        return read_array(np.asarray(data))
    hint = next((text for kind, text in _HINTS.items() if isinstance(data, kind)), "")
    raise DataTypeError(f"{what} is of type {type(data).__name__}; allowed are {_ALLOWED}{hint}")


def from_data(
    X: Any,
    *,
    nominal_features: str | Sequence[str] | Sequence[int] = "from_dtype",
    feature_names: Sequence[str] | None = None,
) -> Table:
    """Encode a table and make its schema.

    Text, categories and booleans are nominal by their type; `nominal_features` lists, by name or position,
    further columns whose values are labels. `feature_names` replaces the names of the data.
    """
    frame = open_frame(X)
    check_size(frame)
    names = frame.names if feature_names is None else _given_names(feature_names, frame.n_columns)
    shown = positional_names(frame.n_columns) if names is None else names
    chosen = choose_nominal(nominal_features, shown)
    if frame.matrix is not None and not chosen:
        columns = tuple([Column("float", values) for values in frame.matrix.T])
        return Table(_float_schema(shown, names is not None), columns, frame.n_rows)
    cells = [_read(frame, j, name, j in chosen) for j, name in enumerate(shown)]
    attributes = tuple(make_attribute(name, column) for name, column in zip(shown, cells, strict=True))
    return Table(Schema(attributes, names is not None), tuple(c.to_column() for c in cells), frame.n_rows)


def make_attribute(name: str, cells: Cells) -> Attribute:
    """The attribute that describes a column of training data."""
    return Attribute(name, "nominal" if cells.type == "nominal" else "numeric", cells.type, cells.labels)


def _read(frame: Frame, position: int, name: str, nominal: bool) -> Cells:
    cells = frame.cells(position, name, nominal)
    return as_nominal(cells, name) if nominal else cells


@lru_cache(maxsize=32)
def _float_schema(names: tuple[str, ...], named: bool) -> Schema:
    return Schema(tuple(Attribute(name, "numeric", "float64") for name in names), named)


def check_size(frame: Frame) -> None:
    """Refuse tables that are empty or beyond the limits, in scikit-learn's words where it has them."""
    shape = (frame.n_rows, frame.n_columns)
    if frame.n_rows == 0:
        raise DataError(
            f"zero rows: found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required."
        )
    if frame.n_columns == 0:
        raise DataError(
            f"zero columns: found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required."
        )
    check_limits(frame)


def check_limits(frame: Frame) -> None:
    """Refuse tables beyond the limits."""
    if frame.n_rows > MAX_ROWS:
        raise DataError(
            f"{frame.n_rows} rows; fewer than {MAX_ROWS + 1} are allowed in memory; use a sample of them"
        )
    if frame.n_columns > MAX_COLUMNS:
        raise DataError(f"{frame.n_columns} columns; at most {MAX_COLUMNS} are allowed; drop some")


def _given_names(feature_names: Sequence[str], n_columns: int) -> tuple[str, ...]:
    names = check_names(list(feature_names))
    if names is None or len(names) != n_columns:
        raise UsageError(
            f"feature_names has {len(feature_names)} entries for {n_columns} columns; give one text each"
        )
    return names


def choose_nominal(nominal_features: Any, names: tuple[str, ...]) -> frozenset[int]:
    """Positions of the columns that the caller declares nominal."""
    if isinstance(nominal_features, str):
        if nominal_features == "from_dtype":
            return frozenset()
        raise UsageError(
            f"nominal_features={nominal_features!r}; {_ALLOWED_NOMINAL}", parameter="nominal_features"
        )
    if not isinstance(nominal_features, (list, tuple, set, frozenset, np.ndarray)):
        raise UsageError(f"nominal_features is of type {type(nominal_features).__name__}; {_ALLOWED_NOMINAL}")
    entries = list(
        np.atleast_1d(nominal_features) if isinstance(nominal_features, np.ndarray) else nominal_features
    )
    if entries and all(isinstance(entry, (bool, np.bool_)) for entry in entries):
        if len(entries) != len(names):
            raise UsageError(
                f"nominal_features is a mask of {len(entries)} for {len(names)} columns; give one for each"
            )
        return frozenset(j for j, entry in enumerate(entries) if entry)
    position = {name: j for j, name in enumerate(names)}
    return frozenset(_position(entry, position, names) for entry in entries)


def _position(entry: Any, position: dict[str, int], names: tuple[str, ...]) -> int:
    if isinstance(entry, str):
        if entry not in position:
            raise UsageError(
                f"nominal_features names {entry!r}, which is not a column; columns are {list_names(names)}"
            )
        return position[entry]
    if isinstance(entry, (int, np.integer)) and not isinstance(entry, bool):
        if not 0 <= entry < len(names):
            raise UsageError(f"nominal_features has position {entry}; columns are 0 to {len(names) - 1}")
        return int(entry)
    raise UsageError(
        f"nominal_features has an entry of type {type(entry).__name__}; give column names or positions"
    )
