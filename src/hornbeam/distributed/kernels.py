"""What workers do: survey, scan, carry out requests for the rows they hold, finish families, judge trees.

Every kernel takes a part of the source, or the message that an earlier kernel made of it; it gives a message.
What was found leaves the workers, merged; the rows that a scan keeps stay in their messages.
"""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

import hornbeam
from hornbeam import _core
from hornbeam.boat.buffer import Encoded, RowBuffer
from hornbeam.boat.chunks import EncodedChunk, PartChunks, encoder_of
from hornbeam.boat.judging import FoldSums, OutsideReader, RowSums
from hornbeam.boat.layout import layout_of
from hornbeam.boat.nodes import FamilyTask, grow_family
from hornbeam.boat.plan import PlaceRecord
from hornbeam.boat.reading import CHUNK_ROWS, Reading
from hornbeam.boat.requests import Request
from hornbeam.boat.survey import Survey, SurveyBuilder
from hornbeam.distributed.messages import Message, Packed, Sealed, each_once, expand, pack, squeeze, unpack
from hornbeam.ensemble.answers import AnswerRequest
from hornbeam.errors import EngineError
from hornbeam.model import Tree
from hornbeam.table.sources import Part, Reservoir, Tally
from hornbeam.table.sources.draws import RowDraws

_APART = 1 << 40  # between the numbers of rows of parts, where nobody knows how many come before


class Total(Protocol):
    """What was found in some parts, added up."""

    def add(self, message: Message) -> None:
        """Take in what was found in others."""

    def pieces(self) -> Mapping[str, bytes]:
        """The same to be sent."""


@dataclass(frozen=True, eq=False)
class KernelState:
    """What every kernel is told."""

    version: str = field(default=hornbeam.__version__, kw_only=True)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """As it comes to a worker, which must be one of us."""
        if state["version"] != hornbeam.__version__:
            raise EngineError(
                f"a worker has hornbeam {hornbeam.__version__} and the client {state['version']}; "
                "install the same version everywhere"
            )
        self.__dict__.update(state)

    def total(self) -> Total:
        """What nothing was added to yet."""
        raise NotImplementedError


def merge(messages: Sequence[Packed], state: KernelState) -> Packed:
    """What several parts have found, as one."""
    total, parts, tallies, kept = state.total(), list[int](), list[Any](), Counter[str]()
    for message in each_once(messages):
        total.add(message)
        parts += message.parts
        tallies += message.notes["tallies"]
        kept.update(message.notes["kept"])
    return pack(parts, total.pieces(), tallies=tallies, kept=dict(kept))


def found_of(item: Packed, state: None) -> Packed:
    """What leaves a worker: all but the rows."""
    message = unpack(item)
    found = {name: piece for name, piece in message.sealed.items() if not name.startswith(ROWS)}
    return pack(message.parts, found, **message.notes)


def _of_part(part: Part, total: Total, tally: Tally) -> Packed:
    return pack([part.index], total.pieces(), tallies=[asdict(tally)], kept={})


# ---- the survey ----


@dataclass(frozen=True, eq=False)
class SurveyState(KernelState):
    """How parts are surveyed: the sample of all of them has so many rows."""

    reading: Reading
    sample: int
    seed: int

    def total(self) -> SurveyTotal:
        return SurveyTotal()


class SurveyTotal:
    """What is known of some parts, in their order."""

    def __init__(self, builder: SurveyBuilder | None = None) -> None:
        self.builder = builder

    def add(self, message: Message) -> None:
        later: SurveyBuilder = pickle.loads(expand(message["found"]))
        if self.builder is None:
            self.builder = later
        else:
            self.builder.merge(later)

    def pieces(self) -> Mapping[str, bytes]:
        return {"found": squeeze(pickle.dumps(self.builder))}


def survey_part(part: Part, state: SurveyState) -> Packed:
    """What is known of a part."""
    reading, source = state.reading, state.reading.source
    first = part.index * _APART if part.first_row is None else part.first_row
    total = source.rows if source.weight is None and part.first_row is not None else None
    schema = pa.schema([source.schema.field(name) for name in reading.columns])
    builder = SurveyBuilder(reading, Reservoir(state.sample, state.seed, schema, first=first, total=total))
    chunks = part.scan(reading.columns, chunk_rows=CHUNK_ROWS, chunk_bytes=reading.chunk_bytes)
    rows = 0
    for chunk in chunks:
        with reading.naming(rows):
            builder.add(chunk)
        rows += chunk.num_rows
    return _of_part(part, SurveyTotal(builder), chunks.tally)


# ---- scans ----

ROWS = "rows/"  # of a bag and a place
FOUND = "found/"  # of a bag
ALONE = ""
"""The name of a growth that scans without others; bags are named by their numbers."""


@dataclass(frozen=True, eq=False)
class RowsState(KernelState):
    """What is read, and as what."""

    reading: Reading
    survey: Survey
    n_targets: int
    folds: int | None
    seed: int
    first_rows: Mapping[int, int]
    """The number of the first row of each part, where parts do not know it."""

    def chunks(self, part: Part, words: bool = False) -> PartChunks:
        """The rows of a part, if asked for with the words that bags draw them by."""
        encoder = encoder_of(self.reading, self.survey, self.folds, self.seed, words)
        first = self.first_rows.get(part.index, part.first_row or 0)
        return PartChunks(part, self.reading, encoder, first, self.reading.chunk_bytes)


@dataclass(frozen=True, eq=False)
class ScanState(RowsState):
    """A scan: how rows are laid out and counted, and the places they come to, of one growth or of several
    bags, which draw their rows."""

    edges: Sequence[Any]
    places: Mapping[str, Sequence[dict[str, Any]]]
    draws: RowDraws | None = None

    @cached_property
    def _grid(self) -> tuple[_core.RowLayout, _core.Grid]:
        layout = layout_of(self.survey, self.n_targets, self.folds or 1)
        return layout, _core.Grid(layout, list(self.edges))

    def scan(self, bag: str = ALONE) -> _core.SourceScan:
        """A scan before any row."""
        return _core.SourceScan(*self._grid, list(self.places[bag]))

    def total(self) -> ScanTotal:
        return ScanTotal({bag: self.scan(bag) for bag in self.places})

    def drawn(self, chunk: EncodedChunk, bag: str) -> EncodedChunk:
        """The rows of a chunk that a scan takes in."""
        if self.draws is None:
            return chunk
        assert chunk.words is not None
        return chunk.take(self.draws.rows(chunk.words, int(bag)))

    def encode(self, blocks: Sequence[bytes]) -> Encoded:
        """Rows that were held, as the grower takes them."""
        empty = _core.SourceScan(*self._grid, [PlaceRecord().native()])
        return Encoded(*empty.take_rows(0).encode([np.frombuffer(rows, dtype=np.uint8) for rows in blocks]))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_grid"}


class ScanTotal:
    """What was counted, by bag."""

    def __init__(self, scans: Mapping[str, _core.SourceScan]) -> None:
        self.scans = scans

    def add(self, message: Message) -> None:
        for bag, scan in self.scans.items():
            scan.merge_bytes(expand(message[f"{FOUND}{bag}"]))

    def pieces(self) -> dict[str, bytes]:
        return {f"{FOUND}{bag}": squeeze(scan.to_bytes(rows=False)) for bag, scan in self.scans.items()}


def scan_part(part: Part, state: ScanState) -> Packed:
    """Scan a part of the source."""
    total, chunks = state.total(), state.chunks(part, state.draws is not None)
    for _, encoded in chunks:
        for bag, scan in total.scans.items():
            drawn = state.drawn(encoded, bag)
            if drawn.n_rows:
                drawn.add_to(scan)
    return _scanned([part.index], total, [asdict(chunks.tally)])


@dataclass(frozen=True, eq=False)
class PartitionState(ScanState):
    """A scan of rows that are held at a place."""

    place: int = 0


def scan_held(item: Packed, state: PartitionState) -> Packed:
    """Scan the rows that are held at a place."""
    message, total = unpack(item), state.total()
    name = f"{ROWS}{ALONE}/{state.place}"
    if name in message:
        total.scans[ALONE].add_rows(np.frombuffer(message[name], dtype=np.uint8), 0)
    return _scanned(message.parts, total)


@dataclass(frozen=True, eq=False)
class RoundState(ScanState):
    """A round over the rows that are held: the places are those before it."""

    requests: Sequence[Request] = ()
    dropped: frozenset[int] = frozenset()
    """Places whose rows nobody wants any more."""


def take_round(item: Packed, state: RoundState) -> Packed:
    """Carry out requests; the rows of places that these are not about are passed on as they are."""
    message, total = unpack(item), state.total()
    scan, needed = total.scans[ALONE], {place for request in state.requests for place in request.needed}
    passed: dict[str, Sealed] = {}
    for name, piece in message.sealed.items():
        if not name.startswith(ROWS):
            continue
        place = int(name.rpartition("/")[2])
        if place in needed:
            scan.put_bytes(piece.open(), place)
        elif place not in state.dropped:
            passed[name] = piece
    rows = RowBuffer(scan)
    for request in state.requests:
        rows.carry_out(request)
    return _scanned(message.parts, total, passed=passed)


def _scanned(
    parts: Sequence[int],
    total: ScanTotal,
    tallies: Sequence[Any] = (),
    passed: Mapping[str, Sealed] | None = None,
) -> Packed:
    """What was found, and the rows that scans keep by place, beside those that were passed on."""
    rows, kept = dict(passed or {}), Counter[str]()
    for bag, scan in total.scans.items():
        for place in range(scan.n_places):
            if scan.rows_at(place):
                name, blocks = f"{ROWS}{bag}/{place}", scan.take_rows(place).blocks()
                before = [rows[name].open()] if name in rows else []
                rows[name] = Sealed.of(b"".join([*before, *blocks]))
    for name, piece in rows.items():
        kept[name.split("/")[1]] += len(piece.data)
    return pack(parts, {**total.pieces(), **rows}, kept=dict(kept), tallies=list(tallies))


def of_bag(item: Packed, bag: str) -> Packed:
    """The rows that were kept for a bag, as the message of a scan of its own has them."""
    message, own = unpack(item), f"{ROWS}{bag}/"
    rows = {
        f"{ROWS}{ALONE}/{name.removeprefix(own)}": piece
        for name, piece in message.sealed.items()
        if name.startswith(own)
    }
    return pack(message.parts, rows, kept={ALONE: message.notes["kept"].get(bag, 0)}, tallies=[])


# ---- families ----


@dataclass(frozen=True, eq=False)
class FinishState(ScanState):
    """Which families are finished together, by bag and place; each bundle is a task."""

    bundles: Sequence[Mapping[str, FamilyTask]] = ()


def rows_for(item: Packed, destination: int, state: FinishState) -> Packed:
    """The rows of a bundle of families that a worker holds."""
    message = unpack(item)
    names = [f"{ROWS}{family}" for family in state.bundles[destination]]
    return pack(message.parts, {n: message.sealed[n] for n in names if n in message}, bundle=destination)


def finish_bundle(items: Sequence[Packed], state: FinishState) -> Packed:
    """Grow the trees of a bundle of families from all of their rows."""
    messages = list(each_once(items))
    bundle = messages[0].notes["bundle"]
    trees: dict[str, bytes] = {}
    for family, task in state.bundles[bundle].items():
        name = f"{ROWS}{family}"
        rows = state.encode([message[name] for message in messages if name in message])
        for of_set, forest, i in grow_family(task, rows):
            trees[f"{family}/{of_set}"] = pickle.dumps(forest.tree(i, 0))
    return pack([bundle], trees)


def join(messages: Sequence[Packed], state: Any) -> Packed:
    """All pieces in one message."""
    parts, pieces = list[int](), dict[str, Sealed]()
    for message in each_once(messages):
        parts += message.parts
        pieces |= message.sealed
    return pack(parts, pieces)


# ---- judging and answering ----


class SumsTotal:
    """What rows say of trees."""

    def __init__(self, sums: FoldSums | RowSums) -> None:
        self.sums: Any = sums

    def add(self, message: Message) -> None:
        self.sums.merge(json.loads(message["found"]))

    def pieces(self) -> Mapping[str, bytes]:
        return {"found": json.dumps(self.sums.found).encode()}


@dataclass(frozen=True, eq=False)
class JudgeState(RowsState):
    """The trees of all folds, for the rows of their own."""

    trees: Sequence[Tree]

    def total(self) -> SumsTotal:
        return SumsTotal(FoldSums(self.survey.schema, self.trees))


def judge_part(part: Part, state: JudgeState) -> Packed:
    """Let the rows of a part judge the trees of their folds."""
    total, chunks = state.total(), state.chunks(part)
    for _, encoded in chunks:
        if encoded.n_rows:
            total.sums.add(encoded)
    return _of_part(part, total, chunks.tally)


@dataclass(frozen=True, eq=False)
class OutsideState(KernelState):
    """What is asked of the rows outside of bags, and the sums that they add to; the number of the first row
    of each part, where parts do not know it."""

    reader: OutsideReader
    sums: RowSums
    first_rows: Mapping[int, int]

    def total(self) -> SumsTotal:
        return SumsTotal(self.sums.fresh())


def judge_outside_part(part: Part, state: OutsideState) -> Packed:
    """Let the rows of a part judge what trees say that have not seen them."""
    reading, total = state.reader.reading, state.total()
    chunks = part.scan(reading.columns, chunk_rows=CHUNK_ROWS, chunk_bytes=reading.chunk_bytes)
    first = state.first_rows.get(part.index, part.first_row or 0)
    for chunk in chunks:
        total.sums.add(state.reader.rows(chunk, first))
        first += chunk.num_rows
    return _of_part(part, total, chunks.tally)


class TalliesAlone:
    """Nothing is found: how many rows were read is told with every message."""

    def add(self, message: Message) -> None: ...

    def pieces(self) -> Mapping[str, bytes]:
        return {}


@dataclass(frozen=True, eq=False)
class PredictState(KernelState):
    """Whom to ask, and the folder that the answers go to."""

    asking: AnswerRequest
    folder: str
    kind: str

    def total(self) -> TalliesAlone:
        return TalliesAlone()


def predict_part(part: Part, state: PredictState) -> Packed:
    """Write the answers for a part; what leaves the worker is how many there are."""
    return _of_part(part, state.total(), state.asking.write_part(part, state.folder, state.kind))
