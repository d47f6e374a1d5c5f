"""From what a search was given to its task: the table, the folds, the outer folds and the settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from sklearn.utils import check_random_state

from hornbeam.errors import UsageError
from hornbeam.growth import Engine, Target, bytes_of, complexity_path, grow_tree
from hornbeam.table import Table
from hornbeam.tuning.findings import Findings
from hornbeam.tuning.folds import deal_repeatedly, folds_of
from hornbeam.tuning.grid import Candidates, Grid, between
from hornbeam.tuning.measures import measure_of
from hornbeam.tuning.nested import OuterFold, Plan, nested_record, outer_folds
from hornbeam.tuning.records import NestedRecord
from hornbeam.tuning.select import Rule
from hornbeam.tuning.task import Task, Trial
from hornbeam.validation.scoring import Judge
from hornbeam.validation.splits import Splits


@dataclass(frozen=True, eq=False)
class Work:
    """A task, and which of its trials are the folds', which judge trees by their own rows, and the outer."""

    task: Task
    folds: range
    train: range
    outer: Sequence[OuterFold]
    n_outer: int
    reading: float
    """Seconds that it took to come so far."""

    @classmethod
    def of(cls, search: Any, grid: Grid, judge: Judge, X: Any, y: Any, routed: Any) -> Work:
        """Read X and y, deal the folds and expand the grid of a TreeSearchCV."""
        begin = perf_counter()
        estimator, threads = search.estimator, search.estimator._threads(search.n_jobs)
        table, target = estimator._reads(X, y, **routed.estimator.fit)
        random = check_random_state(search.random_state)
        split = routed.splitter.split
        splits = folds_of(search.cv, search.repeats, X, y, target, split, random)
        splits.sets.checked(search.algorithm)
        plan = Plan(list(splits.sets), [Trial(i, rows) for i, rows in enumerate(splits.tests, 1)])
        folds = range(len(plan.trials))
        if search.return_train_score:
            plan.trials += [Trial(trial.of, plan.sets[trial.of].rows) for trial in plan.trials]
        train = range(len(folds), len(plan.trials))
        outer: list[OuterFold] = []
        if search.nested is not None:
            if any(given is not None for given in split.values()):
                raise UsageError(
                    "nested with groups: outer folds are dealt without them; leave one of them out"
                )
            partitions = _partitions(search, splits, X, y, target, random)
            outer = outer_folds(plan, partitions, search.nested)
        sets, candidates = plan.training_sets, _candidates(grid, table, target, threads)
        holds_out = any(setting.pruning.holds_out for setting in candidates.settings)
        score_params = routed.scorer.score
        tests = [trial.rows for trial in plan.trials]
        task = Task(
            estimator=estimator,
            candidates=candidates,
            X=X,
            y=y,
            table=table,
            target=target,
            sets=sets,
            trials=plan.trials,
            judge=judge,
            measure=None if score_params else measure_of(judge, target, y, sets, tests),
            score_params=score_params,
            seeds=estimator._seeds(len(sets) - 1, False) if holds_out else (),
            engine=Engine(algorithm=search.algorithm),
            memory_limit=bytes_of(search.memory_limit),
            threads=threads,
        )
        if search.verbose > 0:
            print(
                f"{len(folds)} folds for each of {len(candidates)} settings, {len(sets)} training sets in all"
            )
        return cls(task, folds, train, outer, search.nested or 0, perf_counter() - begin)

    def judged_outside(self, findings: Findings, rule: Rule) -> NestedRecord:
        """What the outer folds say of the choice."""
        return nested_record(findings, self.outer, self.n_outer, rule)


def _partitions(search: Any, splits: Splits, X: Any, y: Any, target: Target, random: Any) -> Any:
    """The outer folds: those of the search where they are as many, so that their trees serve twice."""
    if search.repeats == 1:
        return folds_of(search.nested, 1, X, y, target, {}, random).tests
    if len(splits.tests) == search.nested * search.repeats:
        return splits.tests
    return deal_repeatedly(target, search.nested, search.repeats, random)


def _candidates(grid: Grid, table: Table, target: Target, threads: int) -> Candidates:
    if not grid.asks_path:
        return grid.candidates()
    tree = grow_tree(table, target, grid.own.parameters, threads=threads)
    return grid.candidates(between(complexity_path(tree)[0]))
