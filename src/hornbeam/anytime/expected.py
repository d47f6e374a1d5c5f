"""Expected errors of C4.5's pruning: of leaves, of every subtree, and the least that a node could have."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.anytime.sketch import Sketch, splice

CONFIDENCE: Final = 0.25
DUST: Final = 1e-9  # expected errors below which nothing is gained

Floats = npt.NDArray[np.float64]


@lru_cache(maxsize=2**16)
def of_leaf(rows: int, errors: int) -> float:
    """What a leaf of so many rows is expected to get wrong, where it gets so many wrong in training."""
    return _core.expected_errors(float(rows), float(errors), CONFIDENCE)


def of_leaves(sketch: Sketch, nodes: npt.NDArray[Any]) -> Floats:
    """What each of some nodes is expected to get wrong as a leaf."""
    rows = sketch["rows"][nodes]
    most = np.maximum.reduceat(sketch["count"], sketch["count_start"][:-1])[nodes]
    pairs = np.stack((rows, rows - most.astype(np.int64)), axis=1)
    different, place = np.unique(pairs, axis=0, return_inverse=True)
    known = np.array([of_leaf(*pair) for pair in different.tolist()])
    return known[place.reshape(-1)]


def of_subtrees(sketch: Sketch) -> Floats:
    """The expected error of every subtree: of a leaf its own, else its children's added up in order."""
    leaves = np.flatnonzero(sketch.is_leaf)
    values = np.zeros(sketch.n_nodes)
    values[leaves] = of_leaves(sketch, leaves)
    found, span = values.tolist(), sketch["span"].tolist()
    children = sketch["n_children"].tolist()
    for node in reversed(range(sketch.n_nodes)):
        child = node + 1
        for _ in range(children[node]):
            found[node] += found[child]
            child += span[child]
    return np.array(found)


def after_graft(values: Floats, sketch: Sketch, node: int, grafted: Sketch, part: Floats) -> Floats:
    """The expected errors of the subtrees of a tree with a part of it replaced."""
    found = splice(values, node, sketch.end_of(node), part)
    add_up(found, grafted, node)
    return found


def add_up(values: Floats, sketch: Sketch, node: int) -> None:
    """Make the nodes above a node the sums of their children again."""
    for above in reversed(sketch.ancestors(node).tolist()):
        total = 0.0
        for child in sketch.children(above):
            total += float(values[child])
        values[above] = total


def least(sketch: Sketch, node: int) -> float:
    """The expected error of a node if one test could part its classes."""
    total = 0.0
    for count in sketch.counts_of(node)[1]:
        total += of_leaf(int(count), 0)
    return total


def of_tree(sketch: Sketch) -> float:
    """The expected error of the whole tree; for people, so in no particular order."""
    return float(of_leaves(sketch, np.flatnonzero(sketch.is_leaf)).sum())
