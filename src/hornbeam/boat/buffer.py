"""Rows that a scan keeps, in memory and on disk: what is too much for memory goes to a spill file, place by
place; and what settling asks of these rows."""

from __future__ import annotations

import os
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.boat.meter import Meter
from hornbeam.boat.requests import Answer, CountRows, Gather, LookUp, Request, SendOn
from hornbeam.errors import StorageError
from hornbeam.growth.memory import text_of

Bytes = npt.NDArray[np.uint8]
Check = Callable[[_core.SourceScan], None]
"""Refuses a scan whose counts have no room."""

_WORTH_GIVING = 1 << 24  # bytes of memory that are free again, to give them back to the operating system
_PIECE_BYTES = 1 << 21  # after so many a piece ends: it is read in one go


class Piece(NamedTuple):
    """Where rows lie on disk."""

    begin: int
    """Their first byte."""
    size: int
    """How many bytes they are."""
    checksum: int


class Spill:
    """A file of packed rows. It has no name, so that nothing of it is left behind, whatever happens."""

    def __init__(self) -> None:
        self._directory = tempfile.gettempdir()
        self._file: IO[bytes] | None = None
        self.bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def put(self, rows: _core.KeptRows) -> list[Piece]:
        """Write rows down; where they lie."""
        pieces: list[Piece] = []
        try:
            if self._file is None:  # a name that is taken away afterwards would outlive a Ctrl-C between
                where = self._directory
                self._file = tempfile.TemporaryFile(buffering=0, dir=where)  # noqa: SIM115 - it stays open
            for block in rows.blocks():
                goes_on = bool(pieces) and pieces[-1].size < _PIECE_BYTES
                last = pieces.pop() if goes_on else Piece(self.bytes, 0, 0)
                self._write(self._file, block)
                pieces.append(Piece(last.begin, last.size + len(block), zlib.crc32(block, last.checksum)))
        except OSError as error:
            raise StorageError(
                f"{self._directory!r} cannot hold the rows that do not fit in memory "
                f"({text_of(self.bytes)} written): {error.strerror}; free some room, set TMPDIR to another "
                "directory, or allow more memory"
            ) from None
        return pieces

    def _write(self, file: IO[bytes], block: bytes) -> None:
        written = 0
        while written < len(block):
            written += os.pwrite(file.fileno(), block[written:], self.bytes + written)
        self.bytes += len(block)

    def read(self, piece: Piece) -> Bytes:
        """The bytes that lie there, if they are those that were written."""
        assert self._file is not None  # something was put
        found = os.pread(self._file.fileno(), piece.size, piece.begin)
        if len(found) < piece.size or zlib.crc32(found) != piece.checksum:
            kind = "fewer" if len(found) < piece.size else "other"
            raise StorageError(
                f"{self._directory!r} gives back {kind} bytes than were written; "
                "set TMPDIR to another directory"
            )
        return np.frombuffer(found, dtype=np.uint8)


class Encoded(NamedTuple):
    """Rows as the grower takes them: their attributes, what they say (classes, or targets one row after the
    other), and their weights and folds where they have some."""

    table: _core.EncodedTable
    target: npt.NDArray[Any]
    weights: npt.NDArray[np.float64] | None
    folds: npt.NDArray[np.uint16] | None


@dataclass(frozen=True, eq=False)
class Overflow:
    """Where rows go that have no room in memory: `room` is what a scan may take, counts included."""

    spill: Spill
    stride: int
    """Bytes of a row."""
    room: int
    meter: Meter
    check: Check | None = None


class RowBuffer:
    """The rows kept at the places of one scan; without an overflow all of them are in memory."""

    def __init__(self, scan: _core.SourceScan, overflow: Overflow | None = None) -> None:
        self._scan, self._overflow = scan, overflow
        self._spilled: dict[int, list[Piece]] = {}

    # ---- room ----

    def relieve(self, places: Iterable[int]) -> None:
        """Where there is no room, spill rows of some places until the scan takes half of it; refuse counts
        that are too many."""
        to = self._overflow
        if to is None:
            return
        to.meter.held_rows = max(to.meter.held_rows, self._scan.rows_kept)
        if self._scan.bytes > to.room:
            self.shrink(places, to.room // 2)
        if to.check is not None:
            to.check(self._scan)

    def shrink(self, places: Iterable[int], most: int) -> None:
        """Spill rows of some places, those of the fullest first, until all takes no more than so much."""
        before = self._scan.bytes
        for place in sorted(places, key=self._scan.bytes_at, reverse=True):
            if self._scan.bytes <= most:
                break
            self.spill(place)
        if before - self._scan.bytes >= _WORTH_GIVING:
            _core.give_back()

    def spill(self, place: int) -> None:
        """Put all rows of a place on disk."""
        assert self._overflow is not None
        rows, to = self._scan.take_rows(place), self._overflow
        if rows.rows:
            self._spilled.setdefault(place, []).extend(to.spill.put(rows))
        to.meter.spilled_bytes = to.spill.bytes

    # ---- rows ----

    def rows(self, place: int) -> int:
        """How many rows are kept at a place."""
        spilled = sum(piece.size for piece in self._spilled.get(place, ()))
        stride = 1 if self._overflow is None else self._overflow.stride
        return self._scan.rows_at(place) + spilled // stride

    def encode(self, place: int) -> Encoded:
        """All rows of a place as the grower takes them; it has none then."""
        blocks, rows = list(self.read(self._spilled.get(place, ()))), self._scan.take_rows(place)
        found = Encoded(*rows.encode(blocks))
        self.release(place)
        return found

    def release(self, place: int) -> None:
        """The rows of a place, and what was counted of them, are no longer wanted."""
        self._scan.release(place)
        self.lift(place)

    def lift(self, place: int) -> list[Piece]:
        """Where the spilled rows of a place lie; it has none there any more."""
        return self._spilled.pop(place, [])

    def read(self, pieces: Iterable[Piece]) -> Iterator[Bytes]:
        """The rows that lie there."""
        for piece in pieces:
            assert self._overflow is not None
            yield self._overflow.spill.read(piece)

    # ---- requests ----

    def carry_out(self, request: Request) -> Answer:
        """Do what a step asks for."""
        match request:
            case LookUp():
                self._look_up(request)
            case SendOn():
                self._send_on(request)
            case Gather():
                self._gather(request)
            case CountRows():
                return self._count(request)
        return None

    def _look_up(self, request: LookUp) -> None:
        self._scan.look_up(request.place, list(request.watches.items()))
        for place in request.below:
            for block in self.read(self._spilled.get(place, ())):
                self._scan.look_on(block, request.place, len(request.watches))
                self.relieve(())

    def _send_on(self, request: SendOn) -> None:
        pieces = self.lift(request.place)
        self._scan.decide_by(request.place, request.route)
        kept = [place for place in request.below if self._scan.keeps(place)]
        self.relieve(kept)
        for block in self.read(pieces):
            self._scan.send_on([block], request.place)
            self.relieve(kept)

    def _gather(self, request: Gather) -> None:
        pieces = [piece for place in request.below for piece in self.lift(place)]
        self._spilled[request.place] = pieces
        self._scan.put_back(self._scan.gather(request.place), request.place)

    def _count(self, request: CountRows) -> int:
        made = self._scan.add_place(request.made.native())
        pieces = self.lift(request.place)
        self._scan.add_kept(self._scan.take_rows(request.place), made)
        self.relieve([made])
        for block in self.read(pieces):
            self._scan.add_rows(block, made)
            self.relieve([made])
        return made
