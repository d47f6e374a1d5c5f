"""Scoring as scikit-learn does: any scorer, several at once; what is scored here for all settings at once."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from traceback import format_exc
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.metrics import accuracy_score, check_scoring, log_loss, r2_score
from sklearn.utils import _safe_indexing

from hornbeam.arguments import refuse, shown
from hornbeam.errors import HornbeamError, UsageError
from hornbeam.growth import ClassTarget, Target, TrainingSets
from hornbeam.table import Table
from hornbeam.validation.measures import (
    Accuracy,
    Cost,
    LogLoss,
    Measure,
    Rows,
    RSquared,
    WeightedAccuracy,
)
from hornbeam.validation.scores import exact_mean

Score = float | dict[str, float]


@contextmanager
def in_our_words(name: str, value: Any) -> Iterator[None]:
    """What scikit-learn refuses of an argument, as an error of ours."""
    try:
        yield
    except (HornbeamError, NotFittedError, UnsetMetadataPassedError, MemoryError):
        raise
    except Exception as error:
        raise UsageError(f"{shown(name, value)}: {error}", parameter=name) from None


class Judge:
    """A scorer, and the rows it is shown: of our own table where it only asks the estimator about them."""

    def __init__(self, estimator: Any, scoring: Any, error_score: Any) -> None:
        raises = isinstance(error_score, str) and error_score == "raise"
        if not raises and not isinstance(error_score, numbers.Number):
            refuse("error_score", error_score, "'raise' or a number is allowed")
        self.error_score = error_score
        with in_our_words("scoring", scoring):
            self.scorer = check_scoring(estimator, scoring=scoring, raise_exc=raises)
        self._names = list(getattr(self.scorer, "_scorers", ()))
        own = bool(getattr(estimator, "_answers_itself", False))
        self._knows_table = own and _asks_only(self.scorer)
        self.is_accuracy = own and is_classifier(estimator) and _means(self.scorer, accuracy_score)
        self.is_log_loss = (
            own and is_classifier(estimator) and _calls(self.scorer, log_loss, -1, "predict_proba")
        )
        self.is_r2 = own and is_regressor(estimator) and _means(self.scorer, r2_score)

    def score(self, model: Any, X: Any, y: Any, table: Table, rows: Rows, params: Mapping[str, Any]) -> Score:
        """The score, or scores by name, of a model on some of the rows."""
        given = {name: part_of(value, table.n_rows, rows) for name, value in params.items()}
        if self._knows_table:
            shown: Any = table.take(rows, model.tree_.attributes_asked)
        else:
            shown = part_of(X, table.n_rows, rows)
        truth = part_of(y, table.n_rows, rows)
        try:
            scores = self.scorer(model, shown, truth, **given)
        except Exception:
            if self.error_score == "raise" or self._names:
                raise
            return float(self._failed(format_exc()))
        if not isinstance(scores, dict):
            return _number(scores, self.scorer)
        failed = {name: value for name, value in scores.items() if isinstance(value, str)}
        scores |= {name: self._failed(value) for name, value in failed.items()}
        return {name: _number(value, name) for name, value in scores.items()}

    def of_failed_fit(self, example: Score | None) -> Score:
        """What a fold counts as that has no tree, in the form of the other folds' scores."""
        names = self._names or (list(example) if isinstance(example, dict) else [])
        return dict.fromkeys(names, self.error_score) if names else self.error_score

    def _failed(self, details: str) -> Any:
        warnings.warn(
            "Scoring failed. The score on this train-test partition for these parameters will be set to "
            f"{self.error_score}. Details: \n{details}",
            UserWarning,
            stacklevel=2,
        )
        return self.error_score


def _asks_only(scorer: Any) -> bool:
    """Whether a scorer gives X to methods of the estimator and to nobody else: those that scikit-learn makes
    do, whatever function judges the answers."""
    several = getattr(scorer, "_scorers", None)
    if isinstance(several, dict):
        return all(map(_asks_only, several.values()))
    return type(scorer).__module__ == "sklearn.metrics._scorer"


def _means(scorer: Any, function: Any) -> bool:
    """Whether a scorer gives what a function says of the predictions: the default one, or one of its own."""
    if type(scorer).__name__ == "_PassthroughScorer":
        return type(scorer).__module__ == "sklearn.metrics._scorer"
    return _calls(scorer, function, 1, "predict")


def _calls(scorer: Any, function: Any, sign: int, method: str) -> bool:
    """Whether a scorer that scikit-learn has made is a function of what a method gives, times a sign."""
    kept = (getattr(scorer, name, None) for name in ("_score_func", "_kwargs", "_sign", "_response_method"))
    return type(scorer).__module__ == "sklearn.metrics._scorer" and tuple(kept) == (
        function,
        {},
        sign,
        method,
    )


def part_of(values: Any, n_rows: int, rows: Rows) -> Any:
    """Some rows of whatever has as many as the table; other things, such as a number, as they are."""
    if values is None or isinstance(values, (str, bytes, dict)) or not hasattr(values, "__len__"):
        return values
    if len(values) != n_rows:
        return values
    if isinstance(values, np.ndarray):
        return values[rows]
    return _safe_indexing(values, rows)


def _number(score: Any, scorer: Any) -> float:
    if hasattr(score, "item"):
        with suppress(ValueError):
            score = score.item()
    if not isinstance(score, numbers.Number):
        raise ValueError(
            f"scoring must return a number, got {score} ({type(score)}) instead. (scorer={scorer})"
        )
    return score  # type: ignore[return-value]


def by_name(scores: Sequence[Score]) -> dict[str, Any]:
    """The scores of all folds, each under its name; a single one is called "score"."""
    first = scores[0]
    if not isinstance(first, dict):
        return {"score": np.asarray(scores)}
    return {name: np.asarray([one[name] for one in scores if isinstance(one, dict)]) for name in first}


def measure_of(
    judge: Judge,
    target: Target,
    sets: TrainingSets,
    tests: Sequence[Rows],
    params: Mapping[str, Any],
) -> Measure | None:
    """What the judge's scorer asks for, by the law of scores; None where the scorer itself has to be asked.
    `params` is what else the scorer is given."""
    if params:
        return _weighted(judge, target, tests, params)
    least = min(map(len, tests))
    if not isinstance(target, ClassTarget):
        return RSquared(target) if judge.is_r2 and least > 1 else None
    if least == 0:
        return None
    if isinstance(judge.scorer, CostScorer) and target.costs.matrix is not None:
        return Cost(target, target.costs.matrix)
    if judge.is_log_loss and _all_there(target, sets, tests):
        return LogLoss(target)
    return Accuracy(target) if judge.is_accuracy else None


def _weighted(
    judge: Judge, target: Target, tests: Sequence[Rows], params: Mapping[str, Any]
) -> Measure | None:
    if list(params) != ["sample_weight"] or not judge.is_accuracy or not isinstance(target, ClassTarget):
        return None
    weights = np.asarray(params["sample_weight"])
    fit = weights.shape == (target.n_rows,) and all(weights[rows].any() for rows in tests)
    return WeightedAccuracy(target, weights.astype(np.float64)) if fit else None


def _all_there(target: ClassTarget, sets: TrainingSets, tests: Sequence[Rows]) -> bool:
    """Whether each set, and the rows of each test, have every class: scikit-learn's log loss asks for it."""
    n = len(target.labels)
    counts = [one.count(target.codes, n, target.counts) for one in sets]
    counts += [np.bincount(target.codes[rows], minlength=n) for rows in tests]
    return n > 1 and all(count.all() for count in counts)


class CostScorer:
    """Minus the mean cost of a fitted model's answers."""

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        actual = estimator._encode(y, estimator.tree_).codes
        answered = np.searchsorted(estimator.classes_, estimator.predict(X))
        return -exact_mean(np.array(estimator.cost_matrix, dtype=np.float64)[actual, answered])

    def __repr__(self) -> str:
        return "minus the mean cost"
