"""Pruning of first-order trees against published estimates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.errors import UsageError
from hornbeam.relational.logic import KEY, Literal
from hornbeam.relational.tree import Node, RelationalTree, merge_leaves, prune, prune_by_errors
from tests.oracle.prune import extra_errors
from tests.relational_trees import MACHINES
from tests.relational_worlds import draw_tree

TEST = (Literal("r", (KEY,)),)


def test_the_estimate_of_machines_is_the_published_one():
    assert MACHINES.expected_errors() == pytest.approx(3.58571211334849, abs=1e-14)
    assert prune(MACHINES, "error_based") == MACHINES


def tree_of(shape, classes=("a", "b")):
    """A tree of nested (counts, yes, no) and, for leaves, counts."""
    nodes = []

    def add(part):
        place = len(nodes)
        nodes.append(None)
        if not isinstance(part[0], tuple):
            nodes[place] = Node(tuple(map(float, part)))
            return place
        yes = add(part[1])
        no = add(part[2])
        nodes[place] = Node(tuple(map(float, part[0])), TEST, yes, no)
        return place

    add(shape)
    return RelationalTree("classification", "y", classes, tuple(nodes))


def test_leaves_of_one_class_are_merged_from_the_bottom():
    shape = ((9, 3), ((9, 0), (4, 0), (5, 0)), ((0, 3), (0, 1), ((0, 2), (0, 1), (0, 1))))
    assert merge_leaves(tree_of(shape)) == tree_of(((9, 3), (9, 0), (0, 3)))
    same = ((5, 2), (3, 1), ((2, 1), (1, 1), (1, 0)))
    assert merge_leaves(tree_of(same)) == tree_of((5, 2))


def test_a_subtree_that_errs_no_less_becomes_a_leaf():
    # Ten of one class and a stray one: the expected errors of both leaves are no smaller.
    tree = tree_of(((10, 1), (9, 0), (1, 1)))
    assert prune_by_errors(tree) == tree_of((10, 1))
    clear = tree_of(((10, 10), (10, 0), (0, 10)))
    assert prune_by_errors(clear) == clear


@given(draw=st.randoms(use_true_random=False))
def test_pruning_by_errors_is_that_of_the_definition(draw):
    tree = consistent(draw_tree(draw))

    def define(i):
        """(expected errors, shape) of what is left of a subtree."""
        node = tree.nodes[i]
        size, wrong = sum(node.counts), sum(node.counts) - max(node.counts)
        alone = wrong + extra_errors(size, wrong, 0.25) if size else 0.0
        if node.is_leaf:
            return alone, node.counts
        (yes, left), (no, right) = define(node.yes), define(node.no)
        if alone <= yes + no + 0.1:
            return alone, node.counts
        return yes + no, (node.counts, left, right)

    expected, shape = define(0)
    pruned = prune_by_errors(tree)
    assert [node.counts for node in pruned.nodes] == [node.counts for node in tree_of(shape).nodes]
    assert [(n.yes, n.no) for n in pruned.nodes] == [(n.yes, n.no) for n in tree_of(shape).nodes]
    assert pruned.expected_errors() == pytest.approx(expected, rel=1e-12)


@given(draw=st.randoms(use_true_random=False))
def test_safe_pruning_says_the_same_with_no_more_leaves(draw):
    tree = consistent(draw_tree(draw))
    merged = merge_leaves(tree)
    assert merged.n_leaves <= tree.n_leaves
    for node in merged.nodes:
        if not node.is_leaf and merged.nodes[node.yes].is_leaf and merged.nodes[node.no].is_leaf:
            assert merged.code(node.yes) != merged.code(node.no)


def consistent(tree):
    """The tree with counts that add up."""
    counts = [node.counts for node in tree.nodes]
    for i in reversed(range(tree.n_nodes)):
        node = tree.nodes[i]
        if not node.is_leaf:
            counts[i] = tuple(a + b for a, b in zip(counts[node.yes], counts[node.no], strict=True))
    nodes = tuple(Node(c, n.test, n.yes, n.no) for c, n in zip(counts, tree.nodes, strict=True))
    return RelationalTree(tree.task, tree.target_name, tree.classes, nodes, tree.ties_to_last)


def test_what_means_nothing_is_refused_in_one_line():
    numbers = RelationalTree("regression", "y", (), (Node((3.0, 1.0, 0.5)),))
    with pytest.raises(UsageError, match="the tree predicts numbers; use None"):
        prune(numbers, "error_based")
    assert prune(numbers, None) is numbers
    with pytest.raises(UsageError, match="prune='reduced_error' is unknown; choose error_based or safe"):
        prune(MACHINES, "reduced_error")
    with pytest.raises(UsageError, match="confidence=0"):
        prune(MACHINES, "error_based", 0)
