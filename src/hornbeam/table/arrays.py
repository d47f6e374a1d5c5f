"""NumPy arrays, lists of rows and pandas frames as frames; float64 is passed on as it is.

NumPy-backed columns of pandas are used in place, extension types go through Arrow.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hornbeam.errors import DataError, DataTypeError

# numpy's units of datetime64 and timedelta64 that are kept, and by what the codes are multiplied.
from hornbeam.table.columns import Array, Cells, Frame, check_names, refuse_shape, refuse_type
from hornbeam.table.labels import cell_texts, nominal_from_booleans, nominal_from_codes, nominal_from_text
from hornbeam.table.objects import read_objects
from hornbeam.table.schema import show_name
from hornbeam.table.storage import INT64_MIN

_TIME_UNITS = {"W": ("s", 604_800), "D": ("s", 86_400), "h": ("s", 3600), "m": ("s", 60)} | {
    unit: (unit, 1) for unit in ("s", "ms", "us", "ns")
}
_FLOAT64 = np.dtype(np.float64)


def read_array(array: Array) -> Frame:
    """A frame over a two-dimensional NumPy array."""
    if array.ndim != 2:
        raise refuse_shape(array.shape)
    if isinstance(array, np.ma.MaskedArray):
        return _read_masked(array)
    n_rows, n_columns = array.shape
    if array.dtype is _FLOAT64 or (array.dtype.kind == "f" and array.dtype.itemsize <= 8):
        return matrix_frame(array, None)
    if array.dtype.kind == "c":
        raise DataError(
            f"Complex data not supported: X has type {array.dtype}; give real and imaginary parts as columns "
            "of their own"
        )
    return Frame(None, n_rows, n_columns, lambda j, name, nominal: read_vector(array[:, j], name, nominal))


def matrix_frame(array: Array, names: tuple[str, ...] | None) -> Frame:
    """A frame over an array of floats: float64 is used in place, narrower floats are widened."""
    matrix = array.view(np.ndarray) if type(array) is not np.ndarray else array
    # The core steps by whole elements in native byte order.
    if matrix.dtype != _FLOAT64 or not matrix.flags.aligned or matrix.strides[0] % 8 or matrix.strides[1] % 8:
        matrix = np.array(matrix, dtype=_FLOAT64, order="F")
    n_rows, n_columns = matrix.shape
    return Frame(names, n_rows, n_columns, lambda j, name, nominal: Cells("float64", matrix[:, j]), matrix)


def read_vector(values: Array, name: str, nominal: bool = False) -> Cells:
    """Cells of a one-dimensional NumPy array of any dtype."""
    kind = values.dtype.kind
    if kind == "f" and values.dtype.itemsize <= 8:
        return Cells("float64", _whole(values, np.float64))
    if kind == "i" or (kind == "u" and values.dtype.itemsize < 8):
        return Cells("int64", _whole(values, np.int64))
    if kind == "u":
        return Cells("uint64", (values.astype(np.uint64, copy=False) ^ np.uint64(2**63)).view(np.int64))
    if kind == "b":
        return nominal_from_booleans(values, None, name)
    if kind == "U":
        return nominal_from_text(values, name)
    if kind in "OT":
        return read_objects(values.astype(object, copy=False), name, nominal)
    if kind in "Mm":
        return _read_times(values, name)
    raise refuse_type(name, _type_name(values.dtype))


def _whole(values: Array, dtype: type[np.generic]) -> Array:
    """The values in native bytes and whole steps, as the core needs them; copied only where they are not."""
    values = values.astype(dtype, copy=False)
    return values if values.flags.aligned and values.strides[0] % 8 == 0 else values.copy()


def _type_name(dtype: np.dtype[Any]) -> str:
    return {"S": "binary", "V": "struct"}.get(dtype.kind, str(dtype))


def _read_times(values: Array, name: str) -> Cells:
    unit, count = np.datetime_data(values.dtype)
    if unit not in _TIME_UNITS or count != 1:
        raise refuse_type(name, str(values.dtype))
    codes = _whole(values.astype(values.dtype.newbyteorder("="), copy=False).view(np.int64), np.int64)
    missing = np.isnat(values).astype(np.uint8)
    if values.dtype.kind == "M" and unit == "D":
        return Cells("date", codes, missing if missing.any() else None)
    kept, factor = _TIME_UNITS[unit]
    if factor > 1:
        known = codes[missing == 0]
        if len(known) and max(abs(int(known.min())), abs(int(known.max()))) > (2**63 - 1) // factor:
            raise DataError(
                f"{show_name(name)}: a {values.dtype} value does not fit 64 bits as seconds; use a date"
            )
        codes = np.where(missing == 0, codes, 0) * factor
    family = "timestamp" if values.dtype.kind == "M" else "duration"
    return Cells(f"{family}:{kept}", codes, missing if missing.any() else None)


def _read_masked(array: "np.ma.MaskedArray[Any, Any]") -> Frame:
    """A frame over a masked array: masked cells are missing."""
    data, masked = array.data, np.ma.getmaskarray(array)

    def cells(j: int, name: str, nominal: bool) -> Cells:
        return mask_cells(read_vector(data[:, j], name, nominal), masked[:, j], name)

    return Frame(None, array.shape[0], array.shape[1], cells)


def mask_cells(cells: Cells, masked: Array, name: str) -> Cells:
    """The cells with those under `masked` (True) missing."""
    if not masked.any():
        return cells
    if cells.type == "float64":
        return Cells("float64", np.where(masked, np.nan, cells.values))
    if cells.type == "nominal":
        return nominal_from_codes(np.where(masked, -1, cells.values), cells.labels, name, cells.source)
    missing = masked.astype(np.uint8) if cells.missing is None else cells.missing | masked
    return Cells(cells.type, np.where(missing != 0, INT64_MIN, cells.values), missing)


def read_rows(rows: Sequence[Any]) -> Frame:
    """A frame over a list of rows; each column has the type its own cells say."""
    if not rows:
        return Frame(None, 0, 0, lambda j, name, nominal: Cells("float64", np.empty(0)))
    if (
        all(isinstance(row, np.ndarray) for row in rows)
        and len({(row.dtype, row.shape) for row in rows}) == 1
    ):
        return read_array(np.asarray(rows))
    if isinstance(rows[0], dict):
        raise DataTypeError("X is a list of dicts; make a frame of it, for instance with pandas.DataFrame")
    if not isinstance(rows[0], (list, tuple, np.ndarray)):
        raise refuse_shape((len(rows),)) if np.ndim(rows[0]) == 0 else _refuse_row(rows[0], 0)
    width = len(rows[0])
    for i, row in enumerate(rows):
        if not isinstance(row, (list, tuple, np.ndarray)):
            raise _refuse_row(row, i)
        if len(row) != width:
            raise DataError(
                f"row {i} has {len(row)} cells and row 0 has {width}; every row needs the same number"
            )
    columns = list(zip(*rows, strict=True))

    def cells(j: int, name: str, nominal: bool) -> Cells:
        return read_objects(np.fromiter(columns[j], dtype=object, count=len(rows)), name, nominal)

    return Frame(None, len(rows), width, cells)


def _refuse_row(row: object, i: int) -> DataError:
    return DataError(
        f"row {i} is a {type(row).__name__}; a table as a list needs each row to be a list of cells"
    )


def read_pandas(frame: Any) -> Frame:
    """A frame over a pandas DataFrame; all-float frames of one dtype are one matrix."""
    names = check_names(frame.columns.tolist())
    dtypes = frame.dtypes.to_numpy().tolist()
    if dtypes and isinstance(dtypes[0], np.dtype) and dtypes[0].kind == "f" and dtypes[0].itemsize <= 8:
        first = dtypes[0]
        if all(dtype is first or dtype == first for dtype in dtypes):
            return matrix_frame(frame.to_numpy(), names)
    columns: list[Any] = []

    def cells(j: int, name: str, nominal: bool) -> Cells:
        if not columns:
            columns.extend(series for _, series in frame.items())  # three times faster than iloc
        return read_series(columns[j], name, nominal)

    return Frame(names, len(frame), len(dtypes), cells)


def read_series(series: Any, name: str, nominal: bool = False) -> Cells:
    """Cells of one pandas column."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return read_vector(series.to_numpy(), name, nominal)
    kind = type(dtype).__name__
    if kind == "CategoricalDtype":
        return nominal_from_codes(
            series.cat.codes.to_numpy(), _category_texts(series.cat.categories, name), name
        )
    if kind == "SparseDtype":
        return read_vector(np.asarray(series), name, nominal)
    if kind in ("PeriodDtype", "IntervalDtype"):
        raise refuse_type(name, str(dtype))
    return _through_arrow(series, name)


def _through_arrow(series: Any, name: str) -> Cells:
    import pyarrow as pa

    from hornbeam.table.arrow import read_chunked, to_chunked

    try:
        array = pa.array(series, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        raise refuse_type(name, str(series.dtype)) from None
    return read_chunked(to_chunked(array, show_name(name)), name)


def _category_texts(categories: Any, name: str) -> list[str | None]:
    """The categories' texts; those of types without a place in a table (intervals, periods) by str."""
    try:
        return cell_texts(read_series(categories.to_series(), name, nominal=True))
    except DataError:
        return [str(category) for category in categories]
