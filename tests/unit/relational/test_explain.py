"""Explanations: the path of an example, with the rows that were found."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.errors import UsageError
from hornbeam.relational.database import Coded, Domain, Examples, Relation, route
from hornbeam.relational.explain import NOTE, explain
from hornbeam.relational.logic import KEY, Literal
from hornbeam.relational.tree import Node, RelationalTree
from tests.relational_trees import ANY, CHURN, c, v
from tests.relational_worlds import coded_of, draw_tree, draw_world, leaf_of


@given(draw=st.randoms(use_true_random=False))
def test_the_path_is_that_of_the_example(draw):
    world, tree = draw_world(draw), draw_tree(draw)
    coded = coded_of(world)
    for i, key in enumerate(world.keys):
        told = explain(tree, coded, key)
        leaf = leaf_of(world, i, tree)
        assert (told.leaf, told.prediction) == (leaf, tree.answer(leaf))
        assert all(len(step.rows) == asked(tree, step) for step in told.steps if step.holds)
        assert all((step.unmet is None) == step.holds for step in told.steps)
        json.dumps(told.to_record())
        for step in told.steps:
            for row in step.rows:
                held = tuple(row.values.values())
                assert held in world.rows_of(row.relation, i)


@given(draw=st.randoms(use_true_random=False))
def test_the_engine_routes_any_tree_as_its_meaning_says(draw):
    world, tree = draw_world(draw), draw_tree(draw)
    leaves = route(coded_of(world), tree)
    assert leaves.tolist() == [leaf_of(world, i, tree) for i in range(len(world.keys))]


def asked(tree, step):
    return sum(not literal.compares for literal in tree.nodes[step.node].test)


def shop() -> Coded:
    domains = {
        "customer": Domain("customer", "nominal", np.array(["ann", "bob"], dtype=object)),
        "order": Domain("order", "nominal", np.array(["o1", "o2", "o3"], dtype=object)),
        "item": Domain("item", "nominal", np.array(["i1", "i2"], dtype=object)),
        "product": Domain("product", "nominal", np.array(["p1"], dtype=object)),
        "category": Domain("category", "nominal", np.array(["food", "toys"], dtype=object)),
        "city": Domain("city", "nominal", np.array(["Paris"], dtype=object)),
        "status": Domain("status", "nominal", np.array(["late", "ok"], dtype=object)),
        "age": Domain("age", "numeric", np.array([20.0, 50.0])),
        "amount": Domain("amount", "numeric", np.array([10.0, 200.0])),
        "price": Domain("price", "numeric", np.array([5.0, 20.0])),
    }

    def relation(name, columns, types, rows, owner=None, key=None):
        codes = tuple(np.array(column, dtype=np.int32) for column in zip(*rows, strict=True))
        held = None if owner is None else np.array(owner, dtype=np.int32)
        return Relation(name, columns, types, codes, held, key)

    relations = [
        relation(
            "customers", ("id", "city", "age"), ("customer", "city", "age"),
            [(0, 0, 0), (1, -1, 1)], [0, 1], 0,
        ),
        relation(
            "orders", ("id", "customer", "status", "amount"), ("order", "customer", "status", "amount"),
            [(0, 0, 1, 0), (1, 0, 0, 1), (2, 1, 0, 0)], [0, 0, 1], 1,
        ),
        relation(
            "items", ("id", "order", "product", "price"), ("item", "order", "product", "price"),
            [(0, 1, 0, 0), (1, 2, 0, 1)], [0, 1],
        ),
        relation("products", ("id", "category"), ("product", "category"), [(0, 0)]),
    ]  # fmt: skip
    return Coded(Examples(np.array(["ann", "bob"], dtype=object)), domains, {r.name: r for r in relations})


def test_an_explanation_shows_rows_and_what_was_not_found():
    assert explain(CHURN, shop(), "ann").to_text() == (
        "ann: no\n"
        "1. has an order with status = 'late' and, for that order, an item with price <= 12.5? yes\n"
        "     orders: id = 'o2', customer = 'ann', status = 'late', amount = 200\n"
        "     items: id = 'i1', order = 'o2', product = 'p1', price = 5\n"
        "2. the product of that item has category = 'toys'? no\n"
        "     not found: the product of that item has category = 'toys'\n"
        "3. has an order #2 with amount > 100? yes\n"
        "     orders: id = 'o2', customer = 'ann', status = 'late', amount = 200\n"
        "=> no (no 100%)  n=2\n"
    )
    told = explain(CHURN, shop(), "bob")
    assert told.steps[0].unmet == "for that order, an item with price <= 12.5"
    assert [row.values["id"] for row in told.steps[0].rows] == ["o3"]
    assert "and no choice of such rows has: for that order, an item" in str(told)
    assert told.steps[1].rows == ()


def test_a_test_that_looks_back_over_a_no_comes_with_a_note():
    first = (Literal("orders", (v(1), KEY, ANY, ANY)),)
    second = (Literal("items", (ANY, v(1), ANY, c(99))),)
    third = (Literal("orders", (v(1), KEY, c("late"), ANY)),)
    nodes = (
        Node((3.0, 3.0), first, 1, 6),
        Node((3.0, 2.0), second, 2, 3),
        Node((1.0, 0.0)),
        Node((2.0, 2.0), third, 4, 5),
        Node((0.0, 2.0)),
        Node((2.0, 0.0)),
        Node((0.0, 1.0)),
    )
    tree = RelationalTree("classification", "churn", ("no", "yes"), nodes, signature=CHURN.signature)
    told = explain(tree, shop(), "ann")
    assert told.note == NOTE
    assert told.to_text().endswith(f"Note: {NOTE}\n")
    assert explain(CHURN, shop(), "ann").note is None


def test_keys_that_are_not_there_are_refused():
    with pytest.raises(UsageError, match="no example has the key 'eve'; keys are 'ann', 'bob'"):
        explain(CHURN, shop(), "eve")
