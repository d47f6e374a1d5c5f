"""TreeSearchCV: scikit-learn's search interface for trees of ours, the whole grid read off one growth."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import check_random_state, indexable

from hornbeam.errors import UsageError
from hornbeam.growth import (
    ClassTarget,
    Engine,
    TrainingSet,
    TrainingSets,
    bytes_of,
    complexity_path,
    grow_tree,
)
from hornbeam.growth.parameters import is_number, one_of, shown
from hornbeam.tuning.folds import folds_of
from hornbeam.tuning.grid import Grid, between
from hornbeam.tuning.measures import CostScorer, measure_of
from hornbeam.tuning.records import SearchRecord, SettingResult
from hornbeam.tuning.results import cv_results
from hornbeam.tuning.scores import MEANS, Marks
from hornbeam.tuning.findings import Findings
from hornbeam.tuning.search import examine
from hornbeam.tuning.task import Task, Trial
from hornbeam.tuning.select import SELECT, Choice, Standing
from hornbeam.validation.scoring import Judge
from hornbeam.validation.splits import splits_of, splitter_of


class TreeSearchCV(BaseSearchCV):  # type: ignore[misc]
    """Choose the parameters of a tree by cross-validation.

    Results are those of scikit-learn's GridSearchCV, setting by setting and fold by fold; but every training
    set is grown once, and all values of what only cuts or prunes its tree are read off it.

    Parameters
    ----------
    estimator : TreeClassifier, TreeRegressor or C45Classifier
    param_grid : dict or list of dicts
        Lists of values of min_samples_split, min_samples_leaf, min_objs, max_depth, min_impurity_decrease,
        ccp_alpha, confidence, criterion, nominal and prune. `"ccp_alpha": "path"` are the alphas at which the
        tree that the estimator grows from all rows changes.
    cv : int, splitter or list of splits, default=10
        Folds; a number is scikit-learn's folds, stratified for classes.
    repeats : int, default=1
        Above 1, `cv` is a number of folds that are dealt anew so many times.
    mean : {"mean", "trimmed"}, default="mean"
        What settings are compared by: the mean over all folds, or the mean over repetitions, each pooled, after
        a fifth of them is dropped at each end.
    select : {"best", "1se", "smallest"}, default="best"
        The highest score; or the fewest leaves within a standard error of it; or the fewest leaves among the
        bests of each repetition. Ties: fewer leaves, then the order of the grid.
    scoring : str, callable, list, dict or None, default=None
        As in scikit-learn. None is accuracy or R², and with a cost matrix minus the mean cost.
    refit : bool, str or callable, default=True
        As in scikit-learn; the tree of all rows is there already.
    nested : int or None, default=None
        Outer folds that judge the whole choice: `search_.nested` and `nested_score_`.
    algorithm : {"auto", "serial", "overlapping", "folds"}, default="auto"
    memory_limit : int, str or None, default=None
        As in `cross_validate`.
    return_train_score : bool, default=False
    error_score : "raise" or number, default=nan
    random_state : int, RandomState or None, default=None
        Deals the folds of several repetitions.
    n_jobs : int or None, default=None
        Threads.
    verbose : int, default=0

    Attributes
    ----------
    best_params_, best_score_, best_index_, best_estimator_, cv_results_, scorer_, n_splits_, multimetric_,
    refit_time_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn; `best_score_` is what was compared.
    search_ : SearchRecord
        Every setting with its score, standard error and size; which was chosen, and why.
    nested_score_ : float
        With `nested`: the mean score of the outer folds.
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        cv: Any = 10,
        repeats: int = 1,
        mean: str = "mean",
        select: str = "best",
        scoring: Any = None,
        refit: Any = True,
        nested: int | None = None,
        algorithm: str = "auto",
        memory_limit: int | str | None = None,
        return_train_score: bool = False,
        error_score: Any = np.nan,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.param_grid = param_grid
        self.repeats = repeats
        self.mean = mean
        self.select = select
        self.nested = nested
        self.algorithm = algorithm
        self.memory_limit = memory_limit
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Score every setting in every fold, choose, and keep the tree of all rows under what was chosen."""
        grid = Grid(self.estimator, self.param_grid)
        self._check()
        scorer, metric = self._get_scorers()
        judge = Judge(self.estimator, scorer, self.error_score)
        X, y = indexable(X, y)
        routed = self._get_routed_params_for_fit(params)
        begin = perf_counter()
        task = self._read(grid, judge, X, y, routed)
        reading = perf_counter() - begin
        findings = examine(task)
        self._learn(task, findings, reading, metric, routed.estimator.fit)
        return self

    def _check(self) -> None:
        """What can be said before any work."""
        one_of("mean", self.mean, MEANS)
        one_of("select", self.select, SELECT)
        if not is_number(self.repeats, numbers.Integral) or self.repeats < 1:
            raise UsageError(f"{shown('repeats', self.repeats)}: a whole number from 1 is allowed")

    def _get_scorers(self) -> tuple[Any, Any]:
        """scikit-learn's, but where mistakes cost differently."""
        if self.scoring is None and getattr(self.estimator, "cost_matrix", None) is not None:
            return CostScorer(), "score"
        return super()._get_scorers()  # type: ignore[no-any-return]

    def _read(self, grid: Grid, judge: Judge, X: Any, y: Any, routed: Any) -> Task:
        """The table, the folds and the settings."""
        estimator, limit = self.estimator, bytes_of(self.memory_limit)
        threads = estimator._threads(self.n_jobs)
        table, target = estimator._reads(X, y, **routed.estimator.fit)
        random = check_random_state(self.random_state)
        splits = folds_of(self.cv, self.repeats, X, y, target, routed.splitter.split, random)
        splits.sets.checked(self.algorithm)
        path: list[float] = []
        if grid.asks_path:
            whole = grow_tree(table, target, grid.own.parameters, threads=threads)
            path = between(complexity_path(whole)[0])
        candidates = grid.candidates(path)
        trials = [Trial(i, rows) for i, rows in enumerate(splits.tests, 1)]
        if self.return_train_score:
            trials += [Trial(i, splits.sets[i].rows) for i in range(1, len(splits.sets))]
        cost = isinstance(judge.scorer, CostScorer)
        rows = [trial.rows for trial in trials]
        measure = None if routed.scorer.score else measure_of(judge, target, y, rows, cost=cost)
        holds_out = any(setting.pruning.holds_out for setting in candidates.settings)
        return Task(
            estimator=estimator,
            candidates=candidates,
            X=X,
            y=y,
            table=table,
            target=target,
            sets=splits.sets,
            trials=trials,
            judge=judge,
            measure=measure,
            score_params=routed.scorer.score,
            seeds=estimator._seeds(len(splits.sets) - 1, False) if holds_out else (),
            engine=Engine(algorithm=self.algorithm),
            memory_limit=limit,
            threads=threads,
        )

    def _learn(self, task: Task, findings: Findings, reading: float, metric: Any, fit_params: Any) -> None:
        """Choose, and keep what scikit-learn's searches keep."""
        folds = len(task.trials) // (2 if self.return_train_score else 1)
        test = findings.marks(slice(0, folds), self.repeats)
        train = findings.marks(slice(folds, 2 * folds)) if self.return_train_score else {}
        results = cv_results(
            task.candidates.params,
            test,
            train,
            mean=self.mean,
            fitting=reading + findings.growing,
            scoring=findings.scoring,
        )
        self.multimetric_ = "score" not in test
        chosen_by = metric if metric in test else next(iter(test))
        marks = test[chosen_by]
        name = self._measure(chosen_by)
        standing = Standing.of(marks, self.mean, findings.leaves[:, 0].tolist())
        choice = standing.choose(self.select, name, task.candidates.params)
        self.search_ = SearchRecord(
            measure=name,
            results=tuple(_results(task.candidates.params, standing, marks, self.mean, findings)),
            chosen=choice.chosen,
            best=choice.best,
            select=self.select,
            mean=self.mean,
            folds=marks.folds,
            repeats=self.repeats,
            reason=choice.reason,
        )
        self.best_index_ = choice.chosen
        self.best_params_ = task.candidates.params[choice.chosen]
        self.best_score_ = self.search_.results[choice.chosen].score
        if self.refit:
            begin = perf_counter()
            self.best_estimator_ = task.model(self.best_params_)._grown(
                findings.pair(self.best_index_), task.table, task.target, None
            )
            self.refit_time_ = perf_counter() - begin
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_
        self.scorer_ = getattr(task.judge.scorer, "_scorers", task.judge.scorer)
        self.cv_results_ = results
        self.n_splits_ = folds

    def _measure(self, metric: str) -> str:
        """The name of what is compared."""
        if self.multimetric_:
            return metric
        if self.scoring is None:
            return "accuracy"
        return self.scoring if isinstance(self.scoring, str) else getattr(self.scoring, "__name__", metric)


def _results(params, standing, marks, mean, findings):
    values = marks.means.tolist() if mean == "mean" else [float(e) for e in standing.estimates]
    for k, given in enumerate(params):
        yield SettingResult(
            params=given,
            score=values[k],
            error=standing.errors[k],
            scores=tuple(marks.scores[k].tolist()),
            leaves=standing.leaves[k],
            depth=int(findings.depth[k]),
        )
