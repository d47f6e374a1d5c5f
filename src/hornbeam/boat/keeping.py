"""Rows that a scan keeps, in memory and on disk: what is too much for memory is put away, place by place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hornbeam import _core
from hornbeam.boat.meter import Meter
from hornbeam.boat.spill import Bytes, Spill

_BLOCK_ROWS = 1 << 16  # of what is read back at a time


class Keeping:
    """The rows kept at the places of one scan. `room` is what they may take of memory, counts included."""

    def __init__(self, scan: _core.SourceScan, stride: int, spill: Spill, room: int, meter: Meter) -> None:
        self.scan, self._spill, self._room, self._meter = scan, spill, room, meter
        self._block = _BLOCK_ROWS * stride
        self._away: dict[int, list[tuple[int, int]]] = {}
        self._stride, self._most = stride, 0

    def relieve(self, places: Sequence[int]) -> None:
        """Put rows of some places away, those of the fullest first, until the rest takes half of the room."""
        self._meter.held_rows = max(self._meter.held_rows, self.scan.rows_kept)
        if self.scan.bytes <= self._room:
            return
        for place in sorted(places, key=self.scan.bytes_at, reverse=True):
            rows = self.scan.take_rows(place)
            if rows.rows:
                self._away.setdefault(place, []).append(self._spill.put(rows))
            if self.scan.bytes <= self._room // 2:
                break
        self._meter.spilled_bytes = self._spill.bytes

    def rows(self, place: int) -> int:
        """How many rows are kept at a place."""
        return self.scan.rows_at(place) + sum(size for _, size in self._away.get(place, ())) // self._stride

    def away(self, places: Sequence[int]) -> Iterator[Bytes]:
        """The rows of some places that are on disk, a block at a time."""
        for place in places:
            for begin, size in self._away.get(place, ()):
                yield from self._spill.read(begin, size, self._block)

    def forget(self, place: int) -> None:
        """The rows of a place are no longer wanted."""
        self.scan.take_rows(place)
        self._away.pop(place, None)

    def move_away(self, place: int) -> list[tuple[int, int]]:
        """Where the rows of a place lie on disk; it has none there any more."""
        return self._away.pop(place, [])

    def put_pieces(self, place: int, pieces: Sequence[tuple[int, int]]) -> None:
        """Rows that lie on disk are those of a place."""
        self._away.setdefault(place, []).extend(pieces)

    def read(self, pieces: Sequence[tuple[int, int]]) -> Iterator[Bytes]:
        """The rows that lie there."""
        for begin, size in pieces:
            yield from self._spill.read(begin, size, self._block)
