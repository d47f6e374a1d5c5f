"""Clusters that are started here, in a thread beside the one that waits: an interrupt must not meet them in
the midst of their start."""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def begun(work: Callable[[], T], end: Callable[[T], None]) -> T:
    """What some work gives; where whoever waits is interrupted, it is ended as soon as it is there."""
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
