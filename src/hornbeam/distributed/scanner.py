"""Scans by a cluster: counts come to the client, merged; rows stay with the workers.

Nodes are settled here, level by level; what settling asks of rows is a round over those that workers hold.
Families are brought together by the engine and finished by the workers. The client sees counts and trees.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from hornbeam import _core
from hornbeam.boat.bags import Finish
from hornbeam.boat.buffer import Check, RowBuffer
from hornbeam.boat.judging import OutsideReader, RowSums
from hornbeam.boat.nodes import Nodes
from hornbeam.boat.plan import PlaceRecord
from hornbeam.boat.reading import Report
from hornbeam.boat.requests import Answer, Flags, Request
from hornbeam.boat.scans import ScanContext
from hornbeam.boat.survey import Survey, without_sample
from hornbeam.boat.task import SourceTask
from hornbeam.distributed import kernels
from hornbeam.distributed.engine import ClusterEngine, Done, Items, Kernel, cancelling
from hornbeam.distributed.messages import Message, expand, unpack
from hornbeam.errors import EngineError
from hornbeam.model import Tree
from hornbeam.table.sources import Source, Tally
from hornbeam.table.sources.draws import RowDraws
from hornbeam.validation import Estimate

T = TypeVar("T")
K = TypeVar("K")
_BUNDLES = 4  # of families for each worker, so that none waits long for another


class ClusterScanner:
    """The scans of a growth, made by an engine. The offsets of parts are known after the survey."""

    def __init__(self, engine: ClusterEngine) -> None:
        self.engine = engine
        self.first_rows: dict[int, int] = {}

    def survey(self, task: SourceTask, report: Report) -> Survey:
        state = kernels.SurveyState(elsewhere(task), task.sample_rows, task.seed)
        message, total = self._sum_up(task, kernels.survey_part, state, report), state.total()
        total.add(message)
        assert total.builder is not None
        with task.reading.naming():
            return total.builder.survey()

    def prepare(
        self,
        context: ScanContext,
        grid: _core.Grid,
        places: Sequence[PlaceRecord],
        check: Check | None = None,
    ) -> ClusterScan:
        return ClusterScan(self, context, grid, places, check)

    def judge(self, task: SourceTask, survey: Survey, trees: Sequence[Tree], report: Report) -> Estimate:
        state = kernels.JudgeState(*self.outline(task, survey), trees)
        total = state.total()
        total.add(self._sum_up(task, kernels.judge_part, state, report))
        estimate: Estimate = total.sums.estimate
        return estimate

    def judge_outside(self, task: SourceTask, reader: OutsideReader, sums: RowSums, report: Report) -> None:
        there = replace(reader, reading=elsewhere(task))
        state = kernels.OutsideState(there, sums.fresh(), self.first_rows)
        message = self._sum_up(task, kernels.judge_outside_part, state, report)
        sums.merge(json.loads(message["found"]))

    def _sum_up(self, task: SourceTask, kernel: Kernel, state: Any, report: Report) -> Message:
        """One scan of the source, of which only what was found is kept."""
        engine, source = self.engine, task.reading.source
        message = sum_up(engine, source, kernel, state, rows_done(task, report))
        self._close(source, message)
        return message

    def scan(
        self,
        task: SourceTask,
        scans: Mapping[str, ClusterScan],
        report: Report,
        draws: RowDraws | None = None,
    ) -> None:
        """One scan of the source, in which its rows come to all of some scans, by bag."""
        engine, source, some = self.engine, task.reading.source, next(iter(scans.values()))
        places = {bag: scan.places for bag, scan in scans.items()}
        state = some.state(kernels.ScanState, places=places, draws=draws)
        with cancelling(engine):
            items = engine.map(kernels.scan_part, engine.parts(source), state, rows_done(task, report))
            message = some.found(items, state)
        self._close(source, message)
        for bag, scan in scans.items():
            scan.take_in(message, bag)
            scan.held = Held(items, bag)

    def run_together(
        self, task: SourceTask, survey: Survey, scans: Mapping[int, Any], report: Report
    ) -> None:
        self.scan(task, {str(bag): scan for bag, scan in scans.items()}, report, task.bags)

    def finish_together(self, asked: Mapping[int, Finish]) -> None:
        together: dict[int, list[Finish]] = {}
        for one in asked.values():
            scan: Any = one.buffered
            together.setdefault(id(scan.held.items), []).append(one)
        for several in together.values():
            self.finish(several)

    def finish(self, several: Sequence[Finish]) -> None:
        """Let workers finish families, those of bags that were scanned together in the same bundles."""
        first: Any = several[0].buffered
        families = {
            f"{one.buffered.held.bag}/{place}": (one, place, below)  # type: ignore[attr-defined]
            for one in several
            for place, below in one.families.items()
        }
        tasks = {name: one.nodes.family(below) for name, (one, _, below) in families.items()}
        rows = {
            name: int(one.buffered.scan.totals(place).sum()) for name, (one, place, _) in families.items()
        }
        trees = first.grown(tasks, rows)
        for name, (one, place, below) in families.items():
            for of_set, node in below.items():
                one.nodes.graft(node, pickle.loads(trees[f"{name}/{of_set}"]))
            one.buffered.drop(place)

    def outline(
        self, task: SourceTask, survey: Survey
    ) -> tuple[Any, Survey, int, int | None, int, dict[int, int]]:
        """What every scan of a growth is told."""
        survey = without_sample(survey)
        return elsewhere(task), survey, task.n_targets, task.folds, task.seed, self.first_rows

    def _close(self, source: Source, message: Message) -> None:
        """Count a scan of the source: every part must have been read, once."""
        tallies = tallies_of(message)
        source.close_scan(tallies)
        first = 0
        for tally in sorted(tallies, key=lambda tally: tally.part):
            self.first_rows[tally.part] = first
            first += tally.rows


class Held(NamedTuple):
    """The messages of a scan, where the workers have them, and the bag that is meant of several."""

    items: Items
    bag: str


class _Partition(NamedTuple):
    """The rows of a place, where the workers hold them."""

    items: Items
    place: int


class ClusterScan:
    """A scan whose rows are with the workers."""

    held: Held

    def __init__(
        self,
        scanner: ClusterScanner,
        context: ScanContext,
        grid: _core.Grid,
        places: Sequence[PlaceRecord],
        check: Check | None,
    ) -> None:
        self._scanner, self._engine, self._context = scanner, scanner.engine, context
        self._check = check
        seen = [watching_held(place, grid).native() for place in places]
        self.scan = _core.SourceScan(context.layout, grid, seen)
        self._outline = scanner.outline(context.task, context.survey)
        self._edges = [grid.edges(i) for i in range(len(context.survey.schema))]
        self._dropped: set[int] = set()

    @property
    def places(self) -> list[dict[str, Any]]:
        """What is done at each place."""
        return [self.scan.place(i) for i in range(self.scan.n_places)]

    @property
    def _items(self) -> Items:
        """The messages of this scan; of one that was made for several bags, those of its own."""
        if self.held.bag != kernels.ALONE:
            with cancelling(self._engine):
                items = self._engine.map(kernels.of_bag, self.held.items, self.held.bag)
            self.held = Held(items, kernels.ALONE)
        return self.held.items

    def run(self, report: Report) -> None:
        self._scanner.scan(self._context.task, {kernels.ALONE: self}, report)

    def run_partition(self, partition: _Partition) -> None:
        self._map(
            kernels.scan_held, partition.items, self.state(kernels.PartitionState, place=partition.place)
        )

    def partition(self, place: int) -> _Partition:
        return _Partition(self._items, place)

    def spill(self, place: int) -> None:
        """No row is in this process."""

    def take(self, pending: list[T]) -> list[T]:
        taken = pending[:]
        pending.clear()
        return taken

    def add_place(self, place: PlaceRecord) -> int:
        return self.scan.add_place(place.native())

    def drop(self, place: int) -> None:
        self.scan.release(place)
        self._dropped.add(place)

    def serve(self, requests: Sequence[Request]) -> list[Answer]:
        state = self.state(kernels.RoundState, requests=requests, dropped=frozenset(self._dropped))
        here = RowBuffer(self.scan)  # without rows: only places change
        answers: list[Answer] = []

        def change() -> None:
            answers.extend(here.carry_out(request) for request in requests)

        self._map(kernels.take_round, self._items, state, change)
        return answers

    def finish(
        self, nodes: Nodes, families: Mapping[int, Mapping[int, int]], waiting: Sequence[int] = ()
    ) -> None:
        if families:
            self._scanner.finish([Finish(self, nodes, families)])

    def grown(self, tasks: Mapping[str, Any], rows: Mapping[str, int]) -> Message:
        """The trees of families of so many rows, which are brought together by worker."""
        bundles = [{p: tasks[p] for p in bundle} for bundle in dealt(rows, _BUNDLES * self._engine.workers)]
        state = self.state(kernels.FinishState, bundles=bundles)
        with cancelling(self._engine):
            brought = self._engine.shuffle(kernels.rows_for, self.held.items, len(bundles), state)
            grown = self._engine.map(kernels.finish_bundle, brought, state)
            trees = unpack(self._engine.reduce(kernels.join, grown, None))
        self._context.meter.families += len(tasks)
        return trees

    def _map(self, kernel: Kernel, items: Items, state: Any, change: Any = None) -> None:
        """Let workers do something with rows that they hold, and take in what they find; `change` does the
        same with the places that are known here."""
        with cancelling(self._engine):
            self.held = Held(self._engine.map(kernel, items, state), kernels.ALONE)
            if change is not None:
                change()
            message = self.found(self.held.items, self.state(kernels.ScanState))
        self.take_in(message, kernels.ALONE)

    def found(self, items: Items, state: kernels.ScanState) -> Message:
        """What all workers have found, merged."""
        found = self._engine.map(kernels.found_of, items, None)
        return unpack(self._engine.reduce(kernels.merge, found, state))

    def take_in(self, message: Message, bag: str) -> None:
        """What was found in all parts, and how many bytes of rows were kept."""
        n_parts = len(self._context.task.reading.source.parts())
        if sorted(message.parts) != list(range(n_parts)):
            raise EngineError(f"{n_parts} parts were scanned and {len(message.parts)} came; run it again")
        self.scan.merge_bytes(expand(message[f"{kernels.FOUND}{bag}"]))
        if self._check is not None:
            self._check(self.scan)
        meter, kept = self._context.meter, message.notes["kept"].get(bag, 0)
        meter.held_rows = max(meter.held_rows, kept // self._context.layout.stride)

    def state(self, kind: Any, *, places: Any = None, **more: Any) -> Any:
        """What workers are told."""
        places = {kernels.ALONE: self.places} if places is None else places
        return kind(*self._outline, self._edges, places, **more)


def sum_up(
    engine: ClusterEngine, source: Source, kernel: Kernel, state: Any, done: Done | None = None
) -> Message:
    """What a kernel finds in all parts of a source, merged."""
    with cancelling(engine):
        found = engine.map(kernel, engine.parts(source), state, done)
        return unpack(engine.reduce(kernels.merge, found, state))


def tallies_of(message: Message) -> list[Tally]:
    """What reading each part came to."""
    return [Tally(**{**one, "columns": tuple(one["columns"])}) for one in message.notes["tallies"]]


def predict_by_engine(engine: ClusterEngine, source: Source, state: kernels.PredictState) -> list[Tally]:
    """Let the workers of an engine answer for all parts."""
    return tallies_of(sum_up(engine, source, kernels.predict_part, state))


def elsewhere(task: SourceTask) -> Any:
    """What is read, without the parts, which come to workers one by one."""
    return replace(task.reading, source=task.reading.source.elsewhere())


def rows_done(task: SourceTask, report: Report) -> Done:
    """Tells how many rows were read by how many parts were."""
    sizes = [part.rows or 0 for part in task.reading.source.parts()]
    return lambda parts: report(sum(sizes[:parts]))


def watching_held(place: PlaceRecord, grid: _core.Grid) -> PlaceRecord:
    """The place, and where its guess leaves rows in doubt, their values too: the rows are not here to ask."""
    if len(place.tests) != 1 or place.tests[0]["kind"] != "coarse":
        return place
    test = place.tests[0]
    attribute = test["attribute"]
    wanted: Flags = np.zeros(grid.size(attribute) + 1, dtype=np.uint8)
    wanted[test["first"] : test["last"] + 1] = 1
    for other, known in place.watches:
        if other == attribute:
            wanted[... if known is None else known != 0] = 0
    if not wanted.any():
        return place
    return replace(place, watches=[*place.watches, (attribute, wanted)])


def dealt(rows: Mapping[K, int], bundles: int) -> list[list[K]]:
    """Places in so many bundles of about equally many rows, or fewer: the largest first, each to the least
    bundle."""
    made: list[tuple[int, list[K]]] = [(0, []) for _ in range(min(bundles, len(rows)))]
    for place in sorted(rows, key=lambda place: -rows[place]):
        size, least = min(made, key=lambda bundle: bundle[0])
        made.remove((size, least))
        made.append((size + rows[place], [*least, place]))
    return [places for _, places in made]
