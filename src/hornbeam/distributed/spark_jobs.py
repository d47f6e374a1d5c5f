"""Jobs of Spark, in threads beside the one that waits for them; what Spark raises, in one line.

A thread that is interrupted in a call to the JVM loses its connection to it; one that waits for another
thread can be interrupted at any time.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any, Generic, TypeVar

from hornbeam.distributed.engine import Done
from hornbeam.errors import EngineError, HornbeamError, UsageError

_RAISED = re.compile(r"^(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*(?:Error|Exception|Interrupt)): *(.*)$", re.MULTILINE)
_CANCELLED = re.compile(r"cancelled|SparkContext was shut ?down|stopped SparkContext", re.IGNORECASE)
_STARTING = re.compile(r"^: (?:[\w$]+\.)*([\w$]+: .*)$", re.MULTILINE)
_PYTHON = (
    "Python on Spark's workers has no hornbeam; install the same version everywhere, and name that Python"
)
_INSTALL = "pip install 'hornbeam[spark]' installs what it needs"
_MEMORY = "a worker had no memory left; give a lower memory_limit, or workers more memory"


@contextmanager
def one_line() -> Iterator[None]:
    """Whatever Spark raises becomes one line."""
    try:
        yield
    except Exception as error:
        raise failed(error) from None


def failed(error: BaseException) -> HornbeamError:
    """What a kernel refused, or one line for what Spark did."""
    if isinstance(error, HornbeamError):
        return error
    text = str(error)
    if isinstance(error, ImportError):  # pyspark looks at pandas and pyarrow itself
        return UsageError(f"Spark cannot be used here: {line(text)}; {_INSTALL}")
    raised = _RAISED.findall(text.split("Driver stacktrace:")[0])
    kind, said = raised[-1] if raised else ("", text)
    if kind == "ModuleNotFoundError" and "hornbeam" in said:
        return EngineError(f"{_PYTHON} by PYSPARK_PYTHON")
    if kind == "MemoryError" or "OutOfMemoryError" in text:
        return EngineError(_MEMORY)
    if _CANCELLED.search(text):
        return EngineError("the Spark job failed: the work was cancelled")
    return EngineError(f"the Spark job failed: {line(said or kind)}")


def cannot_start(master: str, error: BaseException) -> EngineError:
    """One line for a session that does not begin."""
    text = str(error)
    if "stopped SparkContext" in text:
        return EngineError(
            f"the Spark master at {master!r} did not take this program; give it what the master has of "
            "spark.authenticate and its secret, in spark-defaults.conf of the folder SPARK_CONF_DIR"
        )
    found = _STARTING.search(text)
    said = line(found[1] if found else text)
    return EngineError(f"Spark cannot be started at {master!r}: {said}; it needs Java 17 or newer")


def line(text: str) -> str:
    """The first line, bounded."""
    return (text.strip().splitlines() or ["no reason was given"])[0][:300].rstrip(". ")


T = TypeVar("T")
_LOOK = 0.1  # seconds between two looks at a job
_LEAVE = 10  # seconds for a cancelled job to end


class Job(Generic[T]):
    """Some work, whose jobs are a group; so many `tasks` of the last of them are done."""

    def __init__(self, context: Any, work: Callable[[], T], *, watched: bool = False) -> None:
        from pyspark import InheritableThread

        self._context, self._work = context, work
        self._group = f"hornbeam-{uuid.uuid4().hex[:12]}"
        self._found: list[T] = []
        self._error: BaseException | None = None
        self.tasks = 0
        self._thread = InheritableThread(target=self._run, name=self._group, daemon=True)
        self._thread.start()
        if watched:
            Thread(target=self._watch, name=f"{self._group}, watched", daemon=True).start()

    def wait(self, refused: Any, done: Done | None = None) -> T:
        """What the work gives. What a task refuses is raised while the others still run."""
        while self._thread.is_alive():
            self._thread.join(_LOOK)
            _check(refused)
            if done is not None:
                done(self.tasks)
        _check(refused)
        return self._result()

    def within(self, seconds: float) -> T | None:
        """What the work gives, or None where that takes longer."""
        self._thread.join(seconds)
        return None if self._thread.is_alive() else self._result()

    def cancel(self) -> None:
        """End it, and wait for that."""
        beside(lambda: self._context.cancelJobGroup(self._group), _LEAVE)
        self._thread.join(_LEAVE)

    def _result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._found[0]

    def _run(self) -> None:
        try:
            self._context.setJobGroup(self._group, "hornbeam", interruptOnCancel=True)
            self._found.append(self._work())
        except BaseException as error:
            self._error = error

    def _watch(self) -> None:
        with suppress(Exception):  # the session may go while somebody looks
            tracker = self._context.statusTracker()
            while self._thread.is_alive():
                self.tasks = _tasks_done(tracker, self._group)
                self._thread.join(_LOOK)


def beside(call: Callable[[], Any], seconds: float | None = None) -> None:
    """Call the JVM from another thread, whatever comes of it, and wait so long for that."""

    def run() -> None:
        with suppress(Exception):  # the session may be gone, and everything with it
            call()

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)


def _tasks_done(tracker: Any, group: str) -> int:
    """Of the job of a group that began last."""
    jobs = tracker.getJobIdsForGroup(group)
    info = tracker.getJobInfo(max(jobs)) if jobs else None
    stages = [] if info is None else [tracker.getStageInfo(stage) for stage in info.stageIds]
    return sum(stage.numCompletedTasks for stage in stages if stage is not None)


def _check(refused: Any) -> None:
    if refused.value:
        raise min(refused.value, key=str)
