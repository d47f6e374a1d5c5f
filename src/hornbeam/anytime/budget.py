"""Budgets: how long a search goes on, in seconds, iterations and work, and who may stop it."""

from __future__ import annotations

import math
import numbers
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hornbeam import _core
from hornbeam.arguments import is_number, shown
from hornbeam.errors import UsageError


@dataclass(frozen=True)
class Budget:
    """Limits of a search; None is no limit. Seconds count from now on, iterations and work from the start
    of the search, so that a search in parts is the search as a whole."""

    seconds: float | None = None
    iterations: int | None = None
    work: int | None = None

    @classmethod
    def checked(cls, seconds: Any, iterations: Any, work: Any, names: tuple[str, str, str]) -> Budget:
        """Limits as they were given, under the names that they have there."""
        return cls(_seconds(names[0], seconds), _count(names[1], iterations), _count(names[2], work))

    def spent(self, seconds: float) -> Budget:
        """What is left of these limits after so many seconds."""
        left = None if self.seconds is None else max(0.0, self.seconds - seconds)
        return Budget(left, self.iterations, self.work)

    def after(self, iterations: int, work: int) -> Budget:
        """The same limits for what comes after so many iterations and so much work."""
        return Budget(
            self.seconds,
            None if self.iterations is None else self.iterations + iterations,
            None if self.work is None else self.work + work,
        )


def _seconds(name: str, value: Any) -> float | None:
    if value is None or (is_number(value, numbers.Real) and value == math.inf):
        return None
    if not is_number(value, numbers.Real) or not value > 0:
        raise UsageError(
            f"{shown(name, value)}: a number of seconds above 0 is allowed, or None for no limit",
            parameter=name,
        )
    return float(value)


def _count(name: str, value: Any) -> int | None:
    if value is None:
        return None
    if not is_number(value, numbers.Integral) or value < 1:
        raise UsageError(
            f"{shown(name, value)}: a whole number from 1 is allowed, or None for no limit", parameter=name
        )
    return int(value)


class Clock:
    """Wall and CPU seconds that a search took, however often it was interrupted."""

    def __init__(self, elapsed: float = 0.0, cpu: float = 0.0) -> None:
        self._elapsed, self._cpu = elapsed, cpu
        self._since: tuple[float, float] | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Counts while this lasts."""
        self._since = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            (self._elapsed, self._cpu), self._since = self.now, None

    @property
    def now(self) -> tuple[float, float]:
        """Wall and CPU seconds until now."""
        if self._since is None:
            return self._elapsed, self._cpu
        wall, cpu = self._since
        return self._elapsed + time.perf_counter() - wall, self._cpu + time.process_time() - cpu

    def __getstate__(self) -> tuple[float, float]:
        return self.now

    def __setstate__(self, state: tuple[float, float]) -> None:
        self.__init__(*state)  # type: ignore[misc]


class Stop:
    """A request to stop, from any thread or from a signal's handler; it holds until it is taken back."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a handler may run in the thread that holds it
        self._asked = False
        self._thread: int | None = None
        self._until: Deadline | None = None

    def request(self) -> None:
        """Work that listens is interrupted, also in the core."""
        with self._lock:
            self._asked = True
            if self._thread is not None:
                _core.stop_thread(self._thread)

    def clear(self) -> None:
        with self._lock:
            self._asked = False

    @property
    def requested(self) -> bool:
        return self._asked

    @contextmanager
    def listening(self, until: Deadline | None = None) -> Iterator[None]:
        """While this lasts a request raises KeyboardInterrupt in this thread, as soon as the core looks; so
        does the end of the deadline, if it is guarded."""
        thread = threading.get_ident()
        with self._lock:
            self._thread, self._until = thread, until
        try:
            if self._asked:
                raise KeyboardInterrupt
            yield
        finally:
            with self._lock:
                self._thread = self._until = None
                _core.forget_stop(thread)

    def interrupt(self, deadline: Deadline) -> None:
        """Work that listens just now until this deadline is interrupted; nothing else is."""
        with self._lock:
            if self._thread is not None and self._until is deadline:
                _core.stop_thread(self._thread)

    def __reduce__(self) -> tuple[type[Stop], tuple[()]]:
        return Stop, ()  # whoever asked was another process


class TimeIsUp(Exception):  # noqa: N818 - no error: an end
    """Thrown by `Deadline.look`."""


class Deadline:
    """When a search has to end. While it is `guarding`, work that listens until then is interrupted: also
    work that knows nothing of time."""

    def __init__(self, seconds: float | None, stop: Stop) -> None:
        self._end = math.inf if seconds is None else time.perf_counter() + seconds
        self._stop = stop

    @property
    def left(self) -> float:
        """Seconds, 0 where it is over."""
        return max(0.0, self._end - time.perf_counter())

    @property
    def is_over(self) -> bool:
        return time.perf_counter() >= self._end

    def look(self) -> None:
        """Ends a loop of Python that takes long: KeyboardInterrupt where somebody asked, or TimeIsUp."""
        if self._stop.requested:
            raise KeyboardInterrupt
        if self.is_over:
            raise TimeIsUp

    @contextmanager
    def guarding(self) -> Iterator[None]:
        if not 0.0 < self.left < threading.TIMEOUT_MAX:
            yield
            return
        timer = threading.Timer(self.left, self._stop.interrupt, (self,))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
