"""TreeSearchCV: scikit-learn's search interface for trees of ours, the whole grid read off one growth."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, replace
from time import perf_counter
from typing import Any, Self

import numpy as np
from scipy.stats import rankdata
from sklearn.model_selection._search import BaseSearchCV, _yield_masked_array_for_each_param
from sklearn.utils import get_tags
from sklearn.utils.validation import _check_method_params

from hornbeam.arguments import NamedParameters, flag, generator, is_number, one_of, refuse, whole
from hornbeam.errors import UsageError
from hornbeam.growth import bytes_of
from hornbeam.validation.grid import Grid
from hornbeam.validation.nested import nested_record
from hornbeam.validation.scoring import CostScorer, Judge, in_our_words
from hornbeam.validation.search import Findings, examine
from hornbeam.validation.search_record import SearchRecord, SettingResult
from hornbeam.validation.search_task import SearchTask
from hornbeam.validation.selection import MEANS, SELECT, Scores, SelectionRule, SettingScores
from hornbeam.validation.splits import rows_of

MOST_REPEATS = 10_000


@dataclass(eq=False, repr=False)
class TreeSearchCV(NamedParameters, BaseSearchCV):  # type: ignore[misc]
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
        What settings are compared by: the mean over all folds, or the mean over repetitions, each pooled,
        after a fifth of them is dropped at each end.
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

    estimator: Any
    param_grid: Any
    _: KW_ONLY
    cv: Any = 10
    repeats: int = 1
    mean: str = "mean"
    select: str = "best"
    scoring: Any = None
    refit: Any = True
    nested: int | None = None
    algorithm: str = "auto"
    memory_limit: int | str | None = None
    return_train_score: bool = False
    error_score: Any = np.nan
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags, tags.target_tags = deepcopy(own.input_tags), deepcopy(own.target_tags)
        return tags

    def _get_scorers(self) -> tuple[Any, Any]:
        """scikit-learn's, but where mistakes cost differently and no other measure is asked for."""
        if self.scoring is None and getattr(self.estimator, "cost_matrix", None) is not None:
            return CostScorer(), "score"
        return super()._get_scorers()  # type: ignore[no-any-return]

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Score every setting in every fold, choose one, and keep its tree of all rows.

        `params` go where scikit-learn's searches send them: `sample_weight` to growing and scoring, `groups`
        to the splitter.
        """
        grid = Grid(self.estimator, self.param_grid)
        self._check()
        with in_our_words("scoring", self.scoring):
            scorer, metric = self._get_scorers()
        judge = Judge(self.estimator, scorer, self.error_score)
        X, y = rows_of(X, y)
        with in_our_words("fit", tuple(params)):
            routed = self._get_routed_params_for_fit(_check_method_params(X, params))
        task = SearchTask.of(self, grid, judge, X, y, routed)
        if self.verbose > 0:
            n, sets = len(task.params), len(task.sets)
            print(f"{n} settings in {len(task.folds)} folds: {sets} training sets are grown")
        findings = examine(task)
        findings.tell_failures()
        self._learn(task, findings, metric)
        if self.refit:
            self._refit(task, findings, routed.estimator.fit)
        return self

    def _check(self) -> None:
        """What can be refused before any work."""
        one_of("mean", self.mean, MEANS)
        one_of("select", self.select, SELECT)
        if whole("repeats", self.repeats, 1) > MOST_REPEATS:
            refuse("repeats", self.repeats, f"at most {MOST_REPEATS:,} are allowed")
        if not callable(self.refit) and not isinstance(self.refit, str):
            flag("refit", self.refit)
        flag("return_train_score", self.return_train_score)
        if not is_number(self.verbose, numbers.Real):
            refuse("verbose", self.verbose, "a number is allowed; 0 is silent")
        generator(self.random_state)
        if self.nested is not None and (not is_number(self.nested, numbers.Integral) or self.nested < 3):
            refuse(
                "nested",
                self.nested,
                "a whole number of folds from 3 is allowed, or None for no outer estimate",
            )
        if self.nested is not None and callable(self.refit):
            raise UsageError(
                "nested with a function for refit: it cannot choose inside the outer folds; use select"
            )
        bytes_of(self.memory_limit)

    def _learn(self, task: SearchTask, findings: Findings, metric: Any) -> None:
        """Choose, and keep what scikit-learn's searches keep; traces of an earlier fit go."""
        for name in ("best_estimator_", "best_score_", "refit_time_", "feature_names_in_", "nested_score_"):
            self.__dict__.pop(name, None)
        test = findings.own_scores(task.folds, self.repeats)
        self.multimetric_ = "score" not in test
        if self.multimetric_:
            self._check_refit_for_multimetric(test)
            metric = self.refit
        metric = metric if metric in test else next(iter(test))
        results = cv_results(
            task.params,
            test,
            findings.own_scores(task.train) if task.train else {},
            mean=self.mean,
            fitting=task.reading + findings.growing,
            scoring=findings.scoring,
        )
        rule = SelectionRule(task.params, metric, self._measure(metric), self.mean, self.select)
        record = record_of(findings, test[metric], rule)
        if callable(self.refit):
            chosen = int(self._select_best_index(self.refit, metric, results))
            record = replace(record, chosen=chosen, reason="The function that was given as refit chose it.")
        if task.outer:
            k, params = self.nested, task.candidates.params
            assert k is not None
            record = replace(record, nested=nested_record(findings, task.outer, k, rule, params))
        self._keep(record, results)
        self.scorer_ = getattr(task.judge.scorer, "_scorers", task.judge.scorer)
        self.n_splits_ = len(task.folds)

    def _measure(self, metric: str) -> str:
        """The name of what is compared."""
        if self.multimetric_:
            return metric
        if self.scoring is not None:
            return (
                self.scoring if isinstance(self.scoring, str) else getattr(self.scoring, "__name__", metric)
            )
        if isinstance(self._get_scorers()[0], CostScorer):
            return "cost"
        return "accuracy" if get_tags(self.estimator).estimator_type == "classifier" else "r2"

    def _keep(self, record: SearchRecord, results: dict[str, Any]) -> None:
        self.search_, self.cv_results_ = record, results
        if record.nested is not None:
            self.nested_score_ = record.nested.score
        if self.multimetric_ and not self.refit:
            return
        self.best_index_ = record.chosen
        self.best_params_ = results["params"][record.chosen]
        if not callable(self.refit):
            self.best_score_ = record.results[record.chosen].score

    def _refit(self, task: SearchTask, findings: Findings, params: Any) -> None:
        """The estimator of what was chosen: its tree of all rows is there already."""
        begin = perf_counter()
        model = task.model(self.best_params_)
        if model.cv is None:
            model = model._grown(findings.pair(self.best_index_), task.target, None)
        else:  # it is to have folds of its own
            model.fit(task.X, task.y, **params)
        self.best_estimator_, self.refit_time_ = model, perf_counter() - begin
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_


def cv_results(
    params: Sequence[Mapping[str, Any]],
    test: Mapping[str, SettingScores],
    train: Mapping[str, SettingScores],
    *,
    mean: str,
    fitting: float,
    scoring: float,
) -> dict[str, Any]:
    """The dict of arrays. All settings share the work, so each has its part of the seconds. Trimmed means are
    given too where they are compared, and ranked by."""
    n, folds = next(iter(test.values())).scores.shape
    results: dict[str, Any] = {}
    for name, seconds in (("fit_time", fitting), ("score_time", scoring)):
        results |= {f"mean_{name}": np.full(n, seconds / (n * folds)), f"std_{name}": np.zeros(n)}
    results |= dict(_yield_masked_array_for_each_param(params))
    results["params"] = list(params)
    for name, scores in test.items():
        results |= _scores(f"test_{name}", scores)
        compared = scores.means
        if mean == "trimmed":
            compared = np.array([float(estimate) for estimate in scores.estimates(mean)])
            results[f"trimmed_test_{name}"] = compared
        results[f"rank_test_{name}"] = _ranks(compared)
        if name in train:
            results |= _scores(f"train_{name}", train[name])
    return results


def _scores(name: str, scored: SettingScores) -> dict[str, Any]:
    scores, means = scored.scores, scored.means
    if not np.isfinite(means).all():
        kind = name.split("_")[0]
        warnings.warn(f"One or more of the {kind} scores are non-finite: {means}", UserWarning, stacklevel=4)
    found: dict[str, Any] = {f"split{i}_{name}": scores[:, i] for i in range(scores.shape[1])}
    found[f"mean_{name}"] = means
    found[f"std_{name}"] = np.sqrt(np.average((scores - means[:, None]) ** 2, axis=1))
    return found


def _ranks(values: Scores) -> Any:
    """1 is the highest; what is not a number shares the last rank."""
    if np.isnan(values).all():
        return np.ones(len(values), dtype=np.int32)
    known = np.where(np.isnan(values), np.nanmin(values) - 1, values)
    return rankdata(-known, method="min").astype(np.int32)


def record_of(findings: Findings, scores: SettingScores, rule: SelectionRule) -> SearchRecord:
    """Every setting with what it scored, and the choice among them."""
    leaves = findings.leaves[0].tolist()[: scores.n_settings]
    estimates = rule.estimates(scores, leaves)
    choice = rule.choose(estimates)
    compared = scores.means.tolist() if rule.mean == "mean" else list(map(float, estimates.values))
    each = zip(
        rule.params,
        compared,
        scores.errors.tolist(),
        scores.scores.tolist(),
        leaves,
        findings.depth.tolist()[: scores.n_settings],
        strict=True,
    )
    return SearchRecord(
        measure=rule.measure,
        results=tuple(
            SettingResult(params, score, error, tuple(of_folds), n_leaves, depth)
            for params, score, error, of_folds, n_leaves, depth in each
        ),
        chosen=choice.chosen,
        best=choice.best,
        select=rule.select,
        mean=rule.mean,
        folds=scores.folds,
        repeats=scores.repeats,
        reason=choice.reason,
    )
