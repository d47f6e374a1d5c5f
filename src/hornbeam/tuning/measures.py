"""Scores of all settings that share a tree, counted at once: accuracy, R², log loss and cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hornbeam.growth import ClassTarget, NumericTarget, Target
from hornbeam.model import Tree
from hornbeam.validation.scoring import Judge

Rows = npt.NDArray[np.int64]
Nodes = npt.NDArray[np.int32]


class Measure(Protocol):
    """What a scorer would say of several prefixes of a tree."""

    counts: bool
    """Whether it gives how many rows are right, and not a score."""

    def __call__(self, tree: Tree, nodes: Nodes, rows: Rows) -> npt.NDArray[Any]:
        """One value for each prefix; `nodes[prefix, row]` are the nodes of the tree that answer the rows."""


def measure_of(judge: Judge, target: Target, y: Any, tests: Sequence[Rows], *, cost: bool) -> Measure | None:
    """The measure that gives what the judge's scorer gives, to the last bit; None where there is none. `cost`:
    not the scorer, but what mistakes cost is asked for."""
    smallest = min(map(len, tests))
    if isinstance(target, ClassTarget):
        if cost and smallest:
            return MeanCost(target)
        return Accuracy(target) if judge.is_accuracy and smallest else None
    return RSquared(target) if judge.gives_r2(y) and smallest > 1 else None


@dataclass(frozen=True, eq=False)
class Accuracy:
    """How many rows are answered by their class."""

    target: ClassTarget
    counts = True

    def __call__(self, tree: Tree, nodes: Nodes, rows: Rows) -> npt.NDArray[np.int64]:
        right = tree.leaf_class.take(nodes) == self.target.codes.take(rows)
        return np.asarray(np.count_nonzero(right, axis=1))


@dataclass(frozen=True, eq=False)
class MeanCost:
    """What the answers cost, a row on average; less is better, so it is negative."""

    target: ClassTarget
    counts = False

    def __call__(self, tree: Tree, nodes: Nodes, rows: Rows) -> npt.NDArray[np.float64]:
        matrix = self.target.costs.matrix
        assert matrix is not None
        return np.asarray(-matrix[self.target.codes.take(rows), tree.leaf_class.take(nodes)].mean(axis=1))


@dataclass(frozen=True, eq=False)
class RSquared:
    """The coefficient of determination, averaged over targets."""

    target: NumericTarget
    counts = False

    def __call__(self, tree: Tree, nodes: Nodes, rows: Rows) -> npt.NDArray[np.float64]:
        actual = self.target.values[rows]
        left = ((actual - tree.means[nodes]) ** 2).sum(axis=1)
        whole = ((actual - actual.mean(axis=0)) ** 2).sum(axis=0)
        constant = whole == 0
        ratio = 1.0 - left / np.where(constant, 1.0, whole)
        return np.asarray(np.where(constant, np.where(left == 0, 1.0, 0.0), ratio).mean(axis=1))


class CostScorer:
    """Minus the mean cost of a model's answers, by its cost matrix."""

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        target = estimator._encode(y, estimator.tree_)
        said = np.searchsorted(estimator.classes_, estimator.predict(X))
        return float(-np.asarray(estimator.cost_matrix, dtype=np.float64)[target.codes, said].mean())

    def __repr__(self) -> str:
        return "minus the mean cost"
