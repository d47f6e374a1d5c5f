"""One whole growth by BOAT, weighed: what its survey, its rounds and its families ship and take."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import hornbeam
from hornbeam.boat.growth import grow_source
from hornbeam.boat.stats import SourceStats
from hornbeam.boat.task import Sampling, SourceTask, read_as
from hornbeam.distributed.kernels import ALONE, FOUND, ScanState
from hornbeam.distributed.messages import expand, size_of, unpack
from hornbeam.distributed.scanner import ClusterScanner
from hornbeam.growth import Parameters
from hornbeam_experiments.scale.people import Shape, files_of
from hornbeam_experiments.scale.weighing import WeighingEngine

DEPTH = 8
RAW_COUNTER, RAW_ENTRY = 4, 16  # bytes before they are squeezed
_MEMORY = 2 * 10**9
_USUAL = 1_000_000  # rows from which the usual sample is drawn


@dataclass(frozen=True)
class Cleanup:
    """A cleanup scan: nodes and counters, at how many nodes a row was counted on the mean, values that were
    listed for guesses in doubt, CPU seconds, and bytes that workers shipped."""

    nodes: int
    counters: int
    visits: float
    entries: int
    seconds: float
    shipped: int

    @property
    def levels(self) -> int:
        return max(1, round(math.log2(self.nodes + 1)))


@dataclass(frozen=True, eq=False)
class WeighedGrowth:
    """What the engine saw of a growth, and its CPU seconds in all."""

    shape: Shape
    engine: WeighingEngine
    stats: SourceStats
    nodes: int
    digest: str
    sample: int
    seconds: float

    def kernel(self, name: str) -> tuple[float, int, int]:
        """CPU seconds of a kernel, bytes that it was given, and bytes that it gave."""
        mapped = self.engine.mapped(name)
        return (
            sum(sum(one.seconds) for one in mapped),
            sum(one.taken for one in mapped),
            sum(sum(one.sizes) for one in mapped),
        )

    def merged(self, name: str) -> tuple[float, int, int]:
        """CPU seconds of merges, bytes that workers shipped for them, and bytes that arrived."""
        those = [one for one in self.engine.reductions if one.merge == name]
        return (
            sum(one.seconds for one in those),
            sum(sum(one.shipped) for one in those),
            sum(size_of(one.arrived) for one in those),
        )

    @property
    def client(self) -> float:
        """CPU seconds of what no worker does: bootstraps, settling, grafting, opening what came."""
        engine = self.engine
        theirs = sum(sum(one.seconds) for one in engine.maps) + sum(one.seconds for one in engine.shuffles)
        return max(0.0, self.seconds - theirs - sum(one.seconds for one in engine.reductions))

    @cached_property
    def cleanup(self) -> Cleanup:
        """What the cleanup scan counted."""
        state: ScanState = self.engine.mapped("scan_part")[0].state
        first = next(one for one in self.engine.reductions if one.merge == "ScanState")
        raw, scan = expand(unpack(first.arrived)[FOUND]), state.scan()
        scan.merge_bytes(raw)
        records = state.places[ALONE]
        places = [i for i, place in enumerate(records) if place["counted"]]
        counters = sum(scan.counts(i, a).size for i in places for a in records[i]["counted"])
        return Cleanup(
            nodes=len(places),
            counters=counters,
            visits=sum(int(scan.totals(i).sum()) for i in places) / self.shape.rows,
            entries=max(0, len(raw) - RAW_COUNTER * counters) // RAW_ENTRY,
            seconds=sum(self.engine.mapped("scan_part")[0].seconds),
            shipped=first.shipped_bytes,
        )

    @property
    def moved(self) -> int:
        """Bytes of families that were brought together."""
        return sum(one.moved for one in self.engine.shuffles)

    @property
    def uneven(self) -> tuple[float, ...]:
        """What each part of the cleanup scan took, in parts of the mean."""
        seconds = self.engine.mapped("scan_part")[0].seconds
        mean = sum(seconds) / len(seconds)
        return tuple(one / mean for one in seconds) if mean > 0 else (1.0,)


def weigh_growth(shape: Shape, folder: Path) -> WeighedGrowth:
    """Grow the tree of the people of a shape."""
    engine = WeighingEngine(shape.workers)
    source = hornbeam.source(files_of(shape, folder))
    share = min(1.0, shape.rows / _USUAL)
    usual = Sampling()
    sampling = Sampling(
        sample=round(usual.sample * share),
        rows=round(usual.rows * share),
        least=max(20, round(usual.least * share)),
        sure=max(20, round(usual.sure * share)),
        buckets=shape.buckets,
    )
    task = SourceTask(
        read_as(source, ("class",), True, (), None, _MEMORY),
        Parameters(max_depth=DEPTH),
        memory_limit=_MEMORY,
        algorithm="boat",
        sampling=sampling,
        scanner=ClusterScanner(engine),
    )
    begin = time.process_time()
    growth = grow_source(task)
    seconds = time.process_time() - begin
    tree = growth.trees[0]
    return WeighedGrowth(shape, engine, growth.stats, tree.n_nodes, tree.digest, task.sample_rows, seconds)
