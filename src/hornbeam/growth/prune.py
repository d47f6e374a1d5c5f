"""Pruning: what is left of a grown tree, by expected errors, complexity, or rows kept out of growing."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.arguments import number, one_of, shown
from hornbeam.errors import DataError, UsageError
from hornbeam.growth.grow import ClassTarget, Target, reshaped
from hornbeam.model import Tree, attribute_kinds
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


Rows = npt.NDArray[np.int64]


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
