"""Figures 13 to 15: a tree that is kept while rows come and go, beside trees that are made anew each time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from hornbeam_experiments.boat import growths
from hornbeam_experiments.boat.growths import BOAT, HYBRID, Contestant, confirm_same
from hornbeam_experiments.boat.plan import Plan
from hornbeam_experiments.boat.streams import (
    LARGE,
    Files,
    Paths,
    Stream,
    arriving,
    leaving,
    moving,
    pairs,
    rows_in,
)
from hornbeam_experiments.intervals import Mean
from hornbeam_experiments.records import Cell, Sheet

KEPT = "kept tree"
NEW = Contestant("new file", "boat")
REBUILDS = (BOAT, HYBRID, NEW)
X, CUMULATIVE = "rows changed", "cumulative CPU seconds"
STATES = {"tests kept": "kept", "moved": "moved", "rebuilt": "rebuilt"}  # columns, and their states


@dataclass(frozen=True)
class Stop:
    """When a family is a leaf, beside the paper's size: where no test gains as much."""

    title: str
    gain: float

    @property
    def parameters(self) -> dict[str, float]:
        return {"min_impurity_decrease": self.gain} if self.gain else {}


# With wrong labels, the paper's size alone cuts leaves of pure noise wherever they are larger than it.
STOPS = (Stop("noise is cut", 0.0), Stop("gains from 0.0001", 1e-4))


@dataclass(frozen=True)
class Work:
    """What one tree took; of a batch also what became of the tests."""

    cpu: float
    peak: float
    """Megabytes of its process, over all batches."""
    nodes: int
    digest: str
    tests: Mapping[str, int] = field(default_factory=dict)


class Works:
    """Everything that is measured, once, however many figures ask for it; a list has an entry for each run.

    A process keeps one tree through all its batches, and another one makes all rebuilds of a contestant
    beside it: both are warm, and neither pays for its start.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._kept: dict[tuple[Stream, Stop], list[list[Work]]] = {}
        self._rebuilt: dict[tuple[str, Stop, Paths], list[Work]] = {}

    def kept(self, stream: Stream, stop: Stop) -> list[list[Work]]:
        """By batch, then by run."""
        key = stream, stop
        if key not in self._kept:
            runs = [self._keep(stream, stop) for _ in range(self.plan.runs)]
            self._kept[key] = [list(works) for works in zip(*runs, strict=True)]
        return self._kept[key]

    def rebuilt(self, one: Contestant, sets: Sequence[Paths], stop: Stop) -> list[list[Work]]:
        """By set of files, then by run."""
        new = [paths for paths in sets if (one.name, stop, paths) not in self._rebuilt]
        for seed in range(self.plan.runs):
            for paths, work in zip(new, self._rebuild(one, new, stop, seed), strict=True):
                self._rebuilt.setdefault((one.name, stop, paths), []).append(work)
        return [self._rebuilt[one.name, stop, paths] for paths in sets]

    def _keep(self, stream: Stream, stop: Stop) -> list[Work]:
        told = growths.ask(self._question(stream, stop))
        return [_work(each, told["peak"], each["tests"]) for each in told["batches"]]

    def _rebuild(self, one: Contestant, sets: Sequence[Paths], stop: Stop, seed: int) -> list[Work]:
        if one is NEW:
            told = growths.ask_each(one.name, [self._question(Stream(paths), stop) for paths in sets])
            return [_work(each["made"], each["peak"]) for each in told]
        more = {"seed": seed, "parameters": stop.parameters}
        questions = [self.plan.question(one, source=_texts(paths), **more) for paths in sets]
        return [
            Work(grown.cpu, grown.peak, grown.nodes, grown.digest)
            for grown in growths.grow_each(one, questions)
        ]

    def _question(self, stream: Stream, stop: Stop) -> dict[str, Any]:
        return {
            "kind": "keep",
            "algorithm": KEPT,
            "source": _texts(stream.first),
            "batches": [[_texts(batch.inserted), _texts(batch.deleted)] for batch in stream.batches],
            "parameters": {"min_samples_split": self.plan.stop, **stop.parameters},
            "memory_limit": self.plan.kept_memory,
        }


def _texts(paths: Paths) -> list[str]:
    return [str(path) for path in paths]


def _work(told: Mapping[str, Any], peak: float, tests: Mapping[str, int] | None = None) -> Work:
    return Work(told["cpu"], peak, told["nodes"], told["digest"], tests or {})


# ---- sheets ----


def by_arrivals(name: str, works: Works, first: Paths, chunks: Sequence[Paths]) -> Sheet:
    """Figures 13 and 14: rebuilds of all rows, and as in the paper of what came alone."""
    stream, records = arriving(first, chunks), list[dict[str, Cell]]()
    for stop in STOPS:
        records += followed(works, f"{stop.title}: rebuilds of all rows", stream, stop)
        title = f"{stop.title}: rebuilds from no rows"
        records += followed(works, title, stream, stop, (BOAT, HYBRID), without=first)
    return Sheet.of(name, records)


def by_departures(works: Works, files: Files) -> Sheet:
    chunks = pairs(files.halves)
    gone = leaving((files.first,), chunks[: works.plan.chunks])
    records: list[dict[str, Cell]] = []
    for stop in STOPS:
        records += followed(works, f"{stop.title}: chunks go", gone, stop)
        records += followed(works, f"{stop.title}: a window moves", moving(chunks), stop)
    return Sheet.of("deletions", records)


def by_chunks(works: Works, files: Files) -> Sheet:
    """Figure 15, and a beginning of more rows; rebuilds are there to compare trees and are not shown."""
    halves = files.halves[: 2 * works.plan.chunks]
    chunk = works.plan.chunk
    whole, first = pairs(halves), (files.first,)
    streams = {
        f"chunks of {chunk:,}": arriving(first, whole),
        f"chunks of {chunk // 2:,}": arriving(first, [(half,) for half in halves]),
        f"chunks of {chunk:,}, {LARGE * chunk:,} rows at first": arriving((*first, files.more_first), whole),
    }
    records: list[dict[str, Cell]] = []
    for stop in STOPS:
        for title, stream in streams.items():
            lines = followed(works, stop.title, stream, stop, (BOAT,))
            records += [{**line, "algorithm": title} for line in lines if line["algorithm"] == KEPT]
    return Sheet.of("figure-15", records)


def followed(
    works: Works,
    title: str,
    stream: Stream,
    stop: Stop,
    rivals: Sequence[Contestant] = REBUILDS,
    without: Paths = (),
) -> list[dict[str, Cell]]:
    """A line for each batch and contestant. All have the same tree after each batch, or it ends here; but
    rebuilds `without` the first files have one of their own."""
    works.plan.tell(title)
    kept, present = works.kept(stream, stop), list(stream.present())
    sets = [tuple(path for path in paths if path not in without) for paths in present]
    rebuilt = {one.name: works.rebuilt(one, sets, stop) for one in rivals}
    for i in range(len(present)):
        trees = {name: by_batch[i] for name, by_batch in rebuilt.items()}
        confirm_same(f"{title}, batch {i + 1}", trees if without else {KEPT: kept[i], **trees})
    changed = list(accumulate(batch.rows for batch in stream.batches))
    records: list[dict[str, Cell]] = []
    for name, by_batch in {KEPT: kept, **rebuilt}.items():
        there = present if name == KEPT else sets
        for i, total in enumerate(_totals(by_batch)):
            facts: dict[str, Cell] = {"set": title, X: changed[i], "rows": rows_in(there[i])}
            records.append(facts | {"algorithm": name} | _measured(by_batch[i], total))
    return records


def _totals(by_batch: Sequence[Sequence[Work]]) -> list[Mean]:
    """The seconds of a batch and of all before it."""
    by_run = zip(*by_batch, strict=True)
    sums = [accumulate(work.cpu for work in run) for run in by_run]
    return [Mean.of(totals) for totals in zip(*sums, strict=True)]


def _measured(works: Sequence[Work], total: Mean) -> dict[str, Cell]:
    return {
        "CPU seconds": Mean.of([work.cpu for work in works]).value,
        CUMULATIVE: total.value,
        "low": total.low,
        "high": total.high,
        "peak MB": max(work.peak for work in works),
        "nodes": works[0].nodes,
        **{column: works[0].tests.get(state) for column, state in STATES.items()},
    }
