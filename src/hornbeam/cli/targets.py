"""The columns that --target names: found, fit for the task, and without gaps."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hornbeam.errors import DataError, UsageError
from hornbeam.growth import ClassCosts, ClassTarget, NumericTarget, Target
from hornbeam.table import encode_classes, encode_targets

MOST_INTEGER_CLASSES = 20


def check_targets(data: pa.Table, targets: tuple[str, ...]) -> None:
    """Refuse targets that are not there (naming near ones) or given twice, and data with nothing besides."""
    if data.num_columns == 0:
        raise DataError("zero columns; a target and at least one attribute are needed")
    check_target_names(data.column_names, targets)
    if data.num_rows == 0:
        raise DataError(f"zero rows: {data.num_columns} columns and no row; at least one row is needed")
    if data.num_columns == len(targets):
        raise DataError(f"zero columns besides the target {targets[0]!r}; at least one attribute is needed")


def check_target_names(names: list[str], targets: tuple[str, ...]) -> None:
    """Refuse targets that are no columns, or given twice."""
    for target in targets:
        if target not in names:
            raise UsageError(f"--target {target!r} is not a column; {near_names(target, names)}")
    if len(set(targets)) < len(targets):
        raise UsageError("a --target is given twice; name each once")


def near_names(name: str, names: list[str]) -> str:
    """What may have been meant where a name is no column."""
    folded = {column.casefold(): column for column in names}
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        return f"the only column is {names[0][:60]!r}: cells must be separated by commas; convert the file"
    near = difflib.get_close_matches(name.casefold(), list(folded), n=3, cutoff=0.6)
    if near:
        return f"did you mean {' or '.join(repr(folded[found]) for found in near)}?"
    shown = ", ".join(repr(column) for column in names[:8])
    return f"columns are {shown}{f' and {len(names) - 8} more' if len(names) > 8 else ''}"


def choose_task(data: pa.Table, targets: tuple[str, ...]) -> str:
    """Classification for one target of text, categories, booleans or at most 20 different integers."""
    if len(targets) > 1:
        return "regression"
    column = data.column(targets[0])
    return task_of(column.type, lambda: len(column.unique()))


def task_of(kind: pa.DataType, values: Callable[[], int]) -> str:
    """The task for a target of this type; of integers `values` counts the different ones."""
    if pa.types.is_integer(kind):
        return "classification" if values() <= MOST_INTEGER_CLASSES else "regression"
    return "regression" if _is_number(kind) else "classification"


def read_target(data: pa.Table, targets: tuple[str, ...], task: str, class_weight: Any = None) -> Target:
    """The classes of a target, or the numbers of all."""
    if task == "regression":
        return NumericTarget(_read_numbers(data, targets), targets)
    codes, classes = read_classes(data, targets[0])
    return ClassTarget(codes, classes, costs=ClassCosts.checked(class_weight, None, classes))


def read_classes(data: pa.Table, target: str) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """The codes of a target's classes, and the classes."""
    column = _known(data, target)
    if pa.types.is_floating(column.type):
        values = column.to_numpy()
        broken = np.flatnonzero(~np.isfinite(values) | (values != np.floor(values)))
        if len(broken):
            raise DataError(
                f"target {target!r} has the value {values[broken[0]]:g}, and a class is text, a whole number "
                "or true/false; use --task regression, or cut the values into classes"
            )
    elif not _is_label(column.type):
        raise DataError(
            f"target {target!r} is of type {column.type}, and a class is text, a whole number or true/false; "
            "convert it to text"
        )
    codes, classes = encode_classes(column)
    return codes, classes


def _read_numbers(data: pa.Table, targets: tuple[str, ...]) -> NDArray[np.float64]:
    """The numbers of the targets, a column for each."""
    columns = []
    for target in targets:
        column = _known(data, target)
        if not _is_number(column.type) and not pa.types.is_boolean(column.type):
            what = "text" if _is_label(column.type) else f"values of type {column.type}"
            advice = "use --task classification" if len(targets) == 1 else "leave it out"
            raise DataError(f"target {target!r} holds {what} where regression needs numbers; {advice}")
        if pa.types.is_floating(column.type) and (infinite := int(np.isinf(column.to_numpy()).sum())):
            raise DataError(
                f"target {target!r} is infinite in {infinite} of {len(column)} rows; "
                "remove those rows or give them a number"
            )
        columns.append(encode_targets(column))
    return np.column_stack(columns)


def _known(data: pa.Table, target: str) -> pa.ChunkedArray:
    column = data.column(target)
    missing = column.null_count
    if pa.types.is_floating(column.type):
        missing = int(np.isnan(column.to_numpy()).sum())  # nulls are NaN there
    if missing:
        raise DataError(
            f"target {target!r} is missing in {missing} of {len(column)} rows; "
            "remove those rows or fill them in"
        )
    return column


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _is_label(kind: pa.DataType) -> bool:
    from hornbeam.table.arrow import is_text

    plain = pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_dictionary(kind)
    return bool(plain or is_text(kind))
