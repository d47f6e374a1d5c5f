"""Labels, C4.5's estimate of errors, and pruning of first-order trees (docs/relational-law.md)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.oracle.first_order import Node
from tests.oracle.prune import SLACK, extra_errors
from tests.oracle.quality import nearest
from tests.oracle.table import ClassCounts


@dataclass(frozen=True)
class Labelling:
    """Which class a leaf predicts, and what follows: errors, pruning, estimates."""

    ties_to_last: bool = False

    def label(self, node: Node) -> int:
        assert isinstance(node.stats, ClassCounts)
        places = [k for k, c in enumerate(node.stats.counts) if c == max(node.stats.counts)]
        return places[-1] if self.ties_to_last else places[0]

    def errors(self, node: Node) -> float:
        assert isinstance(node.stats, ClassCounts)
        return nearest(node.stats.n - node.stats.counts[self.label(node)])

    def expected(self, node: Node, confidence: float) -> float:
        """C4.5's estimate of the errors of a node as a leaf."""
        e = self.errors(node)
        return e + extra_errors(nearest(node.stats.n), e, confidence)

    def estimate(self, node: Node, confidence: float = 0.25) -> float:
        """Of a tree: the sum over its leaves, yes before no."""
        if node.yes is None or node.no is None:
            return self.expected(node, confidence)
        return self.estimate(node.yes, confidence) + self.estimate(node.no, confidence)

    def safe(self, node: Node) -> Node:
        """From the bottom up, two leaves of one class become one."""
        if node.yes is None or node.no is None:
            return node
        yes, no = self.safe(node.yes), self.safe(node.no)
        if not yes.test and not no.test and self.label(yes) == self.label(no):
            return leaf_of(node)
        return replace(node, yes=yes, no=no)

    def error_based(self, node: Node, confidence: float = 0.25) -> Node:
        return self.c45(self.safe(node), confidence)

    def c45(self, node: Node, confidence: float = 0.25) -> Node:
        """From the bottom up, a subtree that is not expected to err less than a leaf becomes one."""
        if node.yes is None or node.no is None:
            return node
        pruned = replace(node, yes=self.c45(node.yes, confidence), no=self.c45(node.no, confidence))
        worth = self.expected(node, confidence) > self.estimate(pruned, confidence) + SLACK
        return pruned if worth else leaf_of(node)


def leaf_of(node: Node) -> Node:
    return Node(node.stats, node.examples)
