"""What workers do: survey, scan, take rounds over the rows they hold, finish families, judge trees.

Every kernel takes a part of the source, or the parcel that an earlier kernel made of it, and gives a parcel.
The rows that a scan keeps stay in the parcels of the workers; what was counted leaves them.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

import hornbeam
from hornbeam import _core
from hornbeam.boat.buffer import Encoded, RowBuffer
from hornbeam.boat.chunks import PartChunks, encoder_of
from hornbeam.boat.judging import FoldSums
from hornbeam.boat.layout import layout_of
from hornbeam.boat.nodes import FamilyTask, grow_family
from hornbeam.boat.plan import PlaceRecord
from hornbeam.boat.reading import CHUNK_ROWS, Reading
from hornbeam.boat.requests import Request
from hornbeam.boat.survey import Survey, SurveyBuilder
from hornbeam.distributed.parcels import Packed, Sealed, each_once, expand, pack, squeeze, unpack
from hornbeam.errors import EngineError
from hornbeam.model import Tree
from hornbeam.table.sources import Part, Reservoir

ROWS = "rows/"  # of a place
_APART = 1 << 40  # between the numbers of rows of parts, where nobody knows how many come before


@dataclass(frozen=True, eq=False)
class State:
    """What every kernel is told."""

    version: str = field(default=hornbeam.__version__, kw_only=True)

    def __setstate__(self, said: dict[str, Any]) -> None:
        """As it comes to a worker, which must be one of us."""
        if said["version"] != hornbeam.__version__:
            raise EngineError(
                f"a worker has hornbeam {hornbeam.__version__} and the client {said['version']}; "
                "install the same version everywhere"
            )
        self.__dict__.update(said)


# ---- the survey ----


@dataclass(frozen=True, eq=False)
class SurveyState(State):
    """How parts are surveyed: the sample of all of them has so many rows."""

    reading: Reading
    sample: int
    seed: int


def survey_part(part: Part, state: SurveyState) -> Packed:
    """What is known of a part."""
    reading, source = state.reading, state.reading.source
    first = part.index * _APART if part.first_row is None else part.first_row
    total = source.rows if source.weight is None and part.first_row is not None else None
    schema = pa.schema([source.schema.field(name) for name in reading.columns])
    gathering = SurveyBuilder(reading, Reservoir(state.sample, state.seed, schema, first=first, total=total))
    chunks = part.scan(reading.columns, chunk_rows=CHUNK_ROWS, chunk_bytes=reading.chunk_bytes)
    rows = 0
    for chunk in chunks:
        with reading.naming(rows):
            gathering.add(chunk)
        rows += chunk.num_rows
    return _surveyed([part.index], gathering, [asdict(chunks.tally)])


def merge_surveys(parcels: Sequence[Packed], state: SurveyState) -> Packed:
    """What is known of several parts."""
    found = list(each_once(parcels))
    first, *later = (pickle.loads(expand(parcel["survey"])) for parcel in found)
    for gathering in later:
        first.merge(gathering)
    parts = [part for parcel in found for part in parcel.parts]
    return _surveyed(parts, first, [tally for parcel in found for tally in parcel.notes["tallies"]])


def _surveyed(parts: Sequence[int], gathering: SurveyBuilder, tallies: Sequence[Any]) -> Packed:
    return pack(parts, {"survey": squeeze(pickle.dumps(gathering))}, tallies=tallies)


# ---- scans ----


@dataclass(frozen=True, eq=False)
class ScanState(State):
    """A scan: what is read and as what, how rows are laid out and counted, and the places they come to."""

    reading: Reading
    survey: Survey
    n_targets: int
    folds: int | None
    seed: int
    edges: Sequence[Any]
    places: Sequence[dict[str, Any]]
    first_rows: Mapping[int, int] = field(default_factory=dict)
    """The number of the first row of each part, where parts do not know it."""

    @cached_property
    def _grid(self) -> tuple[_core.RowLayout, _core.Grid]:
        layout = layout_of(self.survey, self.n_targets, self.folds or 1)
        return layout, _core.Grid(layout, list(self.edges))

    def scan(self) -> _core.SourceScan:
        """The scan before any row."""
        return self.scan_down(self.places)

    def scan_down(self, places: Sequence[dict[str, Any]]) -> _core.SourceScan:
        """A scan of some places."""
        return _core.SourceScan(*self._grid, list(places))

    def encode(self, blocks: Sequence[bytes]) -> Encoded:
        """Rows that were held, as the grower takes them."""
        empty = _core.SourceScan(*self._grid, [PlaceRecord().native()])
        return Encoded(*empty.take_rows(0).encode([np.frombuffer(rows, dtype=np.uint8) for rows in blocks]))

    def chunks(self, part: Part) -> PartChunks:
        """The rows of a part."""
        encoder = encoder_of(self.reading, self.survey, self.folds, self.seed)
        first = self.first_rows.get(part.index, part.first_row or 0)
        return PartChunks(part, self.reading, encoder, first, self.reading.chunk_bytes)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_grid"}


def scan_part(part: Part, state: ScanState) -> Packed:
    """Scan a part of the source."""
    scan, chunks = state.scan(), state.chunks(part)
    for _, encoded in chunks:
        if encoded.n_rows:
            encoded.add_to(scan)
    return _held([part.index], scan, [asdict(chunks.tally)])


@dataclass(frozen=True, eq=False)
class PartitionState(ScanState):
    """A scan of rows that are held at a place."""

    place: int = 0


def scan_held(item: Packed, state: PartitionState) -> Packed:
    """Scan the rows that are held at a place."""
    parcel, scan = unpack(item), state.scan()
    name = f"{ROWS}{state.place}"
    if name in parcel:
        scan.add_rows(np.frombuffer(parcel[name], dtype=np.uint8), 0)
    return _held(parcel.parts, scan)


@dataclass(frozen=True, eq=False)
class RoundState(ScanState):
    """A round over the rows that are held: the places are those before it."""

    requests: Sequence[Request] = ()
    dropped: frozenset[int] = frozenset()
    """Places whose rows nobody wants any more."""


def take_round(item: Packed, state: RoundState) -> Packed:
    """Do with the rows what was asked for; those of other places are passed on as they are."""
    parcel, scan = unpack(item), state.scan()
    needed = {place for request in state.requests for place in request.needed}
    passed: dict[str, Sealed] = {}
    for name, piece in parcel.sealed.items():
        place = int(name.removeprefix(ROWS)) if name.startswith(ROWS) else -1
        if place in needed:
            scan.put_bytes(piece.open(), place)
        elif place >= 0 and place not in state.dropped:
            passed[name] = piece
    rows = RowBuffer(scan)
    for request in state.requests:
        rows.carry_out(request)
    return _held(parcel.parts, scan, passed=passed)


def _held(
    parts: Sequence[int],
    scan: _core.SourceScan,
    tallies: Sequence[Any] = (),
    passed: Mapping[str, Sealed] | None = None,
) -> Packed:
    """What was found, and the rows of each place apart, beside those that were passed on."""
    rows = held_rows(scan, ROWS, passed)
    kept = sum(len(piece.data) for piece in rows.values())
    found = squeeze(scan.to_bytes(rows=False))
    return pack(parts, {"found": found, **rows}, kept=kept, tallies=list(tallies))


def held_rows(
    scan: _core.SourceScan, prefix: str, passed: Mapping[str, Sealed] | None = None
) -> dict[str, Sealed]:
    """The rows that a scan keeps by place, named so, beside those that were passed on."""
    rows = dict(passed or {})
    for place in range(scan.n_places):
        if scan.rows_at(place):
            name, blocks = f"{prefix}{place}", scan.take_rows(place).blocks()
            before = [rows[name].open()] if name in rows else []
            rows[name] = Sealed.of(b"".join([*before, *blocks]))
    return rows


def found_of(item: Packed, state: None) -> Packed:
    """What leaves a worker: all but the rows."""
    parcel = unpack(item)
    return pack(parcel.parts, {"found": parcel.sealed["found"]}, **parcel.notes)


def merge_found(parcels: Sequence[Packed], state: ScanState) -> Packed:
    """What several parts have found, as one."""
    scan, parts, tallies, kept = state.scan(), list[int](), list[Any](), 0
    for parcel in each_once(parcels):
        scan.merge_bytes(expand(parcel["found"]))
        parts += parcel.parts
        tallies += parcel.notes["tallies"]
        kept += parcel.notes["kept"]
    return pack(parts, {"found": squeeze(scan.to_bytes(rows=False))}, kept=kept, tallies=tallies)


# ---- families ----


@dataclass(frozen=True, eq=False)
class FinishState(ScanState):
    """Which families are finished together, by place; each bundle is a task."""

    bundles: Sequence[Mapping[Any, FamilyTask]] = ()


def rows_for(item: Packed, destination: int, state: FinishState) -> Packed:
    """The rows of a bundle of families that a worker holds."""
    parcel = unpack(item)
    names = [f"{ROWS}{place}" for place in state.bundles[destination]]
    return pack(parcel.parts, {n: parcel.sealed[n] for n in names if n in parcel}, bundle=destination)


def finish_bundle(items: Sequence[Packed], state: FinishState) -> Packed:
    """Grow the trees of a bundle of families from all of their rows."""
    parcels = list(each_once(items))
    bundle = parcels[0].notes["bundle"]
    trees: dict[str, bytes] = {}
    for place, task in state.bundles[bundle].items():
        name = f"{ROWS}{place}"
        rows = state.encode([parcel[name] for parcel in parcels if name in parcel])
        for of_set, forest, i in grow_family(task, rows):
            trees[f"{place}/{of_set}"] = pickle.dumps(forest.tree(i, 0))
    return pack([bundle], trees)


def join(parcels: Sequence[Packed], state: Any) -> Packed:
    """All pieces in one parcel."""
    parts, pieces = list[int](), dict[str, Sealed]()
    for parcel in each_once(parcels):
        parts += parcel.parts
        pieces |= parcel.sealed
    return pack(parts, pieces)


# ---- judging ----


@dataclass(frozen=True, eq=False)
class JudgeState(ScanState):
    """The trees of all folds, for the rows of their own."""

    trees: Sequence[Tree] = ()

    def judged(self) -> FoldSums:
        return FoldSums(self.survey.schema, self.trees)


def judge_part(part: Part, state: JudgeState) -> Packed:
    """Let the rows of a part judge the trees of their folds."""
    judged, chunks = state.judged(), state.chunks(part)
    for _, encoded in chunks:
        if encoded.n_rows:
            judged.add(encoded)
    return _verdict([part.index], judged, [asdict(chunks.tally)])


def merge_judged(parcels: Sequence[Packed], state: JudgeState) -> Packed:
    """What the rows of several parts say."""
    judged, parts, tallies = state.judged(), list[int](), list[Any]()
    for parcel in each_once(parcels):
        judged.merge(json.loads(parcel["found"]))
        parts += parcel.parts
        tallies += parcel.notes["tallies"]
    return _verdict(parts, judged, tallies)


def _verdict(parts: Iterable[int], judged: FoldSums, tallies: Sequence[Any]) -> Packed:
    return pack(list(parts), {"found": json.dumps(judged.found).encode()}, tallies=tallies)
