"""The trees of training sets: taken out of the forest that grew them, or grown again, and pruned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.errors import DataError, HornbeamError
from hornbeam.growth.grow import Grower, Target
from hornbeam.growth.memory import MemoryPlan
from hornbeam.growth.prune import Pruning, Rows, draw_validation, prune_tree
from hornbeam.growth.rest import rows_in_order
from hornbeam.growth.sets import TrainingSets, Write, stack
from hornbeam.model import RoutedTable, Tree
from hornbeam.table import Table

Report = Callable[[float], None] | None


class Pair(NamedTuple):
    """A tree, and what it was before pruning: the same object where nothing was pruned."""

    tree: Tree
    unpruned: Tree


class SetTrees:
    """How to get at a tree: out of the forest that grew it, or by growing it again."""

    def __init__(
        self,
        grower: Grower,
        sets: TrainingSets,
        pruning: Pruning,
        seeds: Sequence[int] | None,
        plan: MemoryPlan,
    ) -> None:
        self.grower, self.sets, self.pruning, self.seeds, self.plan = grower, sets, pruning, seeds, plan
        self.failures = {i: error for i in range(sets.n_sets) if (error := self._failure(i)) is not None}
        self._homes: dict[int, tuple[_core.Forest, int]] = {}

    def _failure(self, i: int) -> HornbeamError | None:
        """Why set i has no tree."""
        one, weights = self.sets[i], self.grower.target.weights
        if len(one) == 0:
            return DataError(f"training set {i} has no rows; every set needs at least one")
        if weights is not None and not (weights[one.rows] > 0).any():
            return DataError(f"training set {i} has no rows of weight above 0; every set needs at least one")
        if not self.pruning.holds_out:
            return None
        try:
            self.drawn(i)
        except DataError as error:
            return DataError(f"training set {i}: {error}")
        return None

    def drawn(self, i: int) -> tuple[Rows, Rows]:
        """The rows of set i that its tree is grown from, and those that prune it."""
        assert self.seeds is not None
        return draw_validation(self.sets[i].rows, self.grower.target, self.pruning, self.seeds[i])

    def _writer(self, i: int) -> Write:
        """What writes how often each row counts for set i."""
        if not self.pruning.holds_out:
            return self.sets[i].write_times

        def write(to: npt.NDArray[np.uint8]) -> None:
            to[:] = np.bincount(self.drawn(i)[0], minlength=self.sets.n_rows)

        return write

    def grow(self, chunk: Sequence[int], *, last: bool, report: Report = None) -> _core.Forest:
        """Grow some sets together and remember where their trees are."""
        times = stack(self.sets.n_rows, [self._writer(i) for i in chunk])
        native = self.grower.grow(times, last=last, report=report)
        self._homes.update({i: (native, place) for place, i in enumerate(chunk)})
        return native

    def pair(self, i: int) -> Pair:
        if i not in self._homes:  # it did not fit the memory
            self.grow([i], last=True)
            native, place = self._homes.pop(i)
        else:
            native, place = self._homes[i]
        grown = self.grower.tree(native, place)
        return Pair(self._pruned(i, grown), grown)

    def keeps(self, i: int, pair: Pair) -> bool:
        """Whether the trees of set i may stay; the forest that grew them then forgets them."""
        kept = self.plan.take(pair)
        if kept and i in self._homes:
            native, place = self._homes.pop(i)
            native.release(place)
        return kept

    def trim(self, chunk: Sequence[int]) -> None:
        """Let go of the forest of some sets where memory is short."""
        if self.plan.full:
            for i in chunk:
                self._homes.pop(i, None)

    def _pruned(self, i: int, grown: Tree) -> Tree:
        grower, pruning = self.grower, self.pruning
        if pruning.prune is None or grown.n_nodes == 1:
            return grown
        rows: tuple[Table, Target] | tuple[()] = ()
        order = None
        if pruning.holds_out:
            held = self.drawn(i)[1]
            rows = grower.table.take(held), grower.target.take(held)
        elif pruning.prune == "error_based":
            rows = grower.table, grower.target
            order = rows_in_order(grown, self.sets[i].rows, grower.target.weights, self._routed)
        return prune_tree(
            grown, pruning, *rows, criterion=grower.parameters.criterion, threads=grower.threads, order=order
        )

    @cached_property
    def _routed(self) -> RoutedTable:
        """The table, ready to go down the trees."""
        return RoutedTable(self.grower.table)
