"""The trees that a file keeps: of all present rows and of those without each fold. All follow every batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from hornbeam.boat.maintained.engine import Engine, Present
from hornbeam.boat.maintained.rows import LeftOut
from hornbeam.model import Tree
from hornbeam.table.sources import fold_of


class PresentRows(Present, Protocol):
    """The present rows, of which a fold may be left out."""

    def without(self, fold: LeftOut) -> Present: ...


class KeptTrees:
    """Trees, cold. `fold_rows` are the rows of each fold, dealt by a `key`; empty without folds."""

    def __init__(
        self,
        present: PresentRows,
        trees: Sequence[Tree | None],
        *,
        key: str | None,
        fold_rows: Sequence[int],
        stable: bool,
    ) -> None:
        self._present, self._key, self._stable = present, key, stable
        self.fold_rows = list(fold_rows)
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
    def _left_out(self) -> list[LeftOut]:
        n = len(self.fold_rows)
        return [] if self._key is None else [LeftOut(self._key, n, i) for i in range(n)]

    @property
    def engines(self) -> list[Engine]:
        return [self.whole, *self.folds]

    @property
    def trees(self) -> list[Tree | None]:
        """Before any pruning; None: there are no rows for it."""
        return [engine.tree for engine in self.engines]

    def warm_up(self) -> None:
        """Count the present rows at the nodes of all trees."""
        for engine in self.engines:
            if engine.tree is not None and not engine.warm:
                engine.warm_up()

    def dealt(self, rows: Any, times: int = 1) -> Any:
        """Rows whose folds are counted."""
        if self.fold_rows:
            n = len(self.fold_rows)
            more = times * np.bincount(fold_of(rows.column(self._key), n), minlength=n)
            self.fold_rows = (np.array(self.fold_rows) + more).tolist()
        return rows

    def follow(self, more: pa.Table, less: pa.Table, rows: int, *, anew: bool = False) -> None:
        """All trees after a batch that leaves so many rows; `anew`: as if there had been none before."""
        self.dealt(more)
        self.dealt(less, -1)
        if anew or not rows:
            self._open([None])
        if not rows:
            return
        self.whole.apply(more, less)
        for i, left_out in enumerate(self._left_out):
            if rows == self.fold_rows[i]:
                self.folds[i] = self.folds[i].without_tree()
            else:
                self.folds[i].apply(left_out.rest(more), left_out.rest(less))
