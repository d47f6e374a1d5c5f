"""Answers by a cluster: each worker writes those for its parts where everybody reads, and tells so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from hornbeam.distributed.engine import Engine, cancelling
from hornbeam.distributed.kernels import State
from hornbeam.distributed.parcels import Packed, each_once, pack, unpack
from hornbeam.ensemble.answers import AnswerRequest
from hornbeam.table.sources import Part, Source, Tally


@dataclass(frozen=True, eq=False)
class PredictState(State):
    """Whom to ask, and the folder that the answers go to."""

    asking: AnswerRequest
    folder: str
    kind: str


def predict_part(part: Part, state: PredictState) -> Packed:
    """Write the answers for a part; what leaves the worker is how many there are."""
    tally = state.asking.write_part(part, state.folder, state.kind)
    return pack([part.index], {}, tallies=[asdict(tally)])


def merge_predicted(parcels: Sequence[Packed], state: PredictState) -> Packed:
    """What several parts came to."""
    found = list(each_once(parcels))
    parts = [part for parcel in found for part in parcel.parts]
    return pack(parts, {}, tallies=[tally for parcel in found for tally in parcel.notes["tallies"]])


def predict_by_engine(engine: Engine, source: Source, state: PredictState) -> list[Tally]:
    """Let the workers of an engine answer for all parts."""
    with cancelling(engine):
        found = engine.map(predict_part, engine.parts(source), state)
        parcel = unpack(engine.reduce(merge_predicted, found, state))
    return [Tally(**{**told, "columns": tuple(told["columns"])}) for told in parcel.notes["tallies"]]
