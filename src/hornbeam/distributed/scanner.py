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
from hornbeam.boat.nodes import FamilyTask, Nodes
from hornbeam.boat.plan import PlaceRecord
from hornbeam.boat.reading import Report
from hornbeam.boat.requests import Answer, Flags, Request
from hornbeam.boat.scans import ScanContext
from hornbeam.boat.survey import Survey, SurveyBuilder, without_sample
from hornbeam.boat.task import SourceTask
from hornbeam.distributed import bag_kernels, kernels
from hornbeam.distributed.engine import Done, Engine, Items, cancelling
from hornbeam.distributed.parcels import Parcel, expand, unpack
from hornbeam.errors import EngineError
from hornbeam.model import Tree
from hornbeam.table.sources import Tally
from hornbeam.validation import Estimate

T = TypeVar("T")
K = TypeVar("K")
_BUNDLES = 4  # of families for each worker, so that none waits long for another


class ClusterScanner:
    """The scans of a growth, made by an engine. The offsets of parts are known after the survey."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.first_rows: dict[int, int] = {}

    def survey(self, task: SourceTask, report: Report) -> Survey:
        reading = elsewhere(task)
        state = kernels.SurveyState(reading, task.sample_rows, task.seed)
        parcel = self._scan(task, kernels.survey_part, kernels.merge_surveys, state, report)
        with task.reading.naming():
            gathering: SurveyBuilder = pickle.loads(expand(parcel["survey"]))
            return gathering.survey()

    def prepare(
        self,
        context: ScanContext,
        grid: _core.Grid,
        places: Sequence[PlaceRecord],
        check: Check | None = None,
    ) -> ClusterScan:
        return ClusterScan(self, context, grid, places, check)

    def judge(self, task: SourceTask, survey: Survey, trees: Sequence[Tree], report: Report) -> Estimate:
        state = kernels.JudgeState(*self.outline(task, survey), [], [], self.first_rows, trees=trees)
        parcel = self._scan(task, kernels.judge_part, kernels.merge_judged, state, report)
        judged = state.judged()
        judged.merge(json.loads(parcel["found"]))
        return judged.estimate

    def run_together(
        self, task: SourceTask, survey: Survey, scans: Mapping[int, Any], report: Report
    ) -> None:
        assert task.bags is not None
        engine, some = self.engine, next(iter(scans.values()))
        of_bags = {bag: buffered.places for bag, buffered in scans.items()}
        outline = self.outline(task, survey)
        state = bag_kernels.BagsState(
            *outline, some.edges, [], self.first_rows, draws=task.bags, of_bags=of_bags
        )
        with cancelling(engine):
            parts = engine.parts(task.reading.source)
            items = engine.map(bag_kernels.scan_bags, parts, state, rows_done(task, report))
            found = engine.map(bag_kernels.found_of_bags, items, None)
            parcel = unpack(engine.reduce(bag_kernels.merge_bags, found, state))
        self.close(task, parcel)
        for bag, buffered in scans.items():
            kept = parcel.notes["kept"][str(bag)]
            buffered.take_in(parcel.parts, bag_kernels.found_for(bag, parcel), kept)
            buffered.joint = Joint(items, bag)

    def finish_together(self, asked: Mapping[int, Finish]) -> None:
        joint: dict[int, list[Finish]] = {}
        for one in asked.values():
            buffered: Any = one.buffered
            if buffered.joint is None:
                buffered.finish(one.nodes, one.families)
            else:
                joint.setdefault(id(buffered.joint.items), []).append(one)
        for several in joint.values():
            self._finish(several)

    def _finish(self, several: Sequence[Finish]) -> None:
        """Families of bags that were scanned together, in the same bundles."""
        first: Any = several[0].buffered
        tasks: dict[str, Any] = {}
        rows: dict[str, int] = {}
        for one in several:
            buffered: Any = one.buffered
            for place, below in one.families.items():
                name = f"{buffered.joint.bag}/{place}"
                tasks[name] = one.nodes.family(below)
                rows[name] = int(buffered.scan.totals(place).sum())
        trees = first.grown(first.joint.items, tasks, rows)
        for one in several:
            buffered = one.buffered
            for place, below in one.families.items():
                for of_set, node in below.items():
                    one.nodes.graft(node, pickle.loads(trees[f"{buffered.joint.bag}/{place}/{of_set}"]))
                buffered.drop(place)

    def judge_outside(self, task: SourceTask, reader: OutsideReader, sums: RowSums, report: Report) -> None:
        there = replace(reader, reading=elsewhere(task))
        state = bag_kernels.OutsideState(there, sums.fresh(), self.first_rows)
        parcel = self._scan(task, bag_kernels.ask_part, bag_kernels.merge_asked, state, report)
        sums.merge(json.loads(parcel["found"]))

    def outline(self, task: SourceTask, survey: Survey) -> tuple[Any, Survey, int, int | None, int]:
        """What every scan of a growth is told."""
        return elsewhere(task), without_sample(survey), task.n_targets, task.folds, task.seed

    def _scan(self, task: SourceTask, kernel: Any, merge: Any, state: Any, report: Report) -> Parcel:
        """One scan of the source, of which only what was found is kept."""
        engine, source = self.engine, task.reading.source
        with cancelling(engine):
            parts = engine.parts(source)
            found = engine.map(kernel, parts, state, rows_done(task, report))
            parcel = unpack(engine.reduce(merge, found, state))
        self.close(task, parcel)
        return parcel

    def close(self, task: SourceTask, parcel: Parcel) -> None:
        """Count a scan of the source: every part must have been read, once."""
        tallies = [Tally(**{**said, "columns": tuple(said["columns"])}) for said in parcel.notes["tallies"]]
        task.reading.source.close_scan(tallies)
        first = 0
        for tally in sorted(tallies, key=lambda tally: tally.part):
            self.first_rows[tally.part] = first
            first += tally.rows


class Joint(NamedTuple):
    """The parcels of a scan for several bags, where the workers have them, and which bag is meant."""

    items: Items
    bag: int


class _Partition(NamedTuple):
    """The rows of a place, where the workers hold them."""

    items: Items
    place: int


class ClusterScan:
    """A scan whose rows are with the workers."""

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
        self.edges = [grid.edges(i) for i in range(len(context.survey.schema))]
        self.joint: Joint | None = None
        self._own: Items = None
        self._dropped: set[int] = set()

    def run(self, report: Report) -> None:
        task = self._context.task
        state = self._state(kernels.ScanState)
        with cancelling(self._engine):
            parts = self._engine.parts(task.reading.source)
            self._items = self._engine.map(kernels.scan_part, parts, state, rows_done(task, report))
            parcel = self._take_in(state)
        self._scanner.close(task, parcel)

    @property
    def places(self) -> list[dict[str, Any]]:
        """What is done at each place."""
        return [self.scan.place(i) for i in range(self.scan.n_places)]

    @property
    def _items(self) -> Items:
        """The parcels of this scan; of one that was made for several bags, those of its own."""
        if self._own is None and self.joint is not None:
            self._own = self._engine.map(bag_kernels.of_bag, self.joint.items, self.joint.bag)
        return self._own

    @_items.setter
    def _items(self, items: Items) -> None:
        self._own = items

    def run_partition(self, part: _Partition) -> None:
        state = self._state(kernels.PartitionState, place=part.place)
        with cancelling(self._engine):
            self._items = self._engine.map(kernels.scan_held, part.items, state)
            self._take_in(state)

    def partition(self, place: int) -> _Partition:
        return _Partition(self._items, place)

    def spill(self, place: int) -> None:
        """They are not here."""

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
        state = self._state(kernels.RoundState, requests=requests, dropped=frozenset(self._dropped))
        with cancelling(self._engine):
            self._items = self._engine.map(kernels.take_round, self._items, state)
            here = RowBuffer(self.scan)  # without rows: only places change
            answers = [here.carry_out(request) for request in requests]
            self._take_in(self._state(kernels.ScanState))
        return answers

    def finish(
        self, nodes: Nodes, families: Mapping[int, Mapping[int, int]], waiting: Sequence[int] = ()
    ) -> None:
        if not families:
            return
        tasks = {place: nodes.family(below) for place, below in families.items()}
        rows = {place: int(self.scan.totals(place).sum()) for place in families}
        trees = self.grown(self._items, tasks, rows)
        for place, below in families.items():
            for of_set, node in below.items():
                nodes.graft(node, pickle.loads(trees[f"{place}/{of_set}"]))
            self.drop(place)

    def grown(self, items: Items, tasks: Mapping[Any, FamilyTask], rows: Mapping[Any, int]) -> Parcel:
        """The trees of families of so many rows, which are brought together by worker."""
        bundles = [{p: tasks[p] for p in bundle} for bundle in dealt(rows, _BUNDLES * self._engine.workers)]
        state = self._state(kernels.FinishState, bundles=bundles)
        with cancelling(self._engine):
            brought = self._engine.shuffle(kernels.rows_for, items, len(bundles), state)
            grown = self._engine.map(kernels.finish_bundle, brought, state)
            trees = unpack(self._engine.reduce(kernels.join, grown, None))
        self._context.meter.families += len(tasks)
        return trees

    def _take_in(self, state: kernels.ScanState) -> Parcel:
        """Merge what all workers have found into what is known here."""
        found = self._engine.map(kernels.found_of, self._items, None)
        parcel = unpack(self._engine.reduce(kernels.merge_found, found, state))
        self.take_in(parcel.parts, expand(parcel["found"]), parcel.notes["kept"])
        return parcel

    def take_in(self, parts: Sequence[int], found: bytes, kept: int) -> None:
        """What was found in all parts, and how many bytes of rows were kept."""
        n_parts = len(self._context.task.reading.source.parts())
        if sorted(parts) != list(range(n_parts)):
            raise EngineError(f"{n_parts} parts were scanned and {len(parts)} came; run it again")
        self.scan.merge_bytes(found)
        if self._check is not None:
            self._check(self.scan)
        meter = self._context.meter
        meter.held_rows = max(meter.held_rows, kept // self._context.layout.stride)

    def _state(self, kind: Any, **more: Any) -> Any:
        return kind(*self._outline, self.edges, self.places, self._scanner.first_rows, **more)


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
