"""Rows that a scan keeps, in memory and on disk: what is too much for memory is put away, place by place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.boat.meter import Meter
from hornbeam.boat.spill import Bytes, Piece, Spill

_WORTH_GIVING = 1 << 24  # bytes of memory that are free again, to give them back to the operating system


class Encoded(NamedTuple):
    """Rows as the grower takes them: their attributes, what they say (classes, or targets one row after the
    other), and their weights and folds where they have some."""

    table: _core.EncodedTable
    said: npt.NDArray[Any]
    weights: npt.NDArray[np.float64] | None
    folds: npt.NDArray[np.uint16] | None


class Keeping:
    """The rows kept at the places of one scan. `room` is what they may take of memory, counts included."""

    def __init__(self, scan: _core.SourceScan, stride: int, spill: Spill, room: int, meter: Meter) -> None:
        self._scan, self._spill, self._room, self._meter = scan, spill, room, meter
        self._stride = stride
        self._away: dict[int, list[Piece]] = {}

    def relieve(self, places: Iterable[int]) -> None:
        """Where there is no room, put rows of some places away until the rest takes half of it."""
        self._meter.held_rows = max(self._meter.held_rows, self._scan.rows_kept)
        if self._scan.bytes > self._room:
            self.shrink(places, self._room // 2)

    def shrink(self, places: Iterable[int], most: int) -> None:
        """Put rows of some places away, those of the fullest first, until all takes no more than so much."""
        before = self._scan.bytes
        for place in sorted(places, key=self._scan.bytes_at, reverse=True):
            if self._scan.bytes <= most:
                break
            self.put_away(place)
        if before - self._scan.bytes >= _WORTH_GIVING:
            _core.give_back()

    def put_away(self, place: int) -> None:
        """Put all rows of a place away."""
        rows = self._scan.take_rows(place)
        if rows.rows:
            self.lay(place, self._spill.put(rows))
        self._meter.spilled_bytes = self._spill.bytes

    def rows(self, place: int) -> int:
        """How many rows are kept at a place."""
        return (
            self._scan.rows_at(place) + sum(piece.size for piece in self._away.get(place, ())) // self._stride
        )

    def away(self, places: Iterable[int]) -> Iterator[Bytes]:
        """The rows of some places that are on disk, a block at a time."""
        for place in places:
            yield from self.read(self._away.get(place, ()))

    def encode(self, place: int) -> Encoded:
        """All rows of a place as the grower takes them; it has none then."""
        blocks, rows = list(self.away([place])), self._scan.take_rows(place)
        found = Encoded(*rows.encode(blocks))
        self.forget(place)
        return found

    def forget(self, place: int) -> None:
        """The rows of a place, and what was counted of them, are no longer wanted."""
        self._scan.release(place)
        self.lift(place)

    def lift(self, place: int) -> list[Piece]:
        """Where the rows of a place lie on disk; it has none there any more."""
        return self._away.pop(place, [])

    def lay(self, place: int, pieces: Iterable[Piece]) -> None:
        """Rows that lie on disk are those of a place."""
        self._away.setdefault(place, []).extend(pieces)

    def read(self, pieces: Iterable[Piece]) -> Iterator[Bytes]:
        """The rows that lie there."""
        return map(self._spill.read, pieces)
