"""How far a growth from a source is: told to whoever listens, and counted for the record afterwards."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

import pyarrow as pa

from hornbeam.boat.stats import SourceStats
from hornbeam.table.sources import Source

_APART = 0.1  # seconds between two messages


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a phase is. Of a scan, numbered from 1, rows are counted; of the others (`scan` 0) a share."""

    phase: str
    scan: int
    rows: int
    total_rows: int | None
    """None where only the first scan tells."""
    share: float | None
    seconds: float
    """Since the phase began."""
    finished: bool = False

    @property
    def rows_per_second(self) -> float:
        return self.rows / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """As long as the rest takes at the pace until now; None where nobody knows."""
        if not self.share:
            return None
        return max(0.0, self.seconds * (1.0 / self.share - 1.0))


Listener = Callable[[Progress], None]


@dataclass(eq=False)
class Meter:
    """Phases of one growth, each timed; what the algorithms count as they go."""

    source: Source
    listener: Listener | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    alarms: int = 0
    held_rows: int = 0
    spilled_bytes: int = 0
    families: int = 0

    def __post_init__(self) -> None:
        self._begun, self._shipped = self.source.stats, dict[str, int]()
        self._peak = PeakMemory()
        self._scans = 0

    @contextmanager
    def scan(self, phase: str) -> Iterator[Callable[[int], None]]:
        """A scan of the source; what it gives is told how many of its rows were read so far."""
        self._scans += 1
        with self._timed(phase, self._scans) as tell:
            yield lambda rows: tell(rows, None)
        pa.default_memory_pool().release_unused()  # the reader's buffers, which its allocator keeps

    @contextmanager
    def phase(self, phase: str) -> Iterator[Callable[[float], None]]:
        """Anything else that takes its time; what it gives is told which share is done."""
        with self._timed(phase, 0) as tell:
            yield lambda share: tell(0, share)

    @contextmanager
    def _timed(self, phase: str, scan: int) -> Iterator[Callable[[int, float | None], None]]:
        begin, told, state = perf_counter(), 0.0, (0, None if scan else 0.0)
        engine = self.source.engine
        shipped = 0 if engine is None else engine.shipped

        def tell(rows: int, share: float | None) -> None:
            nonlocal told, state
            state = rows, share
            now = perf_counter()
            if now - told >= _APART:
                told = now
                self._peak.look()
                self._say(phase, scan, rows, share, now - begin)

        tell(*state)
        try:
            yield tell
        finally:
            spent = perf_counter() - begin
            self.seconds[phase] = self.seconds.get(phase, 0.0) + spent
            self._peak.look()
            if engine is not None and engine.shipped > shipped:
                self._shipped[phase] = self._shipped.get(phase, 0) + engine.shipped - shipped
        self._say(phase, scan, state[0], 1.0, spent, finished=True)

    def _say(
        self, phase: str, scan: int, rows: int, share: float | None, seconds: float, finished: bool = False
    ) -> None:
        if self.listener is None:
            return
        total = self.source.rows if scan else None
        if total and share is None:
            share = min(1.0, rows / total)
        self.listener(Progress(phase, scan, rows, total, share, seconds, finished))

    def stats(self, algorithm: str, reason: str, memory_limit: int | None) -> SourceStats:
        """The record of what was until now."""
        now, engine = self.source.stats, self.source.engine
        return SourceStats(
            algorithm,
            reason,
            scans=now.scans - self._begun.scans,
            rows=now.rows - self._begun.rows,
            bytes=now.bytes - self._begun.bytes,
            alarms=self.alarms,
            held_rows=self.held_rows,
            spilled_bytes=self.spilled_bytes,
            families=self.families,
            peak_memory=self._peak.value,
            memory_limit=memory_limit,
            engine=None if engine is None else engine.name,
            workers=0 if engine is None else engine.workers,
            shipped=self._shipped,
            seconds=dict(self.seconds),
        )


class PeakMemory:
    """The most memory of the process between two moments.

    The operating system keeps one highest mark for the life of the process. Where it rises it is the answer;
    where an earlier peak hides it, the largest of the sizes that were looked at in between is.
    """

    def __init__(self) -> None:
        self._before, self._seen = _highest(), 0
        self.look()

    def look(self) -> None:
        """Take note of the present size."""
        self._seen = max(self._seen, _present())

    @property
    def value(self) -> int:
        """In bytes; 0 where the system tells nothing."""
        self.look()
        highest = _highest()
        return highest if highest > self._before or not self._seen else self._seen


def _highest() -> int:
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _present() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def available_memory() -> int:
    """Bytes that may be allocated without pushing others out: of the machine, or of the group we run in."""
    rooms = [room for room in (_of_machine(), _of_group()) if room is not None]
    return min(rooms) if rooms else 2**31


def _of_machine() -> int | None:
    try:
        with open("/proc/meminfo", "rb") as file:
            for line in file:
                if line.startswith(b"MemAvailable:"):
                    return int(line.split()[1]) * 1024
        return None
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return None


def _of_group() -> int | None:
    """What is left to a control group (version 2) of its limit."""
    try:
        limit, used = (_read(f"/sys/fs/cgroup/memory.{name}") for name in ("max", "current"))
        return max(0, int(limit) - int(used))
    except (OSError, ValueError):  # no such group, or no limit ("max")
        return None


def _read(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read().strip()
