"""The frozen records that a report is made of: what was asked, what was learned, how well it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from hornbeam.anytime.course import SearchCourse
from hornbeam.boat.grown import SourceGrowth
from hornbeam.drawing import Picture
from hornbeam.model.picture import picture_of
from hornbeam.table import Table
from hornbeam.validation import Estimate
from hornbeam.validation.search_record import SearchRecord

from .describe import ColumnSummary, describe_columns


@dataclass(frozen=True)
class Score:
    """How well the tree answers on one set of rows, beside the best constant answer."""

    measure: str
    """Which score this is: "accuracy" or "r2"."""
    value: float
    baseline: float
    rows: int
    held_out: bool
    mean_absolute_error: tuple[float, ...] = ()
    """The error for each target; none where only the tree was asked."""
    by_weight: bool = False
    """Whether rows count by what they weigh."""


@dataclass(frozen=True)
class Errors:
    """Classification: counts[i][j] rows of class i answered as class j, over the scored rows."""

    classes: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Points:
    """Regression: (actual, predicted) of the first target, at most a few hundred of the scored rows."""

    target: str
    pairs: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Study:
    """One tree, the rows that it came from, how well it answers, and everything needed to grow it again."""

    tree: Any
    """A `Tree`, or one of linked tables."""
    target: str
    score: Score
    table: Table | None = None
    """The rows that the tree was grown from, or a sample of those of a source."""
    errors: Errors | None = None
    points: Points | None = None
    estimate: Estimate | None = None
    """The estimate of folds for new rows, where there were folds."""
    search: SearchRecord | None = None
    """The search that chose the tree, where one did."""
    course: SearchCourse | None = None
    """The course of the search that improved the tree, where one did."""
    growth: SourceGrowth | None = None
    """What growing from a source took, where the rows came from one."""
    parameters: Mapping[str, object] = field(default_factory=dict)
    seed: int | None = None
    """The seed of random choices; None where nothing was drawn."""
    seconds: float = 0.0
    title: str = ""
    command: str = ""
    data_name: str = ""
    data_hash: str = ""
    document: Mapping[str, object] = field(default_factory=dict)
    """The stored form of the model, embedded so that the page can be read by programs."""

    @property
    def task(self) -> str:
        return "classification" if self.score.measure == "accuracy" else "regression"

    @property
    def rows(self) -> int:
        """How many rows the tree was grown from."""
        if self.growth is not None:
            return self.growth.rows
        return 0 if self.table is None else self.table.n_rows

    @cached_property
    def picture(self) -> Picture:
        return picture_of(self.tree)

    @cached_property
    def columns(self) -> tuple[ColumnSummary, ...]:
        """What the attributes hold."""
        ranges = None if self.growth is None else self.growth.ranges
        return (
            () if self.table is None else describe_columns(self.table, self.tree.feature_importances, ranges)
        )

    @property
    def attributes_used(self) -> int:
        return int(np.count_nonzero(self.tree.feature_importances))
