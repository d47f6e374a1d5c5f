"""What trees answer, as a table: one alone or a committee, classes with or without shares, or numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from hornbeam.ensemble.committee import Committee
from hornbeam.model import Tree
from hornbeam.table import Schema, Table

PREDICTION = "prediction"


@dataclass(frozen=True, eq=False)
class Answering:
    """Trees that answer together by their `voting`, or, where that is None, the only one alone."""

    trees: Sequence[Tree]
    voting: str | None = None
    proba: bool = False
    """Whether the share of each class is told as well."""

    @property
    def schema(self) -> Schema:
        """Of the rows that are asked about."""
        return self.trees[0].schema

    @property
    def names(self) -> list[str]:
        """The columns of answers."""
        tree = self.trees[0]
        if tree.classes is None:
            several = [f"{PREDICTION}:{name}" for name in tree.targets or ()]
            return [PREDICTION] if tree.n_targets == 1 else several
        shares = [f"probability:{label}" for label in tree.classes] if self.proba else []
        return [PREDICTION, *shares]

    def answers(self, table: Table, threads: int = 1) -> pa.Table:
        """A column of predictions (one for each target), and with `proba` one of shares for each class."""
        codes, said = self._of_tree(table, threads) if self.voting is None else self._of_all(table, threads)
        columns: list[Any] = []
        classes = self.trees[0].classes
        if classes is not None:
            columns.append(pa.array(list(classes)).take(pa.array(codes)))
        if classes is None or self.proba:
            columns += [pa.array(column) for column in np.ascontiguousarray(said.T)]
        return pa.table(columns, names=self.names)

    def _of_tree(self, table: Table, threads: int) -> tuple[Any, Any]:
        tree = self.trees[0]
        if tree.classes is None:
            return None, tree.predict_means(table, threads)
        leaves = tree.apply(table, threads)
        return tree.leaf_class[leaves], tree.probabilities(leaves) if self.proba else None

    def _of_all(self, table: Table, threads: int) -> tuple[Any, Any]:
        committee = Committee(self.trees, self.voting or "soft")
        said = committee.answers(table, threads)
        return committee.codes(said) if self.trees[0].classes is not None else None, said
