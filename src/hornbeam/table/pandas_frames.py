"""pandas frames: NumPy-backed columns are used in place, extension types go through Arrow."""

from typing import Any

import numpy as np

from hornbeam.errors import DataError
from hornbeam.table.arrays import matrix_frame, read_vector
from hornbeam.table.columns import Cells
from hornbeam.table.frame import Frame, check_names, refuse_type
from hornbeam.table.labels import cell_texts, nominal_from_codes
from hornbeam.table.schema import show_name


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
