"""What a search works on: a table, settings, training sets, and the rows that judge each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from hornbeam.arguments import generator
from hornbeam.errors import UsageError
from hornbeam.growth import Engine, Target, TrainingSets, bytes_of, complexity_path, grow_sets
from hornbeam.model import RoutedTable
from hornbeam.table import Table
from hornbeam.validation.grid import Candidates, Grid, between
from hornbeam.validation.measures import Measure, Rows
from hornbeam.validation.nested import OuterFold, Trial, TrialPlan, outer_folds
from hornbeam.validation.scoring import Judge, measure_of
from hornbeam.validation.splits import Splits, deal_repeatedly, folds_of


@dataclass(frozen=True, eq=False)
class SearchTask:
    """All that a search needs, read and checked. Set 0 is all rows.

    Of the trials some are the `folds`', some judge the folds' trees by their own rows (`train`), and the
    others are of `outer` folds. The candidates are the search's `own`, and those of outer folds.
    """

    estimator: Any
    candidates: Candidates
    X: Any
    y: Any
    table: Table
    target: Target
    sets: TrainingSets
    trials: Sequence[Trial]
    judge: Judge
    measure: Measure | None
    score_params: Mapping[str, Any]
    seeds: Sequence[int]
    """What each set draws its validation rows by, where some are kept out of growing."""
    engine: Engine
    memory_limit: int | None
    threads: int
    own: slice
    folds: range
    train: range
    outer: Sequence[OuterFold]
    reading: float
    """Seconds that it took to come so far."""

    @classmethod
    def of(cls, search: Any, grid: Grid, judge: Judge, X: Any, y: Any, routed: Any) -> SearchTask:
        """Read X and y, deal the folds and expand the grid of a TreeSearchCV."""
        begin, estimator, random = perf_counter(), search.estimator, generator(search.random_state)
        threads, groups = estimator._threads(search.n_jobs), routed.splitter.split
        table, target = estimator._reads(X, y, **routed.estimator.fit)
        splits = folds_of(search.cv, search.repeats, X, y, target, groups, random)
        splits.sets.checked(search.algorithm)
        plan, folds = TrialPlan.of(splits), range(len(splits.tests))
        train = plan.judge_by_own_rows(folds) if search.return_train_score else range(0)
        outer = []
        if search.nested is not None:
            outer = outer_folds(
                plan, _outer_rows(search, X, y, target, groups, splits, random), search.nested
            )
        sets = plan.training_sets
        candidates, own, outer = _candidates(grid, table, target, sets, outer, threads)
        holds_out = any(setting.pruning.holds_out for setting in candidates.settings)
        tests, score_params = [trial.rows for trial in plan.trials], routed.scorer.score
        return cls(
            estimator,
            candidates,
            X,
            y,
            table,
            target,
            sets,
            plan.trials,
            judge,
            measure_of(judge, target, sets, tests, score_params),
            score_params,
            seeds=estimator._seeds(len(sets) - 1, False) if holds_out else (),
            engine=Engine(algorithm=search.algorithm),
            memory_limit=bytes_of(search.memory_limit),
            threads=threads,
            own=own,
            folds=folds,
            train=train,
            outer=outer,
            reading=perf_counter() - begin,
        )

    @property
    def params(self) -> Sequence[dict[str, Any]]:
        """The settings that the search itself chooses among."""
        return self.candidates.params[self.own]

    @cached_property
    def sized(self) -> Set[int]:
        """The sets whose trees' sizes settle ties: that of all rows, and those of outer folds."""
        return {0, *(fold.of for fold in self.outer)}

    @cached_property
    def models(self) -> list[Any]:
        """The unfitted estimator of each setting."""
        return [self.model(params) for params in self.candidates.params]

    def model(self, params: Mapping[str, Any]) -> Any:
        """The unfitted estimator of a setting."""
        return clone(self.estimator).set_params(**clone(params, safe=False))

    @cached_property
    def routed(self) -> RoutedTable:
        """The table, ready to go down the trees."""
        return RoutedTable(self.table)

    @cached_property
    def judged(self) -> Mapping[int, list[int]]:
        """The trials of each set that has any."""
        found: dict[int, list[int]] = {}
        for t, trial in enumerate(self.trials):
            found.setdefault(trial.of, []).append(t)
        return found


def _outer_rows(
    search: Any,
    X: Any,
    y: Any,
    target: Target,
    groups: Mapping[str, Any],
    splits: Splits,
    random: np.random.RandomState,
) -> Sequence[Rows]:
    """The rows of outer folds: those of the search where they are as many, and their trees serve twice."""
    k, repeats = search.nested, search.repeats
    if any(given is not None for given in groups.values()):
        raise UsageError("nested with groups: outer folds are dealt without them; leave one of them out")
    if repeats == 1:
        return folds_of(k, 1, X, y, target, {}, random).tests
    if len(splits.tests) == k * repeats:
        return splits.tests
    return deal_repeatedly(target, k, repeats, random)


def _candidates(
    grid: Grid,
    table: Table,
    target: Target,
    sets: TrainingSets,
    outer: Sequence[OuterFold],
    threads: int,
) -> tuple[Candidates, slice, list[OuterFold]]:
    """All settings; which of them are the search's own, and which each outer fold chooses among: a path is
    that of the rows that the choice may see."""
    if not grid.asks_path:
        return grid.candidates(), slice(None), list(outer)
    of = [0, *(fold.of for fold in outer)]
    roots = TrainingSets(sets.n_rows, tuple(sets[i] for i in of))
    trees = grow_sets(table, target, grid.own.parameters, roots, threads=threads).trees()
    found = [grid.candidates(between(complexity_path(tree)[0])) for tree in trees]
    ends = list(accumulate(map(len, found)))
    own, *parts = map(slice, [0, *ends], ends)
    several = zip(outer, parts, strict=True)
    return sum(found[1:], found[0]), own, [replace(fold, settings=part) for fold, part in several]
