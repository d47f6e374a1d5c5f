"""Databases and folders: what they tell of keys and references, what is declared, how they are opened."""

import gzip
import os
import sqlite3
import stat
import warnings
from pathlib import Path

import duckdb
import pytest

from hornbeam.errors import DataError, HornbeamError, StorageError, UsageError
from hornbeam.relational.data import RelationalData
from tests.unit.relational.test_data import rows_of

TABLES = """
create table account(id integer primary key, city varchar);
create table loan(id integer primary key, account integer references account(id), status varchar);
create table pay(no integer, loan integer references loan(id), amount double, primary key (no, loan));
insert into account values (1, 'Ulm'), (2, 'Bonn');
insert into loan values (10, 1, 'good'), (11, 2, 'bad'), (12, null, 'good');
insert into pay values (1, 10, 1.5), (1, 11, 2), (2, 11, null);
"""
FOUND = [
    "target loan.status",
    "account           2 rows  key id (by its {where})  shared by all examples",
    "loan              3 rows  key id (by its {where})  the examples",
    "         account -> account.id (by its {where})",
    "pay               3 rows  no key  of one example each, 1 reference away",
    "         loan -> loan.id (by its {where})",
]


@pytest.fixture
def duck(tmp_path: Path) -> Path:
    path = tmp_path / "bank.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES)
    return path


@pytest.fixture
def lite(tmp_path: Path) -> Path:
    path = tmp_path / "bank.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(TABLES.replace("references account(id)", "references Account"))
    connection.close()
    return path


def check(data: RelationalData, where: str) -> None:
    assert data.describe().splitlines() == [line.format(where=where) for line in FOUND]
    coded = data.coded()
    assert rows_of(coded, "pay") == [(10, 1, 10, 1.5), (11, 1, 11, 2.0), (11, 2, 11, None)]
    assert rows_of(coded, "loan")[2] == (12, 12, None)


def test_duckdb_tells_keys_and_references_by_its_constraints(duck: Path) -> None:
    check(RelationalData.from_duckdb(duck, target="loan.status"), "constraint")


def test_an_open_connection_of_duckdb_is_read(duck: Path) -> None:
    with duckdb.connect(str(duck)) as connection:
        check(RelationalData.from_duckdb(connection, target="loan.status"), "constraint")
        assert connection.execute("select 1").fetchall() == [(1,)]


def test_sqlite_tells_keys_and_references_by_its_schema(lite: Path) -> None:
    check(RelationalData.from_sqlite(lite, target="loan.status"), "schema")


def test_databases_are_opened_read_only(duck: Path, lite: Path) -> None:
    before = [path.read_bytes() for path in (duck, lite)]
    for path in (duck, lite):
        os.chmod(path, stat.S_IRUSR)
    RelationalData.from_duckdb(duck)
    RelationalData.from_sqlite(lite)
    assert [path.read_bytes() for path in (duck, lite)] == before
    assert {path.name for path in duck.parent.iterdir()} == {"bank.duckdb", "bank.sqlite"}


def test_what_is_declared_wins_over_what_is_found(duck: Path) -> None:
    with duckdb.connect(str(duck)) as connection:
        connection.execute("create view late as select loan, 1 as n from pay")
    data = RelationalData.from_duckdb(
        duck,
        references={"late": {"loan": "loan"}, "loan": {"account": None}},  # type: ignore[dict-item]
        target="loan.status",
    )
    text = data.describe()
    assert "account -> account.id" not in text
    assert "loan -> loan.id\n" in text


def test_some_tables_can_be_chosen(duck: Path) -> None:
    data = RelationalData.from_duckdb(duck, tables=["loan", "pay"], target="loan.status")
    assert set(data.coded().relations) == {"loan", "pay", "count_pay"}


def test_identifiers_are_text(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "u.duckdb")) as connection:
        connection.execute("create table t(id uuid primary key, c varchar)")
        connection.execute("insert into t values ('00000000-0000-0000-0000-000000000007', 'a')")
    coded = RelationalData.from_duckdb(tmp_path / "u.duckdb", target="t.c").coded()
    assert coded.examples.keys.tolist() == ["00000000-0000-0000-0000-000000000007"]


def folder(tmp_path: Path, **files: str) -> Path:
    for name, text in files.items():
        if name.endswith("_gz"):
            (tmp_path / f"{name[:-3]}.csv.gz").write_bytes(gzip.compress(text.encode()))
        else:
            (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


def test_a_folder_tells_keys_and_references_by_names_and_says_so(tmp_path: Path) -> None:
    path = folder(
        tmp_path,
        molecules="molecule_id,class\nm1,a\nm2,b\n",
        atom_gz="atom_id,molecule_id,charge\n1,m1,0.5\n2,m1,0.25\n3,m2,1\n",
        bond="atom1_id,second_atom_id,kind\n1,2,7\n",
    )
    data = RelationalData.from_csv_folder(path, target="molecules.class")
    assert data.describe().splitlines() == [
        "target molecules.class",
        "atom                3 rows  key atom_id (by its name)  of one example each, 1 reference away",
        "           molecule_id -> molecules.molecule_id (by its name)",
        "bond                1 rows  no key  of one example each, 2 references away",
        "           atom1_id -> atom.atom_id (by its name)",
        "           second_atom_id -> atom.atom_id (by its name)",
        "molecules           2 rows  key molecule_id (by its name)  the examples",
    ]
    assert rows_of(data.coded(), "atom") == [
        ("m1", 1, "m1", 0.5),
        ("m1", 2, "m1", 0.25),
        ("m2", 3, "m2", 1.0),
    ]


def test_a_column_with_a_value_twice_is_no_key_by_its_name(tmp_path: Path) -> None:
    path = folder(tmp_path, picture="picture_id,class\n1,a\n", object="picture_id,object_id\n1,o1\n1,o1\n")
    assert "object            2 rows  no key" in RelationalData.from_csv_folder(path).describe()


@pytest.mark.parametrize(
    ("orders", "why"),
    [
        ("id,customer_id\n1,1\n1,2\n2,1\n", "1 of 3 rows repeat a value"),
        ("id,customer_id\n1,1\n,2\n2,1\n", "1 of 3 rows have none"),
    ],
)
def test_a_spoilt_key_that_others_refer_to_is_told(tmp_path: Path, orders: str, why: str) -> None:
    path = folder(
        tmp_path, customers="id,churn\n1,a\n2,b\n", orders=orders, items="order_id,price\n1,3\n2,4\n"
    )
    message = f"table 'orders': 'id' is no key, for {why}; so items.order_id refers to nothing; mend"
    with pytest.warns(UserWarning, match=message):
        RelationalData.from_csv_folder(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RelationalData.from_csv_folder(path, keys={"orders": None})  # type: ignore[dict-item]


def test_a_file_with_names_alone_is_a_table_without_rows(tmp_path: Path) -> None:
    path = folder(
        tmp_path, customers="id,churn\n1,a\n2,b\n", orders="id,customer_id,state\n", items="id,order_id\n"
    )
    data = RelationalData.from_csv_folder(path, target="customers.churn")
    assert "orders              0 rows  key id (by its name)" in data.describe()
    coded = data.coded(data.default_bias())
    assert coded.relations["orders"].n_rows == 0
    assert rows_of(coded, "count_orders") == [(1, 1, 0), (2, 2, 0)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: RelationalData.from_csv_folder(p / "x"), r"is no folder"),
        (lambda p: RelationalData.from_csv_folder(p), r"holds no tables"),
        (lambda p: RelationalData.from_sqlite(p / "x.sqlite"), r"cannot be opened"),
        (lambda p: RelationalData.from_duckdb(p / "x.duckdb"), r"cannot be opened"),
        (lambda p: RelationalData.from_duckdb(7), r"is a path or a connection, not a int"),
    ],
)
def test_what_is_not_there_is_refused(tmp_path: Path, make: object, message: str) -> None:
    with pytest.raises(HornbeamError, match=message) as caught:
        make(tmp_path)  # type: ignore[operator]
    assert "\n" not in str(caught.value)


def test_junk_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "junk").write_bytes(b"\x00\x01junk" * 99)
    with pytest.raises(StorageError, match=r"is no SQLite database"):
        RelationalData.from_sqlite(tmp_path / "junk")
    with pytest.raises(StorageError, match=r"cannot be opened as a DuckDB database"):
        RelationalData.from_duckdb(tmp_path / "junk")


def test_a_damaged_sqlite_database_is_refused(tmp_path: Path, lite: Path) -> None:
    content = lite.read_bytes()
    lite.write_bytes(content[:100] + b"\xff" * 3000)
    with pytest.raises(DataError) as caught:
        RelationalData.from_sqlite(lite)
    assert "\n" not in str(caught.value)


def test_unknown_tables_and_options_are_refused(duck: Path) -> None:
    with pytest.raises(UsageError, match=r"has no table 'x'; its tables are 'account', 'loan', 'pay'"):
        RelationalData.from_duckdb(duck, tables=["x"])
    with pytest.raises(UsageError, match=r"from_duckdb has no parameter 'tarmac': allowed are target"):
        RelationalData.from_duckdb(duck, tarmac=1)
    with pytest.raises(UsageError, match=r"keys names table 'x'"):
        RelationalData.from_duckdb(duck, keys={"x": "id"})
