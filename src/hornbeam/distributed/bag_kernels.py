"""What workers do for bags: one scan of a part for all of them, each with places of its own.

The parcel of a part has pieces for each bag; what was counted of all bags leaves the worker together, and
rows stay until families are brought together, those of all bags at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from hornbeam import _core
from hornbeam.boat.chunks import PartChunks, encoder_of
from hornbeam.boat.judging import OutsideReader, RowSums
from hornbeam.boat.reading import CHUNK_ROWS
from hornbeam.distributed.kernels import ROWS, ScanState, State, held_rows
from hornbeam.distributed.parcels import Packed, Parcel, Sealed, each_once, expand, pack, squeeze, unpack
from hornbeam.table.sources import Part
from hornbeam.table.sources.draws import RowDraws

_FOUND = "found/"  # of a bag


@dataclass(frozen=True, eq=False)
class BagsState(ScanState):
    """A scan for several bags: how rows are drawn, and the places that those of each bag come to."""

    draws: RowDraws = field(default_factory=lambda: RowDraws(()))
    of_bags: Mapping[int, Sequence[dict[str, Any]]] = field(default_factory=dict)

    def scan_of(self, bag: int) -> _core.SourceScan:
        """The scan of a bag before any row."""
        return self.scan_down(self.of_bags[bag])

    def chunks(self, part: Part) -> PartChunks:
        """The rows of a part, with what bags draw them by."""
        encoder = encoder_of(self.reading, self.survey, words=True)
        first = self.first_rows.get(part.index, part.first_row or 0)
        return PartChunks(part, self.reading, encoder, first, self.reading.chunk_bytes)


def scan_bags(part: Part, state: BagsState) -> Packed:
    """Scan a part of the source for all bags."""
    scans, chunks = {bag: state.scan_of(bag) for bag in state.of_bags}, state.chunks(part)
    for _, encoded in chunks:
        assert encoded.words is not None
        for bag, scan in scans.items():
            drawn = encoded.take(state.draws.rows(encoded.words, bag))
            if drawn.n_rows:
                drawn.add_to(scan)
    pieces: dict[str, bytes | Sealed] = {}
    kept: dict[str, int] = {}
    for bag, scan in scans.items():
        rows = held_rows(scan, f"{ROWS}{bag}/")
        kept[str(bag)] = sum(len(piece.data) for piece in rows.values())
        pieces |= {f"{_FOUND}{bag}": squeeze(scan.to_bytes(rows=False)), **rows}
    return pack([part.index], pieces, kept=kept, tallies=[asdict(chunks.tally)])


def found_of_bags(item: Packed, state: None) -> Packed:
    """What leaves a worker: all but the rows."""
    parcel = unpack(item)
    found = {name: piece for name, piece in parcel.sealed.items() if name.startswith(_FOUND)}
    return pack(parcel.parts, found, **parcel.notes)


def merge_bags(parcels: Sequence[Packed], state: BagsState) -> Packed:
    """What several parts have found, as one."""
    scans = {bag: state.scan_of(bag) for bag in state.of_bags}
    parts, tallies, kept = list[int](), list[Any](), dict.fromkeys(map(str, scans), 0)
    for parcel in each_once(parcels):
        for bag, scan in scans.items():
            scan.merge_bytes(expand(parcel[f"{_FOUND}{bag}"]))
            kept[str(bag)] += parcel.notes["kept"][str(bag)]
        parts += parcel.parts
        tallies += parcel.notes["tallies"]
    found = {f"{_FOUND}{bag}": squeeze(scan.to_bytes(rows=False)) for bag, scan in scans.items()}
    return pack(parts, found, kept=kept, tallies=tallies)


def found_for(bag: int, parcel: Parcel) -> bytes:
    """What a merged parcel says of a bag."""
    return expand(parcel[f"{_FOUND}{bag}"])


def of_bag(item: Packed, bag: int) -> Packed:
    """The rows that were kept for a bag, as the parcel of a scan of its own has them."""
    parcel, own = unpack(item), f"{ROWS}{bag}/"
    rows = {
        f"{ROWS}{name.removeprefix(own)}": piece
        for name, piece in parcel.sealed.items()
        if name.startswith(own)
    }
    return pack(parcel.parts, rows, kept=parcel.notes["kept"][str(bag)], tallies=[])


# ---- rows outside ----


@dataclass(frozen=True, eq=False)
class OutsideState(State):
    """What is asked of the rows, and the sums that they add to; the number of the first row of each part,
    where parts do not know it."""

    reader: OutsideReader
    sums: RowSums
    first_rows: Mapping[int, int]


def ask_part(part: Part, state: OutsideState) -> Packed:
    """Let the rows of a part judge what trees say that have not seen them."""
    reading, sums = state.reader.reading, state.sums.fresh()
    chunks = part.scan(reading.columns, chunk_rows=CHUNK_ROWS, chunk_bytes=reading.chunk_bytes)
    first = state.first_rows.get(part.index, part.first_row or 0)
    for chunk in chunks:
        sums.add(state.reader.rows(chunk, first))
        first += chunk.num_rows
    return _told([part.index], sums, [asdict(chunks.tally)])


def merge_asked(parcels: Sequence[Packed], state: OutsideState) -> Packed:
    """What the rows of several parts say."""
    sums, parts, tallies = state.sums.fresh(), list[int](), list[Any]()
    for parcel in each_once(parcels):
        sums.merge(json.loads(parcel["found"]))
        parts += parcel.parts
        tallies += parcel.notes["tallies"]
    return _told(parts, sums, tallies)


def _told(parts: Sequence[int], sums: RowSums, tallies: Sequence[Any]) -> Packed:
    return pack(parts, {"found": json.dumps(sums.found).encode()}, tallies=tallies)
