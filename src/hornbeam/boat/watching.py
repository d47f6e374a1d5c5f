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


def watch_doubtful(nodes: Nodes, grid: _core.Grid, plan: Plan) -> None:
    """Let the guessed places of a plan watch the buckets that would leave them open, were the sample all
    there is: their bounds come too near to the best test."""
    task, survey = nodes.task, nodes.survey
    scan = _core.SourceScan(nodes.layout, grid, [place.native() for place in plan.places])
    _add_sample(scan, survey)
    settling = _sample_nodes(nodes, scan).settling
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
            if cells[wanted != 0].sum() <= _MOST * counts.sum():
                plan.places[place].watches.append((attribute, wanted))


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
