"""What a task of Spark does: run a kernel, merge, pick. What a kernel refuses comes to the driver as it is.

Nothing here imports pyspark: a state is a broadcast variable; accumulators hear of refusals and bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from hornbeam.distributed.engine import Kernel, Merge, Pick, merged
from hornbeam.distributed.messages import Packed, flat
from hornbeam.errors import HornbeamError

PIECE = 1 << 20
"""Bytes of a record: those of Spark are held whole by the JVM, several times over, and have 2 GiB at most."""

Piece = tuple[tuple[int, int], int, int, bytes]
"""Of a message: the partition that made it and which of its messages it is, the number of the piece, how many
there are, and the bytes."""


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

    def guarded(self, work: Callable[[Any], list[Packed]]) -> Iterator[bytes]:
        """The messages that are made of the state, unless they are refused."""
        try:
            found = work(self.shared.value)
        except HornbeamError as error:
            self.refused.add([error])
            return
        yield from map(flat, found)


@dataclass(frozen=True, eq=False)
class Mapping(Task):
    """A kernel for every item of a partition."""

    kernel: Kernel

    def __call__(self, partition: int, items: Iterable[Any]) -> Iterator[Piece]:
        return cut(partition, (found for item in items for found in self._of(item)))

    def _of(self, item: Any) -> Iterator[bytes]:
        return self.guarded(lambda state: [self.kernel(item, state)])


@dataclass(frozen=True, eq=False)
class Merging(Task):
    """All messages of a partition as one; no more than a few are here at a time."""

    merge: Merge
    shipped: Any
    """Hears the bytes of what will leave the worker; None where nobody counts them."""

    def __call__(self, partition: int, pieces: Iterable[Piece]) -> Iterator[Piece]:
        for found in self.guarded(lambda state: merged(self.merge, joined(pieces), state)):
            if self.shipped is not None:
                self.shipped.add(len(found))
            yield from cut(partition, [found])


@dataclass(frozen=True, eq=False)
class Picking(Task):
    """For every destination what an item has for it."""

    pick: Pick
    destinations: int

    def __call__(self, partition: int, items: Iterable[Any]) -> Iterator[tuple[int, Piece]]:
        for item in items:
            for to in range(self.destinations):
                for piece in cut(partition, self._of(item, to)):
                    yield to, piece

    def _of(self, item: Any, to: int) -> Iterator[bytes]:
        return self.guarded(lambda state: [self.pick(item, to, state)])


@dataclass(frozen=True)
class Dealing:
    """Pieces with the number of the group that their message is merged in."""

    groups: int

    def __call__(self, piece: Piece) -> tuple[int, Piece]:
        (partition, _), *_ = piece
        return partition % self.groups, piece


def cut(partition: int, messages: Iterable[bytes]) -> Iterator[Piece]:
    """Messages that a partition made, in pieces."""
    for number, message in enumerate(messages):
        starts = range(0, len(message), PIECE)
        for i, start in enumerate(starts):
            yield (partition, number), i, len(starts), message[start : start + PIECE]


def joined(pieces: Iterable[Piece]) -> Iterator[bytes]:
    """The messages of some pieces, each as soon as all of it is there, in whatever order that is."""
    waiting: dict[tuple[int, int], dict[int, bytes]] = {}
    for of, number, count, data in pieces:
        known = waiting.setdefault(of, {})
        known[number] = data
        if len(known) == count:
            yield b"".join(known[i] for i in range(count))
            del waiting[of]


def together(pairs: Iterable[tuple[int, Piece]]) -> Iterator[list[bytes]]:
    """All that came to a destination, as one item."""
    found = list(joined(piece for _, piece in pairs))
    if found:
        yield found


def second(pairs: Iterable[tuple[int, Piece]]) -> Iterator[Piece]:
    """Pieces without the number of their group."""
    return (piece for _, piece in pairs)


def version(_: Iterable[int]) -> Iterator[str]:
    """Of hornbeam, where this is called."""
    import hornbeam

    yield hornbeam.__version__
