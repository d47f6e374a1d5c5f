"""Files: CSV, Parquet, DuckDB databases and ARFF, and one line for whatever cannot be read."""

import gzip
import io
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hornbeam.errors import DataError, HornbeamError, StorageError, UsageError
from hornbeam.table import from_data, read_path


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


class TestCsv:
    text = 'n,f,s,b,d\n1,0.5,x,true,2020-01-01\n,,,,\n3,1e9,"NA",false,2020-01-02\n'

    def test_types_are_inferred_and_empty_cells_are_missing(self, tmp_path: Path) -> None:
        table = read_path(write(tmp_path / "a.csv", self.text))
        kinds = [a.type for a in from_data(table).schema.attributes]
        assert kinds == ["int64", "float64", "nominal", "nominal", "date"]
        assert [column.null_count for column in table.columns] == [1] * 5

    def test_a_quoted_mark_is_text(self, tmp_path: Path) -> None:
        table = read_path(write(tmp_path / "a.csv", self.text))
        assert table.column("s").to_pylist() == ["x", None, "NA"]

    def test_the_marks_of_missing_cells_can_be_chosen(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.csv", "a,b\n1,NA\n-9,x\n")
        assert read_path(path).column("b").to_pylist() == [None, "x"]
        table = read_path(path, missing=["-9"])
        assert table.column("a").to_pylist() == [1, None]
        assert table.column("b").to_pylist() == ["NA", "x"]

    def test_gzip_and_standard_input_give_the_same_table(self, tmp_path: Path) -> None:
        plain = read_path(write(tmp_path / "a.csv", self.text))
        (tmp_path / "a.csv.gz").write_bytes(gzip.compress(self.text.encode()))
        assert read_path(tmp_path / "a.csv.gz").equals(plain)
        assert read_path(str(tmp_path / "a.csv.gz")).equals(plain)
        assert read_path("-", stdin=io.BytesIO(self.text.encode())).equals(plain)

    @pytest.mark.parametrize("ending", ["csv", "csv.gz", "-"])
    def test_a_type_that_shows_late_in_the_file_is_found(self, tmp_path: Path, ending: str) -> None:
        content = ("a,b\n" + "1,2\n" * 1_100_000 + "1.5,x\n").encode()
        path = tmp_path / f"a.{ending}"
        if ending == "-":
            table = read_path("-", stdin=io.BytesIO(content))
        else:
            path.write_bytes(gzip.compress(content, 1) if ending == "csv.gz" else content)
            table = read_path(path)
        assert [str(t) for t in table.schema.types] == ["double", "string"]
        assert table.num_rows == 1_100_001

    def test_newlines_quotes_and_a_byte_order_mark_are_read(self, tmp_path: Path) -> None:
        table = read_path(write(tmp_path / "a.csv", '\ufeff"a\nb","c"\n"x\ny","p""q"\n'))
        assert table.column_names == ["a\nb", "c"]
        assert table.to_pylist() == [{"a\nb": "x\ny", "c": 'p"q'}]

    def test_a_process_that_read_csv_ends_well(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv.gz"
        path.write_bytes(gzip.compress(self.text.encode()))
        code = f"from hornbeam.table import read_path; read_path({str(path)!r}); read_path('-')"
        for _ in range(3):
            done = subprocess.run([sys.executable, "-c", code], input=self.text.encode(), timeout=60)
            assert done.returncode == 0

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"", "Empty CSV"),
            (b"a,b\n1\n", "Expected 2 columns, got 1"),
            (b"a,b\n1,2\n3\n", "Row #3: Expected 2 columns, got 1"),
            (b"a,b\n1,\xff\xfe\n", r"column 'b' is not UTF-8 text, it has b'\\xff\\xfe'; save it as UTF-8"),
            (b"a,\xfc\n1,2\n", "the header line is not UTF-8 text; save it as UTF-8"),
            (b"a,b\n" + b"1,x\n" * 1_100_000 + b"1,\xfc\n", "column 'b' is not UTF-8 text"),
            ("a,b\n1,2\n".encode("utf-16"), "UTF-16 text; save it as UTF-8"),
            (b"PAR1", r"Parquet; let its name end with \.parquet"),
            (gzip.compress(b"a,b\n1,2\n", mtime=0), r"gzip; let its name end with \.csv\.gz"),
            (b"PK\x03\x04\x14\0\6\0", "a spreadsheet or a zip archive; save the sheet as CSV"),
            (b"a,a\n1,2\n", "more than once: 'a'"),
        ],
    )
    def test_what_is_no_csv_is_refused_on_one_line(self, tmp_path: Path, content: bytes, words: str) -> None:
        (tmp_path / "a.csv").write_bytes(content)
        with pytest.raises(DataError, match=words) as caught:
            read_path(tmp_path / "a.csv")
        assert "\n" not in str(caught.value)

    def test_a_broken_gzip_file_is_refused(self, tmp_path: Path) -> None:
        whole = gzip.compress(os.urandom(20_000).hex().encode())
        for content in (b"not gzip", whole[: len(whole) // 2]):
            (tmp_path / "a.csv.gz").write_bytes(content)
            with pytest.raises(DataError, match=r"a\.csv\.gz' is not a readable CSV file"):
                read_path(tmp_path / "a.csv.gz")


class TestParquet:
    def test_types_survive(self, tmp_path: Path) -> None:
        table = pa.table({"u": pa.array([2**64 - 1], pa.uint64()), "d": pa.array(["x"]).dictionary_encode()})
        pq.write_table(table, tmp_path / "a.parquet")
        assert from_data(read_path(tmp_path / "a.parquet")).schema == from_data(table).schema

    def test_a_broken_file_is_refused(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"a": list(range(1000))}), tmp_path / "a.parquet")
        content = (tmp_path / "a.parquet").read_bytes()
        for broken in (b"", b"text", content[:-10], content[: len(content) // 2]):
            (tmp_path / "b.parquet").write_bytes(broken)
            with pytest.raises(DataError, match="is not a readable Parquet file") as caught:
                read_path(tmp_path / "b.parquet")
            assert "\n" not in str(caught.value)

    def test_a_changed_page_is_found_where_checksums_were_written(self, tmp_path: Path) -> None:
        values = [float(i) * 1.7 for i in range(1000)]
        pq.write_table(
            pa.table({"a": values}), tmp_path / "a.parquet", write_page_checksum=True, compression="none"
        )
        content = bytearray((tmp_path / "a.parquet").read_bytes())
        content[len(content) // 2] ^= 1
        (tmp_path / "a.parquet").write_bytes(bytes(content))
        with pytest.raises(DataError, match="readable Parquet"):
            read_path(tmp_path / "a.parquet")


class TestDuckDB:
    @pytest.fixture
    def database(self, tmp_path: Path) -> Path:
        path = tmp_path / "w.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute("create table sales as select i, 'v' || (i % 3) as v from range(10) r(i)")
        return path

    def test_a_query_is_a_table(self, database: Path) -> None:
        table = read_path(database, sql="select v, sum(i) as total from sales group by v order by v")
        assert table.column("v").to_pylist() == ["v0", "v1", "v2"]
        assert from_data(table).columns[1].values.tolist() == [18, 12, 15]

    def test_without_a_query_the_tables_are_named(self, database: Path) -> None:
        with pytest.raises(UsageError, match=r"needs a query .* its tables are: sales"):
            read_path(database)

    @pytest.mark.parametrize(
        "sql",
        ["select nothing from nowhere", "selec", "drop table sales", "insert into sales values (1, 'x')"],
    )
    def test_a_query_that_fails_or_writes_is_refused(self, database: Path, sql: str) -> None:
        before = database.read_bytes()
        with pytest.raises(DataError, match="the query failed") as caught:
            read_path(database, sql=sql)
        assert "\n" not in str(caught.value)
        assert database.read_bytes() == before

    def test_a_statement_without_rows_is_refused(self, database: Path) -> None:
        with pytest.raises(UsageError, match="the statement gives no rows"):
            read_path(database, sql="-- nothing")

    def test_what_is_no_database_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="is not a readable DuckDB database file"):
            read_path(write(tmp_path / "a.duckdb", "text" * 5000), sql="select 1")

    def test_a_query_needs_a_database(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.csv", "a\n1\n")
        for given in (path, "-"):
            with pytest.raises(UsageError, match="needs a DuckDB database file"):
                read_path(given, sql="select 1")


@pytest.mark.parametrize("name", ["a.xlsx", "a", "a.gz", "a.json"])
def test_other_endings_are_refused_with_those_allowed(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"allowed are \.csv"):
        read_path(write(tmp_path / name, "x"))


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.duckdb", "a.arff"])
def test_a_file_that_is_not_there_is_a_storage_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(StorageError, match="cannot be opened: No such file") as caught:
        read_path(tmp_path / name, sql="select 1" if name.endswith("duckdb") else None)
    assert isinstance(caught.value, HornbeamError)
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(StorageError, match="is a directory"):
        read_path(tmp_path / "d.csv")


def test_memory_that_runs_out_is_not_blamed_on_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def short(*_: object, **__: object) -> None:
        raise pa.ArrowMemoryError("malloc of size 131136 failed")

    monkeypatch.setattr("pyarrow.csv.read_csv", short)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(MemoryError):
        read_path(tmp_path / "t.csv")
