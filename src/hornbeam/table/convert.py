"""Exact conversions between numeric storages, for columns that come to predict in another type than at fit.

Only comparisons `x <= t` with a threshold t of the schema's storage are ever asked. For integer t, `x <= t`
holds exactly when `ceil(x) <= t`, so rounding up loses nothing; clipping loses nothing either, because every
threshold lies at or above the least and below the greatest code that was seen at fit.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from hornbeam.errors import DataError
from hornbeam.table.columns import Array, Cells
from hornbeam.table.schema import show_name
from hornbeam.table.storage import (
    INT64_MAX,
    INT64_MIN,
    SECONDS_A_DAY,
    TICKS,
    Storage,
    format_code,
    parse_type,
)

_SIGN = np.uint64(2**63)


def to_floats(cells: Cells, name: str) -> Array:
    """float64 values, NaN missing; integers must have an exact double, decimals round up to one."""
    if cells.type == "float64":
        return cells.values
    storage = parse_type(cells.type)
    if storage.family == "decimal":
        values = _by_distinct(cells.values, lambda code: _ceil_double(_value(storage, code)), np.float64)
    else:
        exact = cells.values.view(np.uint64) ^ _SIGN if storage.family == "unsigned" else cells.values
        values = exact.astype(np.float64)
        _check_exact(cells, exact, values, storage, name)
    if cells.missing is not None:
        values[cells.missing != 0] = np.nan
    return values


def _check_exact(cells: Cells, exact: Array, values: Array, storage: Storage, name: str) -> None:
    large = np.abs(values) >= 2.0**53
    if not large.any():
        return
    above = values >= (2.0**64 if storage.family == "unsigned" else 2.0**63)
    back = np.where(above, 0.0, values).astype(exact.dtype)
    inexact = (above | (back != exact)) & cells.known()
    if inexact.any():
        row = int(np.flatnonzero(inexact)[0])
        raise DataError(
            f"{show_name(name)}: {format_code(storage, int(cells.values[row]))} in row {row} has no exact "
            "float64; convert the column to float64, or keep it integer at fit and predict alike"
        )


def nearest_floats(cells: Cells) -> Array:
    """float64 values nearest to a decimal column's, NaN missing: for targets, which are not compared."""
    storage = parse_type(cells.type)
    values = _by_distinct(cells.values, lambda code: float(_value(storage, code)), np.float64)
    if cells.missing is not None:
        values[cells.missing != 0] = np.nan
    return values


def to_codes(cells: Cells, target: Storage) -> tuple[Array, Array | None]:
    """int64 codes of `target`, which is of the same group, and the mask of missing cells."""
    source = parse_type(cells.type)
    if source.family == "float":
        return _from_floats(cells.values, target)
    if (source.family, source.scale, source.unit) == (target.family, target.scale, target.unit):
        return cells.values, cells.missing
    if source.group != "number":
        return _rescale(cells.values, _ticks_a_day(target), _ticks_a_day(source)), cells.missing
    families = {source.family, target.family}
    if families == {"integer", "unsigned"}:
        return _change_sign(cells.values, to_unsigned=target.family == "unsigned"), cells.missing
    if "unsigned" not in families:
        shift = target.scale - source.scale
        return _rescale(cells.values, 10 ** max(shift, 0), 10 ** max(-shift, 0)), cells.missing
    return _by_distinct(
        cells.values, lambda code: _ceil_code(_value(source, code), target), np.int64
    ), cells.missing


def _change_sign(codes: Array, to_unsigned: bool) -> Array:
    if to_unsigned:
        return np.maximum(codes, 0) + INT64_MIN
    return np.where(codes < 0, codes - INT64_MIN, INT64_MAX)  # a negative code is a value below 2^63


def _from_floats(values: Array, target: Storage) -> tuple[Array, Array | None]:
    missing = np.isnan(values)
    filled = np.where(missing, 0.0, values) if missing.any() else values
    mask = missing.astype(np.uint8) if missing.any() else None
    if target.family == "decimal":
        return _by_distinct(filled, lambda x: _ceil_float(x, target), np.int64), mask
    up = np.ceil(filled)
    if target.family == "unsigned":
        inside = np.clip(up, 0.0, np.nextafter(2.0**64, 0.0)).astype(np.uint64)
        return np.where(up >= 2.0**64, INT64_MAX, (inside ^ _SIGN).view(np.int64)), mask
    inside = np.clip(up, -(2.0**63), np.nextafter(2.0**63, 0.0)).astype(np.int64)
    return np.where(up >= 2.0**63, INT64_MAX, inside), mask


def _rescale(codes: Array, times: int, by: int) -> Array:
    """ceil(codes * times / by), clipped to int64."""
    common = math.gcd(times, by)
    times, by = times // common, by // common
    if by > INT64_MAX:
        return (codes > 0).astype(np.int64)
    if by > 1:
        quotient, remainder = np.divmod(codes, by)
        codes = quotient + (remainder != 0)
    if times == 1:
        return codes
    highest, lowest = INT64_MAX // times, -(-INT64_MIN // times)
    inside = np.clip(codes, lowest, highest) * min(times, INT64_MAX)
    return np.where(codes > highest, INT64_MAX, np.where(codes < lowest, INT64_MIN, inside))


def _ticks_a_day(storage: Storage) -> int:
    return 1 if storage.family == "date" else TICKS[storage.unit] * SECONDS_A_DAY


def _by_distinct(
    values: Array, convert: Callable[[int | float], int | float], dtype: type[np.generic]
) -> Array:
    """Convert each distinct value once, in exact Python arithmetic."""
    distinct, inverse = np.unique(values, return_inverse=True)
    converted: Array = np.array([convert(value) for value in distinct.tolist()], dtype=dtype)
    return converted[inverse]


def _value(storage: Storage, code: int | float) -> Fraction:
    exact = int(code) - INT64_MIN if storage.family == "unsigned" else int(code)
    return Fraction(exact) / Fraction(10) ** storage.scale


def _ceil_code(value: Fraction, target: Storage) -> int:
    code = math.ceil(value * Fraction(10) ** target.scale)
    if target.family == "unsigned":
        code += INT64_MIN
    return min(max(code, INT64_MIN), INT64_MAX)


def _ceil_float(value: float, target: Storage) -> int:
    if math.isinf(value):
        return INT64_MAX if value > 0 else INT64_MIN
    return _ceil_code(Fraction(value), target)


def _ceil_double(value: Fraction) -> float:
    nearest = value.numerator / value.denominator
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
