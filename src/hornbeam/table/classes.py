"""Class labels as codes, sorted as numpy.unique sorts them but without sorting integers or text rows."""

import sys
from typing import Any

import numpy as np

from hornbeam._core import encode_ints, encode_labels
from hornbeam.errors import DataError
from hornbeam.table.columns import Array
from hornbeam.table.objects import class_of
from hornbeam.table.schema import is_unicode
from hornbeam.table.targets import is_arrow_vector

_ALLOWED = "class labels are integers, whole floats, text or true/false"


def encode_classes(y: Any) -> tuple[Array, Array]:
    """Codes (int32) of the labels of y, and the classes they point to; a table of one column is a vector."""
    y = _single_column(y)
    if isinstance(y, np.ndarray):
        return _encode_array(_flat(y))
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(y, (pandas.Series, pandas.Index, pandas.Categorical)):
        return _encode_pandas(pandas.Series(y))
    if is_arrow_vector(y):
        return _encode_arrow(y)
    if isinstance(y, (list, tuple)):
        return _encode_list(y)
    if hasattr(y, "__array__"):
        return _encode_array(_flat(np.asarray(y)))
    raise DataError(
        f"y is of type {type(y).__name__}; allowed are a NumPy array, a column of a frame, a list"
    )


def _single_column(y: Any) -> Any:
    """The column itself where y is a table; arrays are left alone."""
    if isinstance(y, np.ndarray) or not hasattr(y, "columns"):
        return y
    if len(y.columns) != 1:
        raise _refuse_shape(tuple(getattr(y, "shape", ("n", len(y.columns)))))
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(y, pandas.DataFrame):
        return y.iloc[:, 0]
    import pyarrow as pa

    return pa.table(y).column(0)


def _refuse_shape(shape: tuple[Any, ...]) -> DataError:
    return DataError(
        f"y should be a 1d array, got an array of shape {shape} instead; give one label for each row"
    )


def _flat(y: Array) -> Array:
    if y.ndim == 1:
        return y
    if y.ndim == 2 and y.shape[1] == 1:
        return y[:, 0]
    raise _refuse_shape(y.shape)


def _encode_array(y: Array) -> tuple[Array, Array]:
    if isinstance(y, np.ma.MaskedArray):
        if np.ma.getmaskarray(y).any():
            raise _refuse_missing(int(np.flatnonzero(np.ma.getmaskarray(y))[0]))
        y = y.data
    kind = y.dtype.kind
    if kind in "iu":
        return _encode_integers(y)
    if kind == "b":
        codes, classes = _encode_integers(y.view(np.uint8))
        return codes, classes.astype(np.bool_)
    if kind == "f":
        return _encode_floats(y)
    if kind == "U":
        codes, labels = _encode_text(y)
        return codes, np.array(labels, dtype=y.dtype if labels else "U1")
    if kind in "OT":
        return _encode_object_array(y.astype(object, copy=False))
    if kind == "c":
        raise DataError(f"Complex data not supported: y has type {y.dtype}; {_ALLOWED}")
    raise DataError(f"Unknown label type: y has type {y.dtype}; {_ALLOWED}; convert it to text")


def _encode_integers(y: Array) -> tuple[Array, Array]:
    if y.dtype != np.uint64:
        codes, distinct = encode_ints(y.astype(np.int64, copy=False))
        return codes, distinct.astype(y.dtype)
    # The upper half of their range has no int64: with the highest bit turned, order is kept and all have one.
    turn = np.uint64(2**63)
    codes, distinct = encode_ints((y ^ turn).view(np.int64))
    return codes, distinct.view(np.uint64) ^ turn


def _encode_floats(y: Array) -> tuple[Array, Array]:
    bad = ~np.isfinite(y)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        if np.isnan(y[row]):
            raise _refuse_missing(row)
        raise DataError(f"Input y contains infinity in row {row}; {_ALLOWED}")
    broken = y != np.floor(y)
    if broken.any():
        row = int(np.flatnonzero(broken)[0])
        raise DataError(
            f"Unknown label type: continuous. y has the value {y[row]} in row {row}; {_ALLOWED}; "
            "use a regressor, or cut the values into classes"
        )
    if len(y) and float(np.abs(y).max()) < 2.0**53:
        codes, classes = _encode_integers(y.astype(np.int64))
        return codes, classes.astype(y.dtype)
    classes, inverse = np.unique(y, return_inverse=True)
    return inverse.astype(np.int32), classes


def _encode_text(y: Array) -> tuple[Array, list[str]]:
    """Codes and labels of an array of text, -1 where missing; TypeError where something else is in it."""
    refusal = DataError(
        "y has a label that is not valid Unicode (a lone surrogate); decode the text as UTF-8"
    )
    try:
        codes, labels = encode_labels(y)
    except ValueError:  # all that text can be refused for
        raise refusal from None
    if not is_unicode("".join(labels)):
        raise refusal
    return codes, labels


def _encode_object_array(y: Array) -> tuple[Array, Array]:
    """Text is the common case, and the core finds out fastest whether all cells are."""
    try:
        codes, labels = _encode_text(y)
    except TypeError:
        return _encode_objects(y.tolist())
    if len(codes) and int(codes.min()) < 0:
        raise _refuse_missing(int(np.flatnonzero(codes < 0)[0]))
    return codes, np.fromiter(labels, dtype=object, count=len(labels))


def _encode_objects(cells: list[Any]) -> tuple[Array, Array]:
    classes = {type_: class_of(type_) for type_ in set(map(type, cells))}
    present = set(classes.values())
    if "missing" in present or "float" in present:
        for row, cell in enumerate(cells):
            if classes[type(cell)] == "missing" or (classes[type(cell)] == "float" and cell != cell):
                raise _refuse_missing(row)
    if present == {"boolean"} or present <= {"integer", "float"}:
        return _encode_array(_plain_array(cells))
    raise DataError(
        f"Unknown label type: y mixes or holds {', '.join(sorted(present))} values; {_ALLOWED}; convert it "
        "to text"
    )


def _plain_array(cells: list[Any]) -> Array:
    try:
        array = np.array(cells)
    except OverflowError:
        array = np.array([], dtype=object)
    if array.dtype.kind not in "iufb":
        raise DataError(f"y has an integer that does not fit 64 bits; {_ALLOWED}; convert it to text")
    return array


def _encode_list(y: list[Any] | tuple[Any, ...]) -> tuple[Array, Array]:
    if y and isinstance(y[0], (list, tuple, np.ndarray)):
        if any(not isinstance(row, (list, tuple, np.ndarray)) or len(row) != 1 for row in y):
            raise _refuse_shape((len(y), len(y[0])))
        return _encode_list([row[0] for row in y])
    if all(type(label) is int for label in y):
        return _encode_array(_plain_array(list(y)))
    codes, classes = _encode_object_array(np.fromiter(y, dtype=object, count=len(y)))
    if classes.dtype == object and len(classes):
        # A list has no dtype of its own; numpy's would be of fixed width, which drops NULs at the end.
        fixed = np.array(classes.tolist())
        return codes, fixed if fixed.tolist() == classes.tolist() else classes
    return codes, classes


def _encode_pandas(series: Any) -> tuple[Array, Array]:
    if isinstance(series.dtype, np.dtype):
        return _encode_array(series.to_numpy())
    if type(series.dtype).__name__ == "CategoricalDtype":
        return _encode_coded(series.cat.codes.to_numpy(), series.cat.categories.to_numpy())
    import pyarrow as pa

    return _encode_arrow(pa.array(series, from_pandas=True))


def _encode_arrow(y: Any) -> tuple[Array, Array]:
    import pyarrow as pa

    from hornbeam.table.arrow import is_text, join_dictionaries, to_chunked

    column = to_chunked(y, "y")
    if column.null_count:
        raise _refuse_missing(int(np.flatnonzero(column.is_null().to_numpy())[0]))
    type_ = column.type
    if pa.types.is_boolean(type_) or pa.types.is_integer(type_) or pa.types.is_floating(type_):
        return _encode_array(column.to_numpy())
    if is_text(type_):
        column = column.dictionary_encode()
    elif not pa.types.is_dictionary(type_):
        raise DataError(f"Unknown label type: y has type {type_}; {_ALLOWED}; convert it to text")
    raw, values = join_dictionaries(column, lambda dictionary: dictionary.to_pylist())
    absent = np.array([value is None for value in values], dtype=np.bool_)
    if absent.any():
        raw = np.where(absent[raw], -1, raw)
    return _encode_coded(raw, np.fromiter(values, dtype=object, count=len(values)))


def _encode_coded(raw: Array, distinct: Array) -> tuple[Array, Array]:
    """Codes from places in an array of distinct labels, some of which may not occur; -1 is missing."""
    if len(raw) and int(raw.min()) < 0:
        raise _refuse_missing(int(np.flatnonzero(raw < 0)[0]))
    used = np.zeros(len(distinct), dtype=np.bool_)
    used[raw] = True
    codes, classes = _encode_array(distinct[used])
    place = np.zeros(len(distinct), dtype=np.int32)
    place[used] = codes
    return place[raw], classes


def _refuse_missing(row: int) -> DataError:
    return DataError(
        f"y has a missing label in row {row}; every row needs its class: label such rows or drop them"
    )
