"""Pruning of first-order trees: leaves of one class merged, and subtrees that C4.5 expects to err no less."""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import Any, Final

from hornbeam import _core
from hornbeam.arguments import is_number, shown
from hornbeam.errors import UsageError
from hornbeam.relational.tree import Node, RelationalTree

PRUNINGS: Final = ("error_based", "safe")
_LENIENCE: Final = 0.1  # C4.5 takes a leaf that is worse by no more than this


def prune(tree: RelationalTree, how: str | None, confidence: float = 0.25) -> RelationalTree:
    """What pruning leaves: "safe" merges leaves that say the same, "error_based" also does what C4.5 does."""
    check_pruning(tree.task, how, confidence)
    if how is None:
        return tree
    merged = merge_leaves(tree)
    return merged if how == "safe" else prune_by_errors(merged, confidence)


def check_pruning(task: str, how: str | None, confidence: float) -> None:
    """Refuse a way of pruning that means nothing."""
    if how is None:
        return
    if not isinstance(how, str) or how not in PRUNINGS:
        raise UsageError(
            f"prune={how!r} is unknown; choose {' or '.join(PRUNINGS)}, or None", parameter="prune"
        )
    if task == "regression":
        raise UsageError(
            f"prune={how!r}: it counts wrong classes, and the tree predicts numbers; use None",
            parameter="prune",
        )
    check_share("confidence", confidence)


def check_share(name: str, value: Any, also: str = "") -> None:
    """Refuse what is no number above 0 up to 1."""
    if not is_number(value, numbers.Real) or not 0.0 < value <= 1.0:
        raise UsageError(f"{shown(name, value)}: a number above 0 up to 1 is allowed{also}", parameter=name)


def merge_leaves(tree: RelationalTree) -> RelationalTree:
    """Bottom-up, a test between leaves of the same class becomes a leaf, and nothing is said otherwise."""
    leaf = [node.is_leaf for node in tree.nodes]
    for i in reversed(range(tree.n_nodes)):
        node = tree.nodes[i]
        if not leaf[i] and leaf[node.yes] and leaf[node.no]:
            leaf[i] = tree.code(node.yes) == tree.code(node.no)
    return cut_at(tree, leaf)


def prune_by_errors(tree: RelationalTree, confidence: float = 0.25) -> RelationalTree:
    """Bottom-up, a subtree becomes a leaf where that is expected to err no more, but for a tenth of one."""
    leaf = [node.is_leaf for node in tree.nodes]
    expected = [0.0] * tree.n_nodes
    for i in reversed(range(tree.n_nodes)):
        node, alone = tree.nodes[i], _of_leaf(tree, i, confidence)
        expected[i] = alone
        if leaf[i]:
            continue
        below = expected[node.yes] + expected[node.no]
        leaf[i] = alone <= below + _LENIENCE
        expected[i] = alone if leaf[i] else below
    return cut_at(tree, leaf)


def expected_errors(tree: RelationalTree, confidence: float = 0.25) -> float:
    """The expected errors of all leaves, added up from the bottom."""
    if tree.task == "regression":
        raise UsageError("expected errors count wrong classes, and the tree predicts numbers")
    check_share("confidence", confidence)
    expected = [0.0] * tree.n_nodes
    for i in reversed(range(tree.n_nodes)):
        node = tree.nodes[i]
        if node.is_leaf:
            expected[i] = _of_leaf(tree, i, confidence)
        else:
            expected[i] = expected[node.yes] + expected[node.no]
    return expected[0]


def _of_leaf(tree: RelationalTree, node: int, confidence: float) -> float:
    size = tree.size(node)
    return _core.expected_errors(size, tree.errors(node), confidence) if size else 0.0


def cut_at(tree: RelationalTree, leaf: list[bool]) -> RelationalTree:
    """The tree that ends at some of its nodes, those that remain in preorder again."""
    nodes: list[Node] = []
    waiting: list[tuple[int, int]] = [(0, -1)]  # a node, and the new place of the test whose no branch it is
    while waiting:
        i, above = waiting.pop()
        place, node = len(nodes), tree.nodes[i]
        if above >= 0:
            nodes[above] = replace(nodes[above], no=place)
        if leaf[i]:
            nodes.append(Node(node.counts))
            continue
        nodes.append(replace(node, yes=place + 1))
        waiting += [(node.no, place), (node.yes, -1)]
    return tree if len(nodes) == tree.n_nodes else replace(tree, nodes=tuple(nodes))
