"""Pruning of grown trees: C4.5's collapse and error-based pruning, reduced error (docs/law.md, "Pruning")."""

from __future__ import annotations

import decimal
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tests.oracle.growth import Growth, TreeNode, means
from tests.oracle.quality import nearest
from tests.oracle.shape import Subtree, leaf, nested
from tests.oracle.table import ClassCounts, Classes, Sample, Targets

EPSILON = 0.001
SLACK = 0.1
VALUES = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.0)
DEVIATES = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0)


def errors(node: TreeNode) -> Fraction:
    """The weight of the training rows that the node gets wrong as a leaf."""
    assert isinstance(node.stats, ClassCounts)
    return Fraction(node.stats.n - node.stats.counts[node.label])


def held_errors(node: TreeNode) -> Fraction:
    """The same by the counts that the tree holds, each of them a double."""
    assert isinstance(node.stats, ClassCounts)
    return sum(
        (Fraction(nearest(c)) for k, c in enumerate(node.stats.counts) if k != node.label), Fraction(0)
    )


def collapse(growth: Growth, nodes: Sequence[TreeNode]) -> list[TreeNode]:
    """A subtree that is not better on its training rows than a leaf becomes one."""

    def visit(tree: Subtree) -> Subtree:
        children = tuple(visit(child) for child in tree.children)
        below = Subtree(tree.node, children)
        total = sum((held_errors(node) for node in below.leaves()), Fraction(0))
        return leaf(tree.node) if nearest(total) >= nearest(held_errors(tree.node)) - EPSILON else below

    return visit(nested(nodes)).preorder()


def deviate(confidence: float) -> float:
    """C4.5's table of the normal distribution, interpolated."""
    i = 1
    while confidence > VALUES[i]:
        i += 1
    rise, run = DEVIATES[i] - DEVIATES[i - 1], VALUES[i] - VALUES[i - 1]
    return DEVIATES[i - 1] + rise * (confidence - VALUES[i - 1]) / run


@functools.cache
def extra_without_errors(n: float, confidence: float) -> float:
    """n * (1 - confidence^(1/n)), correctly rounded."""
    with decimal.localcontext() as context:
        context.prec = 120
        root = (decimal.Decimal(confidence).ln() / decimal.Decimal(n)).exp()
        errors = decimal.Decimal(n) * (1 - root)
        context.prec = 100  # the dust of the root would decide exact ties, which 1 - CF may be
        return float(+errors)


def extra_errors(n: float, e: float, confidence: float) -> float:
    """What C4.5 adds to e errors among n rows."""
    if e < 1e-6:
        return extra_without_errors(n, confidence)
    if e < 1.0:
        none = extra_without_errors(n, confidence)
        return none + e * (extra_errors(n, 1.0, confidence) - none)
    if e + 0.5 >= n:
        return 0.67 * (n - e)
    z = deviate(confidence)
    c = z * z
    root = math.sqrt(c * ((e + 0.5) * (1 - (e + 0.5) / n) + c / 4))
    p = (e + 0.5 + c / 2 + root) / (n + c)
    return n * p - e


@dataclass(frozen=True)
class ErrorBased:
    """C4.5's pruning of a tree grown from a training set."""

    growth: Growth
    confidence: float

    def expected(self, node: TreeNode) -> float:
        """The errors expected of the node as a leaf."""
        e = nearest(errors(node))
        return e + extra_errors(nearest(node.stats.n), e, self.confidence)

    def at(self, node: TreeNode, rows: tuple[int, ...]) -> TreeNode:
        """The node with other rows; its test stays."""
        counted = self.growth.leaf(node.depth, rows)
        return replace(counted, choice=node.choice, competitors=node.competitors)

    def estimate(self, tree: Subtree, rows: tuple[int, ...]) -> float:
        """The errors expected if these rows were sent down the tree as it is."""
        if not tree.children:
            return self.expected(self.at(tree.node, rows))
        total = 0.0
        for child, part in zip(tree.children, self.growth.children(tree.node, rows), strict=True):
            total = total + self.estimate(child, part)
        return total

    def prune(self, tree: Subtree, rows: tuple[int, ...]) -> tuple[Subtree, float]:
        """The pruned tree of these rows and the errors expected of it."""
        node = self.at(tree.node, rows)
        as_leaf = self.expected(node)
        if not tree.children:
            return Subtree(node), as_leaf
        parts = self.growth.children(node, rows)
        pruned = [self.prune(child, part) for child, part in zip(tree.children, parts, strict=True)]
        children, below = tuple(child for child, _ in pruned), 0.0
        for _, expected in pruned:
            below = below + expected
        largest = max(range(len(children)), key=lambda i: (children[i].node.stats.n, -i))
        raised = self.estimate(children[largest], rows)
        if as_leaf <= raised + SLACK and as_leaf <= below + SLACK:
            return leaf(node), as_leaf
        if raised <= below + SLACK:
            return self.prune(children[largest], rows)
        return Subtree(node, children), below


def error_based(growth: Growth, nodes: Sequence[TreeNode], confidence: float = 0.25) -> list[TreeNode]:
    tree, _ = ErrorBased(growth, confidence).prune(nested(nodes), growth.sample.present())
    return tree.preorder()


def validation_loss(growth: Growth, node: TreeNode, rows: Sequence[int], validation: Sample) -> Fraction:
    """What the validation rows lose by what the node predicts as a leaf, exactly."""
    target = growth.target
    if isinstance(target, Classes):
        assert growth.costs is not None
        loss = [growth.costs.loss[k][node.label] for k in range(len(target.order))]
        stats = target.statistics(rows, validation)
        return sum((Fraction(a) * c for a, c in zip(loss, stats.counts, strict=True)), Fraction(0))
    return sum((validation.weight(row) * squared_error(target, node, row) for row in rows), Fraction(0))


def squared_error(target: Targets, node: TreeNode, row: int) -> Fraction:
    assert not isinstance(node.stats, ClassCounts)
    pairs = zip(target.rows[row], means(node.stats), strict=True)
    return sum(((Fraction(y) - Fraction(mean)) ** 2 for y, mean in pairs), Fraction(0))


def reduced_error(growth: Growth, nodes: Sequence[TreeNode], validation: Sample) -> list[TreeNode]:
    """A node becomes a leaf where that loses no more on rows that were kept out of growing."""

    def visit(tree: Subtree, rows: tuple[int, ...]) -> tuple[Subtree, Fraction]:
        as_leaf = validation_loss(growth, tree.node, rows, validation)
        if not tree.children:
            return tree, as_leaf
        parts = growth.children(tree.node, rows)
        pruned = [visit(child, part) for child, part in zip(tree.children, parts, strict=True)]
        below = sum((loss for _, loss in pruned), Fraction(0))
        if as_leaf <= below:
            return leaf(tree.node), as_leaf
        return Subtree(tree.node, tuple(child for child, _ in pruned)), below

    return visit(nested(nodes), validation.present())[0].preorder()
