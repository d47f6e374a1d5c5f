"""The trees that a file keeps: of all present rows and of those without each fold. All follow every batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from hornbeam.maintained.engine import Engine, Present
from hornbeam.maintained.rows import LeftOut
from hornbeam.model import Tree


class PresentRows(Present, Protocol):
    """The present rows, of which a fold may be left out."""

    def without(self, fold: LeftOut) -> Present: ...


class KeptTrees:
    """Trees, cold: of all rows, and of those without each of so many folds, dealt by a `key`."""

    def __init__(
        self,
        present: PresentRows,
        trees: Sequence[Tree | None],
        *,
        key: str | None,
        folds: int,
        stable: bool,
    ) -> None:
        self._present, self._stable = present, stable
        self._left_out = [] if key is None else [LeftOut(key, folds, i) for i in range(folds)]
        self._open(trees)

    def _open(self, trees: Sequence[Tree | None]) -> None:
        tree, *of_folds = trees
        self.whole = Engine(self._present, tree, stable=self._stable)
        self.folds = [
            Engine(
                self._present.without(left_out),
                of_folds[left_out.fold] if of_folds else None,
                self.whole,
                stable=self._stable,
            )
            for left_out in self._left_out
        ]

    @property
    def engines(self) -> list[Engine]:
        return [self.whole, *self.folds]

    @property
    def trees(self) -> list[Tree | None]:
        """Before any pruning; None: there is no row for it that weighs anything."""
        return [engine.tree for engine in self.engines]

    def warm_up(self) -> None:
        """Count the present rows at the nodes of all trees."""
        for engine in self.engines:
            if engine.tree is not None and not engine.warm:
                engine.warm_up()

    def follow(self, more: pa.Table, less: pa.Table, rows: int, *, anew: bool = False) -> None:
        """All trees after a batch that leaves so many rows; `anew`: as if there had been none before."""
        if anew or not rows:
            self._open([None])
        if not rows:
            return
        if self.whole.apply(more, less) is None:
            self._open([None])
        else:
            for fold, left_out in zip(self.folds, self._left_out, strict=True):
                fold.apply(left_out.rest(more), left_out.rest(less))
