"""A process of its own that grows one tree from a source, keeps one, or only reads, and tells what it took.

It is started by its path, so that it holds what growing needs and not what makes pages.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def grow(question: Record) -> Record:
    """One growth; `question` says of what, how and within which memory. Its target is the class, or the name
    of a column of numbers."""
    import hornbeam
    from hornbeam.boat.growth import grow_source
    from hornbeam.boat.task import Sampling, SourceTask, no_costs, read_as
    from hornbeam.growth import ClassCosts, Parameters

    source = hornbeam.source(question["source"], **question.get("options", {}))
    limit, target = question.get("memory_limit"), question.get("target", "class")
    weights = question.get("class_weight")
    task = SourceTask(
        read_as(source, (target,), target == "class", (), None, limit),
        Parameters(**question["parameters"]),
        costs=no_costs if weights is None else lambda labels: ClassCosts.checked(weights, None, labels),
        memory_limit=limit,
        algorithm=question["algorithm"],
        variant=question.get("variant"),
        seed=question.get("seed", 0),
        sampling=Sampling(**question.get("sampling", {})),
        avc_entries=question.get("avc_entries"),
        family_rows=question.get("family_rows"),
    )
    try:
        growth = grow_source(task)
    except ValueError as error:  # also of the core, which has no class of its own for it
        return {"refused": str(error)}
    tree, stats = growth.trees[0], growth.stats
    return {**stats.to_record(), "phases": dict(stats.seconds), "digest": tree.digest, "nodes": tree.n_nodes}


def keep(question: Record) -> Record:
    """A tree in a file, open and warm while batches come, each under the clock: `made` is the file alone,
    without the counts of `warm_up`; of a batch, the rows that come and that go are files."""
    from tempfile import TemporaryDirectory

    import hornbeam
    from hornbeam import MaintainedTree

    def rows(paths: list[str]) -> Any:
        return hornbeam.source(paths) if paths else None

    def told(begin: float, tests: dict[str, int]) -> Record:
        cpu, tree = time.process_time() - begin, kept.tree
        return {"cpu": cpu, "digest": tree.digest, "nodes": tree.n_nodes, "tests": tests}

    with TemporaryDirectory() as folder:
        begin = time.process_time()
        with MaintainedTree.create(
            Path(folder) / "kept.tree",
            rows(question["source"]),
            target="class",
            memory_limit=question["memory_limit"],
            algorithm="boat",
            **question["parameters"],
        ) as kept:
            made, batches = told(begin, {}), []
            if question["batches"]:
                kept.warm_up()
            for come, go in question["batches"]:
                begin = time.process_time()
                changes = kept.apply(inserted=rows(come), deleted=rows(go))
                batches.append(told(begin, changes.counts))
    return {"made": made, "batches": batches}


def bare(question: Record) -> Record:
    """Two scans by pyarrow alone, as lean as it goes: a chunk at a time, labels by dictionary."""
    from pyarrow import parquet

    paths = question["source"]
    for _ in range(2):
        for path in [paths] if isinstance(paths, str) else paths:
            with parquet.ParquetFile(path, pre_buffer=False, read_dictionary=["class"]) as file:
                for batch in file.iter_batches(2**16, use_threads=False):
                    assert batch.num_rows
    return {"scans": 2}


def series(question: Record) -> Record:
    """One after the other, each under a clock of its own; peaks are those so far."""
    return {"each": [clocked(KINDS, asked) for asked in question["asked"]]}


KINDS: dict[str, Callable[[Record], Record]] = {"grow": grow, "keep": keep, "bare": bare, "series": series}


def status(name: str) -> float:
    """Megabytes of an entry of Linux's status of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024 / 1e6


def clocked(kinds: dict[str, Callable[[Record], Record]], question: Record) -> Record:
    """What was asked for with its CPU and wall seconds, and the peak of the process until then."""
    wall, cpu = time.perf_counter(), time.process_time()
    told = kinds[question["kind"]](question)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return {**told, "cpu": cpu, "wall": wall, "peak": status("VmHWM")}


def answer(question: Record, kinds: dict[str, Callable[[Record], Record]] = KINDS) -> Record:
    """The answer to a question, imports left out of its seconds, and what the process held before it."""
    import pyarrow

    import hornbeam.boat.growth  # noqa: F401  (paid for before the clock)

    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)
    begun = status("VmRSS")
    return {**clocked(kinds, question), "begun": begun}


if __name__ == "__main__":
    print(json.dumps(answer(json.loads(sys.stdin.read()))))
