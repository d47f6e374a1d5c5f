"""Scans: what they count, parts that others read, checksums, and memory that does not grow with the rows."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import pickle
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import hornbeam as hb
from hornbeam.errors import SourceChanged, UsageError
from hornbeam.table.sources import ScanStats, Tally
from hornbeam.table.sources.part import PART_ROWS
from tests.unit.table.sources.rows import gathered, people, plain, rows_of, write_files


def tally_of(pickled: bytes) -> Tally:
    """What another process does with a part."""
    chunks = pickle.loads(pickled).scan(chunk_rows=64)
    for _ in chunks:
        pass
    return chunks.tally  # type: ignore[no-any-return]


def test_scans_rows_and_bytes_are_counted(tmp_path: Path) -> None:
    glob = write_files(people(900), tmp_path / "a")
    source = hb.source(glob)
    assert source.stats == ScanStats()
    rows_of(source)
    first = source.stats
    assert (first.scans, first.rows) == (1, 900)
    assert 0 < first.bytes < sum(f.stat().st_size for f in (tmp_path / "a").iterdir())
    rows_of(source)
    assert source.stats == ScanStats(2, 1800, 2 * first.bytes)
    chunks = source.scan(chunk_rows=50)
    next(chunks)
    chunks.close()  # type: ignore[attr-defined]
    assert (source.stats.scans, source.stats.rows) == (3, 1850)


def test_parts_are_independent_and_can_be_read_by_other_processes(tmp_path: Path) -> None:
    source = hb.source(write_files(people(3000), tmp_path / "a"))
    rows_of(source)
    parts = source.parts()
    assert [(part.first_row, part.rows) for part in parts] == [(0, 1000), (1000, 1000), (2000, 1000)]
    assert plain(gathered(parts[1].scan())) == plain(people(3000).slice(1000, 1000))
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        tallies = list(pool.map(tally_of, [pickle.dumps(part) for part in reversed(parts)]))
    before = source.stats
    source.close_scan([*tallies, tallies[0]])  # a part that was read twice counts once
    assert source.stats == ScanStats(2, 6000, 2 * before.bytes)


def test_a_scan_of_parts_must_be_whole_and_the_same(tmp_path: Path) -> None:
    source = hb.source(write_files(people(3000), tmp_path / "a"))
    tallies = [tally_of(pickle.dumps(part)) for part in source.parts()]
    source.close_scan(tallies)
    with pytest.raises(UsageError, match=r"is not whole: '.*2\.parquet' was not read"):
        source.close_scan(tallies[:2])
    with pytest.raises(UsageError, match="read with different columns"):
        source.close_scan([*tallies[:2], replace(tallies[2], columns=("age",))])
    with pytest.raises(SourceChanged, match=r"1\.parquet' changed between two scans \(other values\)"):
        source.close_scan([tallies[0], replace(tallies[1], checksum=5), tallies[2]])
    with pytest.raises(
        SourceChanged, match=r"2\.parquet' changed between two scans \(1,000 rows, then 999\)"
    ):
        source.close_scan([*tallies, replace(tallies[2], rows=999)])


def test_large_tables_and_files_are_cut_into_parts(tmp_path: Path) -> None:
    table = pa.table({"a": np.arange(5 * PART_ROWS // 2, dtype=np.int32)})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=PART_ROWS // 2)
    for source in (hb.source(table), hb.source(tmp_path)):
        assert [part.rows for part in source.parts()] == [PART_ROWS, PART_ROWS, PART_ROWS // 2]


def test_equal_rows_have_equal_fingerprints_from_any_source(tmp_path: Path) -> None:
    table = people(2000).set_column(1, "age", people(2000).column("age").cast(pa.int64()))
    table = table.set_column(3, "job", pa.array(["a", "b"] * 1000))
    pc.write_csv(table, tmp_path / "a.csv")
    shuffled = table.take(np.random.default_rng(1).permutation(2000)).select(table.column_names[::-1])
    narrow = table.set_column(1, "age", table.column("age").cast(pa.int8()))
    glob = write_files(narrow, tmp_path / "a")
    found = set()
    for given in (table, shuffled, glob, tmp_path / "a.csv"):
        source = hb.source(given)
        assert source.fingerprint is None
        list(source.scan(["y", "age"]))
        assert source.fingerprint is None
        list(source.scan(chunk_rows=333))
        found.add(source.fingerprint)
    assert len(found) == 1
    other = hb.source(table.set_column(0, "id", pa.array([1, *range(1, 2000)])))
    list(other.scan())
    assert other.fingerprint not in found


def test_a_scan_without_a_checksum_compares_nothing() -> None:
    wild = hb.source(":memory:", sql="select random() as a from range(10)")
    for _ in range(3):
        assert sum(chunk.num_rows for chunk in wild.scan(checksum=False)) == 10
    assert wild.fingerprint is None


def test_a_process_that_leaves_scans_half_way_ends_well(tmp_path: Path) -> None:
    table = people(200_000)
    pc.write_csv(table, tmp_path / "a.csv")
    pq.write_table(table, tmp_path / "a.parquet")
    code = (
        "import hornbeam as hb; left = [hb.source('a.csv'), hb.source('a.parquet'), "
        "hb.source(':memory:', sql='from range(1000000)')]; "
        "left = [source.scan(chunk_rows=1000) for source in left]; print([next(s).num_rows for s in left])"
    )
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60
        )
        assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "[1000, 1000, 1000]", "")


def test_a_source_says_what_it_is(tmp_path: Path) -> None:
    source = hb.source(write_files(people(300), tmp_path / "a"), weight="size")
    lines = source.describe().splitlines()
    assert lines[0].startswith("3 Parquet files: ")
    assert "300 rows, 5 columns" in lines
    assert "  'job': nominal" in lines
    assert "  'size': numeric, float64 (weight)" in lines
    assert "can be scanned again" in lines
    query = hb.source(":memory:", sql="select 1 as a")
    assert "note: its rows have no numbers, so folds need a key" in query.describe()
    assert repr(query) == "<hornbeam source: DuckDB query, ':memory:' (select 1 as a)>"


class TestMemory:
    """Measured by Arrow's pool and Python's tracer; 40 MB of rows go by."""

    rows, limit = 1_000_000, 12 << 20

    def watched(self, chunks: Iterator[pa.RecordBatch]) -> tuple[int, int]:
        """The most that Arrow and Python held above what they held before."""
        before = pa.total_allocated_bytes()
        tracemalloc.start()
        most = rows = 0
        try:
            for chunk in chunks:
                rows += chunk.num_rows
                most = max(most, pa.total_allocated_bytes() - before)
            assert rows == self.rows
            return most, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Many chunks, each made when it is asked for."""
        for start in range(0, self.rows, 20_000):
            numbers = np.arange(start, start + 20_000)
            texts = pa.array([f"text {number:08d}" for number in range(100)]).take(pa.array(numbers % 100))
            yield pa.record_batch({"a": numbers, "b": numbers / 3, "c": texts, "d": numbers % 7})

    def test_a_function_of_many_chunks_stays_bounded(self) -> None:
        source = hb.source(self.batches)
        assert max(self.watched(source.scan())) < self.limit

    def test_one_row_group_of_all_rows_stays_bounded(self, tmp_path: Path) -> None:
        whole = pa.Table.from_batches(self.batches())
        pq.write_table(whole, tmp_path / "a.parquet", row_group_size=self.rows, compression="none")
        del whole
        assert pq.read_metadata(tmp_path / "a.parquet").num_row_groups == 1
        assert max(self.watched(hb.source(tmp_path).scan())) < self.limit

    def test_many_parts_hold_no_more_than_one(self) -> None:
        batch = pa.record_batch({"a": np.zeros(1 << 16, np.int8)})
        table = pa.Table.from_batches([batch] * 16)  # a part
        source = hb.source(pa.concat_tables([table] * 30))
        assert len(source.parts()) == 30
        tracemalloc.start()
        for _ in source.scan():
            pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 4 << 20

    def test_texts_that_are_all_different_stay_bounded(self, tmp_path: Path) -> None:
        texts = pa.array([f"customer {number:012d}" for number in range(self.rows)])
        pq.write_table(pa.table({"a": texts}), tmp_path / "a.parquet", row_group_size=self.rows)
        del texts
        assert max(self.watched(hb.source(tmp_path).scan())) < self.limit

    def test_csv_stays_within_what_arrow_reads_ahead(self, tmp_path: Path) -> None:
        whole = pa.concat_tables([pa.Table.from_batches(self.batches())] * 3)
        pc.write_csv(whole, tmp_path / "a.csv")
        del whole
        source = hb.source(tmp_path)
        before, most = pa.total_allocated_bytes(), 0
        for _ in source.scan():
            most = max(most, pa.total_allocated_bytes() - before)
        assert most < 64 << 20 < source.stats.bytes == (tmp_path / "a.csv").stat().st_size

    def test_a_query_stays_bounded(self) -> None:
        sql = f"select range as a, range / 3 as b, 'x' || (range % 100) as c from range({self.rows})"
        assert max(self.watched(hb.source(":memory:", sql=sql).scan())) < self.limit

    def test_a_sample_of_a_stream_holds_little_more_than_itself(self) -> None:
        source = hb.source(self.batches)
        before = pa.total_allocated_bytes()
        table = source.sample(1000, 1)
        assert table.num_rows == 1000
        assert pa.total_allocated_bytes() - before < 1 << 20
