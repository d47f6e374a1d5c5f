"""A tree that knows fewer classes: that of rows which lack some, as a table without them would give it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hornbeam.errors import DataError
from hornbeam.model.costs import Costs
from hornbeam.model.tree import Tree


def narrowed(tree: Tree, kept: npt.NDArray[np.int64]) -> Tree:
    """The tree with only the classes of the given codes, ascending; no node may have rows of another."""
    if tree.classes is None or len(kept) == len(tree.classes):
        return tree
    place = np.full(len(tree.classes), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    codes = place[tree.arrays["count_class"]]
    if (codes < 0).any():
        raise DataError("a class that a tree has rows of cannot be taken out of it; keep it")
    costs = tree.costs
    if costs is not None:
        matrix = costs.matrix
        if matrix is not None:
            matrix = tuple(tuple(matrix[i][j] for j in kept) for i in kept)
        costs = Costs(tuple(costs.weights[i] for i in kept), matrix)
    competitors = None if tree.kept_competitors is None else tree.kept_competitors.arrays
    return Tree.trusted(
        tree.schema,
        {**tree.arrays, "count_class": codes},
        classes=[tree.classes[i] for i in kept],
        costs=costs,
        competitors=competitors,
    )
