"""What a task of Spark does: run a kernel, merge, pick. What a kernel refuses comes to the driver as it is.

Nothing here imports pyspark: a state is a broadcast variable; accumulators hear of refusals and bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from hornbeam.distributed.engine import FAN_IN, Kernel, Merge, Pick
from hornbeam.errors import EngineError, HornbeamError

MOST_BYTES = 2**31 - 2**16
"""Of one parcel: Spark counts the bytes of what it moves in 32 bits."""


class Listed:
    """An accumulator of lists, as Spark wants it described."""

    def zero(self, value: list[Any]) -> list[Any]:
        return []

    def addInPlace(self, known: list[Any], more: list[Any]) -> list[Any]:  # noqa: N802 - Spark's name
        return [*known, *more]


@dataclass(frozen=True, eq=False)
class Task:
    """What every task is told: the state, and where it says what it refuses.

    A refusal is no failure, which Spark would try again: the task ends, and gives nothing.
    """

    shared: Any
    refused: Any

    def guarded(self, work: Callable[[Any], bytes]) -> Iterator[bytes]:
        """What is made of the state, unless it is refused."""
        try:
            found = work(self.shared.value)
            if len(found) > MOST_BYTES:
                raise too_large(len(found))
        except HornbeamError as error:
            self.refused.add([error])
            return
        yield found


@dataclass(frozen=True, eq=False)
class Mapping(Task):
    """A kernel for every item of a partition."""

    kernel: Kernel

    def __call__(self, items: Iterable[Any]) -> Iterator[bytes]:
        for item in items:
            yield from self.guarded(lambda state, item=item: self.kernel(item, state))  # type: ignore[misc]


@dataclass(frozen=True, eq=False)
class Merging(Task):
    """All parcels of a partition as one; no more than a few are here at a time."""

    merge: Merge
    shipped: Any
    """Hears the bytes of what will leave the worker; None where nobody counts them."""

    def __call__(self, parcels: Iterable[bytes]) -> Iterator[bytes]:
        for merged in self.guarded(lambda state: self._merged(parcels, state)):
            if merged:
                if self.shipped is not None:
                    self.shipped.add(len(merged))
                yield merged

    def _merged(self, parcels: Iterable[bytes], state: Any) -> bytes:
        held: list[bytes] = []
        for parcel in parcels:
            held.append(parcel)
            if len(held) == FAN_IN:
                held = [self.merge(held, state)]
        return b"" if not held else held[0] if len(held) == 1 else self.merge(held, state)


@dataclass(frozen=True, eq=False)
class Picking(Task):
    """For every destination what an item has for it."""

    pick: Pick
    destinations: int

    def __call__(self, items: Iterable[Any]) -> Iterator[tuple[int, bytes]]:
        for item in items:
            for to in range(self.destinations):
                for found in self.guarded(lambda state, item=item, to=to: self.pick(item, to, state)):  # type: ignore[misc]
                    yield to, found


@dataclass(frozen=True)
class Dealing:
    """Parcels with the number of the group that they are merged in."""

    groups: int

    def __call__(self, partition: int, parcels: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        for parcel in parcels:
            yield partition % self.groups, parcel


def together(pairs: Iterable[tuple[int, bytes]]) -> Iterator[list[bytes]]:
    """All that came to a destination, as one item."""
    found = [parcel for _, parcel in pairs]
    if found:
        yield found


def second(pairs: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
    """Parcels without their number."""
    return (parcel for _, parcel in pairs)


def version(_: Iterable[int]) -> Iterator[str]:
    """Of hornbeam, where this is called."""
    import hornbeam

    yield hornbeam.__version__


def too_large(size: int) -> EngineError:
    """The line for a parcel that Spark cannot move."""
    return EngineError(
        f"a part came to {size:,} bytes, and Spark moves {MOST_BYTES:,} at most; cut the rows into more "
        "files, or the frame into more partitions"
    )
