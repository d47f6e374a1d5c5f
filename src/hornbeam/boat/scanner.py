"""Who scans a source for a growth: this process, or the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from hornbeam import _core
from hornbeam.boat.fold_scan import score_folds
from hornbeam.boat.holding import Ground, Holding, LocalHolding
from hornbeam.boat.plan import PlaceRecord
from hornbeam.boat.reading import Report
from hornbeam.boat.survey import Survey, survey
from hornbeam.boat.task import SourceTask
from hornbeam.model import Tree
from hornbeam.validation import Estimate

__all__ = ["Ground", "Holding", "LocalScanner", "Scanner", "scanner_of"]

Check = Callable[[_core.SourceScan], None]
"""Refuses a scan whose counts have no room."""


class Scanner(Protocol):
    """The scans of a growth."""

    def survey(self, task: SourceTask, report: Report) -> Survey:
        """What one scan can say of all rows."""

    def hold(
        self, ground: Ground, grid: _core.Grid, places: Sequence[PlaceRecord], check: Check | None = None
    ) -> Holding:
        """A scan down some places, before it runs."""

    def judge(self, task: SourceTask, survey: Survey, trees: Sequence[Tree], report: Report) -> Estimate:
        """What the rows of each fold say of the tree that was grown without them."""


class LocalScanner:
    """Scans in this process."""

    def survey(self, task: SourceTask, report: Report) -> Survey:
        return survey(task.reading, task.sample_rows, task.seed, report)

    def hold(
        self, ground: Ground, grid: _core.Grid, places: Sequence[PlaceRecord], check: Check | None = None
    ) -> Holding:
        return LocalHolding(ground, grid, places, check)

    def judge(self, task: SourceTask, survey: Survey, trees: Sequence[Tree], report: Report) -> Estimate:
        return score_folds(task, survey, trees, report)


def scanner_of(task: SourceTask) -> Scanner:
    """The scanner that a task brings, or this process."""
    return task.scanner or LocalScanner()
