"""A scan and the rows that it keeps: what was counted is here, the rows are in memory and on disk.

`Holding` is what settling sees of rows; `LocalHolding` has them in this process. A cluster has another, whose
rows stay with its workers (`hornbeam.distributed`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from hornbeam import _core
from hornbeam.boat.chunks import Chunks, EncodedChunk
from hornbeam.boat.keeping import Keeping
from hornbeam.boat.meter import Meter
from hornbeam.boat.nodes import KEPT_PART, Nodes
from hornbeam.boat.plan import PlaceRecord
from hornbeam.boat.reading import Report
from hornbeam.boat.requests import Answer, Count, Gather, LookUp, Request, SendOn
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
        check: Callable[[_core.SourceScan], None] | None = None,
    ) -> None:
        self._ground, self._check = ground, check
        self.scan = _core.SourceScan(ground.layout, grid, [place.native() for place in places])
        room = int(ground.task.budget * KEPT_PART)
        self._keeping = Keeping(self.scan, ground.layout.stride, ground.spill, room, ground.meter)
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
        for block in part.keeping.read(part.pieces):
            self.scan.add_rows(block)
            self.make_room()

    def part(self, place: int) -> LocalPart:
        self._keeping.put_away(place)
        return LocalPart(self._keeping, self._keeping.lift(place))

    def lay_aside(self, place: int) -> None:
        self._keeping.put_away(place)

    def make_room(self) -> None:
        """Put rows away, or refuse counts, that are too many for the memory."""
        self._keeping.relieve(self._kept)
        if self._check is not None:
            self._check(self.scan)

    def take(self, pending: list[T]) -> list[T]:
        return [pending.pop()]

    def add_place(self, place: PlaceRecord) -> int:
        return self.scan.add_place(place.native())

    def drop(self, place: int) -> None:
        self._keeping.forget(place)

    def finish(
        self, nodes: Nodes, families: Mapping[int, Mapping[int, int]], waiting: Sequence[int] = ()
    ) -> None:
        for place, below in families.items():
            room = self._ground.task.budget - nodes.family_bytes(self._keeping.rows(place))
            self._keeping.shrink(waiting, room + self.scan.bytes_at(place))
            self._ground.meter.families += 1
            nodes.finish(below, self._keeping.encode(place))

    # ---- requests ----

    def serve(self, requests: Sequence[Request]) -> list[Answer]:
        return [self._serve(request) for request in requests]

    def _serve(self, request: Request) -> Answer:
        match request:
            case LookUp():
                self._look_up(request)
            case SendOn():
                self._send_on(request)
            case Gather():
                self._gather(request)
            case Count():
                return self._count(request)
        return None

    def _look_up(self, request: LookUp) -> None:
        self.scan.look_up(request.place, list(request.watches.items()))
        for block in self._keeping.away(request.below):
            self.scan.look_on(block, request.place, len(request.watches))
            if self._check is not None:
                self._check(self.scan)

    def _send_on(self, request: SendOn) -> None:
        pieces = self._keeping.lift(request.place)
        self.scan.decide(request.place, request.settled, list(request.children))
        kept = [place for place in request.below if self.scan.keeps(place)]
        self._keeping.relieve(kept)
        for block in self._keeping.read(pieces):
            self.scan.send_on([block], request.place)
            self._keeping.relieve(kept)

    def _gather(self, request: Gather) -> None:
        pieces = [piece for place in request.below for piece in self._keeping.lift(place)]
        self._keeping.lay(request.place, pieces)
        self.scan.put_back(self.scan.gather(request.place), request.place)

    def _count(self, request: Count) -> int:
        made = self.add_place(request.made)
        pieces = self._keeping.lift(request.place)
        self.scan.add_kept(self.scan.take_rows(request.place), made)
        self._keeping.relieve([made])
        for block in self._keeping.read(pieces):
            self.scan.add_rows(block, made)
            self._keeping.relieve([made])
        return made


@dataclass(frozen=True)
class LocalPart:
    """Rows that were put away, as a partition of their own."""

    keeping: Keeping
    pieces: Sequence[Piece]
