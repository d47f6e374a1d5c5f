"""Parameters chosen by cross-validation: folds dealt as C4.5 does, exact scores, ties, rules of choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tests.oracle.complexity import cost_complexity
from tests.oracle.growth import Growth, TreeNode
from tests.oracle.prune import collapse, error_based
from tests.oracle.shape import Subtree, nested
from tests.oracle.table import AllParameters, Classes, Column, Label

Folds = Sequence[Sequence[int]]
PRUNING = ("prune", "confidence", "ccp_alpha")
TRIMMED = 5  # one of so many repetitions is dropped at each end


def dealt(labels: Sequence[Label] | None, order: Sequence[int], k: int) -> list[list[int]]:
    """Rows in a shuffled order, by class without changing that order within a class, are dealt like cards.
    The rows of each fold ascend."""
    ranked = list(order)
    if labels is not None:
        place = {label: i for i, label in enumerate(sorted(set(labels)))}
        ranked.sort(key=lambda row: place[labels[row]])
    return [sorted(ranked[i::k]) for i in range(k)]


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def trimmed_mean(values: Sequence[Fraction]) -> Fraction:
    """Without the lowest and the highest fifth, each rounded down."""
    drop = len(values) // TRIMMED
    return mean(sorted(values)[drop : len(values) - drop])


@dataclass(frozen=True)
class Marks:
    """How a setting did: [repetition][fold] (sum of points, rows judged); leaves of its tree of all rows."""

    points: tuple[tuple[tuple[Fraction, int], ...], ...]
    leaves: int

    @property
    def folds(self) -> list[Fraction]:
        """The score of each fold, repetition after repetition."""
        return [total / n for repetition in self.points for total, n in repetition]

    @property
    def repetitions(self) -> list[Fraction]:
        """The score of each repetition over all its rows."""
        return [
            sum((total for total, _ in repetition), Fraction(0)) / sum(n for _, n in repetition)
            for repetition in self.points
        ]

    def estimate(self, how: str) -> Fraction:
        return trimmed_mean(self.repetitions) if how == "trimmed" else mean(self.folds)

    def of_repetition(self, r: int, how: str) -> Fraction:
        """What the setting would be chosen by if there were this repetition only."""
        return replace(self, points=(self.points[r],)).estimate(how)

    def squared_error(self) -> Fraction:
        """The square of the standard error: the spread of all folds over the root of the folds of one
        repetition, for repeating brings no new rows."""
        folds = self.folds
        middle = mean(folds)
        spread = sum(((x - middle) ** 2 for x in folds), Fraction(0)) / (len(folds) - 1)
        return spread / len(self.points[0])


def best_of(scores: Sequence[Fraction], leaves: Sequence[int]) -> int:
    """The highest score; among equals the fewest leaves, then the first."""
    return min(range(len(scores)), key=lambda s: (-scores[s], leaves[s], s))


def choose(marks: Sequence[Marks], how: str = "mean", select: str = "best") -> int:
    """The setting that is chosen, by its place in the grid."""
    scores, leaves = [m.estimate(how) for m in marks], [m.leaves for m in marks]
    best = best_of(scores, leaves)
    if select == "1se":
        limit = marks[best].squared_error()
        near = [s for s, score in enumerate(scores) if (scores[best] - score) ** 2 <= limit]
        return min(near, key=lambda s: (leaves[s], -scores[s], s))
    if select == "smallest":
        repetitions = range(len(marks[0].points))
        winners = [best_of([m.of_repetition(r, how) for m in marks], leaves) for r in repetitions]
        return min(winners, key=lambda s: (leaves[s], -scores[s], winners.index(s)))
    return best


@dataclass(frozen=True)
class Fitted:
    """A tree, and the growth that knows how rows go down it."""

    growth: Growth
    nodes: tuple[TreeNode, ...]

    @property
    def n_leaves(self) -> int:
        return sum(node.choice is None for node in self.nodes)

    def answers(self, rows: Sequence[int]) -> dict[int, int]:
        """The class said of each row, by its place in the order of classes."""
        said: dict[int, int] = {}

        def send(tree: Subtree, some: tuple[int, ...]) -> None:
            if not tree.children:
                said.update(dict.fromkeys(some, tree.node.label))
                return
            for child, part in zip(tree.children, self.growth.children(tree.node, some), strict=True):
                send(child, part)

        send(nested(self.nodes), tuple(rows))
        return said


@dataclass(frozen=True)
class Search:
    """A table of classes, parameters that all settings share, and a grid of settings."""

    columns: tuple[Column, ...]
    target: Classes
    shared: AllParameters
    grid: tuple[Mapping[str, Any], ...]
    weights: tuple[float, ...] | None = None
    pruning: Mapping[str, Any] = field(default_factory=dict)
    known: dict[tuple[int, frozenset[int]], Fitted] = field(default_factory=dict, compare=False)

    @property
    def n(self) -> int:
        return len(self.target.labels)

    def fitted(self, s: int, train: frozenset[int]) -> Fitted:
        """The pruned tree of some rows under a setting: nothing of the other rows takes part."""
        if (s, train) not in self.known:
            self.known[s, train] = self.grown(s, train)
        return self.known[s, train]

    def points(self, s: int, train: frozenset[int], test: Sequence[int]) -> tuple[Fraction, int]:
        """Rows that are right; with a cost matrix what wrong ones cost, below 0."""
        order, labels, matrix = self.target.order, self.target.labels, self.shared.cost_matrix
        total = Fraction(0)
        for row, said in self.fitted(s, train).answers(test).items():
            true = order.index(labels[row])
            total += int(true == said) if matrix is None else -Fraction(matrix[true][said])
        return total, len(test)

    def marks(self, repetitions: Sequence[Folds], rows: frozenset[int] | None = None) -> list[Marks]:
        """How every setting does over the folds of each repetition, which part the rows (all of them)."""
        everyone = frozenset(range(self.n)) if rows is None else rows
        return [
            Marks(
                tuple(
                    tuple(self.points(s, everyone - frozenset(fold), fold) for fold in folds)
                    for folds in repetitions
                ),
                self.fitted(s, everyone).n_leaves,
            )
            for s in range(len(self.grid))
        ]

    def chosen(self, repetitions: Sequence[Folds], how: str = "mean", select: str = "best") -> int:
        return choose(self.marks(repetitions), how, select)

    def nested(self, outer: Folds, how: str = "mean", select: str = "best") -> list[tuple[int, Fraction]]:
        """Of each outer fold the setting that the other folds choose among themselves, and how the tree of
        their rows does on it."""
        found = []
        for i, fold in enumerate(outer):
            rest = frozenset(range(self.n)) - frozenset(fold)
            inner = [other for j, other in enumerate(outer) if j != i]
            s = choose(self.marks([inner], rest), how, select)
            total, n = self.points(s, rest, fold)
            found.append((s, total / n))
        return found

    def grown(self, s: int, train: frozenset[int]) -> Fitted:
        setting = dict(self.grid[s])
        pruning = {**self.pruning, **{name: setting.pop(name) for name in PRUNING if name in setting}}
        parameters = replace(self.shared, **setting)
        times = [int(row in train) for row in range(self.n)]
        growth = Growth.of(self.columns, self.target, parameters, times, self.weights)
        nodes = growth.grow()
        if parameters.criterion == "c45":
            nodes = collapse(growth, nodes)
        alpha = pruning.get("ccp_alpha", 0.0)
        if pruning.get("prune") == "error_based":
            nodes = error_based(growth, nodes, pruning.get("confidence", 0.25))
        elif alpha > 0.0:
            nodes = cost_complexity(nodes, alpha, growth.factors)
        return Fitted(growth, tuple(nodes))
