"""Parquet and CSV files as sources: globs, folders, types that must agree, and one line for what is wrong."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import hornbeam as hb
from hornbeam.errors import DataError, HornbeamError, SourceChanged, StorageError, UsageError
from hornbeam.table import read_path
from tests.unit.table.sources.rows import every_type, gathered, people, plain, rows_of, write_files


def refused(error: type[HornbeamError], words: str, *given: object, **options: object) -> bool:
    """Whether a source is refused with such an error, in these words and on one line."""
    with pytest.raises(error) as caught:
        for _ in hb.source(*given, **options).scan():  # type: ignore[arg-type]
            pass
    text = str(caught.value)
    return re.search(words, text) is not None and "\n" not in text


class TestWhichFiles:
    def test_globs_folders_lists_and_single_files_give_the_same_rows(self, tmp_path: Path) -> None:
        table = people(500)
        glob = write_files(table, tmp_path / "a")
        (tmp_path / "a" / "_SUCCESS").write_text("")
        (tmp_path / "a" / "notes.txt").write_text("")
        paths = sorted((tmp_path / "a").glob("*.parquet"))
        pq.write_table(table, tmp_path / "one[1].parquet")
        for given in (glob, str(tmp_path / "a"), tmp_path / "a", paths, tmp_path / "one[1].parquet"):
            assert rows_of(hb.source(given)) == plain(table)

    def test_folders_below_a_folder_are_read_too(self, tmp_path: Path) -> None:
        write_files(people(9), tmp_path / "a")
        (tmp_path / "all").mkdir()
        (tmp_path / "a").rename(tmp_path / "all" / "deep")
        assert rows_of(hb.source(tmp_path / "all")) == plain(people(9))
        assert rows_of(hb.source(str(tmp_path / "**" / "*.parquet"))) == plain(people(9))

    def test_what_names_no_files_is_refused(self, tmp_path: Path) -> None:
        assert refused(StorageError, r"no file matches .*\*\.parquet", str(tmp_path / "*.parquet"))
        assert refused(StorageError, "has no Parquet or CSV file", tmp_path)
        assert refused(StorageError, "cannot be opened: No such file", tmp_path / "a.parquet")
        assert refused(UsageError, "the list of files is empty", [])
        assert refused(UsageError, "files with this ending are no source; allowed are", tmp_path / "a.xlsx")
        assert refused(UsageError, "standard input .* is read once", "-")
        (tmp_path / "a.parquet").mkdir()
        assert refused(StorageError, "has no Parquet or CSV file", tmp_path / "a.parquet")

    def test_two_kinds_of_files_are_refused(self, tmp_path: Path) -> None:
        write_files(people(9), tmp_path / "a", 1)
        (tmp_path / "a" / "b.csv").write_text("a\n1\n")
        assert refused(UsageError, "files of two kinds, '.*parquet' and '.*csv'", tmp_path / "a")

    def test_values_in_the_names_of_folders_are_not_lost_in_silence(self, tmp_path: Path) -> None:
        write_files(people(9), tmp_path / "year=2020")
        assert refused(UsageError, "in the names of its folders .*partitioning='hive'", tmp_path)

    def test_options_of_other_kinds_are_refused(self, tmp_path: Path) -> None:
        glob = write_files(people(9), tmp_path / "a")
        assert refused(UsageError, "sql= is only for databases", glob, sql="select 1")
        assert refused(UsageError, "table= is only for databases", glob, table="t")
        assert refused(UsageError, "types= is only for CSV files", glob, types={"age": "text"})
        assert refused(UsageError, "weight='w' is not a column of .*'age'", glob, weight="w")
        assert refused(DataError, "the weight 'job' is no number but text", glob, weight="job")
        assert hb.source(glob, weight="size").weight == "size"


class TestParquet:
    def test_every_type_comes_through_and_text_by_dictionary(self, tmp_path: Path) -> None:
        table = every_type().drop_columns(["float16", "view"])
        source = hb.source(write_files(table, tmp_path / "a"))
        found = gathered(source.scan())
        assert found.schema == source.schema
        assert plain(found) == plain(table)
        for name in ("text", "large", "category"):
            assert source.schema.field(name).type == pa.dictionary(pa.int32(), pa.string())

    def test_columns_are_chosen_in_the_order_asked_for(self, tmp_path: Path) -> None:
        glob = write_files(people(300), tmp_path / "a")
        source = hb.source(glob)
        whole, few = list(source.scan()), list(source.scan(["y", "age"]))
        assert few[0].schema.names == ["y", "age"]
        assert plain(gathered(few)) == plain(gathered(whole).select(["y", "age"]))
        assert 0 < source.stats.bytes < 2 * sum(f.stat().st_size for f in (tmp_path / "a").iterdir())
        assert hb.source(glob, columns=["job"]).schema.names == ["job"]
        for wrong in (["nope"], [], ["age", "age"], "age"):
            with pytest.raises(UsageError, match="column"):
                source.scan(wrong)

    @pytest.mark.parametrize(("chunk_rows", "chunk_bytes"), [(1, 1 << 24), (7, 1 << 24), (10**6, 600)])
    def test_chunks_are_bounded_whatever_the_row_groups(
        self, tmp_path: Path, chunk_rows: int, chunk_bytes: int
    ) -> None:
        table = people(1000)
        source = hb.source(write_files(table, tmp_path / "a", group=400))
        chunks = list(source.scan(chunk_rows=chunk_rows, chunk_bytes=chunk_bytes))
        assert max(chunk.num_rows for chunk in chunks) <= min(chunk_rows, chunk_bytes // 20)
        assert plain(gathered(chunks)) == plain(table)
        for wrong in (0, 2.5):
            with pytest.raises(UsageError, match=f"chunk_rows={wrong}; whole numbers from 1"):
                source.scan(chunk_rows=wrong)  # type: ignore[arg-type]

    def test_types_that_hold_the_same_values_agree_between_files(self, tmp_path: Path) -> None:
        first = {"i": pa.array([1], pa.int8()), "f": pa.array([1.5], pa.float32()), "n": pa.nulls(1)}
        then = {"n": pa.array(["x"]), "f": pa.array([2.5]), "i": pa.array([2], pa.int64())}
        pq.write_table(pa.table({**first, "t": pa.array(["a"]).dictionary_encode()}), tmp_path / "0.parquet")
        pq.write_table(pa.table({**then, "t": pa.array(["b"], pa.large_string())}), tmp_path / "1.parquet")
        assert rows_of(hb.source(tmp_path)) == [
            {"i": 1, "f": 1.5, "n": None, "t": "a"},
            {"i": 2, "f": 2.5, "n": "x", "t": "b"},
        ]

    @pytest.mark.parametrize(
        ("then", "words"),
        [
            ({"a": ["x"], "b": [1.0]}, "1.parquet': column 'a' is text, but int64 in '.*0.parquet'"),
            ({"a": [1.0], "b": [1.0]}, "column 'a' is double, but int64"),
            ({"a": pa.array([1], pa.uint64()), "b": [1.0]}, "column 'a' is uint64, but int64"),
            ({"a": [1]}, "1.parquet': column 'b' is missing, which '.*0.parquet' has; it has 'a'"),
            ({"a": [1], "b": [1.0], "c": [1]}, "column 'c' is not in .*columns="),
            ({"a": [1], "b": [[1.0]]}, "1.parquet': attribute 'b': type list.* is not supported"),
        ],
    )
    def test_columns_that_differ_between_files_are_refused(
        self, tmp_path: Path, then: dict[str, object], words: str
    ) -> None:
        pq.write_table(pa.table({"a": [1], "b": [1.0]}), tmp_path / "0.parquet")
        pq.write_table(pa.table(then), tmp_path / "1.parquet")
        assert refused(DataError, words, tmp_path)

    def test_a_column_of_another_type_can_be_left_out(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"a": [1], "b": [[1.0]]}), tmp_path / "0.parquet")
        assert rows_of(hb.source(tmp_path, columns=["a"])) == [{"a": 1}]

    def test_decimals_beyond_64_bits_are_refused_with_their_file(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"d": pa.array([10**30], pa.decimal128(38, 0))}), tmp_path / "0.parquet")
        assert refused(DataError, r"0.parquet', rows from 0: attribute 'd': .* does not fit 64", tmp_path)

    def test_damaged_files_are_refused_by_name(self, tmp_path: Path) -> None:
        pq.write_table(people(5000), tmp_path / "a.parquet", write_page_checksum=True)
        content = (tmp_path / "a.parquet").read_bytes()
        for broken in (b"", b"text", content[:-10], content[: len(content) // 2]):
            (tmp_path / "b.parquet").write_bytes(broken)
            assert refused(DataError, "b.parquet' is not a readable Parquet file", tmp_path / "b.parquet")
        middle = bytearray(content)
        middle[len(content) // 2] ^= 255
        (tmp_path / "b.parquet").write_bytes(middle)
        assert refused(DataError, "b.parquet' is not a readable Parquet file", tmp_path / "b.parquet")

    def test_files_without_rows_are_fine_among_others_but_not_alone(self, tmp_path: Path) -> None:
        pq.write_table(people(0), tmp_path / "0.parquet")
        assert refused(DataError, "has no rows; at least one is needed", tmp_path)
        pq.write_table(people(5), tmp_path / "1.parquet")
        assert rows_of(hb.source(tmp_path)) == plain(people(5))


class TestChangingFiles:
    def test_a_file_that_is_written_again_is_refused_before_a_scan(self, tmp_path: Path) -> None:
        source = hb.source(write_files(people(300), tmp_path / "a"))
        assert len(rows_of(source)) == 300
        pq.write_table(people(100), tmp_path / "a" / "1.parquet")
        with pytest.raises(SourceChanged, match=r"1.parquet' changed since the source was opened \(.* bytes"):
            rows_of(source)

    def test_also_where_only_its_time_tells(self, tmp_path: Path) -> None:
        source = hb.source(write_files(people(300), tmp_path / "a"))
        os.utime(tmp_path / "a" / "2.parquet", ns=(1, 1))
        with pytest.raises(SourceChanged, match=r"2.parquet' changed .*\(it was written again\)"):
            rows_of(source)

    def test_a_file_that_changes_during_the_scan_is_noticed(self, tmp_path: Path) -> None:
        source = hb.source(write_files(people(3000), tmp_path / "a", files=1))
        chunks = source.scan(chunk_rows=10)
        next(chunks)
        os.truncate(tmp_path / "a" / "0.parquet", 500)
        with pytest.raises(SourceChanged, match="changed since the source was opened"):
            list(chunks)

    def test_a_file_that_vanishes_is_named(self, tmp_path: Path) -> None:
        source = hb.source(write_files(people(300), tmp_path / "a"))
        (tmp_path / "a" / "1.parquet").unlink()
        with pytest.raises(StorageError, match=r"1\.parquet' cannot be opened"):
            rows_of(source)


class TestCsv:
    def test_files_are_read_as_read_path_reads_them(self, tmp_path: Path) -> None:
        text = 'n,f,s,b,d\n1,0.5,x,true,2020-01-01\n,,,,\n3,1e9,"NA",false,2020-01-02\n'
        (tmp_path / "a.csv").write_text(text)
        (tmp_path / "b.csv.gz").write_bytes(gzip.compress(text.encode()))
        whole = plain(read_path(tmp_path / "a.csv"))
        source = hb.source(tmp_path)
        assert rows_of(source) == whole + whole
        assert source.stats.bytes == sum(f.stat().st_size for f in tmp_path.iterdir())
        assert rows_of(source, ["s", "n"]) == [{"s": row["s"], "n": row["n"]} for row in whole + whole]

    def test_the_first_rows_of_all_files_decide_the_types(self, tmp_path: Path) -> None:
        for name, text in {"0": "a,b\n1,\n", "1": "b,a\nx,2.5\n", "2": "a,b\n"}.items():
            (tmp_path / f"{name}.csv").write_text(text)
        assert rows_of(hb.source(tmp_path)) == [{"a": 1.0, "b": None}, {"a": 2.5, "b": "x"}]
        (tmp_path / "3.csv").write_text("a,b\nn/a,x\n")
        assert refused(DataError, "3.csv': column 'a' is text, but double", tmp_path)
        assert rows_of(hb.source(tmp_path, types={"a": "text"}))[2] == {"a": "n/a", "b": "x"}

    def test_a_value_that_does_not_fit_later_is_named_with_the_way_out(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("b,a\n" + "1,2\n" * 1_100_000 + "1,n/a\n")
        words = "column 'a' is int64 by its first rows, but has 'n/a' in line 1100002; .*types={'a': 'text'}"
        assert refused(DataError, words, tmp_path / "a.csv")
        assert refused(DataError, words, tmp_path / "a.csv", columns=["a"])
        *_, last = hb.source(tmp_path / "a.csv", types={"a": "text"}).scan(["a"])
        assert last.column(0)[-1].as_py() == "n/a"

    def test_types_that_mean_nothing_are_refused(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("a\n1\n")
        assert refused(
            UsageError, r"types\['a'\]='number'; allowed are text, float64", tmp_path, types={"a": "number"}
        )
        assert refused(UsageError, "types names 'b', which is not a column", tmp_path, types={"b": "text"})
        assert rows_of(hb.source(tmp_path, types={"a": pa.float32()})) == [{"a": 1.0}]

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"", "Empty CSV"),
            (b"a,b\n1,2\n3\n", "Expected 2 columns, got 1"),
            (b"a,b\n1,\xff\xfe\n", "column 'b' is not UTF-8 text"),
            (b"a,\xfc\n1,2\n", "is not UTF-8 text|not UTF-8"),
            (b"a,b\n" + b"1,x\n" * 1_100_000 + b"1,\xfc\n", "is not UTF-8 text; save it"),
            (b"PAR1", r"Parquet; let its name end with \.parquet"),
            (b"a,a\n1,2\n", "more than once: 'a'"),
            (b"a,b\n", "has no rows"),
        ],
    )
    def test_what_is_no_csv_is_refused_on_one_line(self, tmp_path: Path, content: bytes, words: str) -> None:
        (tmp_path / "a.csv").write_bytes(content)
        assert refused(DataError, words, tmp_path / "a.csv")

    def test_a_truncated_gzip_file_is_refused(self, tmp_path: Path) -> None:
        pc.write_csv(people(300_000), tmp_path / "a.csv")
        whole = gzip.compress((tmp_path / "a.csv").read_bytes(), 1)
        (tmp_path / "b.csv.gz").write_bytes(whole[: len(whole) - 1000])
        assert refused(DataError, "b.csv.gz' is not a readable CSV file", tmp_path / "b.csv.gz")
        (tmp_path / "b.csv.gz").write_bytes(b"no gzip at all")
        assert refused(DataError, "b.csv.gz' is not a readable CSV file", tmp_path / "b.csv.gz")
