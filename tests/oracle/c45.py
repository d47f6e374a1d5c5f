"""How C4.5 Release 8 chooses among the attributes of a node (docs/law.md, "C4.5")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tests.oracle.candidates import Choice, Node, best_of_attribute, numeric
from tests.oracle.quality import CLAMP, nearest, quotient, split_information, xlog
from tests.oracle.table import ClassCounts, Column

SLACK = 0.001


@dataclass(frozen=True)
class Entry:
    """The test that an attribute enters: its gain less the penalty, and its split information."""

    choice: Choice
    g: float
    split: float

    @property
    def rated(self) -> Choice:
        """The choice with the gain ratio for a quality."""
        return replace(self.choice, quality=quotient(self.g, self.split))


def penalty(node: Node) -> float:
    """log2 of the number of admissible cuts, over the weight of the node."""
    cuts = sum(1 for candidate in numeric(node) if any(True for _ in node.admissible(candidate)))
    return xlog(cuts) / nearest(cuts) / nearest(node.stats.n)


def entry(node: Node, column: Column) -> Entry | None:
    choice = best_of_attribute(node, column)
    if choice is None:
        return None
    g = choice.gain
    if column.kind != "nominal":
        g = g - penalty(node)
        if not g >= CLAMP:
            return None
    known = [b for b in map(node.seen, choice.candidate.branches) if isinstance(b, ClassCounts)]
    missing = None if node.missing is None else node.seen(node.missing)
    outcomes = [*known, missing] if isinstance(missing, ClassCounts) else known
    return Entry(choice, g, split_information(node.seen(node.stats).n, outcomes))


def average_gain(entries: Sequence[Entry], many_valued: frozenset[int]) -> float:
    """Over the attributes that do not have very many categories, unless there are no others."""
    ordinary = [e for e in entries if e.choice.candidate.attribute not in many_valued]
    total, averaged = 0.0, ordinary or entries
    for e in averaged:
        total = total + e.g
    return total / nearest(len(averaged))


def rank(
    nodes: Sequence[Node], columns: Sequence[Column], many_valued: frozenset[int]
) -> tuple[Choice | None, list[Choice]]:
    """The test that the node takes, and those of the other attributes, best first."""
    entries = [e for e in map(entry, nodes, columns) if e is not None]
    if not entries:
        return None, []
    least = average_gain(entries, many_valued) - SLACK
    gaining = [e for e in entries if e.g > 0.0]
    passing = [e for e in gaining if e.g >= least and e.split > SLACK]
    failing = [e for e in gaining if e not in passing]
    ranked = [
        *sorted((e.rated for e in passing), key=lambda choice: -choice.quality),
        *sorted((e.rated for e in failing), key=lambda choice: -choice.quality),
    ]
    return (ranked[0], ranked[1:]) if passing else (None, ranked)
