"""The categories present at each node, also where the tree stores them in brief (docs/model-file.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from hornbeam.model.arrays import LEAF, NUMERIC, VALUE, Array

if TYPE_CHECKING:
    from hornbeam.model.tree import Tree


def brief_nodes(tree: Tree) -> Array:
    """Value tests that list no category for child 1: what goes there follows from the tests above."""
    start, child = tree.arrays["branch_start"], tree.arrays["branch_child"]
    ones = np.concatenate([[0], np.cumsum(child == 1)])
    nodes: Array = np.flatnonzero((tree.arrays["kind"] == VALUE) & (ones[start[1:]] == ones[start[:-1]]))
    return nodes


def preorder(tree: Tree) -> Iterator[tuple[int, Array | None]]:
    """The nodes, each before its children, children in branch order.

    With a value test in brief come the codes present at it, ascending; with any other node None.
    """
    brief = set(brief_nodes(tree).tolist())
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
        present = _present(tree, node, above) if node in brief else None
        yield node, present
        below = _sent(tree, node, present) if n[node] else []
        attribute = int(tree.arrays["attribute"][node])
        for place in range(n[node] - 1, -1, -1):
            sent = {**above, attribute: below[place]} if below else above
            known.append((first[node] + place, sent))


def spelled_out(tree: Tree) -> dict[str, Array]:
    """The arrays of the tree with every category present listed: for whoever moves nodes."""
    lists = {node: _listed(tree, node) for node in range(tree.n_nodes)}
    for node, present in preorder(tree):
        if present is not None:
            codes, children = lists[node]
            lists[node] = (present, (present != codes[children == 0][0]).astype(children.dtype))
    sizes = [len(codes) for codes, _ in lists.values()]
    return {
        **tree.arrays,
        "branch_start": np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        "branch_code": np.concatenate([codes for codes, _ in lists.values()]).astype(np.int32),
        "branch_child": np.concatenate([children for _, children in lists.values()]).astype(np.int32),
    }


def _listed(tree: Tree, node: int) -> tuple[Array, Array]:
    begin, end = tree.arrays["branch_start"][node : node + 2]
    return tree.arrays["branch_code"][begin:end], tree.arrays["branch_child"][begin:end]


def _present(tree: Tree, node: int, above: dict[int, Array]) -> Array:
    codes, children = _listed(tree, node)
    sent = above[int(tree.arrays["attribute"][node])]
    gone = codes[children < 0]
    result: Array = sent[~np.isin(sent, gone, assume_unique=True)] if len(gone) else sent
    return result


def _sent(tree: Tree, node: int, present: Array | None) -> list[Any]:
    """The codes that a nominal test sends to each of its children."""
    if tree.arrays["kind"][node] in (LEAF, NUMERIC):
        return []
    codes, children = _listed(tree, node)
    if present is not None:
        value = codes[children == 0]
        return [value, present[present != value[0]]]
    return [codes[children == place] for place in range(int(tree.arrays["n_children"][node]))]
