"""NumPy arrays, lists of rows and columns of Python objects."""

import datetime
import decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hornbeam.errors import DataError, DataTypeError, UsageError
from hornbeam.table import Attribute, Table, from_data


def only(table: Table) -> tuple[Attribute, Any, Any]:
    assert len(table.columns) == 1
    return table.schema.attributes[0], table.columns[0].values, table.columns[0].missing


def column(cells: list[Any], **options: Any) -> tuple[Attribute, Any, Any]:
    array = np.empty((len(cells), 1), dtype=object)
    for i, cell in enumerate(cells):
        array[i, 0] = cell
    return only(from_data(array, **options))


def test_a_float64_array_is_passed_on_without_a_copy() -> None:
    X = np.arange(12.0).reshape(4, 3)
    table = from_data(X)
    assert [a.name for a in table.schema.attributes] == ["x0", "x1", "x2"]
    assert not table.schema.named
    for j, (kind, values, missing, n_categories) in enumerate(table.native()):
        assert (kind, missing, n_categories) == (0, None, 0)
        assert np.shares_memory(values, X)
        assert values.tolist() == X[:, j].tolist()


@pytest.mark.parametrize("make", [np.asfortranarray, lambda X: X[::2, ::-1], lambda X: X.astype(">f8")])
def test_any_layout_of_floats_gives_the_same_values(make: Any) -> None:
    X = make(np.arange(24.0).reshape(6, 4))
    for j, column in enumerate(from_data(X).columns):
        assert column.values.dtype == np.float64
        assert column.values.dtype.isnative
        assert column.values.tolist() == X[:, j].tolist()


def test_read_only_and_unaligned_arrays_are_accepted() -> None:
    X = np.arange(6.0).reshape(3, 2)
    X.flags.writeable = False
    assert from_data(X).columns[1].values.tolist() == [1, 3, 5]
    record = np.zeros(3, dtype=np.dtype([("c", "i1"), ("v", "f8", (2,))]))
    record["v"] = X
    column = from_data(record["v"]).columns[1]
    assert column.values.flags.aligned
    assert column.values.tolist() == [1, 3, 5]


def test_nan_is_missing_and_infinity_is_a_value() -> None:
    _, values, missing = only(from_data(np.array([[np.nan], [np.inf], [-0.0]])))
    assert missing is None
    assert np.isnan(values[0])
    assert values[1] == np.inf


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_floats_are_widened_exactly(dtype: str) -> None:
    X = np.array([[0.1], [3.0]], dtype=dtype)
    attribute, values, _ = only(from_data(X))
    assert attribute.type == "float64"
    assert values.tolist() == X[:, 0].tolist()


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", ">i4"])
def test_integers_are_kept_as_int64(dtype: str) -> None:
    info = np.iinfo(dtype)
    X = np.array([[info.min], [info.max]], dtype=dtype)
    attribute, values, missing = only(from_data(X))
    assert (attribute.kind, attribute.type, attribute.is_integer) == ("numeric", "int64", True)
    assert values.dtype == np.int64
    assert values.tolist() == [info.min, info.max]
    assert missing is None


def test_uint64_is_kept_exactly() -> None:
    attribute, values, _ = only(from_data(np.array([[0], [2**64 - 1]], dtype=np.uint64)))
    assert attribute.type == "uint64"
    assert [attribute.decode(v) for v in values.tolist()] == [0, 2**64 - 1]


def test_booleans_are_nominal_with_the_labels_that_occur() -> None:
    attribute, values, _ = only(from_data(np.array([[True], [False], [True]])))
    assert (attribute.kind, attribute.labels) == ("nominal", ("false", "true"))
    assert values.tolist() == [1, 0, 1]
    attribute, values, _ = only(from_data(np.array([[True], [True]])))
    assert attribute.labels == ("true",)
    assert values.tolist() == [0, 0]


@pytest.mark.parametrize("dtype", ["U3", object, np.dtypes.StringDType()])
def test_text_is_nominal_in_the_order_of_its_utf8_bytes(dtype: Any) -> None:
    cells = ["\u00e9", "z", "", "\U0001d4b3", "Z", "z"]
    attribute, values, _ = only(from_data(np.array(cells, dtype=dtype)[:, None]))
    assert list(attribute.labels) == sorted(set(cells), key=lambda text: text.encode())
    assert [attribute.labels[code] for code in values.tolist()] == cells
    assert values.dtype == np.int32
    assert all(type(label) is str for label in attribute.labels)


@pytest.mark.parametrize(
    ("dtype", "type_", "codes"),
    [
        ("M8[D]", "date", [1, None]),
        ("M8[W]", "timestamp:s", [604_800, None]),
        ("M8[h]", "timestamp:s", [3600, None]),
        ("M8[s]", "timestamp:s", [1, None]),
        ("M8[ns]", "timestamp:ns", [1, None]),
        ("m8[m]", "duration:s", [60, None]),
        ("m8[us]", "duration:us", [1, None]),
        (">M8[ms]", "timestamp:ms", [1, None]),
    ],
)
def test_numpy_times_are_integers_and_nat_is_missing(dtype: str, type_: str, codes: list[Any]) -> None:
    attribute, values, missing = only(from_data(np.array([[1], ["NaT"]], dtype="O").astype(dtype)))
    assert attribute.type == type_
    assert [None if gone else v for v, gone in zip(values.tolist(), missing, strict=True)] == codes


@pytest.mark.parametrize("dtype", ["M8[Y]", "M8[M]", "M8[2s]", "m8[Y]", "M8[ps]", "S3", "longdouble"])
def test_other_numpy_types_are_refused_by_name(dtype: str) -> None:
    with pytest.raises(DataError, match=r"attribute 'x0': type .* is not supported"):
        from_data(np.zeros((2, 1), dtype=dtype))


def test_complex_data_is_refused_in_scikit_learns_words() -> None:
    with pytest.raises(DataError, match="Complex data not supported"):
        from_data(np.zeros((2, 1), dtype=complex))


def test_masked_cells_are_missing() -> None:
    mask = [[True], [False], [False]]
    _, values, _ = only(from_data(np.ma.MaskedArray([[1.0], [2.0], [3.0]], mask)))
    assert np.isnan(values[0])
    _, _, missing = only(from_data(np.ma.MaskedArray([[1], [2], [3]], mask)))
    assert missing.tolist() == [1, 0, 0]
    attribute, values, _ = only(from_data(np.ma.MaskedArray([["a"], ["b"], ["c"]], mask)))
    assert attribute.labels == ("b", "c")
    assert values.tolist() == [-1, 0, 1]


class TestObjects:
    def test_none_nan_na_and_nat_are_missing(self) -> None:
        attribute, values, _ = column(["a", None, np.nan, pd.NA, pd.NaT, "b"])
        assert attribute.labels == ("a", "b")
        assert values.tolist() == [0, -1, -1, -1, -1, 1]

    def test_integers_with_missing_cells_stay_integers(self) -> None:
        attribute, values, missing = column([2**62 + 1, None, pd.NA])
        assert attribute.type == "int64"
        assert values[0] == 2**62 + 1
        assert missing.tolist() == [0, 1, 1]

    def test_large_integers_are_uint64(self) -> None:
        attribute, values, missing = column([2**64 - 1, None, 0])
        assert attribute.type == "uint64"
        assert attribute.decode(int(values[0])) == 2**64 - 1
        assert missing.tolist() == [0, 1, 0]

    @pytest.mark.parametrize("cells", [[2**64], [-1, 2**63], [-(2**63) - 1]])
    def test_integers_beyond_64_bits_are_refused(self, cells: list[int]) -> None:
        with pytest.raises(DataError, match=r"attribute 'x0': integer .* does not fit 64 bits"):
            column(cells)

    def test_integers_among_floats_must_be_exact(self) -> None:
        attribute, values, _ = column([1, 2.5, None, np.float32(0.5), np.int8(3), 2**60])
        assert attribute.type == "float64"
        assert values[[0, 1, 3, 4, 5]].tolist() == [1, 2.5, 0.5, 3, 2.0**60]
        with pytest.raises(DataError, match="has no exact float64"):
            column([2**53 + 1, 0.5])

    def test_integers_with_nan_stay_integers(self) -> None:
        attribute, _, missing = column([2**53 + 1, np.nan])
        assert attribute.type == "int64"
        assert missing.tolist() == [0, 1]

    def test_booleans_are_nominal(self) -> None:
        attribute, values, _ = column([True, None, np.bool_(False)])
        assert attribute.labels == ("false", "true")
        assert values.tolist() == [1, -1, 0]

    def test_a_column_without_values_is_nominal_and_all_missing(self) -> None:
        attribute, values, _ = column([None, pd.NA])
        assert (attribute.kind, attribute.labels) == ("nominal", ())
        assert values.tolist() == [-1, -1]
        assert column([np.nan, None])[0].type == "float64"

    def test_dates_times_and_decimals_are_exact(self) -> None:
        moment = datetime.datetime(2020, 1, 2, 3, 4, 5, 6)
        for cell, type_, text in [
            (datetime.date(2020, 1, 2), "date", "2020-01-02"),
            (moment, "timestamp:us", moment.isoformat()),
            (moment.replace(tzinfo=datetime.UTC), "timestamp:us:UTC", moment.isoformat() + "Z"),
            (datetime.time(1, 2, 3), "time:us", "01:02:03"),
            (datetime.timedelta(days=1), "duration:us", "P1D"),
            (decimal.Decimal("1.25"), "decimal:2", "1.25"),
        ]:
            attribute, values, missing = column([cell, None])
            assert attribute.type == type_
            assert attribute.format(int(values[0])) == text
            assert missing.tolist() == [0, 1]

    def test_text_among_numbers_is_refused_with_its_count(self) -> None:
        with pytest.raises(
            DataError, match=r"attribute 'x0': text 'n/a' .*\(2 of 4 rows\); declare it nominal"
        ):
            column([1, "n/a", 2.5, "n/a"])

    @pytest.mark.parametrize("cells", [[True, 2], [1.5, datetime.date(2020, 1, 1)], [True, "a"]])
    def test_mixed_cells_are_refused_unless_nominal(self, cells: list[Any]) -> None:
        with pytest.raises(DataError, match="attribute 'x0'"):
            column(cells)
        assert len(column(cells, nominal_features=[0])[0].labels) == 2

    def test_mixed_cells_become_text_where_declared_nominal(self) -> None:
        cells = [1, 2.0, 2.5, True, "a", None, datetime.date(2020, 1, 1), decimal.Decimal("1.0")]
        attribute, values, _ = column(cells, nominal_features=[0])
        texts = [attribute.labels[code] if code >= 0 else None for code in values.tolist()]
        assert texts == ["1", "2", "2.5", "true", "a", None, "2020-01-01", "1.0"]

    @pytest.mark.parametrize("cell", [{"foo": "bar"}, [1, 2], (1,), object(), b"x", 1j, np.zeros(2)])
    def test_other_cells_are_refused_by_type_and_row(self, cell: Any) -> None:
        with pytest.raises(
            DataTypeError,
            match=r"attribute 'x0': a cell of type \w+ in row 1 .*argument must be .* string.* number",
        ):
            column([0.5, cell])

    def test_lone_surrogates_are_refused(self) -> None:
        with pytest.raises(DataError, match="attribute 'x0': a label is not valid Unicode"):
            column(["a", "\ud800"])


class TestRows:
    def test_each_column_of_a_list_has_its_own_type(self) -> None:
        table = from_data([[1, "a", 0.5, True], [2, None, None, False]])
        assert [a.type for a in table.schema.attributes] == ["int64", "nominal", "float64", "nominal"]

    def test_rows_may_be_arrays(self) -> None:
        assert from_data([np.array([1.0, 2.0]), np.array([3.0, 4.0])]).columns[1].values.tolist() == [2, 4]

    def test_rows_of_different_lengths_are_refused(self) -> None:
        with pytest.raises(DataError, match="row 1 has 1 cells and row 0 has 2"):
            from_data([[1, 2], [3]])

    @pytest.mark.parametrize("rows", [[1, 2], ["a"]])
    def test_a_list_of_cells_is_not_a_table(self, rows: list[Any]) -> None:
        with pytest.raises(DataError, match="Reshape your data"):
            from_data(rows)

    def test_a_list_of_dicts_is_refused(self) -> None:
        with pytest.raises(DataError, match=r"row \d is a"):
            from_data([[1], {"a": 1}])


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.zeros(3), "Reshape your data"),
        (np.float64(3), "X is of type float64|scalar"),
        (np.array(3.0), "scalar"),
        (np.zeros((2, 2, 2)), "Found array with dim 3"),
        (
            np.zeros((0, 3)),
            r"zero rows: .*0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required\.",
        ),
        (np.zeros((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required\."),
        ([], "zero rows"),
        ([[]], "zero columns"),
        ({"a": [1]}, "X is of type dict; allowed are"),
        (None, "X is of type NoneType"),
        ("text", "X is of type str"),
    ],
)
def test_what_is_not_a_table_is_refused_on_one_line(X: Any, words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        from_data(X)
    assert "\n" not in str(caught.value)


def test_sparse_matrices_are_refused() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(DataTypeError, match=r"[Ss]parse"):
        from_data(sparse.csr_matrix(np.eye(2)))


def test_whatever_turns_into_an_array_is_read() -> None:
    class Wrapped:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.eye(2)

    assert from_data(Wrapped()).n_rows == 2


class TestNominalFeatures:
    def test_listed_numbers_become_labels_sorted_as_text(self) -> None:
        X = np.array([[3, 1.0], [10, 2.5], [-1, np.nan]])
        table = from_data(X, nominal_features=[0, 1])
        assert table.schema.attributes[0].labels == ("-1", "10", "3")
        assert table.columns[0].values.tolist() == [2, 1, 0]
        assert table.schema.attributes[1].labels == ("1", "2.5")
        assert table.columns[1].values.tolist() == [0, 1, -1]

    def test_columns_are_listed_by_name_position_or_mask(self) -> None:
        X = np.array([[1, 2], [3, 4]])
        for listed in (["b"], [1], np.array([1]), ("b",), [False, True], np.array([False, True]), {"b"}):
            table = from_data(X, feature_names=["a", "b"], nominal_features=listed)
            assert [a.kind for a in table.schema.attributes] == ["numeric", "nominal"]

    def test_text_is_nominal_whatever_the_list_says(self) -> None:
        table = from_data([["a", 1], ["b", 2]], nominal_features=[])
        assert [a.kind for a in table.schema.attributes] == ["nominal", "numeric"]

    @pytest.mark.parametrize(
        ("listed", "words"),
        [
            (["c"], "'c', which is not a column; columns are 'a', 'b'"),
            ([2], "position 2; columns are 0 to 1"),
            ([-1], "position -1"),
            ([0.5], "of type float"),
            ([True], "a mask of 1 for 2 columns"),
            ("all", "nominal_features='all'"),
            (None, "of type NoneType"),
            (3, "of type int"),
        ],
    )
    def test_a_wrong_list_is_refused(self, listed: Any, words: str) -> None:
        with pytest.raises(UsageError, match=words):
            from_data(np.eye(2), feature_names=["a", "b"], nominal_features=listed)

    @given(hnp.arrays(np.int64, st.integers(1, 30), elements=st.integers(-(2**63), 2**63 - 1)))
    def test_integer_labels_read_back_as_the_integers(self, values: Any) -> None:
        attribute, codes, _ = only(from_data(values[:, None], nominal_features=[0]))
        assert [int(attribute.labels[c]) for c in codes.tolist()] == values.tolist()
        assert list(attribute.labels) == sorted(attribute.labels)


def test_given_names_replace_the_missing_ones() -> None:
    schema = from_data(np.eye(2), feature_names=["a", "b"]).schema
    assert schema.named
    assert schema.names == ("a", "b")
    with pytest.raises(UsageError, match="1 entries for 2 columns"):
        from_data(np.eye(2), feature_names=["a"])
    with pytest.raises(DataError, match="more than once: 'a'"):
        from_data(np.eye(2), feature_names=["a", "a"])


@given(st.lists(st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]))), min_size=1))
def test_text_survives_encoding(cells: list[str | None]) -> None:
    attribute, values, _ = column(list(cells))
    assert [attribute.labels[c] if c >= 0 else None for c in values.tolist()] == cells
    assert list(attribute.labels) == sorted({c for c in cells if c is not None}, key=lambda t: t.encode())
