"""How a tree answers for the rows it was grown from, read off its own leaves: no row is looked at again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hornbeam.model import Tree

from .records import Errors, Score


def score_leaves(tree: Tree) -> Score:
    """Accuracy, or the share of the variance (of all targets together) that the leaves explain; by weight
    where rows have one."""
    rows, weight = int(tree.arrays["rows"][0]), tree.arrays["weight"]
    weighted = bool(weight[0] != rows)
    leaves = tree.arrays["n_children"] == 0
    if tree.classes is not None:
        table = _table(tree, leaves)
        whole = float(table.sum())
        right, most = float(np.trace(table)), float(table.sum(axis=1).max())
        return Score("accuracy", right / whole, most / whole, rows, False, by_weight=weighted)
    impurity = tree.arrays["impurity"]
    left, whole = float((weight * impurity)[leaves].sum()), float(weight[0] * impurity[0])
    explained = 1.0 - left / whole if whole > 0 else 1.0
    return Score("r2", explained, 0.0 if whole > 0 else 1.0, rows, False, by_weight=weighted)


def errors_of_leaves(tree: Tree) -> Errors | None:
    """Which classes were taken for which; None for numbers, and for weights, which are no counts."""
    if tree.classes is None or bool((tree.arrays["weight"] != tree.arrays["rows"]).any()):
        return None
    counts = _table(tree, tree.arrays["n_children"] == 0).round().astype(np.int64).tolist()
    return Errors(tuple(map(str, tree.classes)), tuple(map(tuple, counts)))


def _table(tree: Tree, leaves: NDArray[np.bool_]) -> NDArray[np.float64]:
    """[true class, answer]: the weight of the rows in the leaves."""
    start, k = tree.arrays["count_start"], tree.n_classes
    node = np.repeat(np.arange(tree.n_nodes), np.diff(start))
    kept = leaves[node]
    true, said = tree.arrays["count_class"][kept], tree.leaf_class[node[kept]]
    weights = tree.arrays["count"][kept]
    table = np.zeros((k, k))
    np.add.at(table, (true, said), weights)
    return table
