"""Cost-complexity pruning: the weakest links of a tree, one after the other (docs/law.md, "Pruning")."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tests.oracle.growth import TreeNode
from tests.oracle.quality import nearest, quotient
from tests.oracle.shape import Subtree, leaf, nested
from tests.oracle.table import ClassCounts


@dataclass(frozen=True)
class Step:
    """From this alpha on the tree is this one; its impurity is the sum of R over its leaves."""

    alpha: float
    impurity: float
    tree: Subtree


def cost(node: TreeNode, whole: float) -> float:
    return quotient(node.mass * node.impurity, whole)


def cost_below(tree: Subtree, whole: float) -> float:
    """RB: R summed over the leaves, one level after the other."""
    if not tree.children:
        return cost(tree.node, whole)
    total = 0.0
    for child in tree.children:
        total = total + cost_below(child, whole)
    return total


def link(tree: Subtree, whole: float) -> float:
    """What a leaf less costs if the inner node becomes one."""
    n_leaves = sum(1 for _ in tree.leaves())
    return (cost(tree.node, whole) - cost_below(tree, whole)) / nearest(n_leaves - 1)


def without(tree: Subtree, below: Subtree) -> Subtree:
    """The tree with one of its inner nodes made a leaf."""
    if tree is below:
        return leaf(tree.node)
    return Subtree(tree.node, tuple(without(child, below) for child in tree.children))


def held_mass(node: TreeNode, factors: Sequence[float] | None) -> float:
    """d(u) by the counts that the tree holds, each of them a double."""
    if factors is None or not isinstance(node.stats, ClassCounts):
        return node.mass
    pairs = zip(factors, node.stats.counts, strict=True)
    return nearest(sum((Fraction(z) * Fraction(nearest(c)) for z, c in pairs), Fraction(0)))


def steps(nodes: Sequence[TreeNode], factors: Sequence[float] | None = None) -> Iterator[Step]:
    """The path; `factors` are those that qualities see, where there are any."""
    nodes = [replace(node, mass=held_mass(node, factors)) for node in nodes]
    tree, whole, alpha = nested(nodes), nodes[0].mass, 0.0
    yield Step(alpha, cost_below(tree, whole), tree)
    while tree.children:
        weakest = min(tree.inner(), key=lambda below: link(below, whole))  # the first of equals
        alpha = max(alpha, link(weakest, whole))
        tree = without(tree, weakest)
        yield Step(alpha, cost_below(tree, whole), tree)


def cost_complexity(
    nodes: Sequence[TreeNode], ccp_alpha: float, factors: Sequence[float] | None = None
) -> list[TreeNode]:
    chosen = nested(nodes)
    if ccp_alpha > 0.0:
        for step in steps(nodes, factors):
            if step.alpha <= ccp_alpha:
                chosen = step.tree
    return chosen.preorder()
