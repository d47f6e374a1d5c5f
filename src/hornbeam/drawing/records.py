"""The plain records that every picture is drawn from: a node, and the tree it belongs to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PictureNode:
    """One node as a reader sees it; texts are raw and are escaped and shortened when drawn."""

    parent: int
    depth: int
    children: tuple[int, ...]
    branch: str
    """What leads here from the parent: "yes", "no" or category labels; empty at the root."""
    takes_missing: bool
    """Whether missing and never seen values arrive here from the parent."""
    test: str
    """The question asked here, the name of its attribute first; empty at a leaf."""
    rows: float
    prediction: str
    shares: tuple[tuple[int, float], ...] = ()
    """Classification: (class index, share of the rows), without zeros."""
    means: tuple[float, ...] = ()
    spread: float = 0.0
    """Regression: standard deviation of the first target at the node."""
    name_length: int | None = None
    """How many characters of the test are the attribute's name; None for all."""
    labels: tuple[str, ...] = ()
    """The first of the category labels that lead here, where the branch names labels."""
    n_labels: int = 0
    """How many they are altogether."""
    others: bool = False
    """Whether its one sibling has fewer labels, so that these may be called the others."""
    lines: tuple[str, ...] = ()
    """A long test broken into lines, each of which a box holds; empty where it is short."""

    @property
    def subject(self) -> str:
        """The attribute that is asked about."""
        return self.test[: self.name_length]

    @property
    def condition(self) -> str:
        """What is asked of it, for instance "≤ 3"; empty where the branches say it."""
        return "" if self.name_length is None else self.test[self.name_length :].lstrip()


@dataclass(frozen=True)
class Picture:
    """A tree ready to be drawn: node 0 is the root, a parent stands before its children."""

    nodes: tuple[PictureNode, ...]
    classes: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()

    @property
    def depth(self) -> int:
        return max(node.depth for node in self.nodes)

    @property
    def leaves_below(self) -> tuple[int, ...]:
        """Leaves of the subtree of each node (1 at a leaf)."""
        counts = [0 if node.children else 1 for node in self.nodes]
        for index in range(len(self.nodes) - 1, 0, -1):
            counts[self.nodes[index].parent] += counts[index]
        return tuple(counts)

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest mean of the first target (regression)."""
        means = [node.means[0] for node in self.nodes if node.means]
        return (min(means), max(means)) if means else (0.0, 0.0)
