"""Class labels as codes and numeric targets as floats."""

import datetime
import decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hornbeam.errors import DataError
from hornbeam.table import check_same_length, encode_classes, encode_targets


def check(y: Any, cells: list[Any], classes: list[Any]) -> Any:
    codes, found = encode_classes(y)
    assert codes.dtype == np.int32
    assert found.tolist() == classes
    assert [type(a) for a in found.tolist()] == [type(b) for b in classes]
    assert found[codes].tolist() == cells
    return found


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "i8", "u8", ">i4"])
def test_integers_are_sorted_and_keep_their_dtype(dtype: str) -> None:
    assert check(np.array([5, 3, 5, 9], dtype=dtype), [5, 3, 5, 9], [3, 5, 9]).dtype == np.dtype(dtype)


def test_extreme_integers_are_exact() -> None:
    for y in (np.array([2**63 - 1, -(2**63), 0]), np.array([2**64 - 1, 0], dtype="u8")):
        check(y, y.tolist(), sorted(y.tolist()))
    y = np.array([127, -128], dtype="i1")
    check(y, [127, -128], [-128, 127])
    check(np.array([2**64 - 1, 2**64 - 3], dtype="u8"), [2**64 - 1, 2**64 - 3], [2**64 - 3, 2**64 - 1])


@given(hnp.arrays(st.sampled_from([np.int64, np.int8, np.uint64, np.uint8, np.bool_]), st.integers(1, 50)))
def test_codes_are_those_of_numpy_unique(y: Any) -> None:
    expected_classes, expected = np.unique(y, return_inverse=True)
    codes, classes = encode_classes(y)
    assert classes.dtype == y.dtype
    assert classes.tolist() == expected_classes.tolist()
    assert codes.tolist() == expected.tolist()


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_text_is_sorted_by_its_utf8_bytes_in_every_container(y: list[str]) -> None:
    classes = sorted(set(y), key=lambda text: text.encode())
    array = np.fromiter(y, dtype=object, count=len(y))
    for data in (
        y,
        array,
        pa.array(y),
        pl.Series(y),
        pd.Series(y, dtype="string"),
        pd.Series(array, dtype=object),
    ):
        codes, found = encode_classes(data)
        assert found.tolist() == classes
        assert [classes[c] for c in codes.tolist()] == y


def test_fixed_width_text_keeps_its_dtype_and_objects_stay_objects() -> None:
    assert check(np.array(["b", "a", "b"]), ["b", "a", "b"], ["a", "b"]).dtype == np.dtype("U1")
    assert check(np.array(["b", "a"], dtype=object), ["b", "a"], ["a", "b"]).dtype == object
    assert check(["b", "a"], ["b", "a"], ["a", "b"]).dtype == np.dtype("U1")
    assert check(np.array(["b", "a"], dtype=np.dtypes.StringDType()), ["b", "a"], ["a", "b"]).dtype == object


@pytest.mark.parametrize(
    ("y", "cells", "classes"),
    [
        (np.array([2.0, 1.0, 2.0]), [2.0, 1.0, 2.0], [1.0, 2.0]),
        (np.array([1e300, 1.0]), [1e300, 1.0], [1.0, 1e300]),
        (np.array([True, False]), [True, False], [False, True]),
        (np.array([[2], [1]]), [2, 1], [1, 2]),
        (np.array([2, 1], dtype=object), [2, 1], [1, 2]),
        (np.array([True, False], dtype=object), [True, False], [False, True]),
        ([3, 1, 3], [3, 1, 3], [1, 3]),
        ([[3], [1]], [3, 1], [1, 3]),
        ((True, False), [True, False], [False, True]),
        ([1.0, 0.0], [1.0, 0.0], [0.0, 1.0]),
        (pd.Series([2, 1]), [2, 1], [1, 2]),
        (pd.Series([2, 1], dtype="Int64"), [2, 1], [1, 2]),
        (pd.Series([True, False], dtype="boolean"), [True, False], [False, True]),
        (pd.Series(["b", "a"]), ["b", "a"], ["a", "b"]),
        (pd.Series(["b", "a"], dtype="category"), ["b", "a"], ["a", "b"]),
        (pd.Series(pd.Categorical(["b", "a"], categories=["c", "b", "a"])), ["b", "a"], ["a", "b"]),
        (pd.Categorical([10, 9, 10]), [10, 9, 10], [9, 10]),
        (pd.Index([2, 1]), [2, 1], [1, 2]),
        (pd.DataFrame({"y": [2, 1]}), [2, 1], [1, 2]),
        (pl.Series([2, 1]), [2, 1], [1, 2]),
        (pl.Series([True, False]), [True, False], [False, True]),
        (pl.Series(["b", "a"], dtype=pl.Categorical), ["b", "a"], ["a", "b"]),
        (pl.Series(["b", "a"], dtype=pl.Enum(["b", "c", "a"])), ["b", "a"], ["a", "b"]),
        (pl.DataFrame({"y": ["b", "a"]}), ["b", "a"], ["a", "b"]),
        (pa.array([2, 1]), [2, 1], [1, 2]),
        (pa.chunked_array([["b"], ["a", "c"]]), ["b", "a", "c"], ["a", "b", "c"]),
        (pa.table({"y": ["b", "a"]}), ["b", "a"], ["a", "b"]),
        (pa.array(["b", "a", "b"]).dictionary_encode(), ["b", "a", "b"], ["a", "b"]),
        (pa.array([10, 9, 10]).dictionary_encode(), [10, 9, 10], [9, 10]),
        (pa.chunked_array([pa.array([s]).dictionary_encode() for s in "bab"]), ["b", "a", "b"], ["a", "b"]),
    ],
)
def test_every_kind_of_labels_is_sorted_as_numpy_sorts(y: Any, cells: list[Any], classes: list[Any]) -> None:
    check(y, cells, classes)


@pytest.mark.parametrize(
    "y",
    [
        np.array([0.0, 1.0, 0.0, np.nan]),
        np.array(["a", "b", "a", None], dtype=object),
        np.array(["a", "b", "a", np.nan], dtype=object),
        np.array(["a", "b", "a", pd.NA], dtype=object),
        ["a", "b", "a", None],
        [0, 1, 0, None],
        pd.Series([0, 1, 0, None], dtype="Int64"),
        pd.Series(["a", "b", "a", None]),
        pd.Series(["a", "b", "a", None], dtype="category"),
        pl.Series(["a", "b", "a", None]),
        pa.array([0, 1, 0, None]),
        np.ma.MaskedArray([0, 1, 0, 1], [False, False, False, True]),
    ],
)
def test_a_missing_label_is_refused_with_its_row(y: Any) -> None:
    with pytest.raises(DataError, match="y has a missing label in row 3; "):
        encode_classes(y)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.array([0.5, 1.0]), "Unknown label type: continuous"),
        (pl.Series([1.0, 0.5]), r"Unknown label type: continuous. y has the value 0.5 in row 1"),
        ([0.5, 1], "Unknown label type: continuous"),
        (np.array([np.inf, 1.0]), "infinity in row 0"),
        (np.array(["a", 1], dtype=object), "Unknown label type: y mixes or holds integer, text"),
        (["a", 1], "Unknown label type"),
        ([True, 2], "Unknown label type"),
        ([{}], "Unknown label type"),
        ([2**70], "does not fit 64 bits"),
        (np.array(["2020"], dtype="M8[D]"), r"Unknown label type: y has type datetime64\[D\]"),
        (pa.array([datetime.date(2020, 1, 1)]), "Unknown label type: y has type date32"),
        (np.zeros(2, dtype=complex), "Complex data not supported"),
        (np.zeros((2, 2)), r"y should be a 1d array, got an array of shape \(2, 2\)"),
        ([[1, 2]], "y should be a 1d array"),
        (pd.DataFrame({"a": [1], "b": [2]}), "y should be a 1d array"),
        (None, "y is of type NoneType"),
        ("ab", "y is of type str"),
        (np.array(["\ud800"], dtype=object), "not valid Unicode"),
    ],
)
def test_what_is_no_label_is_refused_on_one_line(y: Any, words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        encode_classes(y)
    assert "\n" not in str(caught.value)


def test_no_labels_have_no_classes() -> None:
    for y in (
        np.array([], dtype=int),
        np.array([], dtype="U1"),
        [],
        np.array([], dtype=float),
        pl.Series([], dtype=pl.String),
    ):
        codes, classes = encode_classes(y)
        assert len(codes) == len(classes) == 0


class TestTargets:
    @pytest.mark.parametrize(
        ("y", "expected"),
        [
            (np.array([1.5, 2.0]), [[1.5], [2.0]]),
            (np.array([1.5, 2.0], dtype="f4"), [[1.5], [2.0]]),
            (np.array([1, 2], dtype="u1"), [[1], [2]]),
            (np.array([True, False]), [[1], [0]]),
            (np.array([[1.0, 2.0], [3.0, 4.0]], order="F"), [[1, 2], [3, 4]]),
            (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
            (np.array([1, 2.5], dtype=object), [[1], [2.5]]),
            ([1, 2.5], [[1], [2.5]]),
            ([[1, 2], [3, 4.5]], [[1, 2], [3, 4.5]]),
            (pd.Series([1, 2]), [[1], [2]]),
            (pd.Series([1.5], dtype="Float64"), [[1.5]]),
            (pd.DataFrame({"a": [1.5], "b": [2]}), [[1.5, 2]]),
            (pl.Series([1, 2]), [[1], [2]]),
            (pl.DataFrame({"a": [1.5], "b": [2]}), [[1.5, 2]]),
            (pa.array([1, 2]), [[1], [2]]),
            (pa.table({"a": [1.5], "b": [2]}), [[1.5, 2]]),
            (pa.array([decimal.Decimal("0.1")]), [[0.1]]),
            (np.zeros(0), np.zeros((0, 1)).tolist()),
        ],
    )
    def test_they_are_contiguous_floats(self, y: Any, expected: Any) -> None:
        targets = encode_targets(y)
        assert targets.dtype == np.float64
        assert targets.flags.c_contiguous
        assert targets.ndim == 2
        assert targets.tolist() == expected

    @pytest.mark.parametrize(
        ("y", "words"),
        [
            (np.array([1.0, np.nan]), r"Input y contains NaN\. Row 1"),
            (pl.Series([1, None]), r"Input y contains NaN\."),
            ([1.0, None], r"Input y contains NaN\."),
            ([None, None], r"Input y contains NaN\."),
            (pd.Series([True, None], dtype="boolean"), r"Input y contains NaN\. Row 1"),
            (np.array([np.inf, np.nan]), r"Input y contains NaN\. Row 1"),
            (
                np.array([1.0, -np.inf]),
                r"Input y contains infinity or a value too large for dtype\('float64'\)\. Row 1",
            ),
            (np.array(["a"]), "y holds text where numbers are needed"),
            (["a", "b"], "y holds text"),
            (pa.array([datetime.date(2020, 1, 1)]), "y holds dates"),
            (np.array([2**53 + 1]), "no exact float64"),
            (np.zeros(2, dtype=complex), "[Cc]omplex"),
            (np.zeros((2, 1), dtype=complex), "Complex data not supported"),
            (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\)"),
            (np.zeros((2, 0)), "no target columns"),
            (None, "y is of type NoneType"),
        ],
    )
    def test_what_is_no_number_is_refused_on_one_line(self, y: Any, words: str) -> None:
        with pytest.raises(DataError, match=words) as caught:
            encode_targets(y)
        assert "\n" not in str(caught.value)


def test_lengths_must_be_equal() -> None:
    check_same_length(3, 3)
    with pytest.raises(
        DataError, match=r"inconsistent numbers of samples: \[3, 2\]; X has 3 rows and y has 2"
    ):
        check_same_length(3, 2)
