"""The categories present at each node, also where the tree stores them in brief (docs/model-file.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from hornbeam.model.arrays import LEAF, NUMERIC, SUBSET, VALUE, Array

if TYPE_CHECKING:
    from hornbeam.model.tree import Tree

Branches = tuple[Array, Array]  # category codes, ascending, and the child each goes to


def brief_nodes(tree: Tree) -> Array:
    """Subset and value tests that list no category for their default child: those follow from above."""
    start, child = tree.arrays["branch_start"], tree.arrays["branch_child"]
    default = np.repeat(tree.arrays["default_child"], np.diff(start))
    listed = np.concatenate([[0], np.cumsum(child == default)])
    binary = np.isin(tree.arrays["kind"], (SUBSET, VALUE))
    nodes: Array = np.flatnonzero(binary & (listed[start[1:]] == listed[start[:-1]]))
    return nodes


def branch_codes(tree: Tree, node: int, child: int) -> Array:
    """The categories that a nominal test sends to one of its children."""
    codes, children = listed(tree, node)
    if node not in tree.brief_nodes or child != tree.arrays["default_child"][node]:
        here: Array = codes[children == child]
        return here
    attribute, below, gone = tree.arrays["attribute"][node], node, [codes]
    while True:  # up to the test that lists what it sends along this path
        above = int(tree.parents[below])
        place = below - int(tree.arrays["first_child"][above])
        below = above
        if tree.arrays["attribute"][above] != attribute:
            continue
        sent, to = listed(tree, above)
        if above not in tree.brief_nodes or place != tree.arrays["default_child"][above]:
            break
        gone.append(sent)
    return _without(sent[to == place], np.concatenate(gone))


def preorder(tree: Tree) -> Iterator[tuple[int, Branches | None]]:
    """The nodes, each before its children, children in branch order; with those in brief their branches."""
    brief = tree.brief_nodes
    first, n = tree.arrays["first_child"].tolist(), tree.arrays["n_children"].tolist()
    if not brief:
        waiting = [0]
        while waiting:
            node = waiting.pop()
            yield node, None
            waiting.extend(range(first[node] + n[node] - 1, first[node] - 1, -1))
        return
    # With each node what the nearest test of each attribute above sends to it. Arrays are shared down the
    # tree and go when the last node below is done, so a chain never holds more than a few.
    known: list[tuple[int, dict[int, Array]]] = [(0, {})]
    while known:
        node, above = known.pop()
        attribute, whole = int(tree.arrays["attribute"][node]), None
        if node in brief:
            codes, children = listed(tree, node)
            whole = _spread(tree, node, _without(above[attribute], codes[children < 0]))
        yield node, whole
        nominal = tree.arrays["kind"][node] not in (LEAF, NUMERIC)
        codes, children = whole or listed(tree, node)
        for place in range(n[node] - 1, -1, -1):
            sent = {**above, attribute: codes[children == place]} if nominal else above
            known.append((first[node] + place, sent))


def listed(tree: Tree, node: int) -> Branches:
    """What the arrays say: in brief, -1 marks a category that is no longer present."""
    begin, end = tree.arrays["branch_start"][node : node + 2]
    return tree.arrays["branch_code"][begin:end], tree.arrays["branch_child"][begin:end]


def _without(codes: Array, gone: Array) -> Array:
    kept: Array = codes[~np.isin(codes, gone)] if len(gone) else codes
    return kept


def _spread(tree: Tree, node: int, present: Array) -> Branches:
    """The child of each category present at a node in brief: the one listed, else the default."""
    codes, children = listed(tree, node)
    to = np.full(len(present), tree.arrays["default_child"][node])
    known = children >= 0
    to[np.searchsorted(present, codes[known])] = children[known]
    return present, to
