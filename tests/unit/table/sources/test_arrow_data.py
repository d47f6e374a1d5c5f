"""Arrow tables, frames, datasets, streams and functions as sources."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import hornbeam as hb
from hornbeam.errors import DataError, DataTypeError, SourceChanged, StorageError, UsageError
from tests.unit.table.sources.rows import every_type, gathered, people, plain, rows_of, write_files


def test_tables_batches_and_frames_give_the_same_rows() -> None:
    table = people(1000)
    rows = plain(table)
    chunked = pa.concat_tables([table.slice(0, 300), table.slice(300)])
    for given in (table, chunked, table.combine_chunks().to_batches()[0], pl.from_arrow(table)):
        source = hb.source(given)
        assert rows_of(source) == rows
        assert rows_of(source) == rows
        assert source.rows == 1000
        assert source.repeatable
        assert source.ordered


def test_a_pandas_frame_brings_its_columns_and_not_its_index() -> None:
    frame = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": pd.Categorical(["x", None, "y"])}, index=[5, 3, 9])
    assert rows_of(hb.source(frame)) == [{"a": 1.0, "b": "x"}, {"a": None, "b": None}, {"a": 3.0, "b": "y"}]
    assert hb.source(pd.DataFrame([[1, 2]])).schema.names == ["x0", "x1"]
    with pytest.raises(
        DataError, match=r"the DataFrame cannot be read as an Arrow table: .*; give each column one"
    ):
        hb.source(pd.DataFrame({"a": [1, "x"]}))


def test_every_type_comes_through() -> None:
    table = every_type()
    found = gathered(hb.source(table).scan(chunk_rows=7))
    assert plain(found) == plain(table)


def test_a_frame_that_is_written_to_between_scans_is_noticed() -> None:
    values = np.arange(1000.0)
    source = hb.source(pa.table({"a": pa.array(values)}))
    rows_of(source)
    values[17] = -1
    with pytest.raises(SourceChanged, match="the Table of 1,000 rows changed between two scans"):
        rows_of(source)


class TestDatasets:
    def test_fragments_are_parts_and_folders_values_are_kept(self, tmp_path: Path) -> None:
        for year in (2020, 2021):
            write_files(people(200, year), tmp_path / f"year={year}", 2)
        source = hb.source(ds.dataset(tmp_path, partitioning="hive"))
        assert len(source.parts()) == 4
        assert source.rows == 400
        rows = rows_of(source)
        assert [row.pop("year") for row in rows] == [2020] * 200 + [2021] * 200
        assert rows == plain(people(200, 2020)) + plain(people(200, 2021))
        assert source.sample(50, 3).num_rows == 50
        pq.write_table(people(10), tmp_path / "year=2021" / "0.parquet")
        with pytest.raises(SourceChanged, match=r"year=2021/0\.parquet' changed since"):
            rows_of(source)

    def test_a_filter_and_csv_files_are_kept(self, tmp_path: Path) -> None:
        write_files(people(200), tmp_path / "a")
        few = hb.source(ds.dataset(tmp_path / "a").filter(ds.field("id") < 5))
        assert rows_of(few) == plain(people(5)) or len(rows_of(few)) == 5
        (tmp_path / "b.csv").write_text("a\n1\n2\n")
        source = hb.source(ds.dataset(tmp_path / "b.csv", format="csv"))
        assert source.rows is None
        assert rows_of(source) == [{"a": 1}, {"a": 2}]
        assert source.rows == 2

    def test_damaged_fragments_are_named(self, tmp_path: Path) -> None:
        write_files(people(2000), tmp_path / "a")
        content = (tmp_path / "a" / "1.parquet").read_bytes()
        data = ds.dataset(tmp_path / "a")
        (tmp_path / "a" / "1.parquet").write_bytes(content[:-200])
        with pytest.raises(DataError, match=r"1\.parquet': reading failed: "):
            hb.source(data)


class TestStreams:
    def reader(self) -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(people(0).schema, people(1000).to_batches(100))

    def test_a_reader_is_read_once_and_the_second_time_refused(self) -> None:
        source = hb.source(self.reader())
        assert not source.repeatable
        assert "can be scanned once" in source.describe()
        assert rows_of(source) == plain(people(1000))
        with pytest.raises(
            UsageError, match=r"can be read once, and was; write it .*\.spool\('rows\.parquet'\)"
        ):
            source.scan()
        with pytest.raises(UsageError, match="can be read once"):
            source.sample(3)

    def test_spooled_it_can_be_read_again(self, tmp_path: Path) -> None:
        path = str(tmp_path / "rows.parquet")
        once = hb.source(self.reader(), weight="size")
        with pytest.raises(StorageError, match=r"does not end with \.parquet"):
            once.spool(str(tmp_path / "rows.csv"))
        source = once.spool(path)
        assert pq.read_metadata(path).num_row_groups == 1
        assert source.repeatable
        assert source.weight == "size"
        assert rows_of(source) == rows_of(source) == plain(people(1000))
        with pytest.raises(StorageError, match="exists already; give the name of a new"):
            source.spool(path)
        with pytest.raises(StorageError, match=r"cannot write .*: there is no such file or directory"):
            source.spool(str(tmp_path / "no" / "rows.parquet"))

    def test_every_type_can_be_spooled(self, tmp_path: Path) -> None:
        table = every_type()
        source = hb.source(table)
        list(source.scan())
        spooled = source.spool(str(tmp_path / "rows.parquet"))
        assert rows_of(spooled) == plain(table)
        assert spooled.fingerprint == source.fingerprint

    def test_a_spool_that_fails_leaves_nothing(self, tmp_path: Path) -> None:
        source = hb.source(":memory:", sql="select 1 as a, error('no more') as b from range(9)")
        with pytest.raises(DataError, match=r"the query failed after 0 rows: .*no more"):
            source.spool(str(tmp_path / "rows.parquet"))
        assert list(tmp_path.iterdir()) == []

    def test_a_duckdb_relation_is_asked_again_for_each_scan(self) -> None:
        table = people(3000)
        with duckdb.connect() as connection:
            source = hb.source(connection.from_arrow(table))
            assert rows_of(source) == rows_of(source) == plain(table)
        assert table.num_rows == source.rows

    def test_a_function_is_called_for_each_scan(self) -> None:
        calls = []

        def batches() -> Iterator[pa.RecordBatch]:
            calls.append(1)
            yield from people(1000).to_batches(100)

        for make in (batches, self.reader, lambda: people(1000), lambda: pl.from_arrow(people(1000))):
            source = hb.source(make)
            assert rows_of(source) == rows_of(source) == plain(people(1000))
        assert len(calls) == 3  # one for the schema
        with pytest.raises(DataError, match="gives no rows"):
            hb.source(lambda: iter([]))
        with pytest.raises(DataTypeError, match="a NoneType instead of batches"):
            hb.source(lambda: None)
        with pytest.raises(DataTypeError, match="a int among the batches"):
            hb.source(lambda: [1, 2])

    def test_batches_that_change_their_columns_are_refused(self) -> None:
        first = pa.record_batch({"a": [1, 2], "b": pa.nulls(2)})
        fine = pa.record_batch({"b": ["x"], "a": pa.array([3], pa.int8()), "c": [1]})
        assert rows_of(hb.source(lambda: [first, fine], columns=["a"]))[2] == {"a": 3}
        source = hb.source(lambda: [first, fine])
        with pytest.raises(
            DataError, match=r"rows from 2: column 'b' is text, but null before; give it one type"
        ):
            rows_of(source)
        source = hb.source(lambda: [first, pa.record_batch({"a": ["1"], "b": pa.nulls(1)})])
        with pytest.raises(DataError, match=r"rows from 2: column 'a' is text, but int64 before"):
            rows_of(source)
        source = hb.source(lambda: [first, pa.record_batch({"a": [1]})])
        with pytest.raises(DataError, match="column 'b' is missing from a batch"):
            rows_of(source)

    def test_what_goes_wrong_in_a_stream_is_said_with_its_place(self) -> None:
        def batches() -> Iterator[pa.RecordBatch]:
            yield from people(300).to_batches(100)
            raise pa.ArrowInvalid("the line was cut\nand more")

        source = hb.source(batches)
        with pytest.raises(DataError, match=r"batches': reading failed after 300 rows: the line was cut$"):
            rows_of(source)
        assert source.stats.rows == 300


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (5, "a source cannot be made of a int; allowed are the path"),
        (np.zeros((2, 2)), "cannot be made of a ndarray"),
        ({"a": [1]}, "cannot be made of a dict"),
        (pl.LazyFrame({"a": [1]}), "a lazy frame .*; collect it"),
        (pa.table({"a": [[1]]}), "the table: attribute 'a': type list"),
        (pa.table([[1], [2]], names=["a", "a"]), "more than once: 'a'"),
        (pa.table({"a": pa.array([], pa.int64())}), "the Table of 0 rows has no rows"),
        (pa.table({}), "0 columns; 1 to"),
    ],
)
def test_what_is_no_source_is_refused(given: object, words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        hb.source(given)
    assert "\n" not in str(caught.value)
