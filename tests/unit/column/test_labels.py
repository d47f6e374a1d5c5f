"""Encoded labels against plain Python sets and NumPy's unique."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam import _core

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
INT64 = np.iinfo(np.int64)


def check(values: Any, plain: list[str | None]) -> None:
    codes, labels = _core.encode_labels(values)
    assert labels == sorted({v for v in plain if v is not None}, key=str.encode)
    assert codes.dtype == np.int32
    assert [None if c < 0 else labels[c] for c in codes] == plain


@given(st.lists(st.none() | text, max_size=40))
def test_lists_and_object_arrays_are_encoded_by_their_bytes(values: list[str | None]) -> None:
    check(values, values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    check(array, values)
    check(array[::-1], values[::-1])


@given(st.lists(text.map(lambda t: t.rstrip("\0")), max_size=40))
def test_fixed_width_text_is_encoded_by_its_bytes(values: list[str]) -> None:
    array = np.array(values, dtype=f"<U{max([1, *map(len, values)])}")
    check(array, values)
    check(array[::-1], values[::-1])
    check(array.astype(array.dtype.newbyteorder(">")), values)


def test_nan_is_missing_whatever_object_holds_it() -> None:
    check(["b", float("nan"), np.float64("nan"), None, np.str_("a")], ["b", None, None, None, "a"])


def test_an_array_never_filled_is_all_missing() -> None:
    check(np.empty(3, dtype=object), [None] * 3)


def test_many_labels_and_equal_text_in_different_objects_agree() -> None:
    rng = np.random.default_rng(0)
    values: list[str | None] = [f"label {i}" for i in rng.integers(0, 30_000, 150_000)]
    check(values, values)
    check(np.array(values), values)


@pytest.mark.parametrize("wrap", [list, lambda v: np.array(v, dtype=object)])
def test_other_objects_are_refused_by_type_and_position(wrap: Any) -> None:
    for value, name in [(3, "int"), (b"x", "bytes"), (1.5, "float"), (True, "bool")]:
        with pytest.raises(TypeError, match=f"^label at position 1 is of type {name};"):
            _core.encode_labels(wrap(["a", value]))


@pytest.mark.parametrize("values", [("a",), "ab", 3, None, np.zeros(2), np.array([["a"]]), np.array([b"a"])])
def test_other_containers_are_refused(values: Any) -> None:
    with pytest.raises(TypeError, match=r"^labels of type"):
        _core.encode_labels(values)


def test_lone_surrogates_are_refused_by_position() -> None:
    for values in (["a", "\ud800"], np.array(["a", "\ud800"], dtype=object), np.array(["a", "\ud800"])):
        with pytest.raises(ValueError, match=r"^label at position 1 is not Unicode text"):
            _core.encode_labels(values)


@given(st.lists(st.integers(-5, 5) | st.integers(INT64.min, INT64.max), max_size=40))
def test_integers_are_encoded_as_by_unique(values: list[int]) -> None:
    for array in (np.array(values, dtype=np.int64), np.array(values, dtype=np.int64)[::-2]):
        codes, distinct = _core.encode_ints(array)
        expected, inverse = np.unique(array, return_inverse=True)
        np.testing.assert_array_equal(distinct, expected)
        np.testing.assert_array_equal(codes, inverse)
        assert codes.dtype == np.int32
        assert distinct.dtype == np.int64


@pytest.mark.parametrize("span", [3, 4096, 100_000, 2**40, 2**62])
def test_integers_of_any_range_are_encoded_as_by_unique(span: int) -> None:
    array = np.random.default_rng(span).integers(-span, span, 50_000)
    codes, distinct = _core.encode_ints(array)
    np.testing.assert_array_equal(distinct[codes], array)
    np.testing.assert_array_equal(distinct, np.unique(array))


def test_other_arrays_are_no_integer_labels() -> None:
    for array in (np.zeros(3), np.zeros(3, dtype=np.int32), np.zeros((2, 2), dtype=np.int64), [1, 2]):
        with pytest.raises(TypeError):
            _core.encode_ints(array)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integers_are_recoded_by_a_table(dtype: str) -> None:
    table = np.array([7, -1, 9, -2], np.int32)
    ends = np.iinfo(dtype)
    values = np.array([0, 1, 2, 3, 4, 100, ends.min, ends.max], dtype)
    wanted = [7, -1, 9, -2, -2, -2, 7 if ends.min == 0 else -2, -2]
    assert _core.recode(values, table).tolist() == wanted
    low = int(values[-1]) - 2
    shifted = _core.recode(values, table, low if low < 2**63 else low - 2**64)
    assert shifted.tolist() == [-2] * 7 + [9]
    if ends.min < 0:
        assert _core.recode(values, table, int(ends.min)).tolist() == [-2] * 6 + [7, -2]
    assert _core.recode(values[:0], table).tolist() == []


def test_what_cannot_be_recoded_is_refused() -> None:
    table = np.array([1], np.int32)
    with pytest.raises(TypeError, match="not integers"):
        _core.recode(np.zeros(2), table)
    with pytest.raises(ValueError, match="no entry"):
        _core.recode(np.zeros(2, np.int8), table[:0])
    with pytest.raises(TypeError):
        _core.recode(np.zeros(2, np.int8), table.astype(np.int64))  # type: ignore[arg-type]
