"""A survey says of a source what the table room says of the table of all its rows."""

from __future__ import annotations

import importlib
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hornbeam as hb
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.boat import Range, Reading, reading, survey
from hornbeam.errors import DataError, UsageError
from hornbeam.growth import ClassTarget, NumericTarget
from hornbeam.table import Table, encode_classes, encode_targets
from tests.unit.boat.tables import KINDS, check_equal, chunked, encoded, staff, whole
from tests.unit.table.sources.rows import every_type


@pytest.fixture(params=[1, 17, 1 << 17])
def chunk_rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(reading, "CHUNK_ROWS", request.param)
    return int(request.param)


def check_ranges(found: tuple[Range, ...], table: Table) -> None:
    for range_, column in zip(found, table.columns, strict=True):
        if column.kind == "nominal":
            assert range_ == Range(None, None, int((column.values < 0).sum()))
            continue
        missing = np.isnan(column.values) if column.kind == "float" else column.missing
        missing = np.zeros(table.n_rows, bool) if missing is None else missing != 0
        known = column.values[~missing]
        ends = (known.min(), known.max()) if len(known) else (None, None)
        assert range_ == Range(*ends, int(missing.sum()))
        assert {type(range_.lowest), type(range_.highest)} <= {
            float if column.kind == "float" else int,
            type(None),
        }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("nominal", [(), ("age", "id", "size")])
def test_a_source_of_any_kind_is_surveyed_as_its_table_is(
    kind: str, nominal: tuple[str, ...], chunk_rows: int, tmp_path: Path
) -> None:
    source = KINDS[kind](staff(), tmp_path)
    what = Reading(source, ("y",), True, nominal)
    heard: list[int] = []
    found = survey(what, 100, 1, heard.append)
    assert heard[-1] == source.rows == 500
    assert source.stats.scans == (2 if kind == "sqlite" else 1)  # which asks for its types
    table = whole(what)
    wanted = encoded(table, what)
    codes, classes = encode_classes(table["y"])
    assert found.rows == 500
    assert found.schema == wanted.schema
    assert found.labels.dtype == classes.dtype
    assert found.labels.tolist() == classes.tolist()
    assert found.class_counts.tolist() == np.bincount(codes).tolist()
    assert not found.weighted
    check_ranges(found.ranges, wanted)
    everything = chunked(what, found)
    check_equal(everything["columns"], wanted)
    assert everything["classes"].dtype == np.uint16
    np.testing.assert_array_equal(everything["classes"], codes)


@pytest.mark.parametrize("nominal", [False, True])
def test_columns_of_every_type(nominal: bool, chunk_rows: int) -> None:
    table = every_type(60).append_column("y", pa.array([0, 1] * 30))
    names = [name for name in table.column_names if name not in ("y", "null")]
    what = Reading(hb.source(table), ("y",), True, names if nominal else ())
    found = survey(what, 60, 1)
    wanted = encoded(table, what)
    assert found.schema == wanted.schema
    check_ranges(found.ranges, wanted)
    check_equal(chunked(what, found)["columns"], wanted)
    check_equal(
        [
            (c.kind, c.values, np.zeros(60, np.uint8) if c.missing is None else c.missing)
            for c in found.sample.columns
        ],
        wanted,
    )


def test_numbers_stay_as_narrow_as_they_are() -> None:
    table = every_type(30).append_column("y", pa.array([0, 1] * 15))
    what = Reading(hb.source(table.drop_columns(["null"])), ("y",), True)
    found = survey(what, 1, 1)
    (chunk,) = chunked(what, found)["parts"]
    types = {
        name: str(column[1].dtype) for name, column in zip(found.schema.names, chunk.columns, strict=True)
    }
    assert types["int8"] == "int8"
    assert types["date32"] == "int32"
    assert types["float32"] == types["float16"] == "float32"
    assert types["uint64"] == types["decimal"] == types["timestamp"] == "int64"
    assert types["bool"] == types["text"] == types["category"] == "int32"


def test_files_that_disagree_in_width(tmp_path: Path) -> None:
    for i, type_ in enumerate((pa.int8(), pa.int32(), pa.uint16())):
        part = pa.table({"a": pa.array([1, 2, 3 + i], type_), "y": pa.array([0, 1, i], type_)})
        pq.write_table(part, tmp_path / f"{i}.parquet")
    what = Reading(hb.source(str(tmp_path)), ("y",), True)
    found = survey(what, 9, 1)
    table = whole(what)
    assert found.schema == encoded(table, what).schema
    assert found.labels.dtype == encode_classes(table["y"])[1].dtype == np.int64
    assert found.ranges == (Range(1, 5, 0),)
    check_equal(chunked(what, found)["columns"], encoded(table, what))


def test_labels_that_only_the_last_chunk_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "CHUNK_ROWS", 10)
    table = pa.table({"a": ["m"] * 40 + ["b", None], "y": ["q"] * 40 + ["a", "z"]})
    what = Reading(hb.source(table), ("y",), True)
    found = survey(what, 5, 1)
    assert found.schema.attributes[0].labels == ("b", "m")
    assert found.labels.tolist() == ["a", "q", "z"]
    assert found.class_counts.tolist() == [1, 40, 1]
    everything = chunked(what, found)
    assert everything["classes"].tolist() == [1] * 40 + [0, 2]
    assert everything["columns"][0][1].tolist() == [1] * 40 + [0, -1]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([3, -100, 3, 127] * 5, pa.int8()),
        pa.array([2**64 - 1, 2**63, 0, 7] * 5, pa.uint64()),
        pa.array([2**64 - 1, 2**64 - 3, 2**64 - 2, 2**64 - 3] * 5, pa.uint64()),
        pa.array([-(2**63), 2**62, 0, 7] * 5, pa.int64()),
        pa.array([70_000, 1, 70_000, 65_537] * 5, pa.uint32()),
        pa.array([True, False, True, True] * 5),
        pa.array([True] * 20),
        pa.array(["b", "a", "é", ""] * 5),
        pa.array(["b", "a", "é", ""] * 5, pa.large_string()),
        pa.array(["b", "a", "b", "c"] * 5).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([2, 0] * 10), pa.array(["z", "unused", "a"])),
        pa.array([1.0, 0.0, -0.0, -3.0] * 5),
        pa.array([2.0**60, 0.0, 1.0, -3.0] * 5),
        pa.array([1.0, 0.0, 2.0, -3.0] * 5, pa.float32()),
        pa.array(np.array([1, 0, 2, -3] * 5, np.float16)),
    ],
    ids=lambda column: str(column.type),
)
def test_classes_are_those_of_fit(column: pa.Array, chunk_rows: int) -> None:
    table = pa.table({"a": np.arange(20), "y": column})
    what = Reading(hb.source(table), ("y",), True)
    found = survey(what, 20, 1)
    fitted = TreeClassifier().fit(table.select(["a"]), table["y"])
    codes, _ = encode_classes(table["y"])
    assert found.labels.dtype == fitted.classes_.dtype
    assert found.labels.tolist() == fitted.classes_.tolist()
    assert found.class_counts.tolist() == np.bincount(codes).tolist()
    assert found.class_counts.dtype == np.int64
    np.testing.assert_array_equal(chunked(what, found)["classes"], codes)
    assert isinstance(found.sample_target, ClassTarget)
    np.testing.assert_array_equal(found.sample_target.codes, codes)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1.5, -2.0, 3e10, 0.0]),
        pa.array([1, 2, -3, 0], pa.int8()),
        pa.array([True, False, True, True]),
        pa.array([1, 2**53, 3, 0], pa.uint64()),
        pa.array([1, 2, 3, 0], pa.decimal128(10, 3)),
        pa.array([0.0, 0.0, 0.0, 0.0], pa.float32()),
    ],
    ids=lambda column: str(column.type),
)
def test_numeric_targets(column: pa.Array, chunk_rows: int) -> None:
    table = pa.table({"a": np.arange(4), "y": column, "z": pa.array([1, 2, 3, 4])})
    what = Reading(hb.source(table), ("z", "y"), False)
    found = survey(what, 4, 1)
    values = encode_targets(table.select(["z", "y"]))
    np.testing.assert_array_equal(chunked(what, found)["values"], values)
    assert isinstance(found.sample_target, NumericTarget)
    np.testing.assert_array_equal(found.sample_target.values, values)
    assert found.sample_target.names == ("z", "y")
    assert found.target_exponents is not None
    lowest, highest = found.target_exponents
    assert highest == math.frexp(np.abs(values).max())[1]
    units = [Fraction(value) / Fraction(2) ** lowest for value in values.ravel().tolist()]
    assert all(unit.denominator == 1 for unit in units)
    assert any(unit.numerator % 2 for unit in units)
    assert found.labels.tolist() == found.class_counts.tolist() == []
    assert found.schema.names == ("a",)


def test_rows_of_weight_0_are_left_out_but_for_their_labels(chunk_rows: int) -> None:
    table = pa.table(
        {
            "a": ["x", "only here", "y", "x"] * 5,
            "n": [5, 1000, 7, None] * 5,
            "y": ["p", "q", "r", "p"] * 5,
            "w": [2.0, 0.0, 0.125, 3.0] * 5,
        }
    )
    what = Reading(hb.source(table, weight="w"), ("y",), True)
    found = survey(what, 100, 1)
    assert found.rows == 15
    assert found.weighted
    assert found.weight_exponents == (-3, 2)
    assert found.schema == encoded(table, what).schema
    assert found.schema.attributes[0].labels == ("only here", "x", "y")
    assert found.labels.tolist() == ["p", "q", "r"]
    assert found.class_counts.tolist() == [10, 0, 5]
    assert found.ranges == (Range(None, None, 0), Range(5, 7, 5))
    everything = chunked(what, found)
    assert everything["rows"] == 15
    assert everything["weights"].tolist() == [2.0, 0.125, 3.0] * 5
    assert everything["classes"].tolist() == [0, 2, 0] * 5
    assert everything["columns"][0][1].tolist() == [1, 2, 1] * 5
    assert found.sample.n_rows == found.sample_target.n_rows == 15
    assert found.sample_target.weights is not None
    assert found.sample_target.weights.tolist() == [2.0, 0.125, 3.0] * 5


@pytest.mark.parametrize("type_", [pa.int8(), pa.uint64(), pa.float32(), pa.decimal128(9, 2)])
def test_weights_of_any_numeric_type(type_: pa.DataType) -> None:
    table = pa.table({"a": [1, 2, 3], "y": [0, 1, 0], "w": pa.array([2, 1, 3], type_)})
    what = Reading(hb.source(table, weight="w"), ("y",), True)
    assert chunked(what, survey(what, 1, 1))["weights"].tolist() == [2.0, 1.0, 3.0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weight", [None, "weight"])
def test_the_sample_is_uniform_and_the_same_in_every_format(
    kind: str, weight: str | None, chunk_rows: int, tmp_path: Path
) -> None:
    table = staff()
    given = KINDS[kind](table, tmp_path)
    source = type(given)(given._origin, weight)
    found = survey(Reading(source, ("y",), True), 100, 5)
    kept = table if weight is None else table.filter(pa.compute.not_equal(table["weight"], 0))
    wanted = hb.source(kept).sample(100, 5)
    np.testing.assert_array_equal(found.sample.columns[0].values, wanted["id"].to_numpy())
    assert isinstance(found.sample_target, ClassTarget)
    labels = found.labels[found.sample_target.codes]
    assert labels.tolist() == wanted["y"].to_pylist()
    assert found.sample.schema == found.schema


def test_no_sample() -> None:
    found = survey(Reading(hb.source(staff()), ("y",), True), 0, 1)
    assert found.sample.n_rows == found.sample_target.n_rows == 0
    with pytest.raises(UsageError, match="sample=-1"):
        survey(Reading(hb.source(staff()), ("y",), True), -1, 1)


def test_a_column_without_values(chunk_rows: int) -> None:
    table = pa.table(
        {
            "none": pa.nulls(20),
            "int": pa.array([None] * 20, pa.int16()),
            "float": pa.array([None] * 10 + [math.nan] * 10, pa.float32()),
            "text": pa.array([None] * 20, pa.string()),
            "y": [0, 1] * 10,
        }
    )
    what = Reading(hb.source(table), ("y",), True)
    found = survey(what, 5, 1)
    assert found.schema == encoded(table, what).schema
    assert found.ranges == (Range(None, None, 20),) * 4
    check_equal(chunked(what, found)["columns"], encoded(table, what))


def test_a_source_that_can_be_read_once_is_surveyed() -> None:
    table = staff()
    what = Reading(hb.source(table.to_reader()), ("y",), True)
    found = survey(what, 100, 1)
    assert found.rows == 500
    assert found.sample.n_rows == 100
    with pytest.raises(UsageError, match="can be read once"):
        chunked(what, found)


def refused(estimator: object, table: pa.Table, target: str) -> str:
    with pytest.raises(DataError) as error:
        estimator.fit(table.drop_columns([target]), table[target])  # type: ignore[attr-defined]
    return str(error.value)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, None, 2]),
        pa.array(["a", "b", None]),
        pa.array([1.0, math.nan, 2.0]),
        pa.array([1.0, math.inf, 2.0]),
        pa.array([1.0, 2.5, 2.0]),
        pa.array([1, 2, 3], pa.date32()),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["a", None])),
        pa.nulls(3),
    ],
    ids=str,
)
def test_classes_are_refused_as_fit_refuses_them(column: pa.Array) -> None:
    table = pa.table({"a": [1, 2, 3], "y": column})
    said = refused(TreeClassifier(), table, "y")
    with pytest.raises(DataError) as error:
        survey(Reading(hb.source(table), ("y",), True), 1, 1)
    assert str(error.value).endswith(said)
    assert "the Table of 3 rows" in str(error.value)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, None, 2]),
        pa.array(["1", "2", "3"]),
        pa.array([1.0, math.nan, 2.0]),
        pa.array([1.0, -math.inf, 2.0]),
        pa.array([1.0, 1e101, 2.0]),
        pa.array([1, 2, 3], pa.timestamp("s")),
        pa.array([2**53 + 1, 2, 3]),
        pa.nulls(3),
    ],
    ids=str,
)
def test_numbers_are_refused_as_fit_refuses_them(column: pa.Array) -> None:
    table = pa.table({"a": [1, 2, 3], "y": column})
    said = refused(TreeRegressor(), table, "y")
    with pytest.raises(DataError) as error:
        survey(Reading(hb.source(table), ("y",), False), 1, 1)
    assert str(error.value).endswith(said)
    assert "the Table of 3 rows" in str(error.value)


@pytest.mark.parametrize("weights", [[1.0, -1.0], [1.0, math.nan], [1.0, None], [0.0, 0.0], [1.0, math.inf]])
def test_weights_are_refused_as_fit_refuses_them(weights: list[float | None]) -> None:
    table = pa.table({"a": [1, 2], "w": pa.array(weights, pa.float64()), "y": [0, 1]})
    with pytest.raises(DataError) as said:
        TreeClassifier().fit(table.select(["a"]), table["y"], table["w"].to_numpy())
    with pytest.raises(DataError) as error:
        survey(Reading(hb.source(table, weight="w"), ("y",), True), 1, 1)
    assert str(error.value).endswith(str(said.value))


def test_more_classes_than_a_node_counts_are_refused() -> None:
    table = pa.table({"a": np.arange(70_000), "y": np.arange(70_000)})
    with pytest.raises(DataError, match=r"more than 65536 classes; .* TreeRegressor"):
        survey(Reading(hb.source(table), ("y",), True), 1, 1)


@pytest.mark.parametrize(
    ("how", "match"),
    [
        ({"targets": ("nope",)}, "target='nope' is not a column of the Table of 500 rows; it has"),
        ({"targets": ()}, "at least one"),
        ({"targets": ("y", "job")}, "give one column"),
        ({"targets": ("amount", "amount"), "classification": False}, "different columns"),
        ({"nominal": ("x",)}, "nominal_features='x' is not a column"),
        ({"nominal": ("y",)}, "nominal_features='y'.*another use"),
        ({"key": "x"}, "key='x' is not a column"),
        ({"key": "y"}, "key='y'.*another use"),
        ({"targets": ("weight",)}, "target='weight'.*another use"),
    ],
)
def test_columns_that_mean_nothing_are_refused(how: dict[str, object], match: str) -> None:
    given = {"targets": ("y",), "classification": True} | how
    with pytest.raises(UsageError, match=match):
        Reading(hb.source(staff(), weight="weight"), **given)  # type: ignore[arg-type]


def test_a_source_without_attributes_is_refused() -> None:
    with pytest.raises(DataError, match="no column beside"):
        Reading(hb.source(pa.table({"k": [1], "y": [1]})), ("y",), True, key="k")


def test_labels_keep_to_the_memory_limit() -> None:
    table = pa.table({"a": [f"label {i}" for i in range(10_000)], "y": [0, 1] * 5_000})
    with pytest.raises(DataError, match="more than the 100,000 bytes"):
        survey(Reading(hb.source(table), ("y",), True, memory_limit=100_000), 1, 1)


def test_text_that_is_not_utf8_is_refused_with_the_source() -> None:
    offsets, data = pa.array([0, 1, 3], pa.int32()).buffers()[1], pa.py_buffer(b"a\xff\xfe")
    text = pa.Array.from_buffers(pa.string(), 2, [None, offsets, data])
    for table in (pa.table({"a": text, "y": [0, 1]}), pa.table({"a": [0, 1], "y": text})):
        with pytest.raises(DataError, match=r"the Table of 2 rows.*not valid UTF-8"):
            survey(Reading(hb.source(table), ("y",), True), 2, 1)


def test_more_rows_than_counters_hold_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("hornbeam.boat.survey"), "MOST_ROWS", 2)
    rows = hb.source(pa.table({"x": [1, 2, 3], "y": ["a", "b", "a"]}))
    with pytest.raises(DataError, match=r"3 rows; a scan counts up to 2: use a sample"):
        survey(Reading(rows, ("y",), True), 10, 0)
