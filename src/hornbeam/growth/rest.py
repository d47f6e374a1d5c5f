"""What is left of a tree whose nodes were cut or moved, and C4.5's last step of growth, which cuts some."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.model import RoutedTable, Tree


def rest_of(tree: Tree, arrays: dict[str, Any]) -> Tree:
    """The tree of arrays that the core made of a tree; `origin` says whose tests its nodes ask."""
    kept = tree.kept_competitors
    return Tree.trusted(
        tree.schema,
        arrays,
        classes=tree.classes,
        targets=tree.targets,
        costs=tree.costs,
        competitors=None if kept is None else kept.take(arrays["origin"]).arrays,
    )


def collapsed(tree: Tree) -> Tree:
    """A subtree that makes no fewer errors than a leaf becomes one."""
    arrays = _core.collapse(tree.native(), tree.leaf_class)
    return tree if len(arrays["kind"]) == tree.n_nodes else rest_of(tree, arrays)


def rows_in_order(
    tree: Tree, rows: npt.NDArray[np.int64], weights: npt.NDArray[np.float64] | None, routed: RoutedTable
) -> npt.NDArray[np.uint32]:
    """The rows that a tree was grown from, leaf after leaf, those of weight 0 left out."""
    if weights is not None:
        rows = rows[weights[rows] > 0]
    place = leaf_places(tree)[routed.leaves(tree, rows)]
    return rows[np.argsort(place, kind="stable")].astype(np.uint32)


def leaf_places(tree: Tree) -> npt.NDArray[np.int32]:
    """How many leaves come before each node, from left to right."""
    return _core.leaf_places(tree.native())
