"""The trees of training sets: taken out of the forest that grew them, or grown again, and pruned.

`grow_sets` and searches (hornbeam.validation) read them here; `SetRows` says of each set which rows do what.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.errors import DataError, HornbeamError
from hornbeam.growth.grow import TableGrower, Target, leaf_places
from hornbeam.growth.memory import MemoryPlan
from hornbeam.growth.prune import Pruning, Rows, draw_validation, prune_tree
from hornbeam.growth.sets import TrainingSet, TrainingSets, stack
from hornbeam.model import RoutedTable, Tree
from hornbeam.table import Table

Report = Callable[[float], None] | None


class Pair(NamedTuple):
    """A tree, and what it was before pruning: the same object where nothing was pruned."""

    tree: Tree
    unpruned: Tree

    @property
    def unpruned_alone(self) -> Tree | None:
        """The tree before pruning; None where it is the tree itself."""
        return None if self.tree is self.unpruned else self.unpruned

    def each(self, change: Callable[[Tree], Tree]) -> Pair:
        """Both trees changed; one tree where they are the same."""
        tree = change(self.tree)
        return Pair(tree, tree if self.tree is self.unpruned else change(self.unpruned))


class SetRows:
    """The rows of training sets: those that a tree is grown from, and those that prune it."""

    def __init__(
        self,
        table: Table,
        target: Target,
        sets: TrainingSets,
        pruning: Pruning,
        seeds: Sequence[int] | None,
        routed: RoutedTable | None = None,
    ) -> None:
        self.table, self.target, self.sets, self.pruning, self.seeds = table, target, sets, pruning, seeds
        self._given = routed

    @cached_property
    def _routed(self) -> RoutedTable:
        """The table, ready to go down the trees."""
        return self._given or RoutedTable(self.table)

    def failure(self, i: int) -> HornbeamError | None:
        """Why set i has no tree."""
        one, weights = self.sets[i], self.target.weights
        if len(one) == 0:
            return DataError(f"training set {i} has no rows; every set needs at least one")
        if weights is not None and not (weights[one.rows] > 0).any():
            return DataError(f"training set {i} has no rows of weight above 0; every set needs at least one")
        if not self.pruning.holds_out:
            return None
        try:
            self.drawn(i)
        except DataError as error:
            return error if self.sets.alone else DataError(f"training set {i}: {error}")
        return None

    def drawn(self, i: int) -> tuple[Rows, Rows]:
        """The rows of set i that its tree is grown from, and those that are kept out to prune it."""
        assert self.seeds is not None
        return draw_validation(self.sets[i].rows, self.target, self.pruning, self.seeds[i])

    def grown_from(self, i: int) -> TrainingSet:
        """Set i without the rows that are kept out to prune its tree."""
        if not self.pruning.holds_out:
            return self.sets[i]
        return TrainingSet.of_rows(self.sets.n_rows, self.drawn(i)[0])

    def in_order(self, i: int, tree: Tree) -> npt.NDArray[np.uint32]:
        """The rows that the tree of set i was grown from, leaf after leaf, those of weight 0 left out."""
        rows, weights = self.sets[i].rows, self.target.weights
        if weights is not None:
            rows = rows[weights[rows] > 0]
        place = leaf_places(tree)[self._routed.leaves(tree, rows)]
        return rows[np.argsort(place, kind="stable")].astype(np.uint32)


class Pruner:
    """Prunes the tree of set i, or prefixes of it, by the rows of the set."""

    def __init__(self, rows: SetRows, i: int, whole: Tree, criterion: str, threads: int) -> None:
        self._rows, self._i, self._whole, self._criterion, self._threads = rows, i, whole, criterion, threads
        self.order_of_growth: Callable[[], npt.NDArray[np.uint32]] | None = None
        """Where the grower left the rows leaf after leaf, and they need not be sent down the tree."""

    def pruned(self, grown: Tree, pruning: Pruning) -> Tree:
        """What pruning leaves of the tree, or of a prefix of it."""
        if pruning.prune is None or grown.n_nodes == 1:
            return grown
        judges: tuple[Table, Target] | tuple[()] = ()
        order = None
        if pruning.holds_out:
            judges = self._held
        elif pruning.prune == "error_based":
            judges, order = (self._rows.table, self._rows.target), self._order
        return prune_tree(
            grown, pruning, *judges, criterion=self._criterion, threads=self._threads, order=order
        )

    @cached_property
    def _held(self) -> tuple[Table, Target]:
        """The rows that were kept out of growing."""
        held = self._rows.drawn(self._i)[1]
        return self._rows.table.take(held), self._rows.target.take(held)

    @cached_property
    def _order(self) -> npt.NDArray[np.uint32]:
        """Rows leaf after leaf: so they lie in every prefix of the tree too."""
        if self.order_of_growth is not None:
            return self.order_of_growth()
        return self._rows.in_order(self._i, self._whole)


class SetTrees:
    """How to get at a tree: out of the forest that grew it, or by growing it again."""

    def __init__(self, grower: TableGrower, rows: SetRows, plan: MemoryPlan) -> None:
        self.grower, self._rows, self._plan = grower, rows, plan
        several = range(rows.sets.n_sets)
        self.failures = {i: error for i in several if (error := rows.failure(i)) is not None}
        self._homes: dict[int, tuple[_core.Forest, int]] = {}

    def grow(self, chunk: Sequence[int], *, last: bool, report: Report = None) -> _core.Forest:
        """Grow some sets together and remember where their trees are."""
        rows = [self._rows.grown_from(i) for i in chunk]
        whole = len(rows) == 1 and rows[0].has_all
        times = None if whole else stack(self._rows.sets.n_rows, rows)
        native = self.grower.grow(times, last=last, report=report)
        self._homes.update({i: (native, place) for place, i in enumerate(chunk)})
        return native

    def pair(self, i: int) -> Pair:
        """The tree of set i and what it was before pruning."""
        if i not in self._homes:  # it did not fit the memory
            self.grow([i], last=True)
            native, place = self._homes.pop(i)
        else:
            native, place = self._homes[i]
        grown = self.grower.tree(native, place)
        pruner = Pruner(self._rows, i, grown, self.grower.parameters.criterion, self.grower.threads)
        if self._rows.sets.alone:
            pruner.order_of_growth = native.take_order
        return Pair(pruner.pruned(grown, self._rows.pruning), grown)

    def keeps(self, i: int, pair: Pair) -> bool:
        """Whether the trees of set i may stay; the forest that grew them then forgets them."""
        kept = self._plan.take(pair)
        if kept and i in self._homes:
            native, place = self._homes.pop(i)
            native.release(place)
        return kept

    def trim(self, chunk: Sequence[int]) -> None:
        """Let go of the forest of some sets where memory is short."""
        if self._plan.full:
            for i in chunk:
                self._homes.pop(i, None)
