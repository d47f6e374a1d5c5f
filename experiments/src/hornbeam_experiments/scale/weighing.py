"""An engine in this process that runs every kernel under a clock and weighs every parcel."""

from __future__ import annotations

import pickle
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hornbeam.distributed.engine import FAN_IN, Done, Items, Kernel, Merge, Pick
from hornbeam.distributed.messages import Packed, size_of
from hornbeam.table.sources import Part, Source


@dataclass(frozen=True, eq=False)
class Mapped:
    """One map: what each item took, and the bytes that it gave."""

    kernel: str
    state: Any
    state_bytes: int
    seconds: tuple[float, ...]
    sizes: tuple[int, ...]
    taken: int
    """Bytes of all items that were given, where they are parcels."""


@dataclass(frozen=True, eq=False)
class Reduced:
    """One reduction: what merging took, what workers shipped, and what the client got."""

    merge: str
    seconds: float
    inputs: int
    """Parcels that went into merges."""
    shipped: tuple[int, ...]
    """By worker."""
    arrived: Packed

    @property
    def shipped_bytes(self) -> int:
        return sum(self.shipped)


@dataclass(frozen=True, eq=False)
class Shuffled:
    """One shuffle: the bytes that were sent from parts to destinations."""

    destinations: int
    moved: int
    seconds: float


@dataclass(eq=False)
class WeighingEngine:
    """So many workers, one after the other: part i is with worker i modulo their number."""

    workers: int
    name: str = "weighing"
    memory: int | None = None
    shipped: int = 0
    maps: list[Mapped] = field(default_factory=list)
    reductions: list[Reduced] = field(default_factory=list)
    shuffles: list[Shuffled] = field(default_factory=list)

    def parts(self, source: Source) -> list[Part]:
        return list(source.parts())

    def map(self, kernel: Kernel, items: Items, state: Any, done: Done | None = None) -> Items:
        sent = pickle.dumps(state)
        told = pickle.loads(sent)  # a worker opens a state once, not for every task
        found: list[Packed] = []
        seconds: list[float] = []
        for item in items:
            begin = time.process_time()
            found.append(kernel(item, told))
            seconds.append(time.process_time() - begin)
            if done is not None:
                done(len(found))
        taken = sum(map(_weight, items))
        sizes = tuple(map(size_of, found))
        self.maps.append(Mapped(kernel.__name__, state, len(sent), tuple(seconds), sizes, taken))
        return found

    def reduce(self, merge: Merge, items: Items, state: Any) -> Packed:
        told = pickle.loads(pickle.dumps(state))
        work = _Merging(merge, told)
        here = [work.tree(items[w :: self.workers]) for w in range(min(self.workers, len(items)))]
        shipped = tuple(map(size_of, here))
        self.shipped += sum(shipped)
        found = work.tree(here)
        name = merge.__name__ if state is None else type(state).__name__
        self.reductions.append(Reduced(name, work.seconds, work.inputs, shipped, found))
        return found

    def shuffle(self, pick: Pick, items: Items, destinations: int, state: Any) -> Items:
        told = pickle.loads(pickle.dumps(state))
        begin = time.process_time()
        picked = [[pick(item, to, told) for item in items] for to in range(destinations)]
        seconds = time.process_time() - begin
        moved = sum(size_of(parcel) for there in picked for parcel in there)
        self.shuffles.append(Shuffled(destinations, moved, seconds))
        return picked

    def cancel(self) -> None:
        """Nothing runs but this."""

    def mapped(self, kernel: str) -> list[Mapped]:
        """The maps of a kernel."""
        return [one for one in self.maps if one.kernel == kernel]


@dataclass
class _Merging:
    """Merges, a few at a time, as engines do it."""

    merge: Merge
    state: Any
    seconds: float = 0.0
    inputs: int = 0

    def tree(self, parcels: Sequence[Packed]) -> Packed:
        level = list(parcels)
        while len(level) > 1:
            level = [self._one(level[i : i + FAN_IN]) for i in range(0, len(level), FAN_IN)]
        return level[0]

    def _one(self, some: Sequence[Packed]) -> Packed:
        if len(some) == 1:
            return some[0]
        begin = time.process_time()
        found = self.merge(some, self.state)
        self.seconds += time.process_time() - begin
        self.inputs += len(some)
        return found


def _weight(item: Any) -> int:
    """Bytes of a parcel, or of those that a shuffle brought together; a part of the source has none."""
    if isinstance(item, tuple):
        return size_of(item)
    return sum(map(size_of, item)) if isinstance(item, list) else 0
