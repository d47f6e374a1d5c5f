"""The plain records that every picture is drawn from: nodes, their tree, and the part of it that is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate


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
    """How many category labels lead here altogether."""
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
    def boxes(self) -> tuple[int, ...]:
        """How many nodes there are down to each depth."""
        counts = Counter(node.depth for node in self.nodes)
        return tuple(accumulate(counts[depth] for depth in range(len(counts))))

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


def fitting_depths(boxes: Sequence[int], most: int) -> list[int]:
    """The depths from 2 down, while a picture has no more boxes than these."""
    return [d for d in range(2, len(boxes)) if boxes[d] <= most] or [min(len(boxes) - 1, 2)]


@dataclass(frozen=True)
class Shown:
    """A node of the visible part; index -1 stands for branches that were left out."""

    index: int
    parent: int
    depth: int
    children: tuple[int, ...]
    hidden_branches: int = 0
    hidden_leaves: int = 0


def visible_part(picture: Picture, depth: int | None, most_branches: int | None = 12) -> tuple[Shown, ...]:
    """The nodes down to a depth, breadth first; what lies below or beside is counted, never just dropped.

    Without a depth every node is there, however many branches its parent has; None is no limit of branches.
    """
    most_branches = None if depth is None else most_branches
    leaves = picture.leaves_below
    shown: list[Shown] = [Shown(0, -1, 0, ())]
    place = 0
    while place < len(shown):
        current = shown[place]
        children = picture.nodes[current.index].children if current.index >= 0 else ()
        if children and depth is not None and current.depth >= depth:
            shown[place] = replace(current, hidden_leaves=leaves[current.index])
        elif children:
            kept, left_out = _largest(picture, children, most_branches)
            first = len(shown)
            shown += [Shown(child, place, current.depth + 1, ()) for child in kept]
            if left_out:
                hidden = sum(leaves[child] for child in left_out)
                shown.append(Shown(-1, place, current.depth + 1, (), len(left_out), hidden))
            shown[place] = replace(current, children=tuple(range(first, len(shown))))
        place += 1
    return tuple(shown)


def _largest(picture: Picture, children: tuple[int, ...], most: int | None) -> tuple[list[int], list[int]]:
    if most is None or len(children) <= most:
        return list(children), []
    ordered = sorted(children, key=lambda child: -picture.nodes[child].rows)
    kept = sorted(ordered[: most - 1])
    return kept, sorted(ordered[most - 1 :])
