"""What is left of a tree whose nodes were cut or moved, and C4.5's last step of growth, which cuts some."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.model import Tree


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


def leaf_places(tree: Tree) -> npt.NDArray[np.int32]:
    """How many leaves come before each node, from left to right."""
    return _core.leaf_places(tree.native())
