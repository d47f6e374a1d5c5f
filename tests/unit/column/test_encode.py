"""Encoded columns against a plain sort in NumPy."""

from __future__ import annotations

import math
import os
import signal
import struct
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbeam import _core

floats = st.floats(allow_nan=True, allow_infinity=True, allow_subnormal=True)
awkward = st.sampled_from(
    [0.0, -0.0, 5e-324, -5e-324, math.inf, -math.inf, math.nan, 1.0, 1.0 + 2**-52, 2.0**53, -(2.0**53), 1e308]
)
INT64 = np.iinfo(np.int64)


def encode_one(
    values: np.ndarray[Any, Any], missing: np.ndarray[Any, Any] | None = None, threads: int = 1
) -> dict[str, Any]:
    kind = 0 if values.dtype == np.float64 else 1
    return dict(_core.encode([(kind, values, missing, 0)], len(values), threads).column(0))


def check(values: np.ndarray[Any, Any], missing: np.ndarray[Any, Any] | None = None) -> None:
    column = encode_one(values, missing)
    if values.dtype == np.float64:
        known = np.flatnonzero(~np.isnan(values))
    else:
        known = np.flatnonzero(missing == 0) if missing is not None else np.arange(len(values))
    distinct, ranks = np.unique(values[known] + values.dtype.type(0), return_inverse=True)
    order = np.argsort(ranks, kind="stable")
    np.testing.assert_array_equal(column["rows"], known[order])
    np.testing.assert_array_equal(column["ranks"], ranks[order])
    assert column["values"].dtype == values.dtype
    assert column["values"].tobytes() == distinct.tobytes()


@given(st.lists(floats | awkward, max_size=60))
def test_floats_are_ranked_as_by_a_stable_sort(values: list[float]) -> None:
    check(np.array(values, dtype=np.float64))


@given(
    st.lists(
        st.integers(INT64.min, INT64.max) | st.integers(-3, 3) | st.sampled_from([INT64.min, INT64.max]),
        max_size=60,
    ),
    st.data(),
)
def test_integers_are_ranked_as_by_a_stable_sort(values: list[int], data: st.DataObject) -> None:
    array = np.array(values, dtype=np.int64)
    check(array)
    missing = data.draw(st.lists(st.sampled_from([0, 1, 255]), min_size=len(values), max_size=len(values)))
    check(array, np.array(missing, dtype=np.uint8))


def big_columns(n: int) -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(n)
    bits = rng.integers(0, 2**63, n).astype(np.uint64)
    near_one = 1 + rng.integers(0, 2**40, n) * 2.0**-52
    near_one[: min(2, n)] = [1e300, -1e300][: min(2, n)]
    few_steps = np.where(
        rng.random(n) < 0.9, 1 + rng.integers(0, 40, n) * 2.0**-52, rng.normal(size=n) * 1e200
    )
    return {
        "uniform": rng.random(n),
        "normal": rng.normal(size=n),
        "heavy tail": np.exp(20 * rng.normal(size=n)),
        "any bits": bits.view(np.float64),
        "signed zeros": np.where(rng.random(n) < 0.5, 0.0, -0.0),
        "denormals": rng.integers(-1000, 1000, n) * 5e-324,
        "wide denormals": rng.integers(-(10**15), 10**15, n) * 5e-324,
        "integers as floats": rng.integers(-500, 500, n).astype(float),
        "wide integers as floats": rng.integers(-(2**53), 2**53, n).astype(float),
        "beyond exact integers": rng.integers(-(2**60), 2**60, n).astype(float),
        "last is no integer": np.append(rng.integers(0, 9, n - 1), 0.5) if n else np.zeros(0),
        "same leading bits": near_one,
        "few values, same leading bits": few_steps,
        "whole range": rng.choice([-1.7e308, 1.7e308, 0.0, 3.0], n),
        "infinite": rng.choice([-np.inf, np.inf, 0.0, 1.5, np.nan], n),
        "half missing": np.where(rng.random(n) < 0.5, np.nan, rng.random(n)),
        "nearly all missing": np.where(rng.random(n) < 0.99, np.nan, rng.random(n)),
        "all missing": np.full(n, np.nan),
        "constant": np.full(n, 7.25),
        "sorted": np.sort(rng.random(n)),
        "reversed": np.sort(rng.random(n))[::-1],
        "reversed runs": np.repeat(np.arange(n // 7 + 1)[::-1] * 0.1, 7)[:n],
        "two values": rng.integers(0, 2, n),
        "small integers": rng.integers(-8, 8, n),
        "middle integers": rng.integers(0, 100_000, n),
        "wide integers": rng.integers(INT64.min, INT64.max, n),
        "bunched integers": np.where(
            rng.random(n) < 0.95, rng.integers(0, 2**20, n), rng.integers(0, 2**62, n)
        ),
        "few values, many zeros": np.where(rng.random(n) < 0.8, 0.0, rng.integers(-60, 60, n) / 7),
        "few awkward values": rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 0.1], n),
        "values come late": np.where(np.arange(n) < n // 2, -0.0, rng.normal(size=n)),
        "missing, then few": np.where(np.arange(n) < n // 2, np.nan, rng.integers(0, 3, n) * 0.1),
        "few wide integers": rng.choice(rng.integers(INT64.min, INT64.max, 50), n),
        "greatest integer comes late": np.append(np.zeros(max(n - 1, 0), dtype=np.int64), INT64.max)[:n],
        "integer ends": rng.choice(np.array([INT64.min, INT64.max, 0, 1]), n),
    }


@pytest.mark.parametrize("name", big_columns(0))
@pytest.mark.parametrize("n", [0, 1, 2, 500, 4095, 5000, 40_000])
def test_awkward_columns_are_ranked_as_by_a_stable_sort(name: str, n: int) -> None:
    check(big_columns(n)[name])


@pytest.mark.parametrize("n", [300, 5000, 60_000])
def test_any_number_of_different_values_is_ranked_as_by_a_stable_sort(n: int) -> None:
    rng = np.random.default_rng(n)
    for size in (n // 64, 31 + n // 16, 32 + n // 16, 33 + n // 16, n // 8, n // 4, n // 2):
        values = rng.normal(size=size)
        drawn = np.concatenate([values, rng.choice(values, n - size)])
        for column in (
            drawn,
            drawn[::-1].copy(),
            rng.permutation(drawn),
            np.round(drawn * 1e6).astype(np.int64),
        ):
            check(column)
        drawn[rng.random(len(drawn)) < 0.3] = np.nan
        check(drawn)


@pytest.mark.parametrize("size", [8190, 8191, 8192, 8193])
def test_values_around_the_most_that_are_numbered(size: int) -> None:
    values = np.random.default_rng(size).normal(size=size)
    column = np.zeros(100_000)
    column[-size:] = values  # so late that only their number counts, not how dense they come
    check(column)
    column[50_000:60_000] = np.nan
    check(column)
    check(np.round(column[::-1] * 2.0**40))


def test_missing_integers_among_few_values() -> None:
    rng = np.random.default_rng(1)
    for pool in ([3, 5, -7], [INT64.min, 0], [INT64.max, 0]):
        column = rng.choice(np.array(pool), 5000)
        for share in (0.0, 0.4, 1.0):
            check(column, (rng.random(5000) < share).astype(np.uint8))


@pytest.mark.parametrize("n", [1000, 30_000])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_strides_and_threads_change_nothing(n: int, threads: int) -> None:
    rng = np.random.default_rng(3)
    matrix = rng.normal(size=(n, 9))
    integers = rng.integers(-(10**12), 10**12, (n, 5))
    missing = rng.integers(0, 2, n).astype(np.uint8)
    codes = rng.integers(-1, 4, n).astype(np.int32)
    views = [matrix[:, j] for j in range(9)] + [matrix[::-1, 2], np.broadcast_to(matrix[0, 0], n)]
    columns: list[tuple[Any, ...]] = [(0, v, None, 0) for v in views]
    columns += [(1, integers[:, j], missing if j % 2 else None, 0) for j in range(5)] + [(2, codes, None, 4)]
    table = _core.encode(columns, n, threads)
    assert (table.n_rows, table.n_columns) == (n, len(columns))
    for j, (kind, values, mask, _) in enumerate(columns[:-1]):
        alone = encode_one(np.ascontiguousarray(values), mask)
        assert alone["kind"] == kind
        for field in ("rows", "ranks", "values"):
            np.testing.assert_array_equal(table.column(j)[field], alone[field])
    nominal = table.column(len(columns) - 1)
    assert nominal["kind"] == 2
    assert nominal["n_categories"] == 4
    np.testing.assert_array_equal(nominal["codes"], codes)


def test_read_only_columns_are_accepted() -> None:
    values = np.array([2.0, 1.0])
    values.flags.writeable = False
    assert list(encode_one(values)["rows"]) == [1, 0]


ONE = np.zeros(3)
CODES = np.zeros(3, dtype=np.int32)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ((0, np.zeros(2), None, 0), "column 0: 2 values in a table of 3 rows"),
        ((0, np.zeros(3, dtype=np.float32), None, 0), "column 0: not a one-dimensional float64 array"),
        ((0, np.zeros(3, dtype=">f8"), None, 0), "column 0: not a one-dimensional float64 array"),
        ((0, np.zeros((3, 1)), None, 0), "column 0: not a one-dimensional float64 array"),
        ((0, [1.0, 2.0, 3.0], None, 0), "column 0: not a one-dimensional float64 array"),
        ((0, ONE, CODES, 0), "column 0: only an integer column"),
        ((1, ONE, None, 0), "column 0: not a one-dimensional int64 array"),
        (
            (1, np.zeros(3, dtype=np.int64), np.zeros(3), 0),
            "column 0: not a one-dimensional contiguous uint8 array",
        ),
        (
            (1, np.zeros(3, dtype=np.int64), np.zeros(2, dtype=np.uint8), 0),
            "column 0: 2 values in a table of 3 rows",
        ),
        (
            (2, np.zeros(6, dtype=np.int32)[::2], None, 1),
            "column 0: not a one-dimensional contiguous int32 array",
        ),
        ((2, np.array([0, 1, 2], dtype=np.int32), None, 2), "column 0: code 2 at row 2; allowed are -1"),
        ((2, np.array([0, -2, 1], dtype=np.int32), None, 2), "column 0: code -2 at row 1; allowed are -1"),
        ((2, CODES, None, -1), "column 0: n_categories"),
        ((3, ONE, None, 0), "column 0: kind 3; allowed are"),
        ((0, ONE), "column 0: not a tuple"),
        ("text", "column 0: not a tuple"),
    ],
)
def test_a_wrong_column_is_refused_in_one_line(column: Any, message: str) -> None:
    with pytest.raises(ValueError, match="^" + message.replace("(", r"\(")) as caught:
        _core.encode([column], 3)
    assert "\n" not in str(caught.value)


def test_wrong_sizes_are_refused() -> None:
    for n_rows in (-1, 2**31):
        with pytest.raises(ValueError, match="n_rows"):
            _core.encode([], n_rows)
    with pytest.raises(ValueError, match="threads"):
        _core.encode([], 0, 0)
    with pytest.raises(IndexError):
        _core.encode([], 0).column(0)


def test_a_wrong_code_in_a_large_table_is_refused_by_every_number_of_threads() -> None:
    codes = np.zeros(300_000, dtype=np.int32)
    codes[-1] = 5
    columns = [(0, np.random.default_rng(0).random(300_000), None, 0), (2, codes, None, 5)]
    for threads in (1, 2, 3):
        with pytest.raises(ValueError, match="column 1: code 5 at row 299999"):
            _core.encode(columns, 300_000, threads)


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_stops_encoding(threads: int) -> None:
    """Without the interrupt the hundred encodings would take a minute."""
    n = 3_000_000
    column = np.random.default_rng(0).random(n)

    def encode_for_long() -> None:
        for _ in range(100):
            _core.encode([(0, column, None, 0)] * 8, n, threads)

    # A run in the background may have been told to ignore the signal.
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    press = threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT))
    press.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            encode_for_long()
    finally:
        press.join()
        signal.signal(signal.SIGINT, previous)


@settings(max_examples=20)
@given(st.lists(st.binary(min_size=8, max_size=8), min_size=1, max_size=40))
def test_any_bit_pattern_is_a_number_or_missing(patterns: list[bytes]) -> None:
    check(np.array([struct.unpack("<d", p)[0] for p in patterns]))
