"""Sketches: trees in preorder, grafts as splices, and the way to a tree and back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hornbeam.anytime import Lookahead, Sketch
from hornbeam.anytime.sketch import sizes_of, starting
from hornbeam.growth import ClassTarget
from hornbeam.model import Tree
from hornbeam.table import from_data


def looking(nominal: str = "value", rows: int = 240) -> Lookahead:
    random = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "a": random.normal(size=rows),
            "b": random.integers(0, 5, rows),
            "c": random.choice(list("abcdefg"), rows),
            "d": random.choice(["x", "y", None], rows),
        }
    )
    codes = random.integers(0, 3, rows).astype(np.int32)
    return Lookahead(from_data(frame), ClassTarget(codes, np.arange(3)), nominal=nominal)


MODES = ["value", "subset", "multiway"]


@pytest.mark.parametrize("nominal", MODES)
def test_a_tree_comes_back_from_its_sketch(nominal: str) -> None:
    lookahead = looking(nominal)
    sketch = lookahead.id3(lookahead.all_rows)
    tree = lookahead.tree(sketch)
    again = lookahead.sketch(tree, lookahead.all_rows)
    assert all((again[name] == sketch[name]).all() for name in sketch.nodes)
    assert (again.order == sketch.order).all()
    assert (tree.n_leaves, tree.n_nodes, tree.depth) == (
        sketch.n_leaves,
        sketch.n_nodes,
        int(sketch.depths.max()),
    )
    Tree(tree.schema, dict(tree.arrays), classes=[0, 1, 2])  # refuses what is no valid tree


@pytest.mark.parametrize("nominal", MODES)
def test_the_rows_of_a_node_are_those_that_reach_it(nominal: str) -> None:
    lookahead = looking(nominal)
    sketch = lookahead.id3(lookahead.all_rows)
    path = lookahead.tree(sketch).decision_path(lookahead.table).toarray()
    for node in range(sketch.n_nodes):
        place = int(np.flatnonzero(sketch.by_level == node)[0])
        assert sketch.rows_of(node).tolist() == np.flatnonzero(path[:, place]).tolist()


@pytest.mark.parametrize("nominal", MODES)
def test_a_subtree_grafted_in_its_own_place_changes_nothing(nominal: str) -> None:
    lookahead = looking(nominal)
    sketch = lookahead.id3(lookahead.all_rows)
    tree = lookahead.tree(sketch)
    for node in range(0, sketch.n_nodes, 7):
        part = lookahead.id3(sketch.rows_of(node))
        assert part.n_nodes == int(sketch["span"][node])
        assert lookahead.tree(sketch.graft(node, part)).digest == tree.digest


def test_a_smaller_part_makes_every_node_above_smaller() -> None:
    lookahead = looking()
    sketch = lookahead.id3(lookahead.all_rows)
    node = next(n for n in range(5, sketch.n_nodes) if sketch["leaves"][n] > 3)
    leaf = one_leaf(lookahead, sketch.rows_of(node))
    grafted = sketch.graft(node, leaf)
    lost = int(sketch["leaves"][node]) - 1
    assert grafted.n_leaves == sketch.n_leaves - lost
    assert grafted.n_nodes == sketch.n_nodes - (int(sketch["span"][node]) - 1)
    for above in sketch.ancestors(node).tolist():
        assert grafted["leaves"][above] == sketch["leaves"][above] - lost
    assert sorted(grafted.order.tolist()) == lookahead.all_rows.tolist()
    again = lookahead.sketch(lookahead.tree(grafted), lookahead.all_rows)
    for name in ("span", "leaves", "start", "rows"):
        assert (again[name] == grafted[name]).all(), name


def one_leaf(lookahead: Lookahead, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Sketch:
    """The rows as a single leaf."""
    whole = lookahead.c45(rows)
    counts = np.bincount(lookahead.target.codes[rows], minlength=3)
    present = np.flatnonzero(counts)
    nodes = {name: whole.nodes[name][:1] for name in whole.nodes if "start" not in name}
    nodes |= {"kind": np.zeros(1, np.uint8), "attribute": np.full(1, -1), "default_child": np.full(1, -1)}
    nodes |= {
        "n_children": np.zeros(1, np.int32),
        "span": np.ones(1, np.int64),
        "leaves": np.ones(1, np.int64),
    }
    nodes |= {"start": np.zeros(1, np.int64), "rows": np.array([len(rows)])}
    nodes |= {"branch_start": np.zeros(2, np.int64), "count_start": np.array([0, len(present)])}
    nodes |= {"branch_code": np.zeros(0, np.int32), "branch_child": np.zeros(0, np.int32)}
    nodes |= {"count_class": present.astype(np.int32), "count": counts[present].astype(float)}
    return Sketch(nodes, np.sort(rows))


def test_sizes_follow_from_the_numbers_of_children() -> None:
    found = sizes_of(np.array([2, 0, 3, 0, 0, 0]))
    assert found["span"].tolist() == [6, 1, 4, 1, 1, 1]
    assert found["leaves"].tolist() == [4, 1, 3, 1, 1, 1]
    assert starting(np.array([2, 0, 3])).tolist() == [0, 2, 2, 5]
