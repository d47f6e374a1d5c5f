"""One training set and how its nodes are made: leaf or test, where rows go, competitors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from tests.oracle.c45 import rank as c45_rank
from tests.oracle.candidates import Choice, Node, at_node, best_of_attribute
from tests.oracle.costs import Costs, costs_of
from tests.oracle.quality import impurity, nearest, quotient
from tests.oracle.quest import rank as quest_rank
from tests.oracle.table import (
    AllParameters,
    ClassCounts,
    Classes,
    Column,
    Parameters,
    Sample,
    Statistics,
    Target,
    TargetSums,
)

COMPETITORS = 5
MANY = 0.3  # categories of an attribute, per unit of weight, from which c45 leaves it out of the average


@dataclass(frozen=True)
class TreeNode:
    """`choice` is None at a leaf; `rows` are the row numbers, without multiplicity; `mass` is d(u), the
    weight that qualities see; `label` is the class predicted, by its place in the order (-1: none)."""

    depth: int
    rows: tuple[int, ...]
    stats: Statistics
    impurity: float
    mass: float
    label: int
    choice: Choice | None = None
    competitors: tuple[Choice, ...] = ()

    @property
    def gain(self) -> float:
        return 0.0 if self.choice is None else self.choice.gain


def minimum(given: float, total: int, floor: int) -> int:
    """A size parameter as a number of rows: integers are rows, floats are fractions of the training set."""
    return max(floor, math.ceil(given * total)) if isinstance(given, float) else int(given)


def branch(choice: Choice, column: Column, row: int) -> int:
    """The child a row goes to; what the test does not know follows the default."""
    value = column.at(row)
    if value is None:
        return choice.default
    if choice.candidate.threshold is not None:
        assert not isinstance(value, str)
        return 0 if value <= choice.candidate.threshold else 1
    return dict(choice.candidate.child_of).get(str(value), choice.default)


def means(stats: TargetSums) -> list[float]:
    return [nearest(Fraction(y) / stats.n, stats.unit) for y in stats.sums]


def rank(nodes: Sequence[Node], columns: Sequence[Column]) -> tuple[Choice | None, list[Choice]]:
    """The test of highest quality, and those of the other attributes in their order; ties by attribute."""
    found = [best_of_attribute(node, column) for node, column in zip(nodes, columns, strict=True)]
    ranked = sorted((choice for choice in found if choice is not None), key=lambda choice: -choice.quality)
    return (ranked[0], ranked[1:]) if ranked else (None, [])


@dataclass(frozen=True)
class Growth:
    """A training set and what is the same at all its nodes."""

    columns: Sequence[Column]
    target: Target
    parameters: AllParameters
    sample: Sample
    everyone: Statistics
    costs: Costs | None

    @staticmethod
    def of(
        columns: Sequence[Column],
        target: Target,
        parameters: Parameters,
        times: Sequence[int] | None = None,
        weights: Sequence[float] | None = None,
    ) -> Growth:
        sample = Sample.of(len(columns[0].values), times, weights)
        rows = sample.present()
        if not rows:
            raise ValueError(
                "the training set has no rows; give at least one row a multiplicity and a weight"
            )
        full, everyone = AllParameters.of(parameters), target.statistics(rows, sample)
        costs = None
        if isinstance(target, Classes):
            assert isinstance(everyone, ClassCounts)
            costs = costs_of(target, everyone, full)
        return Growth(columns, target, full, sample, everyone, costs)

    @cached_property
    def factors(self) -> tuple[float, ...] | None:
        """None where they are all 1, which saves time."""
        given = self.costs is not None and any(z != 1.0 for z in self.costs.factor)
        return self.costs.factor if given and self.costs is not None else None

    def seen(self, stats: Statistics) -> Statistics:
        return stats.times(self.factors) if isinstance(stats, ClassCounts) else stats

    @cached_property
    def many_valued(self) -> frozenset[int]:
        """Nominal attributes with so many categories in the training set that c45 leaves them out."""
        most, rows = MANY * nearest(self.everyone.n), self.sample.present()
        sizes = {i: len({c.at(r) for r in rows} - {None}) for i, c in enumerate(self.columns)}
        return frozenset(
            i for i, c in enumerate(self.columns) if c.kind == "nominal" and nearest(sizes[i]) >= most
        )

    def leaf(self, depth: int, rows: tuple[int, ...]) -> TreeNode:
        """These rows as a leaf."""
        stats = self.target.statistics(rows, self.sample)
        seen = self.seen(stats)
        label = -1
        if self.costs is not None and isinstance(stats, ClassCounts):
            label = self.costs.label(stats)
        how_impure = impurity(self.parameters.criterion, seen)
        return TreeNode(depth, rows, stats, how_impure, nearest(seen.n), label)

    def is_final(self, node: TreeNode) -> bool:
        """Whether the node is a leaf whatever its tests."""
        p = self.parameters
        too_few = node.stats.rows < minimum(p.min_samples_split, self.everyone.rows, 2)
        too_light = p.min_objs is not None and nearest(node.stats.n) < 2.0 * p.min_objs
        return node.stats.is_pure() or node.depth == p.max_depth or too_few or too_light

    def ranked(self, node: TreeNode) -> tuple[Choice | None, list[Choice]]:
        p = self.parameters
        min_leaf = minimum(p.min_samples_leaf, self.everyone.rows, 1)
        nodes = [
            at_node(i, c, self.target, node.rows, self.sample, p, min_leaf, self.factors)
            for i, c in enumerate(self.columns)
        ]
        if p.criterion == "c45":
            return c45_rank(nodes, self.columns, self.many_valued)
        if p.criterion == "quest":
            return quest_rank(nodes, self.columns)
        return rank(nodes, self.columns)

    def is_worth(self, node: TreeNode, choice: Choice) -> bool:
        share = quotient(node.mass, nearest(self.seen(self.everyone).n))
        return not share * choice.gain < self.parameters.min_impurity_decrease

    def inner(self, node: TreeNode) -> TreeNode:
        """The leaf with its test, if it gets one."""
        if self.is_final(node):
            return node
        choice, others = self.ranked(node)
        if choice is None or not self.is_worth(node, choice):
            return node
        return replace(node, choice=choice, competitors=tuple(others[:COMPETITORS]))

    def children(self, node: TreeNode, rows: Sequence[int]) -> list[tuple[int, ...]]:
        """The rows as the test of the node sends them."""
        assert node.choice is not None
        column = self.columns[node.choice.candidate.attribute]
        to = [branch(node.choice, column, row) for row in rows]
        return [
            tuple(row for row, child in zip(rows, to, strict=True) if child == i)
            for i in range(len(node.choice.branches))
        ]

    def grow(self) -> list[TreeNode]:
        nodes: list[TreeNode] = []
        waiting = [(0, self.sample.present())]
        while waiting:
            depth, rows = waiting.pop()
            node = self.inner(self.leaf(depth, rows))
            nodes.append(node)
            if node.choice is not None:
                waiting += [(depth + 1, part) for part in reversed(self.children(node, rows))]
        return nodes
