"""Buckets that a scan keeps the values of, because the sample says that bounds may not be enough there."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from hornbeam import _core
from hornbeam.boat.coarse import CoarseNode
from hornbeam.boat.nodes import Nodes
from hornbeam.boat.plan import Plan
from hornbeam.boat.survey import Survey
from hornbeam.boat.task import SourceTask
from hornbeam.growth import ClassTarget
from hornbeam.growth.memory import least_rows

_MOST = 0.25  # of the rows of a node: more are not worth keeping
_DEVIATIONS = 2.0  # of the gain of the sample's best test
_SUMS_PART = 1 / 8  # of the memory, for values that have sums
_VALUE = 16  # bytes of a value that is counted


def watch_doubtful(nodes: Nodes, grid: _core.Grid, plan: Plan) -> None:
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
