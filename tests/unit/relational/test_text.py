"""First-order trees as text: words, ACE's layout, rules, pictures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.errors import UsageError
from hornbeam.relational.logic import KEY, Literal, Variable, connected, variable_name
from hornbeam.relational.tree import Node, RelationalTree
from hornbeam.relational.words import article, singular
from hornbeam.relational.words import test_words as words_of
from tests.relational_trees import ANY, CHURN, LATE, MACHINES, SHOP, c, v
from tests.relational_worlds import draw_tree


def test_ace_layout_is_aces():
    assert MACHINES.to_text("ace") == (
        "class(-A,-B)\n"
        "worn(A,C) ?\n"
        "+--yes: not_replaceable(C) ?\n"
        "|       +--yes: [sendback] 6.0 [[fix:0.0,ok:0.0,sendback:6.0]]\n"
        "|       +--no:  [fix] 6.0 [[fix:6.0,ok:0.0,sendback:0.0]]\n"
        "+--no:  [ok] 3.0 [[fix:0.0,ok:3.0,sendback:0.0]]\n"
    )


def test_without_names_of_columns_tests_are_read_in_logic():
    lines = MACHINES.to_text().splitlines()
    assert lines[1:3] == [
        "root  n=15  fix (fix 40.0%, sendback 40.0%, ok 20.0%)",
        "|   worn(A,C)  n=12  fix (fix 50.0%, sendback 50.0%)",
    ]
    assert lines[-1] == "|   otherwise  n=3  ok (ok 100%) *"


def test_a_test_is_told_in_words():
    lines = CHURN.to_text().splitlines()
    assert [line.split("  n=")[0] for line in lines[1:]] == [
        "root",
        "|   has an order with status = 'late' and, for that order, an item with price <= 12.5",
        "|   |   the product of that item has category = 'toys'",
        "|   |   otherwise",
        "|   |   |   has an order #2 with amount > 100",
        "|   |   |   otherwise",
        "|   otherwise",
        "|   |   city = 'Paris' and age <= 30",
        "|   |   otherwise",
    ]


def test_later_tests_refer_to_what_was_found():
    amount = Literal("orders", (v(1), KEY, ANY, v(2)))
    assert words_of(SHOP, (amount,), (Literal("<=", (v(2), c(5))),)) == "the amount of that order <= 5"
    assert words_of(SHOP, LATE, (Literal("orders", (v(1), KEY, ANY, c(7))),)) == "that order has amount = 7"
    second = (Literal("orders", (v(4), KEY, ANY, ANY)),)
    assert words_of(SHOP, LATE + second, (Literal("items", (ANY, v(4), v(2), ANY)),)) == (
        "for order #2, an item #2 with product = the product of item #1"
    )
    assert (
        words_of(SHOP, (), (Literal("products", (v(1), c("a"))),)) == "there is a product with category = 'a'"
    )


def test_rules_are_asked_in_their_order():
    rules = CHURN.rules()
    assert [rule.prediction for rule in rules] == ["yes", "no", "yes", "no", "yes"]
    assert rules[0].query == LATE + CHURN.nodes[1].test
    assert str(rules[-1]) == "else: yes (yes 100%)  n=1"
    assert rules.to_text().count("\n") == len(rules) == 5


def test_a_depth_ends_the_words_and_never_aces_layout():
    assert CHURN.to_text(max_depth=1).count("leaves below") == 2
    with pytest.raises(UsageError, match="always the whole tree"):
        CHURN.to_text("ace", max_depth=1)
    with pytest.raises(UsageError, match="layout 'c45' is unknown"):
        CHURN.to_text("c45")


def test_sizes():
    assert (CHURN.n_nodes, CHURN.n_leaves, CHURN.depth, CHURN.complexity) == (9, 5, 3, (4, 8))
    assert MACHINES.complexity == (2, 2)


@given(draw=st.randoms(use_true_random=False))
def test_every_tree_has_its_faces(draw):
    tree = draw_tree(draw, 4, regression=draw.random() < 0.3)
    for text in (tree.to_text(), tree.to_text("ace"), tree.to_prolog(), tree.rules().to_text()):
        assert all(line.isprintable() for line in text.splitlines())
    assert tree.to_svg().startswith("<svg")


def test_ties_go_to_the_first_class_or_to_the_last():
    first = RelationalTree("classification", "y", ("a", "b", "c"), (Node((1.0, 2.0, 2.0)),))
    last = RelationalTree("classification", "y", ("a", "b", "c"), (Node((1.0, 2.0, 2.0)),), ties_to_last=True)
    assert (first.answer(0), last.answer(0)) == ("b", "c")


def test_variables_go_on_after_z():
    names = [variable_name(Variable(n)) for n in (0, 1, 24, 25, 51)]
    assert names == ["A", "C", "Z", "A1", "A2"]


def test_only_what_variables_link_is_asked_again():
    far = Literal("products", (v(9), c("x")))
    assert connected((*LATE, far), (Literal("products", (v(2), c("y"))),)) == LATE
    assert connected((*LATE, far), (Literal("orders", (v(7), KEY, ANY, ANY)),)) == ()


def test_nouns():
    nouns = [singular(name) for name in ("orders", "categories", "boxes", "status", "class", "order_items")]
    assert nouns == ["order", "category", "box", "status", "class", "order item"]
    assert (article("order"), article("box")) == ("an order", "a box")
