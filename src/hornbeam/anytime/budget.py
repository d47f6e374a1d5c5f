"""Budgets: how long a search goes on, in seconds, iterations and work, and who may stop it."""

from __future__ import annotations

import math
import numbers
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from hornbeam import _core
from hornbeam.anytime.effort import Effort, next_r
from hornbeam.anytime.lookahead import Lookahead
from hornbeam.anytime.sketch import Sketch
from hornbeam.arguments import is_number, refuse, whole_or_none


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
        counts = whole_or_none(names[1], iterations, 1), whole_or_none(names[2], work, 1)
        if seconds is None or (is_number(seconds, numbers.Real) and seconds == math.inf):
            return cls(None, *counts)
        if not is_number(seconds, numbers.Real) or not seconds > 0:
            refuse(names[0], seconds, "a number of seconds above 0 is allowed, or None for no limit")
        return cls(float(seconds), *counts)

    def spent(self, seconds: float) -> Budget:
        """What is left of these limits after so many seconds."""
        left = None if self.seconds is None else max(0.0, self.seconds - seconds)
        return Budget(left, self.iterations, self.work)

    def after(self, iterations: int, work: int) -> Budget:
        """These limits for a search that has made so many iterations and so much work already."""
        return Budget(
            self.seconds,
            None if self.iterations is None else self.iterations + iterations,
            None if self.work is None else self.work + work,
        )


class Clock:
    """Wall and CPU seconds that a search took, however often it was interrupted."""

    def __init__(self, elapsed: float = 0.0, cpu: float = 0.0) -> None:
        self._elapsed, self._cpu = elapsed, cpu
        self._since: tuple[float, float] | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the seconds of the block that runs under this."""
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
        """Interrupt the work that listens, in the core too."""
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
    """The end of the time, which `Deadline.look` throws."""


class Deadline:
    """When a search has to end. While it is `guarding`, work that listens until then is interrupted: also
    work that knows nothing of time."""

    def __init__(self, seconds: float | None, stop: Stop) -> None:
        self._end = math.inf if seconds is None else time.perf_counter() + seconds
        self._stop = stop

    @property
    def left(self) -> float:
        """The seconds that are left; 0 where the time is over."""
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


MOST_SAMPLES: Final = 2**31 - 1  # samples that the engine takes


@dataclass(frozen=True)
class Contract:
    """LSID3 of all rows of a table: its key, and the cuts that are drawn of numeric attributes."""

    lookahead: Lookahead
    key: int
    sample_fraction: float | None = None

    def grown(self, r: int, seconds: float = math.inf) -> Sketch | None:
        """The tree of LSID3(r) for all rows; None where the seconds did not suffice."""
        rows = self.lookahead.all_rows
        return self.lookahead.lsid3(rows, self.key, r, sample_fraction=self.sample_fraction, seconds=seconds)

    def kept(self, budget: Budget) -> tuple[int, Sketch]:
        """The largest r that the work pays for, and its tree; with seconds the last of r = 0, 1, 2, 4, ...
        that was finished within them, the greedy tree at least."""
        most = MOST_SAMPLES if budget.work is None else self.paid_by(budget.work)
        if budget.seconds is None:
            return most, self.whole(most)
        deadline = Deadline(budget.seconds, Stop())
        r, sketch = 0, self.whole(0)
        while r < most and not deadline.is_over:
            following = min(next_r(r), most)
            found = self.grown(following, deadline.left)
            if found is None:
                break
            r, sketch = following, found
        return r, sketch

    def whole(self, r: int) -> Sketch:
        """The tree of LSID3(r) for all rows, however long it takes."""
        sketch = self.grown(r)
        assert sketch is not None
        return sketch

    def paid_by(self, work: int) -> int:
        """The largest r whose cost, r m n^2 t, is at most this; 0 where not even one sample is."""
        rows = self.lookahead.table.n_rows
        effort = self.lookahead.effort(self.lookahead.all_rows)
        cost = self._tests(effort, rows) * effort.greedy_cost(rows)
        return min(work // cost, MOST_SAMPLES) if cost else 0

    def _tests(self, effort: Effort, rows: int) -> int:
        """The tests that are looked at below the root: all, or as many cuts as are drawn."""
        if self.sample_fraction is None:
            return effort.nominal_tests + sum(effort.cuts)
        drawn = max(1, math.ceil(self.sample_fraction * rows))
        return effort.nominal_tests + sum(drawn if cuts > 1 else 1 for cuts in effort.cuts)
