"""The engine interface: what a cluster must be able to do for us.

Kernels and merges are plain functions of a module, so that workers find them by name. They take and give
messages; merges are associative and commutative. Schedulers, transports and storage are the
cluster's own.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Thread
from typing import Any, Protocol, TypeVar

from hornbeam.distributed.messages import Packed
from hornbeam.table.sources import Source

T = TypeVar("T")
Kernel = Callable[[Any, Any], Packed]
"""(a part of the source or what a kernel gave for it, the state) -> a message."""
Merge = Callable[[Sequence[Packed], Any], Packed]
Pick = Callable[[Any, int, Any], Packed]
"""(what a kernel gave, a destination, the state) -> the message that goes there."""
Done = Callable[[int], None]
"""Hears how many items are done."""
Items = Any
"""What an engine keeps of the results of a map: they stay with the workers."""

FAN_IN = 8  # messages that are merged at a time
BATCH_BYTES = 256 << 20  # bytes of kept messages that one task takes together


class ClusterEngine(Protocol):
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
        """Bring what belongs together to one worker: items of the next map are lists of messages, one
        list for each destination."""

    def cancel(self) -> None:
        """Let go of everything, and leave nothing running."""


def merged(merge: Merge, messages: Iterable[Packed], state: Any) -> list[Packed]:
    """All messages as one, if there are any; no more than a few are held at a time."""
    held: list[Packed] = []
    for message in messages:
        held.append(message)
        if len(held) == FAN_IN:
            held = [merge(held, state)]
    return [merge(held, state)] if len(held) > 1 else held


@contextmanager
def cancelling(engine: ClusterEngine) -> Iterator[None]:
    """Whatever ends this early leaves nothing running."""
    try:
        yield
    except BaseException:
        engine.cancel()
        raise


def start_apart(work: Callable[[], T], end: Callable[[T], None]) -> T:
    """What some work starts, in a thread beside the one that waits: an interrupt must not meet it in the
    midst of its start. Where whoever waits is interrupted, it is ended as soon as it is there."""
    made: Future[T] = Future()

    def run() -> None:
        _leave_interrupts()
        try:
            made.set_result(work())
        except BaseException as error:
            made.set_exception(error)

    try:
        Thread(target=run, daemon=True).start()  # which may be interrupted as well
        return made.result()
    except BaseException:
        made.add_done_callback(lambda done: end(done.result()) if done.exception() is None else None)
        raise


def _leave_interrupts() -> None:
    """Threads and processes that this thread starts do not hear Ctrl-C, which a terminal sends to all: they
    would tell of it in pages."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
