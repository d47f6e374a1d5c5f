"""Growths by clusters that are not at hand: their phases by the cost model, and when each worker is done."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hornbeam.distributed.engine import BATCH_BYTES, FAN_IN
from hornbeam_experiments.scale.constants import Constants
from hornbeam_experiments.scale.people import FEW_VALUES, MANY_VALUES, values_listed

_SAMPLE = 200_000
_FAMILY_BYTES = 16  # of a row and attribute while the grower has it
_ENTRY_MEMORY = 24  # bytes of a listed value at the client
_SEVERAL = 3  # times as much memory, where folds grow together
_WAVES = 64  # tasks of a worker from which they even out


@dataclass(frozen=True)
class Assumed:
    """What cannot be measured on one machine."""

    bandwidth: float = 1.25e9
    """Bytes a second from and to each machine: 10 Gbit/s."""
    task_memory: float = 4e9
    client_memory: float = 8e9
    part_rows: int = 10_000_000


@dataclass(frozen=True)
class Job:
    """A tree of so many levels of Agrawal's people; the sample guesses the first levels of it."""

    rows: float
    folds: int = 1
    """More than one: all of them at once, by counts of every value."""
    attributes: int = 9
    classes: int = 2
    buckets: int = 4096
    guessed: int = 6
    depth: int = 8
    kept: float = 1.0
    """The share of the rows that the cleanup scan keeps."""

    @property
    def cells(self) -> int:
        """Of a node."""
        return sum(min(n, self.buckets) for n in MANY_VALUES) + FEW_VALUES

    def counters(self, nodes: float) -> float:
        return nodes * self.cells * self.classes

    def reached(self, level: int) -> float:
        """Counters of the nodes of a level that tests above leave rows for."""
        many = len(MANY_VALUES)
        halved = (min(n, self.buckets) / (1 << (level + i) // many) for i, n in enumerate(MANY_VALUES))
        return (1 << level) * (FEW_VALUES + sum(halved)) * self.classes

    def entries(self, rows: float, level: int) -> float:
        """Values that so many rows list at the nodes of a level."""
        return values_listed(rows, level, self.classes * self.folds)


@dataclass(frozen=True)
class Phase:
    """One map and its reduction: seconds of a task, bytes of a worker's parcel, and what follows."""

    name: str
    tasks: int
    seconds: float
    parcel: float = 0.0
    merge: float = 0.0
    """Seconds to merge one parcel more."""
    arrived: float = 0.0
    client: float = 0.0
    moved: float = 0.0
    """Bytes between workers."""
    heaps: int | None = None
    """Tasks that take what the first ones gave to its merges; as many as these, if it is not said."""


@dataclass(frozen=True)
class Outcome:
    """Seconds and bytes of a growth; the first four together are its wall time."""

    rows: float
    """Workers scan, merge their own parcels and grow,"""
    scheduler: float
    """wait for tasks,"""
    merging: float
    """send parcels up the tree of workers,"""
    client: float
    """and wait for the client."""
    busy: float
    """CPU seconds of all workers."""
    arrived: float
    """Bytes that came to the client,"""
    shipped: float
    """that left workers to be merged elsewhere,"""
    moved: float
    """and of rows that were brought together."""
    scans: int

    @property
    def wall(self) -> float:
        return self.rows + self.scheduler + self.merging + self.client

    def efficiency(self, workers: int) -> float:
        """The share of their time that workers scan and grow."""
        return self.busy / (workers * self.wall)

    @property
    def waits_for(self) -> str:
        """What most of the time is spent on."""
        spent = {name: getattr(self, name) for name in ("rows", "scheduler", "merging", "client")}
        return max(spent, key=lambda name: spent[name])


def simulate(
    job: Job, workers: int, c: Constants, task: float, uneven: Sequence[float], assumed: Assumed
) -> Outcome:
    """A growth by so many workers, where the scheduler takes `task` seconds for each task and parts take so
    many parts of the mean."""
    rows = scheduler = merging = client = busy = arrived = shipped = moved = 0.0
    phases = list(phases_of(job, workers, c, assumed))
    levels = math.ceil(math.log(workers, FAN_IN)) if workers > 1 else 0
    for phase in phases:
        heaps = phase.tasks if phase.heaps is None else phase.heaps
        tasks = phase.tasks + (heaps + workers) * (1 + 1 / FAN_IN)
        going = _mapped(phase, workers, task, uneven) + phase.tasks / workers * phase.merge
        going += phase.moved / workers / assumed.bandwidth
        rows, scheduler = rows + going, scheduler + max(0.0, tasks * task - going)
        merging += levels * min(workers, FAN_IN) * (phase.parcel / assumed.bandwidth + phase.merge)
        client += phase.arrived / assumed.bandwidth + phase.merge + phase.client
        busy += phase.tasks * phase.seconds + (phase.tasks + workers) * phase.merge
        arrived, shipped = arrived + phase.arrived, shipped + workers * phase.parcel
        moved += phase.moved
    scans = sum(phase.name.startswith("scan") for phase in phases)
    return Outcome(rows, scheduler, merging, client, busy, arrived, shipped, moved, scans)


def _mapped(phase: Phase, workers: int, task: float, uneven: Sequence[float]) -> float:
    """When the last worker is done: tasks are handed out one after the other, to whoever is free first."""
    if phase.tasks > _WAVES * workers:
        return phase.tasks * phase.seconds / workers + max(uneven) * phase.seconds
    free = [0.0] * min(workers, phase.tasks)
    last = 0.0
    for i in range(phase.tasks):
        begin = max(heapq.heappop(free), i * task)
        end = begin + phase.seconds * uneven[i % len(uneven)]
        heapq.heappush(free, end)
        last = max(last, end)
    return last


def phases_of(job: Job, workers: int, c: Constants, assumed: Assumed) -> Iterator[Phase]:
    """What a growth does, in its order."""
    parts = max(4 * workers, math.ceil(job.rows / assumed.part_rows))
    cells = job.rows / parts * job.attributes
    sample = min(_SAMPLE, job.rows) * c.sample_bytes
    yield Phase("scan: survey", parts, c.part + cells * c.survey, sample / workers, 0.0, sample, c.client)
    yield from (_guessed if job.folds == 1 else _by_levels)(job, workers, parts, c, assumed)


def _guessed(job: Job, workers: int, parts: int, c: Constants, assumed: Assumed) -> Iterator[Phase]:
    """BOAT: one scan counts at all guessed nodes, a round for each level sends rows on, families end it."""
    each, counts = job.rows / parts, float(job.rows * job.attributes)
    reached = [job.reached(level) for level in range(job.guessed)]
    nodes = 2**job.guessed - 1
    counters, kept = job.counters(nodes), job.kept * each * c.row_bytes
    piles = min(parts, max(workers, math.ceil(parts * kept / BATCH_BYTES)))
    of_worker, of_all = (c.watching(n, job.guessed, job.classes) for n in (job.rows / workers, job.rows))
    cells = each * job.attributes * (c.decode + c.count * job.guessed)
    yield Phase(
        "scan: cleanup",
        parts,
        c.part + cells + counters * c.pack + kept * c.keep,
        sum(c.counters(counts / workers, one) for one in reached) + of_worker * c.entry_bytes,
        counters * c.merge + of_worker * c.merge_entry,
        sum(c.counters(counts, one) for one in reached) + of_all * c.entry_bytes,
        counters * c.settle,
        heaps=piles,
    )
    pile = kept * parts / piles
    for _ in range(job.guessed):
        yield Phase("round", piles, pile * c.round)
    room = assumed.task_memory / (_FAMILY_BYTES * job.attributes)
    level = job.guessed
    while level < job.depth and job.kept * job.rows / 2**level > room:
        counters = job.counters(2**level)
        yield Phase(
            "round that counts",
            piles,
            pile * c.round + job.kept * job.rows / piles * job.attributes * c.count + counters * c.pack,
            c.counters(job.kept * counts / workers, job.reached(level)),
            counters * c.merge,
            c.counters(job.kept * counts, job.reached(level)),
            counters * c.settle,
        )
        level += 1
    if level < job.depth:
        yield _families(job, workers, level, c)


def _by_levels(job: Job, workers: int, parts: int, c: Constants, assumed: Assumed) -> Iterator[Phase]:
    """RainForest: a scan for each level, or several where its values do not fit the client."""
    each = job.rows / parts
    room = assumed.task_memory / (_SEVERAL * _FAMILY_BYTES * job.attributes)
    level = 0
    while level < job.depth and job.rows / 2**level > room:
        every = job.entries(job.rows, level)
        passes = max(1, math.ceil(every * _ENTRY_MEMORY / (assumed.client_memory / 2)))
        of_worker, of_part = (job.entries(job.rows / n, level) / passes for n in (workers, parts))
        for _ in range(passes):
            seconds = each * (job.attributes * c.decode + len(MANY_VALUES) * c.listing / passes)
            yield Phase(
                "scan: level",
                parts,
                c.part + seconds + of_part * c.merge_entry,
                of_worker * c.entry_bytes,
                of_worker * c.merge_entry,
                every / passes * c.entry_bytes,
                every / passes * (c.merge_entry + (job.folds + 1) * c.settle),
            )
        level += 1
    if level < job.depth:
        yield Phase("scan: families", parts, c.part + each * job.attributes * c.decode)
        yield _families(job, workers, level, c)
    yield Phase("scan: judging", parts, c.part + each * job.attributes * c.decode)


def _families(job: Job, workers: int, level: int, c: Constants) -> Phase:
    sets = 1 if job.folds == 1 else job.folds + 1
    trees = sets * (2.0**job.depth - 2.0**level) * 2 * c.tree_bytes
    bundles = max(1, min(4 * workers, 2**level))
    rows = job.kept * job.rows
    return Phase(
        "families",
        bundles,
        rows * job.attributes * c.family * sets / bundles,
        trees / workers,
        0.0,
        trees,
        moved=rows * c.row_bytes,
    )
