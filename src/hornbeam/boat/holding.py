"""A scan and the rows that it keeps: what was counted is here, the rows are in memory and on disk.

`Holding` is what settling sees of rows; `LocalHolding` has them in this process. A cluster has another, whose
rows stay with its workers (`hornbeam.distributed`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from hornbeam import _core
from hornbeam.boat.buffer import Check, Overflow, RowBuffer
from hornbeam.boat.chunks import Chunks, EncodedChunk
from hornbeam.boat.meter import Meter
from hornbeam.boat.nodes import KEPT_PART, Nodes
from hornbeam.boat.plan import PlaceRecord
from hornbeam.boat.reading import Report
from hornbeam.boat.requests import Answer, Request
from hornbeam.boat.spill import Piece, Spill
from hornbeam.boat.survey import Survey
from hornbeam.boat.task import SourceTask

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Ground:
    """What all scans of one growth have in common."""

    task: SourceTask
    survey: Survey
    layout: _core.RowLayout
    meter: Meter
    spill: Spill


class Holding(Protocol):
    """A scan of some places. `scan` knows what was counted, and has the rows only where they are here."""

    scan: _core.SourceScan

    def run(self, report: Report) -> None:
        """Let all rows of the source come to the first place."""

    def run_part(self, part: Any) -> None:
        """The same for the rows of a place of another holding, as `part` gave them."""

    def part(self, place: int) -> Any:
        """The rows of a place, for another scan."""

    def lay_aside(self, place: int) -> None:
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


class LocalHolding:
    """Rows of a scan in this process."""

    def __init__(
        self,
        ground: Ground,
        grid: _core.Grid,
        places: Sequence[PlaceRecord],
        check: Check | None = None,
    ) -> None:
        self._ground = ground
        self.scan = _core.SourceScan(ground.layout, grid, [place.native() for place in places])
        room = int(ground.task.budget * KEPT_PART)
        overflow = Overflow(ground.spill, ground.layout.stride, room, ground.meter, check)
        self._rows = RowBuffer(self.scan, overflow)
        self._kept = [i for i, place in enumerate(places) if place.keeps]

    def run(self, report: Report) -> None:
        task = self._ground.task
        chunks = Chunks(task.reading, self._ground.survey, report, task.folds, task.seed)
        chunks.scan_into(self.scan, self.make_room, task.threads)

    def add(self, chunk: EncodedChunk) -> None:
        """Let some rows come to the first place; `make_room` is for afterwards."""
        if chunk.n_rows:
            chunk.add_to(self.scan)

    def run_part(self, part: LocalPart) -> None:
        for block in part.rows.read(part.pieces):
            self.scan.add_rows(block)
            self.make_room()

    def part(self, place: int) -> LocalPart:
        self._rows.spill(place)
        return LocalPart(self._rows, self._rows.lift(place))

    def lay_aside(self, place: int) -> None:
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
            room = self._ground.task.budget - nodes.family_bytes(self._rows.rows(place))
            self._rows.shrink(waiting, room + self.scan.bytes_at(place))
            self._ground.meter.families += 1
            nodes.finish(below, self._rows.encode(place))

    def serve(self, requests: Sequence[Request]) -> list[Answer]:
        return [self._rows.carry_out(request) for request in requests]


@dataclass(frozen=True)
class LocalPart:
    """Rows that were put away, as a partition of their own."""

    rows: RowBuffer
    pieces: Sequence[Piece]
