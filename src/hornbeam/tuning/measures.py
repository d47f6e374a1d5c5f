"""Scores of all settings that share a tree, taken at once: accuracy, log loss, cost and R²."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hornbeam.growth import ClassTarget, NumericTarget, Target, TrainingSets
from hornbeam.model import Tree
from hornbeam.validation.scores import accuracy, exact_mean, r2
from hornbeam.validation.scoring import Judge

Rows = npt.NDArray[np.int64]
Nodes = npt.NDArray[np.int32]


class Measure(Protocol):
    """What a scorer asks for, of several prefixes of a tree at once."""

    @property
    def counts(self) -> bool:
        """Whether it gives whole points of all rows together, and not a score."""

    def __call__(self, tree: Tree, nodes: Nodes, rows: Rows) -> npt.NDArray[Any]:
        """A value for each prefix; `nodes[prefix, row]` are the nodes of the tree that answer the rows."""


def measure_of(
    judge: Judge,
    target: Target,
    sets: TrainingSets,
    tests: Sequence[Rows],
    params: Mapping[str, Any],
) -> Measure | None:
    """The measure that gives what the judge's scorer gives; None where it has to be asked itself. `params` is
    what else the scorer is told."""
    if params:
        return _weighted(judge, target, tests, params)
    least = min(map(len, tests))
    if not isinstance(target, ClassTarget):
        return RSquared(target) if judge.is_r2 and least > 1 else None
    if least == 0:
        return None
    if isinstance(judge.scorer, CostScorer) and target.costs.matrix is not None:
        return Cost(target, target.costs.matrix)
    if judge.is_log_loss and _all_there(target, sets, tests):
        return LogLoss(target)
    return Accuracy(target) if judge.is_accuracy else None


def _weighted(
    judge: Judge, target: Target, tests: Sequence[Rows], params: Mapping[str, Any]
) -> Measure | None:
    if list(params) != ["sample_weight"] or not judge.is_accuracy or not isinstance(target, ClassTarget):
        return None
    weights = np.asarray(params["sample_weight"])
    fit = weights.shape == (target.n_rows,) and all(weights[rows].any() for rows in tests)
    return WeightedAccuracy(target, weights.astype(np.float64)) if fit else None


def _all_there(target: ClassTarget, sets: TrainingSets, tests: Sequence[Rows]) -> bool:
    """Whether each set, and the rows of each test, have every class: scikit-learn's log loss asks for it."""
    n = len(target.labels)
    counts = [one.count(target.codes, n, target.counts) for one in sets]
    counts += [np.bincount(target.codes[rows], minlength=n) for rows in tests]
    return n > 1 and all(count.all() for count in counts)


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
        if shares.shape[1] == 2:  # scikit-learn is told the share of the second alone
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


class CostScorer:
    """Minus the mean cost of a fitted model's answers."""

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        actual = estimator._encode(y, estimator.tree_).codes
        said = np.searchsorted(estimator.classes_, estimator.predict(X))
        return -exact_mean(np.array(estimator.cost_matrix, dtype=np.float64)[actual, said])

    def __repr__(self) -> str:
        return "minus the mean cost"


@dataclass(frozen=True, eq=False)
class RSquared:
    """The coefficient of determination, averaged over targets."""

    target: NumericTarget
    counts = False

    def __call__(self, tree: Tree, nodes: Nodes, rows: Rows) -> npt.NDArray[np.float64]:
        actual = self.target.values[rows]
        return np.array([r2(actual, tree.means[ends]) for ends in nodes])
