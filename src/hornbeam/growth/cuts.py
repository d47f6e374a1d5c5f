"""Cuts: the trees that limits of depth, size and gain, or cost-complexity pruning, leave of a grown one.

Such limits do not change which tests a node would choose, so the tree grown with them is a prefix of the tree
grown without (paper 004's rule of m is one of them). All prefixes are read off at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.growth.grow import NumericTarget, Target, reshaped
from hornbeam.growth.memory import least_rows
from hornbeam.growth.parameters import Parameters
from hornbeam.model import Tree

Ends = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Cut:
    """Limits that only cut a tree, with the meaning and the defaults that they have in `Parameters`."""

    max_depth: int | None = None
    min_samples_split: int | float = 2
    min_impurity_decrease: float = 0.0

    @classmethod
    def of(cls, parameters: Parameters) -> Cut:
        """Those of checked parameters."""
        return cls(parameters.max_depth, parameters.min_samples_split, parameters.min_impurity_decrease)


class Cuts:
    """The prefixes of one tree, one for each cut: `ends[k, node]` is the node at which what reaches a node of
    the tree ends in prefix k, -1 where it goes on; every leaf has one. `tree(k)` is what growing with that
    cut, or pruning with that alpha, would have given; of limits of gain where `reads_gains` holds."""

    def __init__(
        self, tree: Tree, cuts: Sequence[Cut] | None = None, alphas: Sequence[float] | None = None
    ) -> None:
        self.whole = tree
        if (cuts is None) == (alphas is None):
            raise TypeError("either cuts or alphas")
        if cuts is not None:
            found = _core.ends_of_cuts(
                tree.native(), tree.masses, *_limits(tuple(cuts), int(tree.arrays["rows"][0]))
            )
        else:
            found = _core.ends_of_alphas(tree.native(), tree.masses, np.array(alphas, dtype=np.float64))
        self.ends: Ends = found[0].reshape(-1, tree.n_nodes)
        self.n_leaves, self.depth = found[1], found[2]

    def __len__(self) -> int:
        return len(self.ends)

    def tree(self, k: int) -> Tree:
        """The tree of prefix k."""
        if self.n_leaves[k] == self.whole.n_leaves:
            return self.whole
        return reshaped(self.whole, _core.cut_tree(self.whole.native(), self.ends[k]))


def reads_gains(target: Target) -> bool:
    """Whether a tree of such a target tells what limits of gain leave of it. Where rows and classes both
    weigh, growth goes by exact sums, and the tree holds them rounded class by class."""
    if target.weights is None or isinstance(target, NumericTarget):
        return True
    return target.costs.weights is None and target.costs.matrix is None


Limits = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]


@lru_cache(maxsize=64)  # many trees of like size are cut alike
def _limits(cuts: tuple[Cut, ...], rows: int) -> Limits:
    """Depths, sizes and gains of all cuts; a share of the rows is of those that the tree was grown from."""
    sizes = [cut.min_samples_split for cut in cuts]
    return (
        np.array([-1 if cut.max_depth is None else cut.max_depth for cut in cuts], dtype=np.int64),
        np.array([max(2, least_rows(size, rows)) for size in sizes], dtype=np.int64),
        np.array([cut.min_impurity_decrease for cut in cuts], dtype=np.float64),
    )
