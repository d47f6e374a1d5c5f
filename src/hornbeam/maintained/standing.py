"""Which subtrees of the tree before a batch stand: no row of them came or went, and no stop rule that goes by
the size of the whole table says another thing now.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hornbeam.boat.nodes import Nodes
from hornbeam.growth.memory import least_rows
from hornbeam.maintained.alike import parents
from hornbeam.model import Tree
from hornbeam.model.arrays import LEAF

_SURE = 1e-9  # relative: what is nearer to min_impurity_decrease is looked at again
_IMPURITY_BOUNDS = ("gini", "entropy", "gain_ratio", "variance")  # no gain is above the impurity

Standing = npt.NDArray[np.bool_]


def standing(before: Tree, nodes: Nodes) -> Standing | None:
    """By node of the tree before: whether the rules say the same of it and of all below as they said then,
    were their rows the same. None: of no node."""
    if nodes.task.parameters.criterion == "c45":  # which looks at the whole table, and prunes what it grew
        return None
    rules = _Rules(before, nodes)
    if rules.sizes_differ or rules.classes_differ:
        return None
    if rules.same_mass or nodes.task.parameters.min_impurity_decrease <= 0:
        return np.ones(before.n_nodes, dtype=np.bool_)
    # Classes that weigh differently: the tree has sums of weights, and not what its tests were judged by.
    return None if nodes.costs_differ else ~_anywhere_below(before, rules.in_doubt())


class _Rules:
    """What depends on all rows, before and now."""

    def __init__(self, before: Tree, nodes: Nodes) -> None:
        self._before, self._nodes = before.arrays, nodes
        self._parameters = nodes.task.parameters
        _, self._weight, *_ = nodes.settling.whole(0)
        self._weight_before = float(self._before["weight"][0])

    @property
    def sizes_differ(self) -> bool:
        """Shares of all rows are as many rows as before?"""
        p = self._parameters
        rows = int(self._before["rows"][0]), self._nodes.rows
        return any(
            least_rows(size, rows[0]) != least_rows(size, rows[1])
            for size in (p.min_samples_split, p.min_samples_leaf)
        )

    @property
    def classes_differ(self) -> bool:
        """Balanced classes weigh otherwise after every batch, and costs go with the classes present."""
        if not self._nodes.costs_differ:
            return False
        known = self._before["count_class"][: self._before["count_start"][1]]
        return self._nodes.balanced or not np.array_equal(known, np.flatnonzero(self._nodes.counts))

    @property
    def same_mass(self) -> bool:
        return self._weight == self._weight_before and self._nodes.rows == int(self._before["rows"][0])

    def in_doubt(self) -> Standing:
        """Tests that may gain too little now, leaves that a test may gain enough for."""
        arrays, least = self._before, self._parameters.min_impurity_decrease
        share = arrays["weight"] / self._weight
        leaf = arrays["kind"] == LEAF
        doubt: Standing = ~leaf & (share * arrays["gain"] < least * (1 + _SURE))
        if self._weight >= self._weight_before:  # what gained too little gains less now
            return doubt
        gain = arrays["impurity"] if self._parameters.criterion in _IMPURITY_BOUNDS else np.inf
        pure = arrays["impurity"] == 0.0
        doubt |= leaf & ~pure & (share * gain >= least * (1 - _SURE))
        return doubt


def _anywhere_below(tree: Tree, flags: Standing) -> Standing:
    """Whether a node or one below has a flag."""
    found, parent = flags.copy(), parents(tree)
    waiting = np.flatnonzero(found)
    while len(waiting):
        above = np.unique(parent[waiting])
        waiting = above[(above >= 0) & ~found[above]]
        found[waiting] = True
    return found
