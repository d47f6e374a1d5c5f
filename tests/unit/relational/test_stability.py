"""Stability of first-order trees: what folds ask where the tree of all examples asks."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hornbeam.errors import UsageError
from hornbeam.relational.growth import cut_places
from hornbeam.relational.logic import Constant, Literal
from hornbeam.relational.stability import RelationalStability
from hornbeam.relational.tree import Node, RelationalTree, cut_at
from tests.relational_trees import CHURN, LATE, v


def with_threshold(value: float) -> RelationalTree:
    """The tree with another threshold at its root."""
    test = (*LATE[:2], Literal("<=", (v(3), Constant(value))))
    return replace(CHURN, nodes=(replace(CHURN.nodes[0], test=test), *CHURN.nodes[1:]))


def test_thresholds_make_a_band_and_other_tests_part() -> None:
    leaf = RelationalTree("classification", "churn", ("no", "yes"), (Node((6.0, 9.0)),))
    swapped = replace(CHURN.nodes[1], test=CHURN.nodes[3].test)
    other = replace(CHURN, nodes=(CHURN.nodes[0], swapped, *CHURN.nodes[2:]))
    stability = RelationalStability([CHURN, with_threshold(11.0), other, leaf])
    root, below = stability[0], stability[1]
    assert (root.same, root.others, root.leaves, root.gone) == (2, 0, 1, 0)
    assert root.band is not None
    assert root.band.text == "11 to 12.5"
    assert [(arm.test, arm.folds) for arm in root.alternatives] == [("leaf: yes", (3,))]
    assert (below.same, below.others, below.leaves, below.gone) == (1, 1, 0, 1)
    assert below.alternatives[0].test == "has an order #2 with amount > 100"
    assert stability[2].agreeing == 1
    assert stability.root_agreement == 2 / 3
    assert 0 < stability.agreement < 1
    text = stability.to_text()
    assert "asks has an order with status = 'late'" in text
    assert "(1 fold: leaf: yes)" in text
    assert json.loads(stability.to_json())["n_folds"] == 3
    assert len(stability.table()) == CHURN.n_nodes
    assert [(place.node, [len(arm.folds) for arm in place.arms]) for place in stability.bifurcations] == [
        (0, [2, 1]),
        (1, [1, 1]),
    ]
    assert stability.bifurcations[0].arms[0].final
    assert stability.tests_by_level[:2] == (1, 3)
    assert stability.f[0] == 1 * 4 / 3


def test_equal_trees_agree_everywhere() -> None:
    stability = RelationalStability([CHURN, CHURN])
    assert stability.agreement == stability.root_agreement == 1.0
    assert all(record.same == 1 and not record.alternatives for record in stability)
    assert stability.bifurcations == ()
    assert stability.f == (1.0, 1.0, 1.0)


def test_it_is_drawn() -> None:
    view = RelationalStability([CHURN, with_threshold(11.0)]).show()
    assert view.svg().startswith("<svg")
    assert "has an order" in view.html()


def test_refusals() -> None:
    with pytest.raises(UsageError, match="at least one fold"):
        RelationalStability([CHURN])
    with pytest.raises(UsageError, match="node=99: the tree has the nodes 0 to 8"):
        RelationalStability([CHURN, CHURN])[99]


def test_examples_of_a_subtree_go_to_the_leaf_that_it_became() -> None:
    leaf = [node.is_leaf for node in CHURN.nodes]
    leaf[1] = True
    pruned = cut_at(CHURN, leaf)
    assert cut_places(CHURN, pruned).tolist() == [0, 1, 1, 1, 1, 1, 2, 3, 4]
