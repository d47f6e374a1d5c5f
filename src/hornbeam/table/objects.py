"""Columns of Python objects: the type is what the cells say, never a guess from their text."""

import datetime
import decimal
from typing import Any

import numpy as np

from hornbeam.errors import DataError, DataTypeError
from hornbeam.table.columns import Array, Cells
from hornbeam.table.labels import all_missing, cell_texts, nominal_from_booleans, nominal_from_text
from hornbeam.table.schema import show_name
from hornbeam.table.storage import INT64_MIN, format_float

# The first that fits; bool before int, datetime before date, because they are subclasses.
_CLASSES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    ((bool, np.bool_), "boolean"),
    (str, "text"),
    ((np.datetime64, datetime.datetime), "datetime"),
    (datetime.date, "date"),
    (datetime.time, "time"),
    ((np.timedelta64, datetime.timedelta), "timedelta"),
    ((int, np.integer), "integer"),
    ((float, np.float32, np.float16), "float"),
    (decimal.Decimal, "decimal"),
)


def class_of(type_: type) -> str:
    """missing, boolean, text, integer, float, decimal, date, datetime, time, timedelta, or other."""
    if type_ is type(None) or (
        type_.__name__ in ("NAType", "NaTType") and type_.__module__.startswith("pandas")
    ):
        return "missing"
    return next((name for classes, name in _CLASSES if issubclass(type_, classes)), "other")


def read_objects(values: Array, name: str, nominal: bool = False) -> Cells:
    """Cells of a one-dimensional object array. With `nominal`, cells of several types are read as text."""
    try:
        # Text is the common case, and the core finds out fastest whether all cells are.
        text = nominal_from_text(values, name)
    except TypeError:
        pass
    else:
        if text.labels:
            return text
    cells: list[Any] = values.tolist()
    classes = {type_: class_of(type_) for type_ in set(map(type, cells))}
    present = set(classes.values()) - {"missing"}
    if "other" in present:
        raise _refuse_cell(cells, classes, name)
    if "float" in present and len(present) > 1:
        cells, present = _drop_nan(cells, classes)
    elif "missing" in classes.values():
        cells = [None if classes[type(cell)] == "missing" else cell for cell in cells]
    return _read_classes(cells, present, name, nominal)


def _read_classes(cells: list[Any], present: set[str], name: str, nominal: bool) -> Cells:
    if not present:
        return all_missing(len(cells))
    if present == {"text"}:
        return nominal_from_text(_object_array(cells), name)
    if present == {"boolean"}:
        missing = _missing(cells)
        filled = [cell is not None and bool(cell) for cell in cells]
        return nominal_from_booleans(np.array(filled, dtype=np.bool_), missing, name)
    if present == {"integer"}:
        return _integers(cells, name)
    if present <= {"integer", "float"}:
        return _floats(cells, name)
    if len(present) == 1:
        return _through_arrow(cells, name)
    if nominal:
        return nominal_from_text(_object_array([_text(cell, name) for cell in cells]), name)
    raise _refuse_mixture(cells, present, name)


def _drop_nan(cells: list[Any], classes: dict[type, str]) -> tuple[list[Any], set[str]]:
    """NaN among cells of other classes is a missing mark, not a number."""
    kept = [None if classes[type(cell)] == "missing" or cell != cell else cell for cell in cells]
    return kept, {classes[type(cell)] for cell in kept if cell is not None}


def _object_array(cells: list[Any]) -> Array:
    return np.fromiter(cells, dtype=object, count=len(cells))


def _missing(cells: list[Any]) -> Array | None:
    mask = np.fromiter((cell is None for cell in cells), dtype=np.uint8, count=len(cells))
    return mask if mask.any() else None


def _integers(cells: list[Any], name: str) -> Cells:
    missing = _missing(cells)
    filled = [0 if cell is None else int(cell) for cell in cells]
    try:
        return Cells("int64", np.array(filled, dtype=np.int64), missing)
    except OverflowError:
        pass
    try:
        codes = (np.array(filled, dtype=np.uint64) ^ np.uint64(2**63)).view(np.int64)
    except OverflowError:
        worst = max(filled, key=abs)
        raise DataError(
            f"{show_name(name)}: integer {str(worst)[:40]} does not fit 64 bits together with the others "
            "(int64 or uint64); cast the column to float64 or text"
        ) from None
    if missing is not None:
        codes[missing != 0] = INT64_MIN
    return Cells("uint64", codes, missing)


def _floats(cells: list[Any], name: str) -> Cells:
    try:
        values = np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
    except OverflowError:
        row = max(range(len(cells)), key=lambda i: abs(cells[i]) if isinstance(cells[i], int) else 0)
        raise _refuse_inexact(cells, row, name) from None
    for row in np.flatnonzero(np.abs(values) >= 2.0**53).tolist():
        if isinstance(cells[row], (int, np.integer)) and int(cells[row]) != int(values[row]):
            raise _refuse_inexact(cells, row, name)
    return Cells("float64", values)


def _refuse_inexact(cells: list[Any], row: int, name: str) -> DataError:
    return DataError(
        f"{show_name(name)}: integer {str(cells[row])[:40]} in row {row} stands among floats and has no "
        "exact float64; give the column one type"
    )


def _through_arrow(cells: list[Any], name: str) -> Cells:
    import pyarrow as pa

    from hornbeam.table.arrow import read_chunked

    try:
        array = pa.array(cells, from_pandas=True)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise DataError(
            f"{show_name(name)}: its cells do not form one type: {str(error).splitlines()[0]}"
        ) from None
    return read_chunked(pa.chunked_array([array]), name)


def _text(cell: Any, name: str) -> str | None:
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, (bool, np.bool_)):
        return "true" if cell else "false"
    if isinstance(cell, (int, np.integer)):
        return str(int(cell))
    if isinstance(cell, (float, np.floating)):
        return format_float(float(cell))
    return cell_texts(_through_arrow([cell], name))[0]


def _refuse_mixture(cells: list[Any], present: set[str], name: str) -> DataError:
    if "text" in present:
        texts = [cell for cell in cells if isinstance(cell, str)]
        return DataError(
            f"{show_name(name)}: text {texts[0][:40]!r} in a column of other values ({len(texts)} of "
            f"{len(cells)} rows); "
            "declare it nominal or mark it missing"
        )
    return DataError(
        f"{show_name(name)}: cells of several types ({', '.join(sorted(present))}); "
        "give the column one type or declare it nominal"
    )


def _refuse_cell(cells: list[Any], classes: dict[type, str], name: str) -> DataError:
    row, cell = next((row, cell) for row, cell in enumerate(cells) if classes[type(cell)] == "other")
    return DataTypeError(
        f"{show_name(name)}: a cell of type {type(cell).__name__} in row {row} is not supported; "
        "the argument must be a string, a number, true or false, a date, a time or missing"
    )
