"""cross_validate, cross_val_score and cross_val_predict: scikit-learn's signatures, and one growth."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import model_selection
from sklearn.base import clone
from sklearn.metrics import check_scoring

from hornbeam.arguments import flag
from hornbeam.errors import DataError, UsageError
from hornbeam.growth import ClassTarget, Pair
from hornbeam.validation.fold_scores import CrossValidation, FoldScores, Timing
from hornbeam.validation.scoring import Judge, in_our_words
from hornbeam.validation.shared_growth import SharedWork, shares_growth


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
    error_score: Any = np.nan,
    algorithm: str = "auto",
    memory_limit: int | str | None = None,
) -> CrossValidation:
    """scikit-learn's cross_validate; a tree of ours grows all folds, and the tree of all rows, together.

    `algorithm` is "auto", "serial", "overlapping" or "folds"; the trees never depend on it. `memory_limit`
    bounds what the growth takes: bytes, or a text such as "500MB". `n_jobs` are threads of the one growth;
    `fit_time` is its time divided by the number of folds. Beside scikit-learn's keys the result has the
    attributes `estimator_`, `forest`, `algorithm` and `timing` (docs/cross-validation.md). Any other
    estimator is left to scikit-learn, with a warning.
    """
    if not shares_growth(estimator):
        return _serially(
            estimator,
            X,
            y,
            algorithm,
            groups=groups,
            scoring=scoring,
            cv=cv,
            n_jobs=n_jobs,
            verbose=verbose,
            params=params,
            pre_dispatch=pre_dispatch,
            return_train_score=return_train_score,
            return_estimator=return_estimator,
            return_indices=return_indices,
            error_score=error_score,
        )
    judge = Judge(estimator, scoring, error_score)
    work = SharedWork.of(
        "cross_validate",
        estimator,
        X,
        y,
        cv=cv,
        groups=groups,
        params=params,
        scorer=judge.scorer,
        algorithm=algorithm,
        memory_limit=memory_limit,
        n_jobs=n_jobs,
        keep_indices=flag("return_indices", return_indices),
    )
    scores = FoldScores(judge, work, return_train_score, return_estimator, verbose)
    return scores.record(work.grow(scores.visit))


def cross_val_score(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    error_score: Any = np.nan,
    algorithm: str = "auto",
    memory_limit: int | str | None = None,
) -> NDArray[np.float64]:
    """scikit-learn's cross_val_score: the test score of each fold. Other arguments as of `cross_validate`."""
    results = cross_validate(
        estimator,
        X,
        y,
        groups=groups,
        scoring=_one_scorer(estimator, scoring),
        cv=cv,
        n_jobs=n_jobs,
        verbose=verbose,
        params=params,
        pre_dispatch=pre_dispatch,
        error_score=error_score,
        algorithm=algorithm,
        memory_limit=memory_limit,
    )
    scores: NDArray[np.float64] = results["test_score"]
    return scores


def _one_scorer(estimator: Any, scoring: Any) -> Any:
    with in_our_words("scoring", scoring):
        return check_scoring(estimator, scoring=scoring)


def _serially(estimator: Any, X: Any, y: Any, algorithm: str, **options: Any) -> CrossValidation:
    """scikit-learn's own, for estimators that cannot share."""
    say_serial(estimator, algorithm)
    begin = perf_counter()
    with in_our_words("estimator", estimator):
        results = model_selection.cross_validate(estimator, X, y, **options)
    fitting, scoring = (float(np.sum(results[name])) for name in ("fit_time", "score_time"))
    timing = Timing(max(0.0, perf_counter() - begin - fitting - scoring), fitting, scoring)

    def whole() -> Any:
        return clone(estimator).fit(X, y, **(options["params"] or {}))

    return CrossValidation(results, forest=None, algorithm="serial", timing=timing, whole=whole)


def say_serial(estimator: Any, algorithm: str) -> None:
    """Refuse an algorithm that an estimator cannot be grown by; warn where it was not asked for."""
    name = type(estimator).__name__
    if algorithm not in ("auto", "serial"):
        raise UsageError(
            f"algorithm={algorithm!r} for a {name}: only hornbeam's trees share their growth; use 'serial'",
            parameter="algorithm",
        )
    if algorithm == "auto":
        warnings.warn(
            f"{name} is not a tree of hornbeam: its folds share no growth and are fitted one after the other",
            UserWarning,
            stacklevel=4,
        )


METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


def cross_val_predict(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    method: str = "predict",
    algorithm: str = "auto",
    memory_limit: int | str | None = None,
) -> NDArray[Any]:
    """scikit-learn's cross_val_predict; the folds of a tree of ours grow together. `algorithm`,
    `memory_limit` and `n_jobs` are those of `cross_validate`."""
    if not shares_growth(estimator):
        say_serial(estimator, algorithm)
        options = {"groups": groups, "cv": cv, "n_jobs": n_jobs, "verbose": verbose, "params": params}
        options |= {"pre_dispatch": pre_dispatch, "method": method}
        with in_our_words("estimator", estimator):
            answers: NDArray[Any] = model_selection.cross_val_predict(estimator, X, y, **options)
        return answers
    if not isinstance(method, str) or method not in METHODS:
        raise UsageError(
            f"method={method!r}: use {', '.join(map(repr, METHODS[:-1]))} or {METHODS[-1]!r}",
            parameter="method",
        )
    getattr(estimator, method)  # AttributeError where it has no such method
    work = SharedWork.of(
        "cross_val_predict",
        estimator,
        X,
        y,
        cv=cv,
        groups=groups,
        params=params,
        scorer=None,
        algorithm=algorithm,
        memory_limit=memory_limit,
        n_jobs=n_jobs,
    )
    _require_partition(work)
    answers_of: dict[int, NDArray[Any]] = {}

    def answer(i: int, pair: Pair) -> None:
        if i > 0:
            model = work.model(i, pair)
            rows = work.test_rows(i)
            own = getattr(model, "_answers_itself", False)
            shown = work.table.take(rows, pair.tree.attributes_asked) if own else work.part(rows)
            given = getattr(model, method)(shown)
            answers_of[i] = given if method == "predict" else _for_all_classes(model, given, work, method)

    work.grow(answer, keep_failures=False)
    rows = np.concatenate(work.splits.tests)
    together = np.concatenate([answers_of[i] for i in range(1, work.n_folds + 1)])
    placed = np.empty_like(together)
    placed[rows] = together
    return placed


def _require_partition(work: SharedWork) -> None:
    times = np.bincount(np.concatenate(work.splits.tests), minlength=work.table.n_rows)
    if (times != 1).any():
        raise DataError(
            "cross_val_predict only works for partitions: every row has to be left out exactly once; "
            "use another cv, or cross_validate"
        )


def _for_all_classes(model: Any, given: NDArray[Any], work: SharedWork, method: str) -> NDArray[Any]:
    """A column for every class of y, also for those that the fold's rows do not have."""
    target = work.target
    assert isinstance(target, ClassTarget)
    if len(model.classes_) == len(target.labels):
        return given
    warnings.warn(
        f"Number of classes in training fold ({len(model.classes_)}) does not match total number of classes "
        f"({len(target.labels)}). Results may not be appropriate for your use case. To fix this, use a "
        "cross-validation technique resulting in properly stratified folds",
        RuntimeWarning,
        stacklevel=5,
    )
    absent = 0.0 if method == "predict_proba" else np.finfo(given.dtype).min
    whole = np.full((len(given), len(target.labels)), absent, dtype=given.dtype)
    place = {label: k for k, label in enumerate(target.labels.tolist())}
    whole[:, [place[label] for label in model.classes_.tolist()]] = given
    return whole
