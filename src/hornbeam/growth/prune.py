"""Pruning: what is left of a grown tree, by expected errors, complexity, or rows kept out of growing.

`SetRows` says of each training set which rows grow its tree and which prune it; growths and searches
(hornbeam.validation) prune by it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.arguments import number, one_of, shown
from hornbeam.errors import DataError, HornbeamError, UsageError
from hornbeam.growth.grow import ClassTarget, Target, leaf_places, reshaped
from hornbeam.growth.sets import Rows, TrainingSet, TrainingSets, stack
from hornbeam.model import RoutedTable, Tree, attribute_kinds
from hornbeam.table import Table

# The names of the ways to prune, by what is predicted.
PRUNINGS: dict[str, tuple[str, ...]] = {
    "classification": ("error_based", "cost_complexity", "reduced_error"),
    "regression": ("cost_complexity", "reduced_error"),
}


@dataclass(frozen=True)
class Pruning:
    """How a grown tree is pruned; `prune` is None where it is not."""

    prune: str | None = None
    confidence: float = 0.25
    ccp_alpha: float = 0.0
    validation_fraction: float = 0.33

    @classmethod
    def of(cls, source: object) -> Pruning:
        """The options that an object carries under the same names."""
        return cls(**{entry.name: getattr(source, entry.name) for entry in fields(cls)})

    def checked(self, task: str) -> Pruning:
        """The same in plain types; an alpha alone is cost_complexity. UsageError where one means nothing."""
        alpha = number("ccp_alpha", self.ccp_alpha, lambda x: x >= 0, "a number from 0")
        prune = self.prune
        if prune is not None:
            prune = one_of("prune", prune, PRUNINGS[task], f" for {task}", ", or None")
        elif alpha > 0.0:
            prune = "cost_complexity"
        if alpha > 0.0 and prune != "cost_complexity":
            raise UsageError(
                f"{shown('ccp_alpha', self.ccp_alpha)} with prune={prune!r}: an alpha belongs to "
                "prune='cost_complexity'; leave one of them out",
                parameter="ccp_alpha",
            )
        return replace(
            self,
            prune=prune,
            confidence=number(
                "confidence", self.confidence, lambda x: 0 < x <= 1, "a number above 0 up to 1"
            ),
            ccp_alpha=alpha,
            validation_fraction=number(
                "validation_fraction",
                self.validation_fraction,
                lambda x: 0 < x < 1,
                "a share between 0 and 1",
            ),
        )

    @property
    def holds_out(self) -> bool:
        """Whether rows have to be kept out of growing."""
        return self.prune == "reduced_error"


def prune_tree(
    tree: Tree,
    pruning: Pruning,
    table: Table | None = None,
    target: Target | None = None,
    *,
    criterion: str,
    threads: int = 1,
    order: npt.NDArray[np.uint32] | None = None,
) -> Tree:
    """What checked options leave of a grown tree.

    error_based needs the table and target that the tree was grown from, and takes less time with the order
    of their rows (`grow_in_order`); reduced_error needs those of the rows kept out. Class codes are those of
    the tree; what classes weigh and cost, it knows itself.
    """
    if pruning.prune is None or tree.n_nodes == 1:
        return tree
    kinds = attribute_kinds(tree.schema)
    if pruning.prune == "cost_complexity":
        arrays = _core.prune_by_complexity(tree.native(), tree.masses, pruning.ccp_alpha)
        return reshaped(tree, arrays)
    if table is None or target is None:
        raise UsageError(
            f"prune={pruning.prune!r} needs rows: give X and y, those "
            + ("kept out of growing" if pruning.holds_out else "that the tree was grown from")
        )
    if pruning.holds_out:
        arrays = _core.prune_by_validation(
            tree.native(),
            kinds,
            table.native(),
            _native(target),
            threads,
            target.weights,
            _costs(tree),
            None if tree.classes is None else tree.leaf_class,
        )
        return reshaped(tree, arrays)
    try:
        arrays = _core.prune_by_errors(
            tree.native(),
            kinds,
            table.native(),
            _native(target),
            pruning.confidence,
            criterion,
            target.weights,
            _costs(tree),
            order,
        )
    except ValueError as error:
        raise DataError(f"cannot prune: {error}{_hint(tree, target)}") from None
    return reshaped(tree, arrays)


def complexity_path(tree: Tree) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """(alphas, impurities) of cost-complexity pruning: from each alpha on a smaller tree is the best."""
    alphas, impurities = _core.complexity_path(tree.native(), tree.masses)
    return alphas, impurities


def _costs(tree: Tree) -> tuple[npt.NDArray[np.float64] | None, ...]:
    """What classes weigh, v_k * cost[k][j], and the factors of qualities; None where there is nothing."""
    if tree.costs is None:
        return None, None, None
    weights, present = np.array(tree.costs.weights), tree.counts(0) > 0
    losses = None if tree.costs.matrix is None else (weights[:, None] * np.array(tree.costs.matrix)).ravel()
    return weights, losses, np.where(present, tree.costs.factors(present), 0.0)


def _hint(tree: Tree, target: Target) -> str:
    weighted = bool((tree.arrays["weight"] != tree.arrays["rows"]).any())
    if weighted == (target.weights is not None):
        return ""
    return "; give the sample_weight of that growth" if weighted else "; leave sample_weight out, as there"


def _native(target: Target) -> npt.NDArray[Any]:
    if isinstance(target, ClassTarget):
        return target.codes.astype(np.uint16)
    return np.ascontiguousarray(target.values)


def hold_out(groups: npt.NDArray[np.int32], share: float, seed: int) -> tuple[Rows, Rows]:
    """Rows to grow from and rows held out, drawn within each group; every group keeps a row to grow from."""
    n = len(groups)
    order = np.random.default_rng(seed).permutation(n)
    ranked = order[np.argsort(groups[order], kind="stable")]
    counts = np.bincount(groups)
    begins = np.cumsum(counts) - counts
    taken = np.minimum((counts * share + 0.5).astype(np.int64), np.maximum(counts - 1, 0))
    place = np.arange(n) - begins[groups[ranked]]
    held = place < taken[groups[ranked]]
    return np.sort(ranked[~held]), np.sort(ranked[held])


def draw_validation(rows: Rows, target: Target, pruning: Pruning, seed: int) -> tuple[Rows, Rows]:
    """Which of the rows a tree is grown from, and which are kept out to validate on: drawn within each class,
    or among all rows."""
    if target.weights is not None:  # a row of weight 0 is absent, so it is not drawn either
        rows = rows[target.weights[rows] > 0]
    groups = target.codes[rows] if isinstance(target, ClassTarget) else np.zeros(len(rows), dtype=np.int32)
    grown, held = hold_out(groups, pruning.validation_fraction, seed)
    if len(held) == 0:
        raise DataError(
            f"validation_fraction={pruning.validation_fraction:g} of n_samples={len(rows)} leaves no row "
            "to validate on; give more rows, a larger fraction or another prune",
            named=("validation_fraction", "n_samples"),
        )
    return rows[grown], rows[held]


def draw_seed(random: np.random.RandomState) -> int:
    """What a fit takes from its random_state to draw the rows that it validates on."""
    return int(random.randint(2**31 - 1))


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

    def failures(self) -> dict[int, HornbeamError]:
        """The sets that have no tree, and why."""
        found = ((i, self._failure(i)) for i in range(len(self.sets.sets)))
        return {i: error for i, error in found if error is not None}

    def _failure(self, i: int) -> HornbeamError | None:
        one, weights = self.sets.sets[i], self.target.weights
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
            return self.sets.sets[i]
        return TrainingSet.of_rows(self.sets.n_rows, self.drawn(i)[0])

    def times(self, chunk: Sequence[int]) -> npt.NDArray[np.uint8] | None:
        """[row, set]: how often each row counts in growing some sets; None: all rows once, for one set."""
        rows = [self.grown_from(i) for i in chunk]
        return None if len(rows) == 1 and rows[0].has_all else stack(self.sets.n_rows, rows)

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
