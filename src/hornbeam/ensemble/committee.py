"""The committee: trees over one schema that answer together, by the mean of their shares or by votes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam.model import Tree
from hornbeam.table import Schema, Table

VOTING = ("soft", "hard")

Numbers = npt.NDArray[np.float64]
Leaves = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Committee:
    """Trees that answer together: at least one, all over the same attributes, classes or targets.

    `voting` is "soft", the mean of the class shares of the leaves, or "hard", the share of the trees that say
    a class.
    """

    trees: Sequence[Tree]
    voting: str = "soft"

    @property
    def schema(self) -> Schema:
        return self.trees[0].schema

    @property
    def width(self) -> int:
        """How many numbers an answer has: one a class, or one a target."""
        return self.trees[0].n_classes or self.trees[0].n_targets

    def leaves(self, table: Table, threads: int = 1) -> Iterator[tuple[Tree, Leaves]]:
        """Each tree, and the leaf that each row reaches in it."""
        native = table.native()
        for tree in self.trees:
            yield tree, tree.router.apply(native, table.n_rows, threads)

    def answers(self, table: Table, threads: int = 1) -> Numbers:
        """The share of each class, or the mean of each target, for each row: [rows, classes or targets]."""
        total = np.zeros((table.n_rows, self.width))
        for tree, leaves in self.leaves(table, threads):
            self.add(total, tree, leaves)
        return np.divide(total, len(self.trees), out=total)

    def add(
        self, total: Numbers, tree: Tree, leaves: Leaves, rows: npt.NDArray[np.int64] | None = None
    ) -> None:
        """Add what a tree says of leaves to the sums of their rows: all, or those named, each once."""
        if tree.classes is None:
            if rows is None:
                total += tree.means[leaves]
            else:
                total[rows] += tree.means[leaves]
            return
        owner, answer, share = self._shares(tree, leaves)
        if rows is not None:
            owner = rows[owner]
        # A pair of row and class is there only once, so nothing is lost by adding all at once.
        total[owner, answer] += share

    def _shares(self, tree: Tree, leaves: Leaves) -> tuple[npt.NDArray[np.int64], Leaves, Numbers | float]:
        """(place in `leaves`, class, share) of what is above zero."""
        if self.voting == "hard":
            return np.arange(len(leaves)), tree.leaf_class[leaves], 1.0
        return tree.present_shares(leaves)

    def codes(self, answers: Numbers) -> npt.NDArray[np.int64]:
        """The class of each row's shares: the largest, or where mistakes cost the cheapest; the first among
        equals."""
        costs = self.trees[0].costs
        if self.voting == "hard" or costs is None or costs.matrix is None:
            return np.asarray(answers.argmax(axis=1), dtype=np.int64)
        losses = answers @ np.array(costs.matrix)
        # As a tree: no class is answered that nothing was grown from.
        losses[:, ~np.any([tree.counts(0) > 0 for tree in self.trees], axis=0)] = np.inf
        return np.asarray(losses.argmin(axis=1), dtype=np.int64)

    def predictions(self, answers: Numbers) -> npt.NDArray[Any]:
        """What answers predict: the class of each row's shares, or the numbers that they are."""
        return answers if self.trees[0].classes is None else self.codes(answers)

    @property
    def feature_importances(self) -> Numbers:
        """The mean of the importances in each tree, adding up to 1; zeros where no tree asks anything."""
        total = np.sum([tree.feature_importances for tree in self.trees], axis=0)
        return np.asarray(total / total.sum() if total.sum() > 0 else total, dtype=np.float64)
