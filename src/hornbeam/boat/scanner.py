"""Who scans a source for a growth: this process, or the workers of a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

from hornbeam import _core
from hornbeam.boat.asking import Asking, Sums
from hornbeam.boat.bags import Finish
from hornbeam.boat.buffer import Check
from hornbeam.boat.chunks import Chunks, EncodedChunk
from hornbeam.boat.fold_scan import score_folds
from hornbeam.boat.holding import Ground, Holding, LocalHolding
from hornbeam.boat.plan import PlaceRecord
from hornbeam.boat.reading import Report
from hornbeam.boat.survey import Survey, survey
from hornbeam.boat.task import SourceTask
from hornbeam.model import Tree
from hornbeam.validation import Estimate

__all__ = ["Ground", "Holding", "LocalScanner", "Scanner", "scanner_of"]


class Scanner(Protocol):
    """The scans of a growth."""

    def survey(self, task: SourceTask, report: Report) -> Survey:
        """What one scan can say of all rows."""

    def hold(
        self, ground: Ground, grid: _core.Grid, places: Sequence[PlaceRecord], check: Check | None = None
    ) -> Holding:
        """A scan down some places, before it runs."""

    def run_together(
        self, task: SourceTask, survey: Survey, holdings: Mapping[int, Any], report: Report
    ) -> None:
        """One scan, in which the rows of each bag come to the holding of its growth."""

    def finish_together(self, asked: Mapping[int, Finish]) -> None:
        """Let the families of bags be finished."""

    def ask_outside(self, task: SourceTask, asking: Asking, sums: Sums, report: Report) -> None:
        """Add up in one scan what rows say of trees."""

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

    def run_together(
        self, task: SourceTask, survey: Survey, holdings: Mapping[int, Any], report: Report
    ) -> None:
        bags, chunks = task.bags, Chunks(task.reading, survey, report, words=True)
        assert bags is not None

        def add(chunk: EncodedChunk, bag: int) -> None:
            assert chunk.words is not None
            holdings[bag].add(chunk.take(bags.rows(chunk.words, bag)))

        # Each bag has a scan of its own, so threads need not wait for each other; the disk is for all.
        with ThreadPoolExecutor(task.threads) as pool:
            spread = map if task.threads == 1 else pool.map
            for chunk in chunks:
                list(spread(partial(add, chunk), holdings))
                for holding in holdings.values():
                    holding.make_room()

    def finish_together(self, asked: Mapping[int, Finish]) -> None:
        for one in asked.values():
            one.holding.finish(one.nodes, one.families)

    def ask_outside(self, task: SourceTask, asking: Asking, sums: Sums, report: Report) -> None:
        for first, chunk in task.reading.scan(report):
            sums.add(asking.rows(chunk, first))

    def judge(self, task: SourceTask, survey: Survey, trees: Sequence[Tree], report: Report) -> Estimate:
        return score_folds(task, survey, trees, report)


def scanner_of(task: SourceTask) -> Scanner:
    """The scanner that a task brings, or this process."""
    return task.scanner or LocalScanner()
