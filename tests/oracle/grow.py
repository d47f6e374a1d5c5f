"""Growth of one tree from one training set: a list of nodes in preorder, children in branch order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tests.oracle.candidates import Choice, at_node, best_of_attribute, first_best
from tests.oracle.quality import impurity, nearest
from tests.oracle.table import Column, Parameters, Statistics, Target, TargetSums

DEFAULTS = Parameters()


@dataclass(frozen=True)
class TreeNode:
    """`choice` is None at a leaf; `rows` are the row numbers, without multiplicity."""

    depth: int
    rows: tuple[int, ...]
    stats: Statistics
    impurity: float
    choice: Choice | None

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


def grow(
    columns: Sequence[Column],
    target: Target,
    parameters: Parameters = DEFAULTS,
    times: Sequence[int] | None = None,
) -> list[TreeNode]:
    """The tree of the rows with `times` > 0, each counted that often (once without `times`)."""
    n_table = len(columns[0].values)
    times = [1] * n_table if times is None else times
    everyone = tuple(row for row in range(n_table) if times[row] > 0)
    if not everyone:
        raise ValueError("the training set has no rows; give at least one row a multiplicity above 0")
    n_total = sum(times[row] for row in everyone)
    min_split = minimum(parameters.min_samples_split, n_total, 2)
    min_leaf = minimum(parameters.min_samples_leaf, n_total, 1)
    nodes: list[TreeNode] = []
    waiting = [(0, everyone)]
    while waiting:
        depth, rows = waiting.pop()
        stats = target.statistics(rows, times)
        choice = None
        if not (stats.is_pure() or depth == parameters.max_depth or stats.n < min_split):
            choice = first_best(
                best_of_attribute(at_node(i, c, target, rows, times, parameters, min_leaf), c)
                for i, c in enumerate(columns)
            )
        if choice is not None:
            share = nearest(stats.n) / nearest(n_total)
            if share * choice.gain < parameters.min_impurity_decrease:
                choice = None
        nodes.append(TreeNode(depth, rows, stats, impurity(parameters.criterion, stats), choice))
        if choice is not None:
            column = columns[choice.candidate.attribute]
            for child in reversed(range(len(choice.branches))):
                waiting.append((depth + 1, tuple(r for r in rows if branch(choice, column, r) == child)))
    return nodes


def means(stats: TargetSums) -> list[float]:
    return [nearest(y, stats.unit * stats.n) for y in stats.sums]
