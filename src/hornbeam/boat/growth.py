"""Growing from a source: by the algorithm asked for, or the one that the size of the rows calls for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hornbeam.boat.asking import Asking
from hornbeam.boat.choice import choose
from hornbeam.boat.cleanup import grow_boat
from hornbeam.boat.grown import SourceGrowth
from hornbeam.boat.memory_route import Outgrown, grow_in_memory
from hornbeam.boat.meter import Meter
from hornbeam.boat.naming import naming_columns
from hornbeam.boat.rainforest import grow_rainforest
from hornbeam.boat.scanner import scanner_of
from hornbeam.boat.survey import Survey
from hornbeam.boat.task import SourceTask
from hornbeam.growth import Pair, prune_tree
from hornbeam.model import Tree

# What an algorithm that scans gives: the tree of all rows, then those of the folds, or those of bags, as they
# were grown.
Algorithm = Callable[[SourceTask, Survey, Meter], list[Tree]]

# Those that scan, by name, a line each; "memory", which gathers all rows first, is none of them.
SCANNING: dict[str, Algorithm] = {
    "boat": grow_boat,
    "rf_hybrid": grow_rainforest("rf_hybrid"),
    "rf_vertical": grow_rainforest("rf_vertical"),
    "rf_write": grow_rainforest("rf_write"),
    "rf_read": grow_rainforest("rf_read"),
}


def grow_source(task: SourceTask) -> SourceGrowth:
    """The tree that all rows in memory would give, with folds theirs too, or those of bags; what it took."""
    with naming_columns(task.reading.targets, task.reading.source.weight):
        return _grow(task)


def _grow(task: SourceTask) -> SourceGrowth:
    choice = choose(task, tuple(SCANNING))
    meter = Meter(task.reading.source, task.progress)
    if choice.algorithm == "memory":
        try:
            growth = grow_in_memory(task, meter, choice.limit)
        except Outgrown as error:
            if choice.then is None:
                raise
            choice = choice.outgrown(error)
    if choice.algorithm != "memory":
        growth = _grow_by_scans(task, meter, SCANNING[choice.algorithm])
    if task.outside is not None:
        sums = task.outside(growth.trees)
        with meter.scan("outside") as report:
            asking = Asking(task.reading, growth.schema, growth.labels)
            scanner_of(task).ask_outside(task, asking, sums, report)
        growth = replace(growth, outside=sums)
    return growth.told(meter.stats(choice.algorithm, choice.reason, task.memory_limit))


def _grow_by_scans(task: SourceTask, meter: Meter, grow: Algorithm) -> SourceGrowth:
    with meter.scan("survey") as report:
        found = scanner_of(task).survey(task, report)
    trees = grow(task, found, meter)
    pairs = tuple(Pair(tree, tree) for tree in trees)
    if task.pruning.prune is not None:
        with meter.phase("pruning"):
            pairs = tuple(Pair(_pruned(task, tree), tree) for tree in trees)
    estimate = None
    if task.folds is not None and task.judging:
        with meter.scan("judging") as report:
            estimate = scanner_of(task).judge(task, found, [pair.tree for pair in pairs[1:]], report)
    labels = found.labels if task.reading.classification else None
    return SourceGrowth(pairs, labels, found.rows, found.sample, found.ranges, estimate)


def _pruned(task: SourceTask, tree: Tree) -> Tree:
    return prune_tree(tree, task.pruning, criterion=task.parameters.criterion, threads=task.threads)
