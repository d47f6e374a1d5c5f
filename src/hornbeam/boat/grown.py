"""What was grown from a source: trees of all rows, of folds or of bags, and what that took."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from hornbeam.boat.judging import RowSums
from hornbeam.boat.stats import SourceStats
from hornbeam.boat.survey import Range
from hornbeam.growth import Forest, Pair
from hornbeam.model import Tree
from hornbeam.table import Schema, Table
from hornbeam.validation import Estimate


@dataclass(frozen=True, eq=False)
class SourceGrowth:
    """Trees, 0 of all rows and then those of the folds, or those of bags, each with what it was before
    pruning."""

    pairs: tuple[Pair, ...]
    labels: npt.NDArray[Any] | None
    """The classes; None for numbers."""
    rows: int
    sample: Table
    """Some of the rows, to describe the columns by."""
    ranges: tuple[Range, ...]
    """Of each attribute over all rows."""
    estimate: Estimate | None = None
    """What the folds say."""
    outside: RowSums | None = None
    """What the rows outside of bags say."""
    stats: SourceStats = field(default_factory=lambda: SourceStats("memory", ""))

    @property
    def trees(self) -> list[Tree]:
        """The trees after pruning."""
        return [pair.tree for pair in self.pairs]

    @property
    def schema(self) -> Schema:
        """That of all rows."""
        return self.sample.schema

    @property
    def forest(self) -> Forest:
        """All trees, to compare."""
        return Forest.of(self.pairs)
