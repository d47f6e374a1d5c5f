"""Growing from a source: by the algorithm asked for, or by the one that the size of the rows calls for."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from hornbeam.arguments import one_of
from hornbeam.boat.cleanup import grow_boat
from hornbeam.boat.grown import SourceGrowth
from hornbeam.boat.judging import OutsideReader
from hornbeam.boat.memory import Outgrown, grow_in_memory, memory_for
from hornbeam.boat.meter import Meter
from hornbeam.boat.rainforest import grow_rainforest
from hornbeam.boat.scans import scanner_of
from hornbeam.boat.survey import Survey
from hornbeam.boat.task import SourceTask, naming_columns
from hornbeam.errors import UsageError
from hornbeam.growth import Pair, prune_tree
from hornbeam.growth.memory import text_of
from hornbeam.model import Tree

MEMORY, BOAT, HYBRID = "memory", "boat", "rf_hybrid"
_NAMED = ("prune", "competitors", "algorithm")

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


@dataclass(frozen=True)
class Choice:
    """An algorithm and the reason for it. `limit` is what rows in memory may take; where they turn out to
    need more, `then` is the algorithm to go on with."""

    algorithm: str
    reason: str
    limit: int | None = None
    then: str | None = None

    def outgrown(self, error: Outgrown) -> Choice:
        """The choice after so many rows were found to be too many for the memory."""
        assert self.then is not None
        reason = (
            f"the first {error.rows:,} rows already may need more than {error.room}; they were read again"
        )
        return replace(self, algorithm=self.then, reason=reason, then=None)


def choose(task: SourceTask, scanning: Collection[str]) -> Choice:
    """What was asked for, where it can be done; for "auto" memory where it is sure to be enough, else a guess
    and its proof, else, where none can be had, exact counts."""
    one_of("algorithm", task.algorithm, ("auto", *scanning, MEMORY))
    if task.scanner is not None:
        return _by_cluster(task)
    if task.algorithm == "auto":
        return _chosen(task, scanning)
    if task.algorithm == MEMORY:
        return Choice(MEMORY, "it was asked for", task.memory_limit)
    if task.needs_rows is not None:
        raise UsageError(
            f"{task.needs_rows} asks for the rows of each node, which algorithm={task.algorithm!r} does not "
            f"keep; use algorithm='memory', or {_instead(task)}",
            named=_NAMED,
        )
    if not task.reading.source.repeatable:
        raise UsageError(
            f"algorithm={task.algorithm!r} reads the rows more than once, and {task.reading.source.name} can "
            "be read once only; write it to a file by .spool('rows.parquet') first, or use "
            "algorithm='memory'",
            parameter="algorithm",
        )
    return Choice(task.algorithm, "it was asked for")


def _by_cluster(task: SourceTask) -> Choice:
    """What workers do without the rows ever being in one place."""
    if task.needs_rows is not None:
        raise UsageError(
            f"{task.needs_rows} asks for the rows of each node, which are spread over a cluster; use "
            f"{_instead(task)}",
            named=_NAMED,
        )
    if task.algorithm == MEMORY:
        raise UsageError(
            "algorithm='memory' gathers all rows here; leave the engine out, or use algorithm='auto'",
            parameter="algorithm",
        )
    if not task.reading.source.repeatable:
        raise UsageError(
            f"{task.reading.source.name} can be read once only, and a cluster reads it more often; write "
            "it to a file by .spool('rows.parquet') first"
        )
    if task.algorithm != "auto":
        return Choice(task.algorithm, "it was asked for")
    if task.verifiable and task.several is None:
        return Choice(BOAT, "the rows stay with the workers")
    return Choice(
        HYBRID, f"the rows stay with the workers; {_unbounded(task)}, so every level is counted exactly"
    )


def _chosen(task: SourceTask, scanning: Collection[str]) -> Choice:
    other = BOAT if task.verifiable and task.several is None else HYBRID
    rows, budget = task.reading.source.rows, task.budget
    room = _room(task, budget)
    needed = 0 if rows is None else memory_for(task, rows)
    if rows is not None and needed <= budget:
        return Choice(MEMORY, f"{rows:,} rows need at most {text_of(needed)}, which fits {room}", budget)
    why = _only_memory(task, other in scanning)
    if why is not None:
        return Choice(MEMORY, why, task.memory_limit)
    if rows is None:
        return Choice(MEMORY, f"all rows fit {room}", budget, other)
    counts = "" if other == BOAT else f"; {_unbounded(task)}, so every level is counted exactly"
    return Choice(other, f"{rows:,} rows in memory may need {text_of(needed)}, more than {room}{counts}")


def _only_memory(task: SourceTask, there: bool) -> str | None:
    """Why nothing but memory will do."""
    if task.needs_rows is not None:
        return f"{task.needs_rows} asks for all rows in memory"
    if not task.reading.source.repeatable:
        return "the source can be read once only"
    return None if there else "nothing else grows such a tree here"


def _room(task: SourceTask, budget: int) -> str:
    if task.memory_limit is not None:
        return f"the limit of {text_of(budget)}"
    return f"half of the memory that is free ({text_of(budget)})"


def _unbounded(task: SourceTask) -> str:
    """Why guesses will not do."""
    if task.several is not None:
        return f"{task.several} have a tree each"
    named = "criterion='c45'" if task.parameters.criterion == "c45" else "nominal='multiway'"
    return f"{named} has no bounds"


def _instead(task: SourceTask) -> str:
    if task.pruning.prune is None:
        return "competitors=0"
    return "prune='cost_complexity', which needs the tree alone, or prune=None"


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
            reader = OutsideReader(task.reading, growth.schema, growth.labels)
            scanner_of(task).judge_outside(task, reader, sums, report)
        growth = replace(growth, outside=sums)
    return replace(growth, stats=meter.stats(choice.algorithm, choice.reason, task.memory_limit))


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
