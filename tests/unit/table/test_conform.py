"""Data at predict: matched by name, converted so that every comparison with a threshold stays exact."""

import datetime
import decimal
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbeam.errors import DataError
from hornbeam.table import Attribute, Schema, conform, from_data
from hornbeam.table.columns import Cells
from hornbeam.table.convert import to_codes, to_floats
from hornbeam.table.storage import Storage, parse_type

int64s = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.integers(-200, 200), st.sampled_from([-(2**63), 2**63 - 1])
)
TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def exact(storage: Storage, code: int) -> Fraction:
    """The real number, or the seconds, that a code stands for; written apart from the package's own."""
    if storage.family == "unsigned":
        return Fraction(code + 2**63)
    if storage.family == "decimal":
        return Fraction(code) / Fraction(10) ** storage.scale
    if storage.family == "date":
        return Fraction(code * 86_400)
    return Fraction(code, TICKS[storage.unit] if storage.unit else 1)


NUMBERS = ["int64", "uint64", "decimal:0", "decimal:2", "decimal:30", "decimal:-1", "decimal:-25"]
TIMES = ["date", "timestamp:s", "timestamp:ms", "timestamp:us", "timestamp:ns"]
PAIRS = [(a, b) for group in (NUMBERS, TIMES) for a in group for b in group]
PAIRS += [(f"{f}:{a}", f"{f}:{b}") for f in ("time", "duration") for a in TICKS for b in TICKS]


@pytest.mark.parametrize(("source", "target"), PAIRS)
@settings(max_examples=25)
@given(
    codes=st.lists(int64s, min_size=1, max_size=8),
    threshold=st.integers(-(2**63), 2**63 - 2),
    near=st.booleans(),
)
def test_codes_of_another_type_compare_exactly(
    source: str, target: str, codes: list[int], threshold: int, near: bool
) -> None:
    values, missing = to_codes(Cells(source, np.array(codes, dtype=np.int64)), parse_type(target))
    assert missing is None
    assert values.dtype == np.int64
    if near:  # random thresholds seldom lie where rounding could go wrong
        threshold = min(max(int(values[0]) - 1, -(2**63)), 2**63 - 2)
    for step in (0, 1) if threshold < 2**63 - 2 else (0,):
        t = exact(parse_type(target), threshold + step)
        for code, value in zip(codes, values.tolist(), strict=True):
            assert (value <= threshold + step) == (exact(parse_type(source), code) <= t)


@pytest.mark.parametrize("target", NUMBERS)
@given(
    floats=st.lists(st.floats(), min_size=1, max_size=8),
    threshold=st.integers(-(2**63), 2**63 - 2),
    near=st.booleans(),
)
def test_floats_compare_exactly_with_integer_thresholds(
    target: str, floats: list[float], threshold: int, near: bool
) -> None:
    values, missing = to_codes(Cells("float64", np.array(floats)), parse_type(target))
    if near:
        threshold = min(max(int(values[0]) - 1, -(2**63)), 2**63 - 2)
    t = exact(parse_type(target), threshold)
    for i, x in enumerate(floats):
        if math.isnan(x):
            assert missing is not None
            assert missing[i] == 1
            continue
        assert missing is None or missing[i] == 0
        holds = x < 0 if math.isinf(x) else Fraction(x) <= t
        assert (int(values[i]) <= threshold) == holds


@pytest.mark.parametrize("source", NUMBERS)
@given(
    codes=st.lists(int64s, min_size=1, max_size=8), threshold=st.floats(allow_nan=False, allow_infinity=False)
)
def test_codes_compare_exactly_with_float_thresholds(source: str, codes: list[int], threshold: float) -> None:
    cells = Cells(source, np.array(codes, dtype=np.int64))
    storage = parse_type(source)
    exacts = [exact(storage, code) for code in codes]
    if storage.family != "decimal" and any(Fraction(float(x)) != x for x in exacts):
        with pytest.raises(DataError, match=r"attribute 'a': .* has no exact float64"):
            to_floats(cells, "a")
        return
    values = to_floats(cells, "a").tolist()
    for t in (threshold, values[0], math.nextafter(values[0], -math.inf)):
        for x, value in zip(exacts, values, strict=True):
            assert (value <= t) == (x <= Fraction(t))


def test_missing_codes_stay_missing_in_every_conversion() -> None:
    gone = np.array([0, 1], dtype=np.uint8)
    for source, target in PAIRS:
        _, missing = to_codes(Cells(source, np.array([1, 2**63 - 1]), gone), parse_type(target))
        assert missing is not None
        assert missing.tolist() == [0, 1]
    for source in NUMBERS:
        values = to_floats(Cells(source, np.array([0, 2**53 + 1]), gone), "a")
        assert np.isnan(values).tolist() == [False, True]


class TestMatching:
    schema = from_data(pd.DataFrame({"a": [1.0], "b": [2.0], "c": ["x"]})).schema

    def test_other_order_and_further_columns_are_fine(self) -> None:
        table = conform(pd.DataFrame({"z": [[9]], "c": ["x"], "b": [20.0], "a": [10.0]}), self.schema)
        assert [c.values.tolist() for c in table.columns] == [[10.0], [20.0], [0]]
        assert table.schema is self.schema

    def test_float_frames_are_reordered_without_a_copy(self) -> None:
        schema = from_data(pd.DataFrame({"a": [1.0], "b": [2.0]})).schema
        frame = pd.DataFrame(np.array([[3.0, 4.0, 5.0]]), columns=["b", "z", "a"])
        table = conform(frame, schema)
        assert [c.values.tolist() for c in table.columns] == [[5.0], [3.0]]
        assert np.shares_memory(table.columns[0].values, frame.to_numpy())

    def test_a_missing_column_is_named(self) -> None:
        with pytest.raises(
            DataError, match="attribute 'b' and 1 more: missing from X, which has 'a'; Tree needs"
        ):
            conform(pd.DataFrame({"a": [1.0]}), self.schema, estimator="Tree")

    def test_without_names_positions_count(self) -> None:
        table = conform([[1.0, 2.0, "x"]], self.schema)
        assert table.columns[2].values.tolist() == [0]
        message = "X has 2 features, but TreeClassifier is expecting 3 features as input"
        with pytest.raises(DataError, match=message):
            conform([[1.0, 2.0]], self.schema, estimator="TreeClassifier")

    def test_a_schema_without_names_takes_named_data_by_position(self) -> None:
        schema = from_data(np.eye(2)).schema
        assert conform(pd.DataFrame({"p": [1.0], "q": [2.0]}), schema).columns[1].values.tolist() == [2.0]

    def test_unicode_forms_are_different_names(self) -> None:
        schema = from_data(pa.table({"caf\u00e9": [1.0]})).schema
        with pytest.raises(DataError, match="missing from X"):
            conform(pa.table({"cafe\u0301": [1.0]}), schema)

    def test_zero_rows_are_an_empty_table(self) -> None:
        table = conform(pd.DataFrame({"a": [], "b": [], "c": []}), self.schema)
        assert table.n_rows == 0
        assert [len(c.values) for c in table.columns] == [0, 0, 0]

    def test_duplicate_names_are_refused(self) -> None:
        with pytest.raises(DataError, match="more than once"):
            conform(pd.DataFrame([[1.0, 2.0, 3.0, "x"]], columns=["a", "a", "b", "c"]), self.schema)


def fit(cells: Any, type_: Any = None) -> Schema:
    return from_data(pa.table({"a": pa.array(cells, type_)})).schema


def predict(schema: Schema, cells: Any, type_: Any = None) -> Any:
    column = conform(pa.table({"a": pa.array(cells, type_)}), schema).columns[0]
    return column.values.tolist()


NOW = datetime.datetime(2020, 1, 1)
FITTED: dict[str, tuple[list[Any], Any]] = {
    "numbers": ([1.5], None),
    "integers": ([1], None),
    "text": (["x"], None),
    "true/false": ([True], None),
    "dates": ([NOW.date()], None),
    "aware": ([NOW], pa.timestamp("us", "UTC")),
    "times": ([NOW.time()], None),
    "durations": ([datetime.timedelta(1)], None),
}
MIXABLE = [{"numbers", "integers"}]


@pytest.mark.parametrize("at_fit", FITTED)
@pytest.mark.parametrize("at_predict", FITTED)
def test_a_changed_type_is_an_error_that_names_the_column(at_fit: str, at_predict: str) -> None:
    schema = fit(*FITTED[at_fit])
    data = pa.table({"a": pa.array(*FITTED[at_predict])})
    nominal_text = at_predict == "text" and at_fit == "true/false"
    if at_fit == at_predict or {at_fit, at_predict} in MIXABLE or nominal_text:
        conform(data, schema)
        return
    with pytest.raises(
        DataError, match=r"attribute 'a': .* where .* (was|were) at fit; convert the column"
    ) as caught:
        conform(data, schema)
    assert "\n" not in str(caught.value)


def test_the_error_of_a_changed_type_says_what_was_and_what_came() -> None:
    with pytest.raises(DataError, match="attribute 'a': text where numbers were at fit"):
        predict(fit([1.5]), ["x"])
    with pytest.raises(DataError, match="attribute 'a': numbers where text was at fit"):
        predict(fit(["x"]), [1.5])
    with pytest.raises(DataError, match="times without a timezone where times with a timezone were at fit"):
        predict(fit([NOW], pa.timestamp("us", "UTC")), [NOW])


@pytest.mark.parametrize("at_fit", FITTED)
@pytest.mark.parametrize("type_", [pa.null(), pa.string(), pa.int64(), pa.float64(), pa.bool_(), pa.date32()])
def test_a_column_without_values_fits_every_attribute(at_fit: str, type_: Any) -> None:
    column = conform(pa.table({"a": pa.array([None, None], type_)}), fit(*FITTED[at_fit])).columns[0]
    if column.kind == "float":
        assert np.isnan(column.values).all()
    elif column.kind == "nominal":
        assert column.values.tolist() == [-1, -1]
    else:
        assert column.missing is not None
        assert column.missing.tolist() == [1, 1]


class TestNominal:
    def test_unseen_labels_get_their_own_code(self) -> None:
        assert predict(fit(["b", "d"]), ["a", "b", None, "d", "e"]) == [-2, 0, -1, 1, -2]

    def test_equal_labels_are_passed_on(self) -> None:
        assert predict(fit(["b", "d"]), ["d", "b"]) == [1, 0]

    def test_labels_match_from_every_library(self) -> None:
        schema = fit(["b", "a"])
        for data in (
            pd.DataFrame({"a": pd.Categorical(["b"], categories=["c", "b"])}),
            pl.DataFrame({"a": pl.Series(["b"], dtype=pl.Categorical)}),
            np.array([["b"]]),
            [["b"]],
        ):
            assert conform(data, schema).columns[0].values.tolist() == [1]

    def test_numbers_match_numeric_labels_by_their_text(self) -> None:
        schema = from_data(pd.DataFrame({"a": [3, 10, 4]}), nominal_features=["a"]).schema
        assert schema.attributes[0].labels == ("10", "3", "4")
        for cells, type_ in (
            ([10, 3, None, 5], pa.int8()),
            ([10.0, 3.0, float("nan"), 0.5], pa.float64()),
            (["10", "3", None, "x"], pa.string()),
            ([decimal.Decimal(10), decimal.Decimal(3), None, decimal.Decimal(5)], pa.decimal128(20, 0)),
        ):
            assert predict(schema, cells, type_) == [0, 1, -1, -2]

    def test_integer_categories_match_integers(self) -> None:
        schema = from_data(pd.DataFrame({"a": pd.Categorical([1, 2])})).schema
        assert predict(schema, [2, 1, 7]) == [1, 0, -2]

    def test_mixed_objects_are_read_as_text_where_the_attribute_is_nominal(self) -> None:
        schema = from_data(np.array([[1], ["a"]], dtype=object), nominal_features=[0]).schema
        assert conform(np.array([["a"], [1.0], [2]], dtype=object), schema).columns[0].values.tolist() == [
            1,
            0,
            -2,
        ]

    def test_an_attribute_that_was_all_missing_takes_anything_as_unseen(self) -> None:
        schema = fit([None], pa.null())
        for cells in (["x"], [1], [True]):
            assert predict(schema, cells) == [-2]

    def test_booleans_match_their_text(self) -> None:
        assert predict(fit([True, False]), ["true", "false", "True"]) == [1, 0, -2]


class TestNumeric:
    def test_integers_for_floats_must_be_exact(self) -> None:
        assert predict(fit([0.5]), [2**53, -(2**53), 2**60]) == [2.0**53, -(2.0**53), 2.0**60]
        with pytest.raises(DataError, match="attribute 'a': 9007199254740993 in row 1 has no exact float64"):
            predict(fit([0.5]), [1, 2**53 + 1])
        with pytest.raises(DataError, match=str(2**64 - 1)):
            predict(fit([0.5]), [2**64 - 1], pa.uint64())

    def test_floats_for_integers_are_rounded_up_and_clipped(self) -> None:
        schema = fit([1])
        assert predict(schema, [1.2, -1.2, float("inf"), float("-inf"), 1e300]) == [
            *(2, -1, 2**63 - 1, -(2**63), 2**63 - 1)
        ]
        column = conform(pa.table({"a": [1.0, float("nan")]}), schema).columns[0]
        assert column.missing is not None
        assert column.missing.tolist() == [0, 1]

    def test_units_convert_up_and_clip(self) -> None:
        seconds = fit([NOW], pa.timestamp("s"))
        assert predict(seconds, [1, 1000, -1, -1000], pa.timestamp("ms")) == [1, 1, 0, -1]
        nanos = fit([NOW], pa.timestamp("ns"))
        assert predict(nanos, [1, 2**40, -(2**40)], pa.timestamp("s")) == [10**9, 2**63 - 1, -(2**63)]

    def test_zones_may_differ_but_not_be_absent(self) -> None:
        schema = fit([NOW], pa.timestamp("us", "UTC"))
        assert predict(schema, [5], pa.timestamp("us", "Asia/Tokyo")) == [5]

    def test_dates_and_naive_timestamps_compare(self) -> None:
        assert predict(fit([NOW.date()]), [NOW, NOW + datetime.timedelta(seconds=1)]) == [18262, 18263]
        assert predict(fit([NOW], pa.timestamp("s")), [NOW.date()]) == [18262 * 86_400]

    def test_libraries_may_change_between_fit_and_predict(self) -> None:
        schema = from_data(pd.DataFrame({"a": pd.Series([NOW], dtype="datetime64[ns]")})).schema
        frame = pl.DataFrame({"a": [NOW]})
        assert conform(frame, schema).columns[0].values.tolist() == [1577836800 * 10**9]

    @given(st.lists(st.integers(-(2**53), 2**53), min_size=1))
    def test_small_integers_and_floats_are_the_same_data(self, values: list[int]) -> None:
        as_float = conform(np.array(values, dtype=np.int64)[:, None], from_data(np.eye(1)).schema)
        assert as_float.columns[0].values.tolist() == values
        as_int = conform(np.array(values, dtype=float)[:, None], from_data(np.eye(1, dtype=int)).schema)
        assert as_int.columns[0].values.tolist() == values


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=2)


@given(st.lists(texts, min_size=1), st.lists(st.one_of(st.none(), texts), min_size=1))
def test_conformed_codes_point_to_the_labels(at_fit: list[str], at_predict: list[str | None]) -> None:
    schema = fit(at_fit, pa.string())
    labels = schema.attributes[0].labels
    for cell, code in zip(at_predict, predict(schema, at_predict, pa.string()), strict=True):
        expected = -1 if cell is None else labels.index(cell) if cell in labels else -2
        assert code == expected


def test_a_stored_schema_conforms_as_the_first_one() -> None:
    table = from_data(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}))
    schema = Schema.from_json(table.schema.to_json())
    again = conform(pd.DataFrame({"b": ["y"], "a": [2]}), schema)
    assert [c.values.tolist() for c in again.columns] == [[2], [1]]
    assert [n[3] for n in again.native()] == [0, 2]
    assert isinstance(again.schema.attributes[0], Attribute)
