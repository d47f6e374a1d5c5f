"""When tests of label subsets are the same: every category that both know goes the same way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hornbeam.model import Tree
from hornbeam.model.arrays import Array
from hornbeam.model.walk import brief_nodes

Ints = npt.NDArray[np.int64]


class SubsetTests:
    """Numbers for the subset tests of several trees: at a place, equal numbers are the same test.

    Sides carry no meaning of their own: a test that has lost the label which names its left side may be
    written the other way round. Such a test gets the same number and is marked as swapped.
    """

    def __init__(self, trees: Sequence[Tree]) -> None:
        self._trees = trees
        self._lists: dict[int, tuple[Array, list[int], list[int]]] = {}
        self._numbers: dict[tuple[int, int, bytes], int] = {}

    def numbered(self, place: Ints, sets: Ints, node: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """The number of each entry's test, and whether its sides are swapped; entries ascend by place."""
        number = np.array(
            [self._number(i, n) for i, n in zip(sets.tolist(), node.tolist(), strict=True)], dtype=np.int64
        )
        swapped = np.zeros(len(number), dtype=bool)
        mixed = np.flatnonzero((np.diff(place) == 0) & (np.diff(number) != 0))
        for at in np.unique(place[mixed]).tolist():
            begin, end = np.searchsorted(place, (at, at + 1)).tolist()
            self._merge(number, swapped, begin, end, sets, node)
        return number, swapped

    def _number(self, i: int, node: int) -> int:
        """Equal for tests that are written alike; others may turn out to be the same all the same."""
        if i not in self._lists:
            self._lists[i] = _written(self._trees[i])
        written, start, brief = self._lists[i]
        attribute = int(self._trees[i].arrays["attribute"][node])
        text = attribute, brief[node], written[start[node] : start[node + 1]].tobytes()
        return self._numbers.setdefault(text, len(self._numbers))

    def _merge(
        self, number: Ints, swapped: npt.NDArray[np.bool_], begin: int, end: int, sets: Ints, node: Ints
    ) -> None:
        """Give tests of one place that agree the number of the first of them.

        A test joins the first group whose known categories it does not contradict, and brings its own.
        """
        groups: list[tuple[int, int, dict[int, int]]] = []  # attribute, number, category -> side
        joined: dict[int, tuple[int, bool]] = {}
        for entry in range(begin, end):
            own = int(number[entry])
            if own not in joined:
                tree, at = self._trees[int(sets[entry])], int(node[entry])
                ways = {code: k for k in (0, 1) for code in tree.branch_codes(at, k).tolist()}
                joined[own] = _join(groups, int(tree.arrays["attribute"][at]), own, ways)
            number[entry], swapped[entry] = joined[own]


def _join(
    groups: list[tuple[int, int, dict[int, int]]], attribute: int, own: int, ways: dict[int, int]
) -> tuple[int, bool]:
    for other, number, known in groups:
        common = [code for code in ways if code in known] if other == attribute else None
        if common is None:
            continue
        for swap in (False, True):
            if all(known[code] == ways[code] ^ swap for code in common):
                known.update((code, way ^ swap) for code, way in ways.items())
                return number, swap
    groups.append((attribute, own, ways))
    return own, False


def _written(tree: Tree) -> tuple[Array, list[int], list[int]]:
    """(category and child of each branch as one number, where a node's begin, and what a test in brief
    adds: its default child, since that is where unlisted categories go)."""
    code, child = tree.arrays["branch_code"], tree.arrays["branch_child"]
    brief = np.full(tree.n_nodes, -1)
    short = brief_nodes(tree)
    brief[short] = tree.arrays["default_child"][short]
    written = code.astype(np.int64) << 32 | child.astype(np.int64) & 0xFFFFFFFF
    return written, tree.arrays["branch_start"].tolist(), brief.tolist()
