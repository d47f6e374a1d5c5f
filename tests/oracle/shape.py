"""A grown tree as nested nodes, which is how pruning looks at it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tests.oracle.growth import TreeNode


@dataclass(frozen=True)
class Subtree:
    """A node and what hangs below it."""

    node: TreeNode
    children: tuple[Subtree, ...] = ()

    def leaves(self) -> Iterator[TreeNode]:
        if not self.children:
            yield self.node
        for child in self.children:
            yield from child.leaves()

    def inner(self) -> Iterator[Subtree]:
        """The inner nodes, in preorder."""
        if self.children:
            yield self
        for child in self.children:
            yield from child.inner()

    def preorder(self, depth: int = 0) -> list[TreeNode]:
        """The list that growth gives, depths counted anew."""
        below = [node for child in self.children for node in child.preorder(depth + 1)]
        return [replace(self.node, depth=depth), *below]


def leaf(node: TreeNode) -> Subtree:
    """The node without its test."""
    return Subtree(replace(node, choice=None, competitors=()))


def nested(nodes: Sequence[TreeNode]) -> Subtree:
    """The list that growth gives, as a tree."""
    remaining = iter(nodes)

    def take() -> Subtree:
        node = next(remaining)
        n_children = 0 if node.choice is None else len(node.choice.branches)
        return Subtree(node, tuple(take() for _ in range(n_children)))

    return take()
