"""What a search works on: a table, settings, training sets, and the rows that judge each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from hornbeam.arguments import generator
from hornbeam.errors import UsageError
from hornbeam.growth import Engine, Target, TrainingSets, bytes_of, complexity_path, grow_sets
from hornbeam.model import RoutedTable
from hornbeam.table import Table
from hornbeam.validation.grid import Candidates, Grid, between
from hornbeam.validation.nested import OuterFold, Trial, TrialPlan, nested_record, outer_folds
from hornbeam.validation.scoring import Judge, Measure, measure_of
from hornbeam.validation.search_record import NestedRecord
from hornbeam.validation.selection import SelectionRule, SettingScores
from hornbeam.validation.splits import Splits, deal_repeatedly, folds_of

if TYPE_CHECKING:
    from hornbeam.validation.search import Findings

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SearchTask:
    """All that a search needs, read and checked. Set 0 is all rows."""

    estimator: Any
    candidates: Candidates
    X: Any
    y: Any
    table: Table
    target: Target
    sets: TrainingSets
    trials: Sequence[Trial]
    sized: Set[int]
    """The sets whose trees' sizes settle ties: that of all rows, and those of outer folds."""
    judge: Judge
    measure: Measure | None
    score_params: Mapping[str, Any] = field(default_factory=dict)
    seeds: Sequence[int] = ()
    """What each set draws its validation rows by, where some are kept out of growing."""
    engine: Engine = field(default_factory=Engine)
    memory_limit: int | None = None
    threads: int = 1

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


@dataclass(frozen=True, eq=False)
class SearchWork:
    """A task, and which of its trials are the folds', which judge trees by their own rows, and the outer."""

    task: SearchTask
    own: slice
    """The settings that the search itself chooses among."""
    folds: range
    train: range
    outer: Sequence[OuterFold]
    n_outer: int
    reading: float
    """Seconds that it took to come so far."""

    @classmethod
    def of(cls, search: Any, grid: Grid, judge: Judge, X: Any, y: Any, routed: Any) -> SearchWork:
        """Read X and y, deal the folds and expand the grid of a TreeSearchCV."""
        begin = perf_counter()
        estimator, threads = search.estimator, search.estimator._threads(search.n_jobs)
        table, target = estimator._reads(X, y, **routed.estimator.fit)
        dealer = _Dealer(search, X, y, target, routed.splitter.split)
        splits = dealer.folds()
        plan, folds = TrialPlan.of(splits), range(len(splits.tests))
        train = plan.judge_by_own_rows(folds) if search.return_train_score else range(0)
        outer = dealer.outer(plan, splits) if search.nested is not None else []
        sets = plan.training_sets
        candidates, own, outer = _candidates(grid, table, target, sets, outer, threads)
        holds_out = any(setting.pruning.holds_out for setting in candidates.settings)
        tests = [trial.rows for trial in plan.trials]
        task = SearchTask(
            estimator=estimator,
            candidates=candidates,
            X=X,
            y=y,
            table=table,
            target=target,
            sets=sets,
            trials=plan.trials,
            sized={0, *(fold.of for fold in outer)},
            judge=judge,
            measure=measure_of(judge, target, sets, tests, routed.scorer.score),
            score_params=routed.scorer.score,
            seeds=estimator._seeds(len(sets) - 1, False) if holds_out else (),
            engine=Engine(algorithm=search.algorithm),
            memory_limit=bytes_of(search.memory_limit),
            threads=threads,
        )
        return cls(task, own, folds, train, outer, search.nested or 0, perf_counter() - begin)

    @property
    def params(self) -> Sequence[dict[str, Any]]:
        """The settings that the search itself chooses among."""
        return self.task.candidates.params[self.own]

    def scores(self, findings: Findings, trials: Sequence[int], repeats: int = 1) -> dict[str, SettingScores]:
        """What these scored in some trials, by the names of the measures."""
        return {name: found.among(self.own) for name, found in findings.scores(trials, repeats).items()}

    def judged_outside(self, findings: Findings, rule: SelectionRule) -> NestedRecord:
        """What the outer folds say of the choice."""
        return nested_record(findings, self.outer, self.n_outer, rule, self.task.candidates.params)


class _Dealer:
    """Deals the rows as a search asks for it, all by one generator."""

    def __init__(self, search: Any, X: Any, y: Any, target: Target, params: Mapping[str, Any]) -> None:
        self._search, self._X, self._y, self._target, self._params = search, X, y, target, params
        self._random = generator(search.random_state)

    def folds(self) -> Splits:
        search = self._search
        splits = folds_of(
            search.cv, search.repeats, self._X, self._y, self._target, self._params, self._random
        )
        splits.sets.checked(search.algorithm)
        return splits

    def outer(self, plan: TrialPlan, splits: Splits) -> list[OuterFold]:
        """Outer folds: those of the search where they are as many, so that their trees serve twice."""
        k, repeats = self._search.nested, self._search.repeats
        if any(given is not None for given in self._params.values()):
            raise UsageError("nested with groups: outer folds are dealt without them; leave one of them out")
        if repeats == 1:
            rows = folds_of(k, 1, self._X, self._y, self._target, {}, self._random).tests
        elif len(splits.tests) == k * repeats:
            rows = splits.tests
        else:
            rows = deal_repeatedly(self._target, k, repeats, self._random)
        return outer_folds(plan, rows, k)


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
