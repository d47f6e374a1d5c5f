"""The engine interface: what a cluster must be able to do for us.

Kernels and merges are plain functions of a module, so that workers find them by name. They take and give
parcels; merges are associative and commutative. Schedulers, transports and storage are the
cluster's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from hornbeam.distributed.parcels import Packed
from hornbeam.table.sources import Source

Kernel = Callable[[Any, Any], Packed]
"""(a part of the source or what a kernel gave for it, the state) -> a parcel."""
Merge = Callable[[Sequence[Packed], Any], Packed]
Pick = Callable[[Any, int, Any], Packed]
"""(what a kernel gave, a destination, the state) -> the parcel that goes there."""
Done = Callable[[int], None]
"""Hears how many items are done."""
Items = Any
"""What an engine keeps of the results of a map: they stay with the workers."""

FAN_IN = 8  # parcels that are merged at a time
PILE = 256 << 20  # bytes of kept parcels that one task takes together


class Engine(Protocol):
    """What runs kernels. A state is the same for all items, and sent once."""

    name: str

    @property
    def workers(self) -> int:
        """How many work at a time."""

    @property
    def memory(self) -> int | None:
        """Bytes that one task may take; None where nobody knows."""

    @property
    def shipped(self) -> int:
        """Bytes of results that left their workers until now."""

    def parts(self, source: Source) -> Items:
        """The parts of a source, as `map` takes them."""

    def map(self, kernel: Kernel, items: Items, state: Any, done: Done | None = None) -> Items:
        """Run a kernel on every item, where the item is."""

    def reduce(self, merge: Merge, items: Items, state: Any) -> Packed:
        """All results as one, merged in a tree: nobody ever holds more than a few of them."""

    def shuffle(self, pick: Pick, items: Items, destinations: int, state: Any) -> Items:
        """Bring what belongs together to one worker: items of the next map are lists of parcels, one for each
        destination."""

    def cancel(self) -> None:
        """Let go of everything, and leave nothing running."""


def merged(merge: Merge, parcels: Iterable[Packed], state: Any) -> list[Packed]:
    """All parcels as one, if there are any; no more than a few are held at a time."""
    held: list[Packed] = []
    for parcel in parcels:
        held.append(parcel)
        if len(held) == FAN_IN:
            held = [merge(held, state)]
    return [merge(held, state)] if len(held) > 1 else held


@contextmanager
def cancelling(engine: Engine) -> Iterator[None]:
    """Whatever ends this early leaves nothing running."""
    try:
        yield
    except BaseException:
        engine.cancel()
        raise
