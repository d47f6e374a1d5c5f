"""The scans of a growth, and the rows that they keep: in this process here, with the workers of a cluster in
`hornbeam.distributed`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from hornbeam import _core
from hornbeam.boat.buffer import Check, Overflow, Piece, RowBuffer, Spill
from hornbeam.boat.chunks import Chunks, EncodedChunk
from hornbeam.boat.judging import OutsideReader, RowSums, score_folds
from hornbeam.boat.meter import Meter
from hornbeam.boat.nodes import KEPT_PART, Nodes
from hornbeam.boat.plan import PlaceRecord
from hornbeam.boat.reading import Report
from hornbeam.boat.requests import Answer, Request
from hornbeam.boat.survey import Survey, survey
from hornbeam.boat.task import SourceTask
from hornbeam.model import Tree
from hornbeam.validation import Estimate

if TYPE_CHECKING:
    from hornbeam.boat.bags import Finish

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ScanContext:
    """What all scans of one growth have in common."""

    task: SourceTask
    survey: Survey
    layout: _core.RowLayout
    meter: Meter
    spill: Spill


class BufferedScan(Protocol):
    """A scan of some places. `scan` knows what was counted, and has the rows only where they are here."""

    scan: _core.SourceScan

    def run(self, report: Report) -> None:
        """Let all rows of the source come to the first place."""

    def run_partition(self, partition: Any) -> None:
        """The same for the rows of a place of another scan, as `partition` gave them."""

    def partition(self, place: int) -> Any:
        """The rows of a place, for another scan."""

    def spill(self, place: int) -> None:
        """Make room: the rows of a place are only looked into from now on."""

    def take(self, pending: list[T]) -> list[T]:
        """Which of all that is to be done is done at a time; it is no longer pending then."""

    def serve(self, requests: Sequence[Request]) -> list[Answer]:
        """Do what steps ask for."""

    def add_place(self, place: PlaceRecord) -> int:
        """One more place; its number."""

    def drop(self, place: int) -> None:
        """The rows of a place, and what was counted of them, are no longer wanted."""

    def finish(
        self, nodes: Nodes, families: Mapping[int, Mapping[int, int]], waiting: Sequence[int] = ()
    ) -> None:
        """Let the grower finish the trees below the nodes, by training set, of some places, while others
        still wait for that."""


class LocalScan:
    """Rows of a scan in this process."""

    def __init__(
        self,
        context: ScanContext,
        grid: _core.Grid,
        places: Sequence[PlaceRecord],
        check: Check | None = None,
    ) -> None:
        self._context = context
        self.scan = _core.SourceScan(context.layout, grid, [place.native() for place in places])
        room = int(context.task.budget * KEPT_PART)
        overflow = Overflow(context.spill, context.layout.stride, room, context.meter, check)
        self._rows = RowBuffer(self.scan, overflow)
        self._kept = [i for i, place in enumerate(places) if place.keeps]

    def run(self, report: Report) -> None:
        task = self._context.task
        chunks = Chunks(task.reading, self._context.survey, report, task.folds, task.seed)
        chunks.scan_into(self.scan, self.make_room, task.threads)

    def add(self, chunk: EncodedChunk) -> None:
        """Let some rows come to the first place; `make_room` is for afterwards."""
        if chunk.n_rows:
            chunk.add_to(self.scan)

    def run_partition(self, partition: LocalPartition) -> None:
        for block in partition.rows.read(partition.pieces):
            self.scan.add_rows(block)
            self.make_room()

    def partition(self, place: int) -> LocalPartition:
        self._rows.spill(place)
        return LocalPartition(self._rows, self._rows.lift(place))

    def spill(self, place: int) -> None:
        self._rows.spill(place)

    def make_room(self) -> None:
        """Spill rows, or refuse counts, that are too many for the memory."""
        self._rows.relieve(self._kept)

    def take(self, pending: list[T]) -> list[T]:
        return [pending.pop()]

    def add_place(self, place: PlaceRecord) -> int:
        return self.scan.add_place(place.native())

    def drop(self, place: int) -> None:
        self._rows.release(place)

    def finish(
        self, nodes: Nodes, families: Mapping[int, Mapping[int, int]], waiting: Sequence[int] = ()
    ) -> None:
        for place, below in families.items():
            room = self._context.task.budget - nodes.family_bytes(self._rows.rows(place))
            self._rows.shrink(waiting, room + self.scan.bytes_at(place))
            self._context.meter.families += 1
            nodes.finish(below, self._rows.encode(place))

    def serve(self, requests: Sequence[Request]) -> list[Answer]:
        return [self._rows.carry_out(request) for request in requests]


@dataclass(frozen=True)
class LocalPartition:
    """Spilled rows, as a partition of their own."""

    rows: RowBuffer
    pieces: Sequence[Piece]


class Scanner(Protocol):
    """The scans of a growth."""

    def survey(self, task: SourceTask, report: Report) -> Survey:
        """What one scan can say of all rows."""

    def prepare(
        self,
        context: ScanContext,
        grid: _core.Grid,
        places: Sequence[PlaceRecord],
        check: Check | None = None,
    ) -> BufferedScan:
        """A scan down some places, before it runs."""

    def run_together(
        self, task: SourceTask, survey: Survey, scans: Mapping[int, Any], report: Report
    ) -> None:
        """One scan, in which the rows of each bag come to the scan of its growth."""

    def finish_together(self, asked: Mapping[int, Finish]) -> None:
        """Let the families of bags be finished."""

    def judge_outside(self, task: SourceTask, reader: OutsideReader, sums: RowSums, report: Report) -> None:
        """Add up in one scan what rows say of trees."""

    def judge(self, task: SourceTask, survey: Survey, trees: Sequence[Tree], report: Report) -> Estimate:
        """What the rows of each fold say of the tree that was grown without them."""


class LocalScanner:
    """Scans in this process."""

    def survey(self, task: SourceTask, report: Report) -> Survey:
        return survey(task.reading, task.sample_rows, task.seed, report)

    def prepare(
        self,
        context: ScanContext,
        grid: _core.Grid,
        places: Sequence[PlaceRecord],
        check: Check | None = None,
    ) -> BufferedScan:
        return LocalScan(context, grid, places, check)

    def run_together(
        self, task: SourceTask, survey: Survey, scans: Mapping[int, Any], report: Report
    ) -> None:
        bags, chunks = task.bags, Chunks(task.reading, survey, report, words=True)
        assert bags is not None

        def add(chunk: EncodedChunk, bag: int) -> None:
            assert chunk.words is not None
            scans[bag].add(chunk.take(bags.rows(chunk.words, bag)))

        # Each bag has a scan of its own, so threads need not wait for each other; the disk is for all.
        with ThreadPoolExecutor(task.threads) as pool:
            spread = map if task.threads == 1 else pool.map
            for chunk in chunks:
                list(spread(partial(add, chunk), scans))
                for buffered in scans.values():
                    buffered.make_room()

    def finish_together(self, asked: Mapping[int, Finish]) -> None:
        for one in asked.values():
            one.buffered.finish(one.nodes, one.families)

    def judge_outside(self, task: SourceTask, reader: OutsideReader, sums: RowSums, report: Report) -> None:
        for first, chunk in task.reading.scan(report):
            sums.add(reader.rows(chunk, first))

    def judge(self, task: SourceTask, survey: Survey, trees: Sequence[Tree], report: Report) -> Estimate:
        return score_folds(task, survey, trees, report)


def scanner_of(task: SourceTask) -> Scanner:
    """The scanner that a task brings, or this process."""
    return task.scanner or LocalScanner()
