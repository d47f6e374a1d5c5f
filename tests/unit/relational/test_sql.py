"""SQL of first-order trees, run in databases."""

from __future__ import annotations

import sqlite3
from unittest.mock import patch

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.errors import UsageError
from hornbeam.model.dialects import dialect_named
from hornbeam.relational.logic import KEY, Constant, Literal, Variable
from hornbeam.relational.signature import Counted, Predicate, Signature
from hornbeam.relational.tree import Node, RelationalTree
from tests.relational_worlds import draw_tree, draw_world, leaf_of, run_sql

randoms = st.randoms(use_true_random=False)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@given(draw=randoms)
def test_sql_says_of_every_example_what_the_tree_says(dialect, draw):
    world, tree = draw_world(draw), draw_tree(draw)
    leaves = {key: leaf_of(world, i, tree) for i, key in enumerate(world.keys)}
    assert run_sql(world, dialect, tree.to_sql(dialect, "leaf")) == leaves
    said = {key: tree.answer(leaf) for key, leaf in leaves.items()}
    assert run_sql(world, dialect, tree.to_sql(dialect)) == said


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@given(draw=randoms)
def test_sql_gives_means_and_shares_exactly(dialect, draw):
    world, numbers, classes = draw_world(draw), draw_tree(draw, 3, regression=True), draw_tree(draw, 3)
    means = {key: numbers.answer(leaf_of(world, i, numbers)) for i, key in enumerate(world.keys)}
    assert run_sql(world, dialect, numbers.to_sql(dialect)) == means
    shares = {key: classes.shares(leaf_of(world, i, classes))[1] for i, key in enumerate(world.keys)}
    assert run_sql(world, dialect, classes.to_sql(dialect, "probability", "po's")) == shares


@given(draw=randoms, nesting=st.integers(1, 2))
def test_where_no_further_case_may_nest_conditions_are_joined(draw, nesting):
    world, tree = draw_world(draw), draw_tree(draw, 5)
    leaves = {key: leaf_of(world, i, tree) for i, key in enumerate(world.keys)}
    with patch.object(type(dialect_named("duckdb")), "nesting", nesting):
        text = tree.to_sql("duckdb", "leaf")
    assert max(len(line) - len(line.lstrip()) for line in text.splitlines()) <= 4 * nesting
    assert run_sql(world, "duckdb", text) == leaves


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_a_deep_chain_nests_no_deeper_than_databases_allow(dialect):
    signature = Signature({"r": Predicate("r", ("k", "x"), ("key", "x"), key=0)}, "key", "people", "k")
    nodes = []
    for level in range(60):  # yes goes on, no ends
        test = (
            Literal("r", (KEY, Variable(level + 1))),
            Literal("=", (Variable(level + 1), Constant(level))),
        )
        nodes.append(Node((1.0, 1.0), test, len(nodes) + 1, 120 - level))
    nodes += [Node((1.0, 0.0)) if i % 2 else Node((0.0, 1.0)) for i in range(61)]
    tree = RelationalTree("classification", "y", ("a", "b"), tuple(nodes), signature=signature)
    connection = duckdb.connect() if dialect == "duckdb" else sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE people (k INTEGER)")
    connection.execute("CREATE TABLE r (k INTEGER, x INTEGER)")
    connection.execute("INSERT INTO people VALUES (1), (2)")
    connection.executemany(
        "INSERT INTO r VALUES (?, ?)", [(1, x) for x in range(60)] + [(2, x) for x in range(7)]
    )
    said = dict(connection.execute(tree.to_sql(dialect, "leaf")).fetchall())
    assert said == {1: 60, 2: 120 - 7}


def test_what_sql_cannot_say_is_refused_in_one_line():
    leaf = RelationalTree("regression", "y", (), (Node((1.0, 2.0, 0.0)),))
    with pytest.raises(UsageError, match="does not know its tables"):
        leaf.to_sql()
    known = leaf.with_signature(Signature({}))
    with pytest.raises(UsageError, match="has no classes"):
        known.to_sql(output="probability")
    with pytest.raises(UsageError, match="output 'all' is unknown"):
        known.to_sql(output="all")
    with pytest.raises(UsageError, match="dialect 'oracle' is unknown"):
        known.to_sql("oracle")
    nodes = (Node((2.0, 0.0, 0.0), (Literal("r", (KEY,)),), 1, 2), Node((1.0, 1.0, 0.0)), *leaf.nodes)
    asks = RelationalTree("regression", "y", (), nodes)
    with pytest.raises(UsageError, match="asks 'r' with 1 columns"):
        asks.with_signature(Signature({})).to_sql()


def test_counted_rows_are_counted_up_to_the_time_of_the_example():
    counts = Predicate(
        "count_orders", ("id", "count"), ("customer", "n"), key=0, identity=0, table="people",
        counts=Counted("orders", "customer", "day"),
    )  # fmt: skip
    signature = Signature({"count_orders": counts}, "customer", "people", "id", "asked")
    test = (Literal("count_orders", (KEY, Variable(1))), Literal(">", (Variable(1), Constant(1.5))))
    nodes = (Node((1.0, 1.0), test, 1, 2), Node((1.0, 0.0)), Node((0.0, 1.0)))
    tree = RelationalTree("classification", "y", ("many", "few"), nodes, signature=signature)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people (id INTEGER, asked INTEGER)")
    connection.execute("INSERT INTO people VALUES (1, 10), (2, 3), (3, 10)")
    connection.execute("CREATE TABLE orders (customer INTEGER, day INTEGER)")
    connection.execute("INSERT INTO orders VALUES (1, 1), (1, 2), (2, 2), (2, 3)")
    assert dict(connection.execute(tree.to_sql()).fetchall()) == {1: "many", 2: "few", 3: "few"}
    assert tree.to_text().splitlines()[2].startswith("|   number of orders > 1.5")
