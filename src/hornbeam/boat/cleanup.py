"""BOAT (paper 002): a sample guesses the tree, one scan of all rows settles it, families finish in memory."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from hornbeam import _core
from hornbeam.boat.buffer import Spill
from hornbeam.boat.guessing import Guessing
from hornbeam.boat.meter import Meter
from hornbeam.boat.nodes import Nodes
from hornbeam.boat.paper_variant import PaperVariant
from hornbeam.boat.plan import CoarseNode, PlaceRecord, ScanPlan
from hornbeam.boat.scans import ScanContext
from hornbeam.boat.survey import Survey
from hornbeam.boat.sweep import Family, Sweep, roots
from hornbeam.boat.task import SourceTask
from hornbeam.errors import UsageError
from hornbeam.growth import ClassTarget
from hornbeam.growth.memory import least_rows
from hornbeam.model import Tree

_MOST = 0.25  # of the rows of a node: more are not worth keeping
_DEVIATIONS = 2.0  # of the gain of the sample's best test
_SUMS_PART = 1 / 8  # of the memory, for values that have sums
_VALUE = 16  # bytes of a value that is counted


def grow_boat(task: SourceTask, survey: Survey, meter: Meter) -> list[Tree]:
    """The tree of all rows."""
    if task.several is not None:
        asked = "bags" if task.folds is None else f"cv={task.folds}"
        raise UsageError(
            f"{asked} with algorithm='boat': it guesses one tree, and {task.several} have one each; use "
            "algorithm='rf_hybrid', which grows all of them in the same scans",
            named=("cv", "algorithm"),
        )
    guessing = Guessing(task, survey)
    with Spill() as spill:
        context = ScanContext(task, survey, guessing.layout, meter, spill)
        (PaperVariant if task.variant == "paper" else Cleanup)(guessing, context).run()
        return [guessing.nodes.tree()]


class Cleanup:
    """One growth: the guess, the cleanup scan, and further scans for what it could not settle."""

    def __init__(self, guessing: Guessing, context: ScanContext) -> None:
        self.guessing, self.context, self.nodes = guessing, context, guessing.nodes

    def run(self) -> None:
        """Settle the whole tree."""
        begin = roots(self.nodes) if self.nodes.opened else None
        if begin == []:
            return
        with self.context.meter.phase("bootstraps"):
            plan = self._plan()
            watch_doubtful(self.nodes, self.guessing.grid, plan)
            self.guessing.forget_keys()
        sweep = self._sweep("cleanup scan", plan, begin)
        while sweep.reopened:
            sweep = self._scan_again(sweep)

    def _sweep(self, phase: str, plan: ScanPlan, begin: list[Family] | None) -> Sweep:
        """A scan, and all that it settles."""
        sweep = Sweep(self.nodes, self.guessing.grid, self.context, plan)
        sweep.settle_all(phase, begin)
        return sweep

    def _plan(self) -> ScanPlan:
        """Places for the guessed tree; where it ends, families or what seem to be leaves."""
        plan, guess = ScanPlan(), self.guessing.guess(self.nodes.task.parameters, self.guessing.sampled)
        followed = self.guessing.followed(guess, self.guessing.room)
        room = self.guessing.room - len(followed)

        def end(node: CoarseNode) -> PlaceRecord:
            nonlocal room
            large = self.nodes.too_large(self.guessing.rows_of(node.rows))
            counts = large and room > 0
            room -= large
            return self.nodes.counting(keeps=True) if counts else PlaceRecord(keeps=True)

        self.guessing.add(plan, guess, 0, followed, end)
        return plan

    def _scan_again(self, last: Sweep) -> Sweep:
        """One more scan that gathers the rows of all nodes that could not be settled."""
        plan, families = ScanPlan(), list[Family]()

        def gather(node: int) -> int:
            families.append(Family(node, plan.add(PlaceRecord(keeps=True))))
            return families[-1].place

        plan.lead(last.routes, {family.place: partial(gather, family.node) for family in last.reopened})
        return self._sweep("further scan", plan, families)


def watch_doubtful(nodes: Nodes, grid: _core.Grid, plan: ScanPlan) -> None:
    """Let the guessed places of a plan watch the buckets that would leave them open, were the sample all
    there is: their bounds come too near to the best test."""
    task, survey = nodes.task, nodes.survey
    scan = _core.SourceScan(nodes.layout, grid, [place.native() for place in plan.places])
    _add_sample(scan, survey)
    settling = _sample_nodes(nodes, scan).settling
    room = _Room(nodes)
    for place, guess in plan.guesses.items():
        counts = scan.totals(place).astype(np.int64)
        node = settling.open_apart(0, counts.tolist(), scan.total_sums(place))
        settled = settling.settle(node, scan, place, margin=_margin(task, guess))
        alive: dict[int, list[int]] = {}
        for attribute, bucket in settled.alive:
            alive.setdefault(attribute, []).append(bucket)
        for attribute, buckets in alive.items():
            wanted = np.zeros(grid.size(attribute) + 1, dtype=np.uint8)
            wanted[buckets] = 1
            cells = scan.counts(place, attribute).reshape(len(wanted), -1).sum(axis=1)
            rows = int(cells[wanted != 0].sum())
            if rows <= _MOST * counts.sum() and room.takes(attribute, rows):
                plan.places[place].watches.append((attribute, wanted))


class _Room:
    """What values with sums may take of memory: they are several times as large as those that are counted."""

    def __init__(self, nodes: Nodes) -> None:
        self._layout, self._classes = nodes.layout, len(nodes.survey.row_counts)
        self._times = nodes.survey.rows / max(1, nodes.survey.sample.n_rows)
        self._left = nodes.task.budget * _SUMS_PART

    def takes(self, attribute: int, sampled: int) -> bool:
        """Whether there is room for the values of so many sampled rows, which it takes then."""
        words = self._layout.sum_words
        if not words:
            return True
        values = min(sampled * self._times, self._layout.missing_key(attribute) * self._classes)
        size = 2 * (_VALUE + 8 * words) * values  # lists are half empty at worst
        if size > self._left:
            return False
        self._left -= size
        return True


def _add_sample(scan: _core.SourceScan, survey: Survey) -> None:
    target = survey.sample_target
    columns = [(column.values, column.missing) for column in survey.sample.columns]
    classes = target.codes.astype(np.uint16) if isinstance(target, ClassTarget) else None
    values = None if isinstance(target, ClassTarget) else target.values
    scan.add(columns, classes, None, target.weights if scan.weighted else None, values)


def _sample_nodes(nodes: Nodes, scan: _core.SourceScan) -> Nodes:
    """Nodes of a tree of the sample, whose sizes shrink as the rows do."""
    task, survey = nodes.task, nodes.survey
    p, share = task.parameters, survey.sample.n_rows / survey.rows
    scaled = replace(
        p,
        min_samples_split=max(2, round(least_rows(p.min_samples_split, survey.rows) * share)),
        min_samples_leaf=max(1, round(least_rows(p.min_samples_leaf, survey.rows) * share)),
        min_objs=None if p.min_objs is None else max(1.0, p.min_objs * share),
    )
    found = Nodes(replace(task, parameters=scaled), survey, nodes.layout)
    sums = [scan.total_sums(0)] if nodes.layout.sum_words else []
    found.open([scan.totals(0).astype(np.int64)], sums)
    return found


def _margin(task: SourceTask, guess: CoarseNode) -> float:
    """How far the best gain of all rows may be from that of the sample; where another quality than the gain
    decides, nobody has said."""
    if task.parameters.criterion not in ("gini", "entropy", "variance"):
        return 0.0
    drawn = min(task.sampling.rows, len(guess.rows))
    return _DEVIATIONS * float(np.std(guess.gains)) * math.sqrt(drawn / max(1, len(guess.rows)))
