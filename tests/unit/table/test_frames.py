"""pandas, polars, Arrow and DuckDB: every supported type, chunks and nulls, and refusals by name."""

import datetime
import decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.errors import DataError, DataTypeError
from hornbeam.table import Table, from_data

D = decimal.Decimal


def texts(table: Table, j: int = 0) -> list[str | None]:
    """Each cell of a column as text, None where missing: what any reader must agree on."""
    attribute, column = table.schema.attributes[j], table.columns[j]
    values = column.values.tolist()
    if column.kind == "float":
        return [None if np.isnan(v) else attribute.format(v) for v in values]
    if column.kind == "nominal":
        return [None if v < 0 else attribute.labels[v] for v in values]
    gone = [0] * len(values) if column.missing is None else column.missing.tolist()
    return [None if g else attribute.format(v) for v, g in zip(values, gone, strict=True)]


def array(cells: list[Any], type_: Any) -> pa.Array:
    if pa.types.is_dictionary(type_):  # pyarrow does not build all dictionaries from Python values
        return pa.array(cells, type_.value_type).dictionary_encode().cast(type_)
    return pa.array(cells, type_)


def arrow(cells: list[Any], type_: Any) -> pa.Table:
    return pa.table({"a": array(cells, type_)})


NOON = datetime.datetime(2020, 1, 1, 12)
ARROW = [
    (pa.float16(), [1.5, None], "float64", ["1.5", None]),
    (pa.float32(), [0.5, None], "float64", ["0.5", None]),
    (pa.float64(), [0.1, None], "float64", ["0.1", None]),
    *((t, [-3, None], "int64", ["-3", None]) for t in (pa.int8(), pa.int16(), pa.int32(), pa.int64())),
    *((t, [3, None], "int64", ["3", None]) for t in (pa.uint8(), pa.uint16(), pa.uint32())),
    (pa.uint64(), [2**64 - 1, None], "uint64", [str(2**64 - 1), None]),
    (pa.decimal32(5, 2), [D("-1.25"), None], "decimal:2", ["-1.25", None]),
    (pa.decimal64(12, 2), [D("1.25"), None], "decimal:2", ["1.25", None]),
    (pa.decimal128(38, 2), [D("-1.25"), None], "decimal:2", ["-1.25", None]),
    (
        pa.decimal128(38, 0),
        [D(2**63 - 1), D(-(2**63)), None],
        "decimal:0",
        [str(2**63 - 1), str(-(2**63)), None],
    ),
    (pa.decimal128(5, -2), [D("300"), None], "decimal:-2", ["300", None]),
    (pa.decimal256(50, 1), [D("-0.5"), None], "decimal:1", ["-0.5", None]),
    (pa.date32(), [NOON.date(), None], "date", ["2020-01-01", None]),
    (pa.date64(), [NOON.date(), None], "date", ["2020-01-01", None]),
    (pa.timestamp("s"), [NOON, None], "timestamp:s", ["2020-01-01T12:00:00", None]),
    (pa.timestamp("ns"), [NOON, None], "timestamp:ns", ["2020-01-01T12:00:00", None]),
    (pa.timestamp("us", "Asia/Tokyo"), [0, None], "timestamp:us:Asia/Tokyo", ["1970-01-01T00:00:00Z", None]),
    (pa.time32("s"), [NOON.time(), None], "time:s", ["12:00:00", None]),
    (pa.time32("ms"), [NOON.time(), None], "time:ms", ["12:00:00", None]),
    (pa.time64("us"), [NOON.time(), None], "time:us", ["12:00:00", None]),
    (pa.time64("ns"), [NOON.time(), None], "time:ns", ["12:00:00", None]),
    (pa.duration("ms"), [datetime.timedelta(seconds=1), None], "duration:ms", ["PT1S", None]),
    (pa.bool_(), [True, None, False], "nominal", ["true", None, "false"]),
    (pa.string(), ["b", None, "a"], "nominal", ["b", None, "a"]),
    (pa.large_string(), ["b", None, ""], "nominal", ["b", None, ""]),
    (pa.string_view(), ["b", None, "a" * 40], "nominal", ["b", None, "a" * 40]),
    (pa.null(), [None, None], "nominal", [None, None]),
    (pa.dictionary(pa.int8(), pa.string()), ["b", None, "a"], "nominal", ["b", None, "a"]),
    (pa.dictionary(pa.uint32(), pa.int64()), [10, None, 9], "nominal", ["10", None, "9"]),
    (pa.dictionary(pa.int32(), pa.bool_()), [True, None], "nominal", ["true", None]),
    (pa.dictionary(pa.int32(), pa.float64()), [2.0, 0.5, None], "nominal", ["2", "0.5", None]),
    (pa.dictionary(pa.int32(), pa.date32()), [NOON.date(), None], "nominal", ["2020-01-01", None]),
]


@pytest.mark.parametrize(("type_", "cells", "kept", "shown"), ARROW, ids=[str(row[0]) for row in ARROW])
class TestArrowTypes:
    def test_it_is_kept_exactly(self, type_: Any, cells: list[Any], kept: str, shown: list[Any]) -> None:
        table = from_data(arrow(cells, type_))
        assert table.schema.attributes[0].type == kept
        assert texts(table) == shown

    def test_chunks_and_offsets_change_nothing(
        self, type_: Any, cells: list[Any], kept: str, shown: list[Any]
    ) -> None:
        padded = array([*cells, *cells, *cells], type_)
        n = len(cells)
        chunked = pa.chunked_array([padded[1:n], padded[n : n + 1], padded[n : n + n], padded[:0]])
        table = from_data(pa.table({"a": chunked}))
        assert table.schema.attributes[0].type == kept
        assert texts(table) == [*shown[1:], shown[0], *shown]

    def test_without_nulls_it_has_no_mask(
        self, type_: Any, cells: list[Any], kept: str, shown: list[Any]
    ) -> None:
        known = [cell for cell in cells if cell is not None]
        if known:
            table = from_data(arrow(known, type_))
            assert table.columns[0].missing is None
            assert texts(table) == [text for text in shown if text is not None]


REFUSED = [
    (pa.list_(pa.int64()), [[1]], "list<"),
    (pa.large_list(pa.int64()), [[1]], "large_list<"),
    (pa.struct([("x", pa.int64())]), [{"x": 1}], "struct<x: int64>"),
    (pa.map_(pa.string(), pa.int64()), [[("a", 1)]], "map<"),
    (pa.binary(), [b"x"], "binary"),
    (pa.binary(2), [b"xx"], r"fixed_size_binary\[2\]"),
    (pa.month_day_nano_interval(), [None], "month_day_nano_interval"),
    (pa.dictionary(pa.int8(), pa.binary()), [b"x"], "binary"),
]


@pytest.mark.parametrize(("type_", "cells", "shown"), REFUSED, ids=[row[2] for row in REFUSED])
def test_other_arrow_types_are_refused_by_name(type_: Any, cells: list[Any], shown: str) -> None:
    with pytest.raises(DataError, match=f"attribute 'a': type {shown}.* is not supported; ") as caught:
        from_data(arrow(cells, type_))
    assert "\n" not in str(caught.value)


def test_unions_are_refused_by_name() -> None:
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    with pytest.raises(DataError, match="attribute 'a': type sparse_union"):
        from_data(pa.table({"a": union}))


@pytest.mark.parametrize("cell", [D(2**63), D(-(2**63) - 1), D(10**37)])
def test_decimals_beyond_64_bits_are_refused_with_their_row(cell: decimal.Decimal) -> None:
    chunks = pa.chunked_array(
        [pa.array([None, D(1)], pa.decimal128(38, 0)), pa.array([cell], pa.decimal128(38, 0))]
    )
    with pytest.raises(
        DataError, match=rf"attribute 'a': decimal128\(38, 0\) value {cell} in row 2 does not fit"
    ):
        from_data(pa.table({"a": chunks}))


def test_chunks_may_bring_dictionaries_of_their_own() -> None:
    first = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["b", "a"]))
    second = pa.DictionaryArray.from_arrays(pa.array([2, 0, 1]), pa.array(["c", "unused", None]))
    table = from_data(pa.table({"a": pa.chunked_array([first, second.slice(1)])}))
    assert texts(table) == ["b", "a", None, "c", "unused"]
    table = from_data(pa.table({"a": pa.chunked_array([first, second.slice(1, 1)])}))
    assert table.schema.attributes[0].labels == ("a", "b", "c")


def test_floats_of_one_chunk_are_not_copied() -> None:
    values = np.arange(5.0)
    assert np.shares_memory(from_data(pa.table({"a": values})).columns[0].values, values)


def test_batches_readers_and_streams_are_tables_too() -> None:
    batch = pa.RecordBatch.from_pydict({"a": [1, 2], "b": ["x", "y"]})

    class Stream:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return pa.Table.from_batches([batch]).__arrow_c_stream__(requested_schema)

    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch, batch])
    for data, n_rows in ((batch, 2), (reader, 4), (Stream(), 2)):
        table = from_data(data)
        assert table.schema.names == ("a", "b")
        assert table.n_rows == n_rows


@pytest.mark.parametrize(
    "data", [pa.array([1]), pa.chunked_array([[1]]), pl.Series([1]), pd.Series([1]), pd.Index([1])]
)
def test_a_single_column_is_not_a_table(data: Any) -> None:
    with pytest.raises(DataError, match=r"table|Reshape"):
        from_data(data)


def test_a_lazy_frame_is_refused_with_advice() -> None:
    with pytest.raises(DataTypeError, match="collect"):
        from_data(pl.LazyFrame({"a": [1]}))


def test_duplicate_names_are_refused_by_name() -> None:
    columns = [pa.array([1]), pa.array([2]), pa.array([3])]
    with pytest.raises(DataError, match="more than once: 'a'"):
        from_data(pa.Table.from_arrays(columns, names=["a", "b", "a"]))
    with pytest.raises(DataError, match="more than once: 'a'"):
        from_data(pd.DataFrame([[1, 2]], columns=["a", "a"]))


@pytest.mark.parametrize("name", ["a\nb", "<script>", "caf\u00e9", "\u65e5\u672c", "", "x" * 1000])
def test_hostile_names_are_kept_and_errors_stay_on_one_line(name: str) -> None:
    assert from_data(pa.table({name: [1]})).schema.names == (name,)
    with pytest.raises(DataError) as caught:
        from_data(pa.table({name: [[1]]}))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_names_that_differ_only_by_unicode_form_stay_different() -> None:
    assert len(from_data(pa.table({"caf\u00e9": [1], "cafe\u0301": [2]})).schema) == 2


@pytest.mark.parametrize("make", [pa.table, pl.DataFrame, pd.DataFrame])
def test_empty_frames_are_refused(make: Any) -> None:
    with pytest.raises(DataError, match="zero rows"):
        from_data(make({"a": []}))
    with pytest.raises(DataError, match="zero"):
        from_data(make({}))


class TestPandas:
    def test_float_frames_are_used_in_place(self) -> None:
        X = np.arange(6.0).reshape(3, 2)
        frame = pd.DataFrame(X, columns=["a", "b"], copy=False)
        table = from_data(frame)
        assert table.schema.named
        assert np.shares_memory(table.columns[1].values, frame.to_numpy())

    def test_float32_frames_are_widened(self) -> None:
        table = from_data(pd.DataFrame({"a": [0.1]}, dtype="float32"))
        assert table.columns[0].values.tolist() == [float(np.float32(0.1))]

    def test_mixed_columns_keep_their_own_types(self) -> None:
        frame = pd.DataFrame(
            {"f": [0.5], "i": [2**53 + 1], "u": np.array([2**64 - 1], dtype="u8"), "b": [True], "s": ["x"]}
        )
        table = from_data(frame)
        assert [a.type for a in table.schema.attributes] == [
            "float64",
            "int64",
            "uint64",
            "nominal",
            "nominal",
        ]
        assert [texts(table, j) for j in range(5)] == [
            ["0.5"],
            [str(2**53 + 1)],
            [str(2**64 - 1)],
            ["true"],
            ["x"],
        ]

    @pytest.mark.parametrize(
        ("dtype", "cells", "kept", "shown"),
        [
            ("Int64", [2**53 + 1, None], "int64", [str(2**53 + 1), None]),
            ("UInt64", [2**64 - 1, None], "uint64", [str(2**64 - 1), None]),
            ("Int8", [1, None], "int64", ["1", None]),
            ("Float64", [0.5, None], "float64", ["0.5", None]),
            ("boolean", [True, None], "nominal", ["true", None]),
            ("string[python]", ["a", None], "nominal", ["a", None]),
            ("string[pyarrow]", ["a", None], "nominal", ["a", None]),
            ("str", ["a", "b"], "nominal", ["a", "b"]),
            ("int64[pyarrow]", [1, None], "int64", ["1", None]),
            ("object", ["a", None], "nominal", ["a", None]),
            ("datetime64[ns]", ["2020-01-01", None], "timestamp:ns", ["2020-01-01T00:00:00", None]),
            ("datetime64[s]", ["2020-01-01", None], "timestamp:s", ["2020-01-01T00:00:00", None]),
            ("datetime64[us, UTC]", ["2020-01-01", None], "timestamp:us:UTC", ["2020-01-01T00:00:00Z", None]),
            ("timedelta64[ns]", [1, None], "duration:ns", ["PT0.000000001S", None]),
            ("Sparse[float64]", [0.5, np.nan], "float64", ["0.5", None]),
            ("Sparse[int64]", [5, 0], "int64", ["5", "0"]),
            ("category", ["b", None, "a"], "nominal", ["b", None, "a"]),
        ],
    )
    def test_every_dtype_is_kept_exactly(
        self, dtype: str, cells: list[Any], kept: str, shown: list[Any]
    ) -> None:
        table = from_data(pd.DataFrame({"a": pd.Series(cells, dtype=object).astype(dtype)}))
        assert table.schema.attributes[0].type == kept
        assert texts(table) == shown

    def test_arrow_decimals_and_dates_are_kept(self) -> None:
        frame = pd.DataFrame(
            {
                "d": pd.Series([D("1.50"), None], dtype=pd.ArrowDtype(pa.decimal128(10, 2))),
                "t": pd.Series([NOON.date(), None], dtype=pd.ArrowDtype(pa.date32())),
            }
        )
        table = from_data(frame)
        assert [a.type for a in table.schema.attributes] == ["decimal:2", "date"]
        assert texts(table, 0) == ["1.50", None]

    @pytest.mark.parametrize(
        ("categories", "labels"),
        [
            ([10, 9, 8], ("10", "9")),
            ([1.5, 2.0, 3.0], ("1.5", "2")),
            ([True, False], ("false", "true")),
            (["b", "a", "c"], ("a", "b")),
            (pd.to_datetime(["2020-01-01", "2020-01-02"]), ("2020-01-01T00:00:00", "2020-01-02T00:00:00")),
            (pd.interval_range(0, 3), ("(0, 1]", "(1, 2]")),
            (["x", 1], ("1", "x")),
        ],
    )
    def test_categories_are_text_and_unused_ones_are_dropped(
        self, categories: Any, labels: tuple[str]
    ) -> None:
        cells = pd.Categorical.from_codes([1, -1, 0], categories=categories)
        table = from_data(pd.DataFrame({"a": cells}))
        assert table.schema.attributes[0].labels == labels
        assert texts(table)[1] is None

    def test_categories_of_the_same_text_are_one_label(self) -> None:
        table = from_data(pd.DataFrame({"a": pd.Categorical.from_codes([0, 1], categories=[1, "1"])}))
        assert texts(table) == ["1", "1"]
        assert table.schema.attributes[0].labels == ("1",)

    def test_names_that_are_not_text_are_positions(self) -> None:
        table = from_data(pd.DataFrame([[1.0, 2.0]]))
        assert not table.schema.named
        assert table.schema.names == ("x0", "x1")

    def test_names_of_several_types_are_refused(self) -> None:
        with pytest.raises(DataTypeError, match="column names must all be text"):
            from_data(pd.DataFrame([[1.0, 2.0]], columns=["a", 1]))

    @pytest.mark.parametrize("cells", [pd.period_range("2020", periods=2, freq="M"), pd.interval_range(0, 2)])
    def test_periods_and_intervals_are_refused_by_name(self, cells: Any) -> None:
        with pytest.raises(DataError, match=r"attribute 'a': type (period|interval)\["):
            from_data(pd.DataFrame({"a": cells}))

    def test_a_subclass_is_a_frame(self) -> None:
        class Frame(pd.DataFrame):
            pass

        assert from_data(Frame({"a": [1.0]})).schema.names == ("a",)


class TestPolars:
    @pytest.mark.parametrize(
        ("dtype", "cells", "kept", "shown"),
        [
            (pl.Float32, [0.5, None], "float64", ["0.5", None]),
            (pl.Float64, [0.5, float("nan"), None], "float64", ["0.5", None, None]),
            (pl.Int8, [1, None], "int64", ["1", None]),
            (pl.Int64, [2**53 + 1, None], "int64", [str(2**53 + 1), None]),
            (pl.UInt64, [2**64 - 1, None], "uint64", [str(2**64 - 1), None]),
            (pl.Decimal(20, 2), [D("1.50"), None], "decimal:2", ["1.50", None]),
            (pl.Boolean, [True, None], "nominal", ["true", None]),
            (pl.String, ["b", None, "a"], "nominal", ["b", None, "a"]),
            (pl.Categorical, ["b", None, "a"], "nominal", ["b", None, "a"]),
            (pl.Enum(["z", "b", "a"]), ["b", None, "a"], "nominal", ["b", None, "a"]),
            (pl.Date, [NOON.date(), None], "date", ["2020-01-01", None]),
            (pl.Datetime("ms"), [NOON, None], "timestamp:ms", ["2020-01-01T12:00:00", None]),
            (pl.Datetime("us", "UTC"), [NOON, None], "timestamp:us:UTC", ["2020-01-01T12:00:00Z", None]),
            (pl.Time, [NOON.time(), None], "time:ns", ["12:00:00", None]),
            (pl.Duration("us"), [datetime.timedelta(days=1), None], "duration:us", ["P1D", None]),
            (pl.Null, [None, None], "nominal", [None, None]),
        ],
    )
    def test_every_dtype_is_kept_exactly(
        self, dtype: Any, cells: list[Any], kept: str, shown: list[Any]
    ) -> None:
        table = from_data(pl.DataFrame({"a": pl.Series(cells, dtype=dtype)}))
        assert table.schema.attributes[0].type == kept
        assert texts(table) == shown
        assert len(table.schema.attributes[0].labels) == (
            len(set(shown) - {None}) if kept == "nominal" else 0
        )

    def test_slices_and_appended_frames_are_read(self) -> None:
        frame = pl.DataFrame({"a": ["x", "y", "z"], "b": [1, 2, 3]})
        table = from_data(pl.concat([frame[1:], frame[:1]], rechunk=False))
        assert texts(table) == ["y", "z", "x"]
        assert texts(table, 1) == ["2", "3", "1"]

    def test_lists_and_structs_are_refused_by_name(self) -> None:
        with pytest.raises(DataError, match=r"attribute 'a': type \w*list"):
            from_data(pl.DataFrame({"a": [[1]]}))
        with pytest.raises(DataError, match="attribute 'a': type struct"):
            from_data(pl.DataFrame({"a": [{"x": 1}]}))


class TestDuckDB:
    def test_a_relation_is_a_table(self) -> None:
        relation = duckdb.sql(
            "select sum(i) as total, i::hugeint as h, (i / 4)::decimal(9, 2) as d, i::utinyint as u, i % 2 "
            "= 0 as b,"
            " 'v' || i as s, (case i when 0 then 'x' else 'y' end)::enum('y', 'x', 'z') as e, date "
            "'2020-01-01' as t,"
            " null as n from range(3) r(i) group by i order by i"
        )
        table = from_data(relation)
        assert [a.type for a in table.schema.attributes] == [
            *("decimal:0", "decimal:0", "decimal:2", "int64"),
            *("nominal", "nominal", "nominal", "date", "nominal"),
        ]
        assert texts(table, 0) == ["0", "1", "2"]
        assert texts(table, 2) == ["0.00", "0.25", "0.50"]
        assert table.schema.attributes[6].labels == ("x", "y")

    def test_a_wide_hugeint_is_refused(self) -> None:
        with pytest.raises(DataError, match="attribute 'h': decimal"):
            from_data(duckdb.sql("select 170141183460469231731687303715884105::hugeint as h"))

    def test_an_interval_is_refused_by_name(self) -> None:
        with pytest.raises(DataError, match="attribute 'i': type month_day_nano_interval"):
            from_data(duckdb.sql("select interval 1 day as i"))


cells = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
        st.one_of(st.none(), st.floats(allow_nan=False)),
        st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), max_size=4)),
        st.one_of(st.none(), st.booleans()),
    ),
    min_size=1,
    max_size=20,
)


@given(cells)
def test_every_library_gives_the_same_table(rows: list[tuple[Any, ...]]) -> None:
    i, f, s, b = (list(column) for column in zip(*rows, strict=True))
    source = pa.table(
        {
            "i": pa.array(i, pa.int64()),
            "f": pa.array(f, pa.float64()),
            "s": pa.array(s, pa.string()),
            "b": pa.array(b, pa.bool_()),
        }
    )
    frames = [
        source,
        pl.DataFrame(source),
        pd.DataFrame(
            {
                "i": pd.array(i, dtype="Int64"),
                "f": np.array([np.nan if x is None else x for x in f]),
                "s": pd.array(s, dtype="string"),
                "b": pd.array(b, dtype="boolean"),
            }
        ),
    ]
    first, *others = (from_data(frame) for frame in frames)
    assert texts(first, 2) == s
    assert texts(first, 0) == [None if x is None else str(x) for x in i]
    for other in others:
        assert other.schema == first.schema
        for j in range(4):
            assert texts(other, j) == texts(first, j)


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_long_text_in_stretches_is_the_same_column(
    type_: pa.DataType, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = ["b", None, "a", "b", "c", "a", None, "d", "a", "b", "e"]
    whole = pa.chunked_array([pa.array(cells[:4]).cast(type_), pa.array(cells[4:]).cast(type_)])
    at_once = from_data(pa.table({"s": whole}))
    monkeypatch.setattr("hornbeam.table.arrow.ENCODED_AT_ONCE", 3)
    in_stretches = from_data(pa.table({"s": whole}))
    assert in_stretches.schema == at_once.schema
    assert texts(in_stretches) == texts(at_once) == cells
