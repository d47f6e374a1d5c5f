"""How a tree answers for the rows it was grown from, read off its own leaves: no row is looked at again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hornbeam.model import Tree
from hornbeam.validation.scores import exact_sum

from .records import Errors, Score
from .scores import Judged


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
