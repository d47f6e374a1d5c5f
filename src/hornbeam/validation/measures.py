"""Measures: scores of several prefixes of a tree at once, by the law of scores, without scikit-learn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hornbeam.growth import ClassTarget, NumericTarget, Target
from hornbeam.model import Tree
from hornbeam.validation.scores import accuracy, exact_mean, r2

Rows = npt.NDArray[np.int64]
Nodes = npt.NDArray[np.int32]


class Measure(Protocol):
    """What a scorer asks for, of several prefixes of a tree at once."""

    @property
    def counts(self) -> bool:
        """Whether it gives whole points of all rows together, and not a score."""

    def __call__(self, tree: Tree, nodes: Nodes, rows: Rows) -> npt.NDArray[Any]:
        """A value for each prefix; `nodes[prefix, row]` are the nodes of the tree that answer the rows."""


def score_of(measure: Measure, tree: Tree, leaves: Nodes, rows: Rows) -> float:
    """What a measure gives of a whole tree, whose `leaves` the rows reach; NaN where there are none."""
    if not len(rows):
        return math.nan
    value = measure(tree, leaves[None, :], rows)[0].item()
    return float(value / len(rows) if measure.counts else value)


def plain_measure(target: Target) -> Measure:
    """Accuracy, or R²."""
    return Accuracy(target) if isinstance(target, ClassTarget) else RSquared(target)


@dataclass(frozen=True, eq=False)
class Accuracy:
    """How many rows are answered by their class."""

    target: ClassTarget
    counts = True

    def __call__(self, tree: Tree, nodes: Nodes, rows: Rows) -> npt.NDArray[np.int64]:
        right = tree.leaf_class.take(nodes) == self.target.codes.take(rows)
        return np.asarray(np.count_nonzero(right, axis=1))


@dataclass(frozen=True, eq=False)
class WeightedAccuracy:
    """The share of the rows' weight that is answered by its class."""

    target: ClassTarget
    weights: npt.NDArray[np.float64]
    counts = False

    def __call__(self, tree: Tree, nodes: Nodes, rows: Rows) -> npt.NDArray[np.float64]:
        codes, weights = self.target.codes.take(rows), self.weights.take(rows)
        return np.array([accuracy(codes, classes, weights) for classes in tree.leaf_class.take(nodes)])


@dataclass(frozen=True, eq=False)
class LogLoss:
    """The mean logarithm of the share that a row's class has in its leaf."""

    target: ClassTarget
    counts = False

    def __call__(self, tree: Tree, nodes: Nodes, rows: Rows) -> npt.NDArray[np.float64]:
        codes, shares = self.target.codes.take(rows), tree.probabilities(np.arange(tree.n_nodes))
        if shares.shape[1] == 2:  # scikit-learn is given the share of the second alone
            shares[:, 0] = 1.0 - shares[:, 1]
        tiny = np.finfo(np.float64).eps
        logarithms = np.log(np.clip(shares, tiny, 1.0 - tiny))
        return np.array([exact_mean(logarithms[ends, codes]) for ends in nodes])


@dataclass(frozen=True, eq=False)
class Cost:
    """What the answers cost; less is better, so it is negative. Whole costs are added up, others averaged."""

    target: ClassTarget
    matrix: npt.NDArray[np.float64]

    @cached_property
    def counts(self) -> bool:
        whole = bool((self.matrix == np.rint(self.matrix)).all())
        return whole and float(self.matrix.max()) * self.target.n_rows < 2**53

    def __call__(self, tree: Tree, nodes: Nodes, rows: Rows) -> npt.NDArray[Any]:
        costs = self.matrix[self.target.codes.take(rows), tree.leaf_class.take(nodes)]
        return np.asarray(-costs.sum(axis=1)) if self.counts else -np.array(list(map(exact_mean, costs)))


@dataclass(frozen=True, eq=False)
class RSquared:
    """The coefficient of determination, averaged over targets."""

    target: NumericTarget
    counts = False

    def __call__(self, tree: Tree, nodes: Nodes, rows: Rows) -> npt.NDArray[np.float64]:
        actual = self.target.values[rows]
        return np.array([r2(actual, tree.means[ends]) for ends in nodes])
