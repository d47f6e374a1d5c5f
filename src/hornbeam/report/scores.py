"""Scores of a tree's answers: accuracy and R², each beside the best constant answer of the training rows."""

from __future__ import annotations

from typing import Any, Required, TypedDict

import numpy as np
from numpy.typing import NDArray

from hornbeam.growth import ClassTarget, NumericTarget, Target
from hornbeam.model import Tree
from hornbeam.table import Table
from hornbeam.validation.scores import (
    accuracy,
    deviation,
    exact_mean,
    exact_sum,
    mean_absolute_error,
    means_of,
    r2,
)

from .records import Errors, Points, Score

_MOST_POINTS = 600


class Judged(TypedDict, total=False):
    """What a study says of how well its tree answers."""

    score: Required[Score]
    errors: Errors | None
    points: Points | None


def judge(tree: Tree, table: Table, actual: Target, training: Target, held_out: bool, threads: int) -> Judged:
    """The score of a tree's answers for the rows of a table, and where they err; the baselines are those of
    the rows that it was grown from."""
    if isinstance(actual, ClassTarget):
        assert isinstance(training, ClassTarget)
        codes = tree.predict_codes(table, threads)
        score = score_classes(actual.codes, codes, int(training.counts.argmax()), held_out)
        return {"score": score, "errors": count_errors(actual.codes, codes, class_names(actual.labels))}
    assert isinstance(training, NumericTarget)
    answered = tree.predict_means(table, threads)
    score = score_numbers(actual.values, answered, means_of(training.values), held_out)
    return {"score": score, "points": sample_points(actual.values, answered, actual.names[0])}


def class_names(labels: NDArray[Any]) -> tuple[str, ...]:
    return tuple(map(str, labels.tolist()))


def score_classes(
    actual: NDArray[np.int32], answered: NDArray[np.int32], most_common: int, held_out: bool
) -> Score:
    """Share of right answers; the baseline always answers the training rows' most common class."""
    baseline = accuracy(actual, np.broadcast_to(most_common, actual.shape))
    return Score("accuracy", accuracy(actual, answered), baseline, len(actual), held_out)


def count_errors(actual: NDArray[np.int32], answered: NDArray[np.int32], classes: tuple[str, ...]) -> Errors:
    """The table of actual against answered classes."""
    n = len(classes)
    counts = np.bincount(actual.astype(np.int64) * n + answered, minlength=n * n).reshape(n, n)
    return Errors(classes, tuple(tuple(int(c) for c in row) for row in counts))


def score_numbers(
    actual: NDArray[np.float64],
    answered: NDArray[np.float64],
    training_mean: NDArray[np.float64],
    held_out: bool,
) -> Score:
    """R², averaged over targets; the baseline always answers the training rows' mean."""
    errors = tuple(map(mean_absolute_error, actual.T, answered.T))
    if held_out:
        baseline = r2(actual, np.broadcast_to(training_mean, actual.shape))
    else:  # nothing of what varies, and all of what does not
        baseline = float(np.mean((actual == actual[:1]).all(axis=0)))
    return Score("r2", r2(actual, answered), baseline, len(actual), held_out, errors)


def accuracy_error(score: Score) -> float:
    """The standard error of an accuracy: what the choice of the rows makes of it."""
    return float(np.sqrt(score.value * (1.0 - score.value) / score.rows))


def r2_error(actual: NDArray[np.float64], answered: NDArray[np.float64]) -> float:
    """The standard error of R², from the influence of each row on it; 0 where no target varies."""
    left, whole = (actual - answered) ** 2, (actual - means_of(actual)) ** 2
    influence = np.zeros(len(actual))
    for apart, own in zip(left.T, whole.T, strict=True):
        if exact_sum(own) > 0:
            influence += (apart - own * (exact_sum(apart) / exact_sum(own))) / exact_mean(own)
    return float(deviation(influence) / actual.shape[1] / np.sqrt(len(actual)))


def sample_points(actual: NDArray[np.float64], answered: NDArray[np.float64], target: str) -> Points:
    """Evenly spaced rows for the picture of actual against predicted values."""
    step = max(1, -(-len(actual) // _MOST_POINTS))
    pairs = zip(actual[::step, 0].tolist(), answered[::step, 0].tolist(), strict=True)
    return Points(target, tuple(pairs))


def judge_leaves(tree: Tree) -> Judged:
    """The same of the rows that a tree was grown from."""
    return {"score": score_leaves(tree), "errors": errors_of_leaves(tree)}


def score_leaves(tree: Tree) -> Score:
    """Accuracy, or the share of the variance (of all targets together) that the leaves explain; by weight
    where rows have one."""
    rows, weight = int(tree.arrays["rows"][0]), tree.arrays["weight"]
    weighted = bool(weight[0] != rows)
    leaves = tree.arrays["n_children"] == 0
    if tree.classes is not None:
        true, answer, weights = _counts(tree, leaves)
        whole = exact_sum(weights)
        most = max(exact_sum(weights[true == k]) for k in range(tree.n_classes))
        right = exact_sum(weights[true == answer])
        return Score("accuracy", right / whole, most / whole, rows, False, by_weight=weighted)
    impurity = tree.arrays["impurity"]
    left, whole = (exact_sum(weight[some], impurity[some]) for some in (leaves, slice(1)))
    explained = (whole - left) / whole if whole > 0 else 1.0
    return Score("r2", explained, 0.0 if whole > 0 else 1.0, rows, False, by_weight=weighted)


def errors_of_leaves(tree: Tree) -> Errors | None:
    """Which classes were taken for which; None for numbers, and for weights, which are no counts."""
    if tree.classes is None or bool((tree.arrays["weight"] != tree.arrays["rows"]).any()):
        return None
    true, answer, counts = _counts(tree, tree.arrays["n_children"] == 0)
    table = np.zeros((tree.n_classes, tree.n_classes), dtype=np.int64)
    np.add.at(table, (true, answer), counts.astype(np.int64))
    return Errors(tuple(map(str, tree.classes)), tuple(map(tuple, table.tolist())))


def _counts(
    tree: Tree, leaves: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """(true class, answer, weight) of the rows of each class in each of the leaves."""
    node = np.repeat(np.arange(tree.n_nodes), np.diff(tree.arrays["count_start"]))
    kept = leaves[node]
    true, answer = tree.arrays["count_class"][kept], tree.leaf_class[node[kept]]
    return true, answer, tree.arrays["count"][kept]
