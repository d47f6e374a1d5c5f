"""Queries over the facts of examples: solutions, witnesses, thresholds, trees that route other databases."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.errors import DataError, UsageError
from hornbeam.relational.database import Coded, route, solve, witness
from hornbeam.relational.growth import FirstOrderParameters, grow_first_order
from hornbeam.relational.logic import KEY, Anything, Constant, Literal, Query, Variable
from hornbeam.relational.tree import Node, RelationalTree
from tests.laws.relational_cases import KEY_TYPE, random_query
from tests.oracle.facts import Database, Domain, Relation, Row, holds
from tests.oracle.table import Classes
from tests.relational_coding import coded, query_of
from tests.relational_sql import sql_database, sql_of
from tests.unit.relational.databases import bias_of, coded_of, mode
from tests.unit.relational.known_data import pictures

X, Y, Z = (Variable(i) for i in (1, 2, 3))
TRI, IN, CIRC = Literal("tri", (KEY, X)), Literal("in", (KEY, X, Y)), Literal("circ", (KEY, Y))


def crowded(seed: int) -> Database:
    """Few examples with so many rows that they are looked up by value; shared rows; an empty relation."""
    source = random.Random(seed)
    keys = tuple(f"e{e}" for e in range(source.randrange(1, 5)))
    domains = {
        KEY_TYPE: Domain("nominal", keys),
        "a": Domain("nominal", tuple("abcdefgh"[: source.randrange(2, 9)])),
        "i": Domain("integer", tuple(range(source.randrange(2, 20)))),
    }

    def rows(types: tuple[str, ...], n: int) -> tuple[Row, ...]:
        return tuple(
            tuple(None if source.random() < 0.1 else source.choice(domains[t].values) for t in types)
            for _ in range(n)
        )

    def owned(types: tuple[str, ...]) -> Relation:
        owners = tuple(source.randrange(len(keys)) for _ in range(source.randrange(120)))
        body = rows(types, len(owners))
        keyed = tuple((keys[e], *row) for e, row in zip(owners, body, strict=True))
        return Relation((KEY_TYPE, *types), keyed, owners, 0)

    relations = {
        "p": owned(("a", "a")),
        "q": owned(("a", "i")),
        "r": Relation(("a", "i"), rows(("a", "i"), source.randrange(60))),
        "s": Relation((KEY_TYPE, "a"), (), (), 0),
    }
    return Database(keys, domains, relations)


def in_code(database: Database) -> Coded:
    return coded(database, Classes(tuple("t" for _ in database.keys)), KEY_TYPE)


@given(st.integers(0, 2**32), st.integers(1, 5))
def test_rows_found_by_value_are_those_found_one_by_one(seed: int, length: int) -> None:
    source, database = random.Random(seed), crowded(seed)
    data = in_code(database)
    for _ in range(5):
        query = random_query(source, database, length)
        found = solve(data, query_of(query))
        assert found.tolist() == [holds(database, query, e) for e in range(len(database.keys))]


@pytest.mark.parametrize("seed", range(4))
def test_rows_found_by_value_are_those_that_SQL_finds(seed: int) -> None:
    source, database = random.Random(seed), crowded(seed)
    data, connection = in_code(database), sql_database(database)
    for length in range(1, 9):
        query = random_query(source, database, 1 + length // 2)
        found = solve(data, query_of(query))
        rows = connection.execute(sql_of(database, query)).fetchall()
        assert set(np.flatnonzero(found).tolist()) == {row[0] for row in rows}


def test_rows_of_a_large_shared_relation_are_found_by_value() -> None:
    n = 70_000  # more than are sorted by comparing them
    values = np.random.default_rng(0).integers(0, 500, n)
    rows = [(None if i % 7 == 0 else value, i % 9) for i, value in enumerate(values.tolist())]
    data = coded_of([1], {"big": (("value", "kind"), rows)}, target=["t"])
    for value, kind in ((3, 4), (499, 0), (250, 8)):
        there = [i for i, row in enumerate(rows) if row == (value, kind)]
        query = (Literal("big", (Constant(value), Constant(kind))),)
        assert witness(data, query, 0) == ((there[0],) if there else None)
    assert not solve(data, (Literal("big", (Constant(500), Anything())),)).any()


def answers(coded: Coded, *query: Literal) -> set[int]:
    return {key for key, found in zip((1, 2, 3, 4, 5, 6), solve(coded, query), strict=True) if found}


def test_a_solution_is_sought_past_the_first_binding() -> None:
    data, _ = pictures()
    up = Literal("config", (KEY, X, Constant("up")))
    assert answers(data, TRI) == {1, 2, 3, 4, 5, 6}
    assert answers(data, TRI, IN) == {1, 3, 5, 6}
    assert answers(data, TRI, IN, CIRC) == {1, 5, 6}
    assert answers(data, TRI, IN, Literal("circ", (KEY, Z))) == {1, 3, 5, 6}
    assert answers(data, TRI, IN, CIRC, up) == {1}
    assert answers(data, TRI, up) == {1, 2, 3, 5, 6}
    assert answers(data) == {1, 2, 3, 4, 5, 6}


def test_a_witness_names_the_rows_of_the_first_solution() -> None:
    data, _ = pictures()
    rows = witness(data, (TRI, IN, CIRC), 4)
    assert rows is not None
    names = [data.relations[name].data[1][row] for name, row in zip(("tri", "in", "circ"), rows, strict=True)]
    assert data.domains["obj"].values[names].tolist() == ["b", "b", "c"]
    assert witness(data, (TRI, IN, CIRC), 2) is None
    assert witness(data, (TRI, Literal("=", (X, X))), 0) == (0, None)
    assert witness(data, (), 0) == ()


def orders() -> Coded:
    rows = [(1, 5.0), (1, None), (1, 2.5), (2, 7.0), (3, None), (4, 2.5), (4, 9.0)]
    return coded_of((1, 2, 3, 4, 5), {"order": (("key", "price"), rows)}, target=["y", "n", "n", "y", "n"])


def test_missing_values_satisfy_only_what_asks_nothing() -> None:
    data = orders()
    some = Literal("order", (KEY, X))
    assert solve(data, (some,)).tolist() == [True, True, True, True, False]
    assert solve(data, (Literal("order", (KEY, Anything())),)).tolist() == [True, True, True, True, False]
    for comparison in (
        Literal("=", (X, X)),
        Literal("<=", (X, Constant(100))),
        Literal(">", (X, Constant(-1))),
    ):
        assert solve(data, (some, comparison)).tolist() == [True, True, False, True, False]
    assert solve(data, (some, Literal("order", (KEY, X)))).tolist() == [True, True, False, True, False]


@pytest.mark.parametrize("threshold", [-1, 0.0, 2.4, 2.5, 2.6, 5.0, 7.0, 8.9, 9.0, 1e300, float("inf")])
def test_a_threshold_asks_for_the_least_or_the_greatest_value(threshold: float) -> None:
    data = orders()
    least, most = {0: 2.5, 1: 7.0, 3: 2.5}, {0: 5.0, 1: 7.0, 3: 9.0}
    some = Literal("order", (KEY, X))
    below = solve(data, (some, Literal("<=", (X, Constant(threshold)))))
    above = solve(data, (some, Literal(">", (X, Constant(threshold)))))
    assert below.tolist() == [e in least and least[e] <= threshold for e in range(5)]
    assert above.tolist() == [e in most and most[e] > threshold for e in range(5)]


def test_whole_numbers_have_whole_thresholds() -> None:
    data = coded_of(
        range(6),
        {"n": (("key", "size"), [(e, 10 * e) for e in range(6)])},
        target=["a", "a", "b", "b", "b", "b"],
    )
    bias = bias_of(data, [mode("n(+K,-S); S <= #")])
    tree = grow_first_order(data, bias, FirstOrderParameters("entropy", 1)).tree(0)
    assert tree.nodes[0].test == (Literal("n", (KEY, X)), Literal("<=", (X, Constant(15))))


def test_a_tree_routes_a_database_with_other_codes() -> None:
    data = orders()
    bias = bias_of(data, [mode("order(+K,-P); P <= #")])
    tree = grow_first_order(data, bias, FirstOrderParameters("entropy", 1)).tree(0)
    assert tree.nodes[0].test[1] == Literal("<=", (X, Constant(4.75)))
    rows = [("u", 4.7), ("v", 4.75), ("w", 4.76), ("w", 100.0), ("x", None)]
    other = coded_of(("u", "v", "w", "x", "y"), {"order": (("key", "price"), rows)})
    leaf = route(other, tree)
    assert leaf.tolist() == [tree.nodes[0].yes] * 2 + [tree.nodes[0].no] * 3
    assert route(other, tree, [4, 0]).tolist() == [tree.nodes[0].no, tree.nodes[0].yes]


def test_a_constant_that_no_row_has_is_no_error_when_routing() -> None:
    data, _ = pictures()
    test: Query = (Literal("config", (KEY, X, Constant("sideways"))),)
    tree = RelationalTree(
        "classification", "class", ("a", "b"), (Node((1, 1), test, 1, 2), Node((1, 0)), Node((0, 1)))
    )
    assert route(data, tree).tolist() == [2] * 6


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ((Literal("rectangle", (KEY, X)),), "no relation 'rectangle'"),
        ((Literal("tri", (KEY,)),), "has 1 terms; the relation has 2 columns"),
        ((Literal("=", (X, Constant("a"))),), "no relation before it binds"),
        ((TRI, Literal("<=", (X, Constant(3)))), "which is nominal"),
        ((TRI, Literal("=", (X, Anything()))), "a variable or a constant"),
    ],
)
def test_a_query_that_means_nothing_is_refused(query: Query, says: str) -> None:
    data, _ = pictures()
    with pytest.raises((DataError, UsageError), match=says):
        solve(data, query)


def test_an_example_that_is_not_there_is_refused() -> None:
    data, _ = pictures()
    with pytest.raises(UsageError, match="examples 0 to 5"):
        solve(data, (TRI,), [6])
    with pytest.raises(UsageError, match="examples 0 to 5"):
        witness(data, (TRI,), -1)
