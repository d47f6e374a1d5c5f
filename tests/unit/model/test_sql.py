"""SQL: what is written, what is refused, and that size and nesting stay within what databases take."""

from __future__ import annotations

import math
import random
import re
import sqlite3
import struct
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from hornbeam.errors import UsageError
from hornbeam.model import Tree
from hornbeam.model.dialects import DIALECTS, binary_text
from hornbeam.table import Attribute, Schema, conform
from tests.databases import DuckDB, SQLite
from tests.unit.model.builder import chain, float_schema, plain_arrays, random_tree
from tests.unit.model.test_canonical import stump

NAMES = ("duckdb", "postgresql", "sqlite")
ENGINES = {"duckdb": DuckDB(), "sqlite": SQLite()}


def typed_stump(type_: str, code: int, labels: tuple[str, ...] = ()) -> Tree:
    """One test: value <= code, or label == the first label; missing values go right."""
    attribute = Attribute("x", "nominal" if labels else "numeric", type_, labels)
    arrays = plain_arrays(stump(["no", "yes"]))
    arrays["threshold_integer"][0] = code
    if labels:
        arrays["kind"][0] = 3
        arrays["branch_start"] = np.array([0, *[len(labels)] * 3])
        arrays["branch_code"] = np.arange(len(labels), dtype=np.int32)
        arrays["branch_child"] = np.array([0] + [1] * (len(labels) - 1), dtype=np.int32)
    return Tree(Schema((attribute,)), arrays, classes=["no", "yes"])


def literal(dialect: str, type_: str, code: int) -> str:
    """What the value of the only test is compared with."""
    found = re.search(r"WHEN (.*?) THEN", typed_stump(type_, code).to_sql(dialect))
    assert found
    return found[1].split(" <= ")[1]


def test_a_stump_reads_as_expected() -> None:
    assert stump(["no", "yes"]).to_sql() == "CASE\n  WHEN \"age\" <= 30.0e0 THEN 'no'\n  ELSE 'yes'\nEND"
    assert stump(["no", "yes"]).to_sql("sqlite", "leaf") == "CASE\n  WHEN `age` <= 30.0 THEN 1\n  ELSE 2\nEND"
    assert stump(["no", "yes"]).to_sql("postgresql", "probability", of="yes", table=("s", "t")) == (
        'SELECT *, CASE\n  WHEN "age" <= 30.0::float8 THEN 0.0::float8\n  ELSE 1.0::float8\nEND '
        'AS "probability:yes"\nFROM "s"."t"'
    )


def test_equal_answers_need_no_test() -> None:
    arrays = plain_arrays(stump(["no", "yes"]))
    arrays["count_class"][:] = (0, 1, 1, 1)
    tree = Tree(float_schema(1), arrays, classes=["no", "yes"])
    assert tree.to_sql() == "'yes'"
    assert "CASE" in tree.to_sql(output="leaf")


@pytest.mark.parametrize(
    ("labels", "written"),
    [([1, 2], ("1", "2")), ([False, True], ("FALSE", "TRUE")), ([1.0, 2.0], ("1.0e0", "2.0e0"))],
)
def test_class_labels_keep_their_type(labels: list[Any], written: tuple[str, str]) -> None:
    sql = stump(labels).to_sql()
    assert f"THEN {written[0]}\n" in sql
    assert f"ELSE {written[1]}\n" in sql


@pytest.mark.parametrize(
    ("type_", "code", "duckdb_", "postgresql", "sqlite"),
    [
        ("int64", -(2**63), str(-(2**63)), str(-(2**63)), str(-(2**63))),
        ("uint64", 0, str(2**63), str(2**63), None),
        ("uint64", -(2**63), "0", "0", "0"),
        ("decimal:2", -125, "-1.25", "-1.25", "-1.25"),
        ("decimal:-3", 5, "5000", "5000", "5000.0"),
        ("decimal:38", 1, f"'0.{'0' * 37}1'::DECIMAL(38, 38)", f"0.{'0' * 37}1", binary_text(1e-38)),
        ("decimal:40", 1, None, f"0.{'0' * 39}1", binary_text(1e-40)),
        ("decimal:0", 10**15, str(10**15), str(10**15), None),
        ("date", 20_000, "DATE '2024-10-04'", "DATE '2024-10-04'", "'2024-10-04'"),
        ("date", -800_000, "DATE '0222-09-04 (BC)'", "DATE '0222-09-04 BC'", None),
        ("date", 3_000_000, "DATE '10183-09-21'", "DATE '10183-09-21'", None),
        ("date", 2**31, None, None, None),
        ("date", 2**62, None, None, None),
        (
            "timestamp:s",
            -1,
            "TIMESTAMP '1969-12-31 23:59:59.000000'",
            "TIMESTAMP '1969-12-31 23:59:59.000000'",
            "'1969-12-31 23:59:59.000000000'",
        ),
        (
            "timestamp:us",
            -70_000_000_000_000_000,
            "TIMESTAMP '0250-10-15 (BC) 19:33:20.000000'",
            "TIMESTAMP '0250-10-15 19:33:20.000000 BC'",
            None,
        ),
        ("timestamp:s", 2**62, None, None, None),
        (
            "timestamp:ns",
            1999,
            "TIMESTAMP_NS '1970-01-01 00:00:00.000001999'",
            "TIMESTAMP '1970-01-01 00:00:00.000001'",
            "'1970-01-01 00:00:00.000001999'",
        ),
        (
            "timestamp:us:Europe/Berlin",
            1,
            "TIMESTAMPTZ '1970-01-01 00:00:00.000001+00'",
            "TIMESTAMPTZ '1970-01-01 00:00:00.000001+00'",
            "'1970-01-01 00:00:00.000001000'",
        ),
        ("time:ms", 1500, "TIME '00:00:01.500000'", "TIME '00:00:01.500000'", "'00:00:01.500000000'"),
        ("time:s", 86_400, "TIME '24:00:00.000000'", "TIME '24:00:00.000000'", "'24:00:00.000000000'"),
        ("time:s", -1, None, None, None),
        ("duration:ms", -2, "to_microseconds(-2000)", "INTERVAL '-2000 microseconds'", None),
        ("duration:s", 2**62, None, None, None),
    ],
)
def test_thresholds_are_written_exactly_or_refused(
    type_: str, code: int, duckdb_: str | None, postgresql: str | None, sqlite: str | None
) -> None:
    for dialect, expected in zip(NAMES, (duckdb_, postgresql, sqlite), strict=True):
        if expected is not None:
            assert literal(dialect, type_, code) == expected
            continue
        title = DIALECTS[dialect].title
        with pytest.raises(
            UsageError, match=f"'x': {title} has no {type_} value for the threshold .*; convert"
        ):
            literal(dialect, type_, code)


def test_nanoseconds_that_duckdb_cannot_write_are_counted() -> None:
    sql = typed_stump("timestamp:ns:UTC", 1_700_000_000_123_456_789).to_sql()
    assert 'epoch_ns("x") <= 1700000000123456789 /* 2023-11-14T22:13:20.123456789Z */' in sql
    assert "epoch_ns" in typed_stump("timestamp:ns", 2**63 - 1).to_sql()


def test_names_and_labels_are_quoted() -> None:
    tree = typed_stump("nominal", 0, ("a'b\\c\n", "z"))
    assert "'a''b\\c' || chr(10)" in tree.to_sql()
    assert "'a''b' || chr(92) || 'c' || chr(10)" in tree.to_sql("postgresql")
    assert "'a''b\\c' || char(10)" in tree.to_sql("sqlite")
    assert '"we""ird" = ' in tree.to_sql(columns={"x": 'we"ird'})
    assert "`we``ird` = " in tree.to_sql("sqlite", columns={"x": "we`ird"})


def test_what_postgresql_cannot_hold_never_arrives() -> None:
    tree = typed_stump("nominal", 0, ("\0", "z"))
    assert "WHEN FALSE THEN 'no'" in tree.to_sql("postgresql")
    assert "chr(0)" in tree.to_sql()
    with pytest.raises(UsageError, match="no name with a null character"):
        tree.to_sql("postgresql", columns={"x": "\0"})
    with pytest.raises(UsageError, match="no name with no character"):
        tree.to_sql(columns={"x": ""})


def test_booleans_of_sqlite_are_numbers_or_texts() -> None:
    tree = typed_stump("nominal", 0, ("false", "true"))
    assert "+`x` IN ('false', 0)" in tree.to_sql("sqlite")
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (x TEXT)")
    connection.executemany("INSERT INTO t VALUES (?)", [("false",), ("true",), ("0",), (None,)])
    answers = connection.execute(f"SELECT {tree.to_sql('sqlite')} FROM t").fetchall()
    assert [answer for (answer,) in answers] == ["no", "yes", "yes", "yes"]


def test_a_column_that_sqlite_does_not_have_is_an_error_there_too() -> None:
    connection = sqlite3.connect(":memory:")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        connection.execute(f"SELECT {stump(['no', 'yes']).to_sql('sqlite')} FROM (SELECT 1 AS size)")


def doubles(n: int) -> list[float]:
    """Of every exponent, of everyday size, subnormal, and the ends of each."""
    source = random.Random(0)
    found = [struct.unpack("d", source.randbytes(8))[0] for _ in range(n)]
    found += [source.gauss(0, 1) * 10 ** source.randint(-5, 5) for _ in range(n)]
    found += [round(source.uniform(-1e6, 1e6), source.randint(0, 6)) for _ in range(n)]
    found += [5e-324 * source.randrange(2**52) for _ in range(n)]
    found += [0.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e22, 1e23, 9007199254740993.0]
    return [x for x in found if math.isfinite(x)]


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_every_double_is_read_back_exactly(dialect: str) -> None:
    connection: Any = duckdb.connect() if dialect == "duckdb" else sqlite3.connect(":memory:")
    values = doubles(1500)
    for start in range(0, len(values), 500):
        part = values[start : start + 500]
        query = ", ".join(DIALECTS[dialect].real(x) for x in part)
        assert list(connection.execute(f"SELECT {query}").fetchone()) == part
    ends = ", ".join(DIALECTS[dialect].real(x) for x in (math.inf, -math.inf))
    assert connection.execute(f"SELECT {ends}").fetchone() == (math.inf, -math.inf)
    connection.close()


def test_sqlite_is_given_short_decimals_and_exact_products() -> None:
    assert DIALECTS["sqlite"].real(2.45) == "2.45"
    assert DIALECTS["sqlite"].real(0.1 + 0.2) == "(1351079888211149 * 1.0 / 4503599627370496)"
    assert eval(binary_text(5e-324)) == 5e-324
    assert eval(binary_text(-1.7976931348623157e308)) == -1.7976931348623157e308


def nested_cases(sql: str) -> int:
    deepest = level = 0
    for word in re.findall(r"\b(?:CASE|END)\b", sql):
        level += 1 if word == "CASE" else -1
        deepest = max(deepest, level)
    assert level == 0
    return deepest


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_a_chain_of_depth_5000_is_one_flat_case(dialect: str) -> None:
    tree = chain(5000, float_schema(1))
    sql = tree.to_sql(dialect, "leaf")
    assert nested_cases(sql) == 1
    assert len(sql) < 80 * tree.n_nodes
    rows = pa.table({"x0": pa.array([-1.0, 0.0, 0.5, 2500.25, 4999.0, 1e9, None, math.inf])})
    answers = ENGINES[dialect].ask(rows, [sql])
    assert [leaf for (leaf,) in answers] == tree.apply(conform(rows, tree.schema)).tolist()


@pytest.mark.parametrize("dialect", NAMES)
def test_nesting_grows_with_the_logarithm_of_the_leaves(dialect: str) -> None:
    for breadth_first in (True, False):
        tree = random_tree(np.random.default_rng(0), float_schema(3), 1023, breadth_first=breadth_first)
        depth = nested_cases(tree.to_sql(dialect, "leaf"))
        assert depth <= min(math.log2(tree.n_leaves), DIALECTS[dialect].nesting)


def test_where_sqlite_nests_no_further_conditions_are_joined() -> None:
    tree = random_tree(np.random.default_rng(1), float_schema(4), 2047)
    sql = tree.to_sql("sqlite", "leaf")
    assert nested_cases(sql) == 8
    assert ") AND (" in sql
    rng = np.random.default_rng(2)
    rows = pa.table({f"x{i}": rng.choice([-3.0, -0.1, 0.0, 0.05, 1.2, 2.0, 5.0], 300) for i in range(4)})
    answers = ENGINES["sqlite"].ask(rows, [sql])
    assert [leaf for (leaf,) in answers] == tree.apply(conform(rows, tree.schema)).tolist()


def test_all_gives_every_answer_beside_the_row() -> None:
    tree = random_tree(np.random.default_rng(3), float_schema(2), 12)
    rows = pa.table({f"x{i}": np.random.default_rng(i).choice([-3.0, 0.05, 2.0], 40) for i in range(2)})
    table = conform(rows, tree.schema)
    for name, engine in ENGINES.items():
        query = tree.to_sql(name, "all", table="t")
        found = sorted(engine.query(rows, query), key=lambda row: row[2])
        assert [row[3] for row in found] == tree.apply(table).tolist()
        assert [row[4] for row in found] == [tree.classes[k] for k in tree.predict_codes(table)]  # type: ignore[index]
        assert [list(row[5:]) for row in found] == tree.predict_shares(table).tolist()


def test_several_targets_are_asked_one_by_one_or_all() -> None:
    tree = random_tree(np.random.default_rng(4), float_schema(1), 5, n_targets=2)
    rows = pa.table({"x0": [-3.0, 0.05, 2.0, None]})
    means = tree.predict_means(conform(rows, tree.schema))
    for name, engine in ENGINES.items():
        expressions = [tree.to_sql(name, of=f"target {i}") for i in range(2)]
        assert [list(row) for row in engine.ask(rows, expressions)] == means.tolist()
        found = sorted(engine.query(rows, tree.to_sql(name, "all", table="t")), key=lambda row: row[1])
        assert [list(row[3:]) for row in found] == means.tolist()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"dialect": "mysql"}, "dialect 'mysql' is unknown; choose duckdb, postgresql, sqlite"),
        ({"output": "class"}, "output 'class' is unknown; choose prediction, probability, leaf, all"),
        ({"output": "probability"}, "'probability' needs of=, one of 'no', 'yes'"),
        ({"output": "probability", "of": "maybe"}, "of='maybe': no class; give of=, one of 'no', 'yes'"),
        ({"of": "yes"}, "leave it out, or ask output='probability'"),
        ({"output": "leaf", "of": "yes"}, "a leaf is of nothing; leave it out"),
        ({"output": "all"}, "is a whole query: name the table"),
        ({"output": "all", "table": "t", "of": "no"}, "has a column for each; leave it out"),
        ({"columns": {"size": "x"}}, "columns: 'size' is no attribute of the tree; it has 'age'"),
    ],
)
def test_wrong_questions_are_refused_in_one_line(given: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        stump(["no", "yes"]).to_sql(**given)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_wrong_questions_to_a_regression_are_refused() -> None:
    one, two = (random_tree(np.random.default_rng(0), float_schema(1), 2, n_targets=n) for n in (1, 2))
    with pytest.raises(UsageError, match="predicts numbers and has no classes"):
        one.to_sql(output="probability", of=1)
    with pytest.raises(UsageError, match="give of=, one of 'target 0', 'target 1', or ask output='all'"):
        two.to_sql()
    with pytest.raises(UsageError, match="of='size': no target; give one of 'target 0'"):
        one.to_sql(of="size")


def test_a_label_is_not_taken_for_another_of_its_value() -> None:
    with pytest.raises(UsageError, match="of=True: no class"):
        stump([0, 1]).to_sql(output="probability", of=True)
