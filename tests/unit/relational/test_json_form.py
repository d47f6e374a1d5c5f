"""First-order trees as JSON and digests."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.errors import DataError
from hornbeam.relational.logic import Constant, Literal
from hornbeam.relational.signature import Signature
from hornbeam.relational.tree import Node, RelationalTree
from tests.relational_trees import CHURN, MACHINES, SHOP, v
from tests.relational_worlds import draw_tree


@given(draw=st.randoms(use_true_random=False))
def test_json_and_pickle_bring_the_tree_back(draw):
    tree = draw_tree(draw, 4, regression=draw.random() < 0.3)
    for again in (RelationalTree.from_json(tree.to_json()), pickle.loads(pickle.dumps(tree))):
        assert again == tree
        assert again.signature == tree.signature
        assert again.digest == tree.digest


def test_infinite_thresholds_and_numpys_values_survive():
    test = (
        Literal("orders", (v(1), v(0), Constant(np.str_("late")), v(2))),
        Literal("<=", (v(2), Constant(np.inf))),
    )
    nodes = (Node((1.0, 1.0), test, 1, 2), Node((1.0, 0.0)), Node((0.0, 1.0)))
    tree = RelationalTree("classification", "y", (np.int64(0), np.int64(1)), nodes)
    assert RelationalTree.from_json(tree.to_json()) == tree


def test_the_digest_is_of_what_the_tree_says():
    assert CHURN.with_signature(None).digest == CHURN.digest
    wider = replace(
        MACHINES,
        classes=("fix", "lost", "ok", "sendback"),
        nodes=tuple(replace(n, counts=(n.counts[0], 0.0, *n.counts[1:])) for n in MACHINES.nodes),
    )
    assert wider.digest == MACHINES.digest
    assert replace(MACHINES, classes=("fix", "ok", "broken")).digest != MACHINES.digest
    moved = (replace(MACHINES.nodes[0], test=(Literal("worn", (v(0), v(2))),)), *MACHINES.nodes[1:])
    assert replace(MACHINES, nodes=moved).digest != MACHINES.digest


def test_signatures_survive():
    assert Signature.from_record(json.loads(json.dumps(SHOP.to_record()))) == SHOP
    for broken in (None, {}, {**SHOP.to_record(), "predicates": {"a": {}}}):
        with pytest.raises(DataError, match=r"^signature: not an object"):
            Signature.from_record(broken)


def spoilt(change):
    record = json.loads(MACHINES.to_json())
    change(record)
    return json.dumps(record)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r.pop("task"), "exactly the keys"),
        (lambda r: r.update(task="ranking"), "neither classification nor regression"),
        (lambda r: r.update(classes=[]), "0 classes"),
        (lambda r: r.update(nodes=[]), "at least one node"),
        (lambda r: r["nodes"][0].update(yes=4), "preorder"),
        (lambda r: r["nodes"][0].update(no=99), "preorder"),
        (lambda r: r["nodes"].append({"counts": [1, 1, 1]}), "reached by no branch"),
        (lambda r: r["nodes"][0].update(counts=[1, 2]), "not 3 numbers"),
        (lambda r: r["nodes"][0].update(test=[]), "has no literal"),
        (lambda r: r["nodes"][0].update(test=[["<=", {"variable": 1}, None]]), "not between a variable"),
        (lambda r: r["nodes"][0].update(test=[["<=", {"variable": 1}, {"constant": 2}]]), "nothing on its"),
        (lambda r: r["nodes"][0].update(test=[["r", {"what": 1}]]), "neither a variable"),
        (lambda r: r["nodes"][0].update(test=[[7]]), "begins with its predicate"),
    ],
)  # fmt: skip
def test_what_is_no_tree_is_refused_in_one_line(change, said):
    with pytest.raises(DataError, match=f"^tree: .*{said}") as caught:
        RelationalTree.from_json(spoilt(change))
    assert "\n" not in str(caught.value)
