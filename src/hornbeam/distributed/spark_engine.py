"""Spark as an engine: RDDs of messages, which stay with the executors, made by kernels in Python workers.

What a map gives is persisted, and its lineage leads back to the parts: what is lost with an executor is made
again. Jobs belong to a group, which is cancelled as a whole.
"""

from __future__ import annotations

import pickle
import re
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any, TypeVar

from hornbeam.boat.meter import available_memory
from hornbeam.distributed.engine import FAN_IN, Done, Items, Kernel, Merge, Pick
from hornbeam.distributed.spark_frames import FrameParts, SparkPart
from hornbeam.distributed.spark_jobs import Job, beside, one_line
from hornbeam.distributed.spark_work import (
    Dealing,
    Listed,
    Mapping,
    Merging,
    Picking,
    joined,
    second,
    together,
)
from hornbeam.errors import UsageError
from hornbeam.table.sources import Part, Source

_PART = 2  # one task may take half of what there is for it
_SIZE = re.compile(r"(\d+) *([a-z]?)")
_CONTAINERS = ("yarn", "k8s://")
"""Masters that end an executor which takes more than was asked for."""

Ask = Callable[[Any], list[int]]
"""Collects an RDD."""


def task_memory(context: Any, workers: int, ask: Ask) -> int:
    """Bytes that one task may take, of so many that run at a time."""
    said, master = context.getConf(), context.master
    room = said.get("spark.executor.pyspark.memory")
    if room is not None or master.startswith(_CONTAINERS):
        outside = _overhead(said) if room is None else bytes_of(room)
        return outside // int(said.get("spark.executor.cores") or 1) // _PART
    if master.startswith("local") and "cluster" not in master:
        return available_memory() // workers // _PART
    spare = min(ask(context.parallelize(range(workers), workers).mapPartitions(spare_memory)))
    return spare // at_a_time(workers, executor_hosts(context)) // _PART


def spare_memory(_: Iterable[int]) -> Iterator[int]:
    """Of the machine, or the group, in which this is called."""
    yield available_memory()


def at_a_time(workers: int, hosts: Iterable[str]) -> int:
    """How many of so many tasks run on one machine, as if all had as many executors as the fullest."""
    executors = Counter(hosts)
    return ceil(workers / max(1, executors.total())) * max(executors.values(), default=1)


def executor_hosts(context: Any) -> list[str]:
    """The machine of each executor. Spark lists the driver with them."""
    hosts = [str(one.host()) for one in context._jsc.sc().statusTracker().getExecutorInfos()]
    driver = context.getConf().get("spark.driver.host")
    if driver in hosts:
        hosts.remove(driver)
    return hosts


def _overhead(said: Any) -> int:
    """What an executor has beside its heap, as Spark reckons it."""
    told = said.get("spark.executor.memoryOverhead")
    if told is not None:
        return bytes_of(told)
    heap = bytes_of(said.get("spark.executor.memory") or "1g")
    share = float(said.get("spark.executor.memoryOverheadFactor") or 0.1)
    return max(bytes_of(said.get("spark.executor.minMemoryOverhead") or "384m"), int(share * heap))


def bytes_of(said: str) -> int:
    """The bytes of a size as Spark writes it: 512m, 2g, 2gb; a plain number is of mebibytes."""
    (number, unit), *_ = _SIZE.findall(said.lower())
    return int(number) << {"b": 0, "k": 10, "": 20, "m": 20, "g": 30, "t": 40, "p": 50}[unit]


T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Spread:
    """An RDD whose partitions are with the executors, and how many there are; its records are items, or
    pieces of them."""

    rdd: Any
    partitions: int
    pieces: bool = False

    @property
    def items(self) -> Any:
        return self.rdd.mapPartitions(joined) if self.pieces else self.rdd

    def mapped(self, task: Mapping) -> Any:
        return self.items.mapPartitionsWithIndex(task)


class SparkEngine:
    """The executors of a Spark session."""

    name = "spark"

    def __init__(self, session: Any, close: Callable[[], None] | None = None) -> None:
        self.session, self.context, self.shipped = session, session.sparkContext, 0
        self._live: weakref.WeakSet[Spread] = weakref.WeakSet()
        self._states: list[Any] = []
        self._job: Job[Any] | None = None
        # A session that was started for this engine goes with it, or with the process.
        self._close = None if close is None else weakref.finalize(self, close)

    def __repr__(self) -> str:
        return f"<hornbeam engine: Spark, {self.workers} workers>"

    @property
    def workers(self) -> int:
        return max(1, int(self.context.defaultParallelism))

    @property
    def memory(self) -> int:
        return task_memory(self.context, self.workers, lambda rdd: self._run(rdd.collect, self._refused()))

    def parts(self, source: Source) -> Spread | FrameParts:
        parts = list(source.parts())
        if isinstance(parts[0], SparkPart):
            return FrameParts(parts[0], source.name, len(parts))
        packed = [_packed(part) for part in parts]

        def spread() -> Spread:
            # An item in each partition, so that a part is a task.
            sent = self.context.parallelize(packed, len(packed))
            return Spread(sent.mapPartitions(_unpacked), len(packed))

        return self._run(spread, self._refused())

    def map(self, kernel: Kernel, items: Items, state: Any, done: Done | None = None) -> Spread:
        refused = self._refused()

        def mapped() -> Spread:
            task = Mapping(self._share(state), refused, kernel)
            made = self._kept(items.mapped(task), items.partitions)
            # Counted in the JVM: Python would have to take in all of it again.
            made.rdd._jrdd.count()
            return made

        return self._run(mapped, refused, done)

    def reduce(self, merge: Merge, items: Spread, state: Any) -> bytes:
        refused, shipped = self._refused(), self.context.accumulator(0)

        def reduced() -> bytes:
            shared, groups = self._share(state), min(items.partitions, self.workers)
            # Partitions that are in the same place come together first.
            first = Merging(shared, refused, merge, shipped)
            level = items.rdd.coalesce(groups).mapPartitionsWithIndex(first)
            later = Merging(shared, refused, merge, None)
            while groups > 1:
                groups = ceil(groups / FAN_IN)
                dealt = level.map(Dealing(groups)).partitionBy(groups, int)
                level = dealt.mapPartitions(second).mapPartitionsWithIndex(later)
            return b"".join(joined(level.collect()))  # one, unless a task has refused

        found = self._run(reduced, refused)
        self.shipped += shipped.value
        return found

    def shuffle(self, pick: Pick, items: Spread, destinations: int, state: Any) -> Spread:
        refused = self._refused()

        def shuffled() -> Spread:
            task = Picking(self._share(state), refused, pick, destinations)
            dealt = items.items.mapPartitionsWithIndex(task).partitionBy(destinations, int)
            return Spread(dealt.mapPartitions(together), destinations)

        return self._run(shuffled, refused)

    def cancel(self) -> None:
        job, self._job = self._job, None
        if job is not None:
            job.cancel()
        for spread in list(self._live):
            _forget(spread.rdd)
        self._live.clear()

    def close(self) -> None:
        """End a session that was started for this engine; others go on."""
        self.cancel()
        if self._close is not None:
            self._close()

    def within(self, seconds: float, work: Callable[[], T]) -> T | None:
        """What some work gives; None, and it is cancelled, where that takes longer."""
        with one_line():
            self._job = job = Job(self.context, work)
            found = job.within(seconds)
        if found is None:
            self.cancel()
        return found

    # ---- jobs ----

    def _run(self, work: Callable[[], T], refused: Any, done: Done | None = None) -> T:
        with one_line():
            self._job = job = Job(self.context, work, watched=done is not None)
            found = job.wait(refused, done)
        self._job = None  # it knows of items
        return found

    def _refused(self) -> Any:
        """Where tasks say what they refuse."""
        return self.context.accumulator([], Listed())

    def _share(self, state: Any) -> Any:
        """The state where every task finds it. States go when there is nothing left that is made by them."""
        if not self._live:
            for known in self._states:
                known.destroy()
            self._states.clear()
        self._states.append(self.context.broadcast(state))
        return self._states[-1]

    def _kept(self, rdd: Any, partitions: int) -> Spread:
        """What stays with the executors as long as somebody here knows of it."""
        from pyspark import StorageLevel

        made = Spread(rdd.persist(StorageLevel.MEMORY_AND_DISK), partitions, pieces=True)
        weakref.finalize(made, _forget, rdd).atexit = False
        self._live.add(made)
        return made


def _forget(rdd: Any) -> None:
    """Give room back; nobody waits for it. A collection of garbage may come in the midst of another call."""
    beside(rdd.unpersist, 0)


def _packed(part: Part) -> bytes:
    from pyspark.cloudpickle import dumps

    try:
        packed: bytes = dumps(part)
    except Exception as error:
        raise UsageError(
            f"{part.shown} cannot be sent to Spark's workers ({type(error).__name__}); keep the rows in "
            "files, as by .spool('rows.parquet')"
        ) from None
    return packed


def _unpacked(parts: Iterable[bytes]) -> Iterable[Any]:
    return map(pickle.loads, parts)
