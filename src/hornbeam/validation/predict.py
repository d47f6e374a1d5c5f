"""cross_val_predict: what each row is answered by the tree that never saw it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import model_selection

from hornbeam.errors import DataError, UsageError
from hornbeam.growth import ClassTarget, Pair
from hornbeam.validation.cross import say_serial
from hornbeam.validation.shared import SharedWork, shares_growth

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
        answers: NDArray[Any] = model_selection.cross_val_predict(estimator, X, y, **options)
        return answers
    if method not in METHODS:
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
    rows = np.concatenate(work.splits.tests)
    if len(rows) != work.table.n_rows or len(np.unique(rows)) != len(rows):
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
