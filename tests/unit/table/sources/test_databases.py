"""Queries as sources: DuckDB, SQLite and PostgreSQL, streamed, and one line where they fail."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import hornbeam as hb
from hornbeam.errors import DataError, HornbeamError, SourceChanged, StorageError, UsageError
from hornbeam.table.sources import source
from hornbeam.table.sources.postgresql_queries import _without_password
from tests.databases import PostgreSQL, why_no_postgresql
from tests.unit.table.sources.rows import every_type, gathered, people, plain, rows_of


def refused(error: type[HornbeamError], words: str, place: str | Path, **options: object) -> bool:
    """Whether a source is refused with such an error, in these words and on one line."""
    with pytest.raises(error) as caught:
        for _ in hb.source(place, **options).scan(chunk_rows=2048):  # type: ignore[arg-type]
            pass
    text = str(caught.value)
    return re.search(words, text) is not None and "\n" not in text


@pytest.fixture
def warehouse(tmp_path: Path) -> str:
    place = str(tmp_path / "warehouse.duckdb")
    facts = people(5000)
    with duckdb.connect(place) as connection:
        connection.execute("create table people as select * from facts")
        connection.execute("create table jobs as select 'nurse' as job, 2.5 as pay")
    assert facts.num_rows
    return place


STAR = "select p.id, p.age, j.pay, p.y from people p left join jobs j using (job);"


class TestDuckDB:
    def test_a_star_join_streams_all_its_rows(self, warehouse: str) -> None:
        found = hb.source(warehouse, sql=STAR)
        chunks = list(found.scan(chunk_rows=2048))
        assert max(chunk.num_rows for chunk in chunks) <= 2048
        rows = sorted(plain(gathered(chunks)), key=lambda row: row["id"])  # type: ignore[arg-type,return-value]
        assert [row["id"] for row in rows] == list(range(5000))
        wanted = [2.5 if job == "nurse" else None for job in people(5000).column("job").to_pylist()]
        assert [None if row["pay"] is None else float(row["pay"]) for row in rows] == wanted  # type: ignore[arg-type]
        assert rows_of(found, ["y"])[0].keys() == {"y"}
        assert found.rows == 5000
        assert not found.ordered

    def test_tables_and_files_can_be_asked_for_too(self, warehouse: str, tmp_path: Path) -> None:
        assert len(rows_of(hb.source(warehouse, table="people"))) == 5000
        (tmp_path / "a.csv").write_text("a\n1\n2\n")
        sql = f"select sum(a)::bigint as a from '{tmp_path}/a.csv'"
        assert rows_of(hb.source(":memory:", sql=sql)) == [{"a": 3}]

    def test_every_type_of_the_database_comes_through(self, tmp_path: Path) -> None:
        place = str(tmp_path / "types.duckdb")
        given = every_type().drop_columns(["null", "float16", "numbered", "date64", "duration"])
        with duckdb.connect(place) as connection:
            connection.execute("create table t as select * from given")
            connection.execute("create type mood as enum ('sad', 'ok')")
            connection.execute("alter table t add column feeling mood default 'ok'")
        found = hb.source(place, table="t")
        rows = rows_of(found)
        assert len(rows) == 40
        assert {row["feeling"] for row in rows} == {"ok"}
        assert [row["text"] for row in rows] == given.column("text").to_pylist()
        assert [row["decimal"] for row in rows] == given.column("decimal").to_pylist()

    def test_a_query_that_fails_half_way_says_so(self, warehouse: str) -> None:
        sql = "select case when id < 4500 then id else cast(job || 'x' as bigint) end as a from people"
        words = r"warehouse.duckdb' \(select case .*\.\.\.\): the query failed after [\d,]+ rows: Conversion"
        assert refused(DataError, words, warehouse, sql=sql)

    def test_what_is_no_query_is_refused(self, warehouse: str, tmp_path: Path) -> None:
        assert refused(
            DataError, "the query failed: Catalog Error: Table with name nope", warehouse, sql="from nope"
        )
        assert refused(DataError, "the query failed: Parser Error", warehouse, sql="selec 1")
        assert refused(UsageError, "needs sql=.* or table=.*'jobs', 'people'", warehouse)
        assert refused(UsageError, "both given", warehouse, sql="select 1", table="people")
        assert refused(UsageError, "has no table 'nope'", warehouse, table="nope")
        assert refused(UsageError, "sql is empty", warehouse, sql=" ; ")
        assert refused(UsageError, "memory_limit='much'", warehouse, table="people", memory_limit="much")
        assert refused(UsageError, "types= is only for CSV", warehouse, table="people", types={})
        assert refused(DataError, "has no rows", warehouse, sql="select * from people where age > 1000")
        assert refused(DataError, "attribute 'l': type list", warehouse, sql="select [1] as l")
        assert refused(DataError, "more than once: 'a'", warehouse, sql="select 1 as a, 2 as a")
        (tmp_path / "bad.duckdb").write_bytes(b"no database" * 1000)
        assert refused(
            StorageError,
            "bad.duckdb' cannot be opened as a DuckDB database",
            tmp_path / "bad.duckdb",
            sql="x",
        )
        assert refused(
            StorageError, "none.duckdb' cannot be opened: No such file", tmp_path / "none.duckdb", sql="x"
        )

    def test_rows_that_change_between_scans_are_noticed(self, warehouse: str) -> None:
        found = hb.source(warehouse, table="people")
        first = rows_of(found)
        assert rows_of(found) == first
        with duckdb.connect(warehouse) as connection:
            connection.execute("update people set age = 99 where id = 17")
        words = r"warehouse.duckdb' \(select .*people.*\) changed between two scans \(other values\); a query"
        with pytest.raises(SourceChanged, match=words):
            rows_of(found)
        with duckdb.connect(warehouse) as connection:
            connection.execute("delete from people where id = 17")
        with pytest.raises(SourceChanged, match="5,000 rows, then 4,999"):
            rows_of(found)
        wild = hb.source(":memory:", sql="select random() as a from range(10)")
        rows_of(wild)
        with pytest.raises(SourceChanged, match="changed between two scans"):
            rows_of(wild)

    def test_a_scan_that_is_left_frees_the_database(self, warehouse: str) -> None:
        chunks = hb.source(warehouse, table="people").scan(chunk_rows=2048)
        next(chunks)
        chunks.close()  # type: ignore[attr-defined]
        with duckdb.connect(warehouse) as connection:
            connection.execute("drop table people")
            left = connection.execute("select table_name from duckdb_tables()").fetchall()
        assert left == [("jobs",)]


@pytest.fixture
def shop(tmp_path: Path) -> str:
    place = str(tmp_path / "shop.db")
    connection = sqlite3.connect(place)
    with connection:
        connection.execute("create table sales (id integer primary key, price real, city text, note, mixed)")
        rows = [(i, i / 4, f"c{i % 3}" if i % 5 else None, None, i if i % 2 else 0.5) for i in range(3000)]
        connection.executemany("insert into sales values (?, ?, ?, ?, ?)", rows)
    connection.close()
    return place


class TestSQLite:
    def test_types_are_those_of_all_values(self, shop: str) -> None:
        found = hb.source(shop, table="sales")
        assert [str(t) for t in found.schema.types[:2]] == ["int64", "double"]
        assert found.schema.field("city").type == pa.dictionary(pa.int32(), pa.string())
        assert found.schema.field("note").type == pa.null()
        assert found.schema.field("mixed").type == pa.float64()
        rows = rows_of(found)
        assert rows[:2] == [
            {"id": 0, "price": 0.0, "city": None, "note": None, "mixed": 0.5},
            {"id": 1, "price": 0.25, "city": "c1", "note": None, "mixed": 1.0},
        ]
        assert len(rows) == found.rows == 3000
        assert found.stats.scans == 2  # the types took one

    def test_queries_are_read_in_bounded_chunks(self, shop: str) -> None:
        found = hb.source(shop, sql="select city, count(*) as n from sales group by city -- by city")
        assert sum(row["n"] for row in rows_of(found)) == 3000  # type: ignore[misc]
        chunks = list(hb.source(shop, sql="select id from sales;").scan(chunk_rows=700))
        assert [chunk.num_rows for chunk in chunks] == [700, 700, 700, 700, 200]

    def test_what_cannot_be_read_is_refused(self, shop: str, tmp_path: Path) -> None:
        assert refused(UsageError, "needs sql=.* its tables are: 'sales'", shop)
        assert refused(
            DataError, "the query failed: no such column: nope", shop, sql="select nope from sales"
        )
        assert refused(DataError, "the query failed: near", shop, sql="delete from sales")
        assert refused(
            DataError,
            "column 'a' has text among numbers; cast it",
            shop,
            sql="select 1 as a union select 'x'",
        )
        assert refused(DataError, "column 'a' has blobs", shop, sql="select x'00' as a")
        assert refused(DataError, "more than once: 'a'", shop, sql="select 1 as a, 2 as a")
        assert refused(DataError, "has no rows", shop, sql="select * from sales where id < 0")
        words = r"shop.db' \(select .*\): the query failed after 0 rows: Integer value 9007199254740993 is"
        assert refused(DataError, words, shop, sql="select 9007199254740993 as a union all select 0.5")
        (tmp_path / "a.sqlite").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
        assert refused(DataError, "the query failed: ", tmp_path / "a.sqlite", table="t")

    def test_rows_that_change_between_scans_are_noticed(self, shop: str) -> None:
        found = hb.source(shop, table="sales")
        rows_of(found)
        connection = sqlite3.connect(shop)
        with connection:
            connection.execute("update sales set city = 'c9' where id = 2999")
        with pytest.raises(SourceChanged, match=r"shop.db' .* changed between two scans \(other values\)"):
            rows_of(found)
        with connection:
            connection.execute("delete from sales where id = 2999")
        connection.close()
        with pytest.raises(SourceChanged, match="3,000 rows, then 2,999"):
            found.sample(10)


@pytest.fixture(scope="module")
def server() -> Iterator[PostgreSQL]:
    pytest.importorskip("adbc_driver_postgresql", reason="no Arrow driver of PostgreSQL")
    if why := why_no_postgresql():
        pytest.skip(why)
    server = PostgreSQL()
    yield server
    server.stop()


class TestPostgreSQL:
    def test_without_its_driver_one_line_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(__import__("sys").modules, "adbc_driver_postgresql", None)
        assert refused(
            UsageError, "not installed; say: pip install adbc-driver-postgresql", "postgresql://x/y", sql="x"
        )

    def test_passwords_are_never_shown(self) -> None:
        for place in (
            "postgresql://me:se@cret@host/db?password=secret",
            "postgres://host/db?password=secret",
        ):
            assert "cret" not in _without_password(place)

    def test_queries_stream_from_a_server(self, server: PostgreSQL) -> None:
        address = f"postgresql://hornbeam@/postgres?host={server.folder}"
        sql = (
            "select i::bigint as id, i / 4.0::float8 as price, 'c' || i % 3 as city, i % 2 = 0 as even, "
            "date '2020-01-01' + i as day from generate_series(0, 199999) i"
        )
        found = source(address, sql=sql)
        rows, largest = 0, 0
        for chunk in found.scan(chunk_rows=10_000):
            rows, largest = rows + chunk.num_rows, max(largest, chunk.num_rows)
        assert (rows, largest) == (200_000, 10_000)
        assert [str(t) for t in found.schema.types] == [
            "int64",
            "double",
            "dictionary<values=string, indices=int32, ordered=0>",
            "bool",
            "date32[day]",
        ]
        assert found.sample(5, 1).num_rows == 5
        assert refused(DataError, "the query failed: ", address, sql="select nope")
        halfway = "select 1 / (199998 - i) as a from generate_series(0, 199999) i"
        assert refused(DataError, "the query failed after .* rows: .*division by zero", address, sql=halfway)
        assert refused(UsageError, "needs sql=.*its tables are: none", address)
        assert refused(
            StorageError,
            "cannot be reached",
            "postgresql://hornbeam:secret@/nope?host=/nowhere",
            sql="select 1",
        )
