"""Scoring a fold as scikit-learn does: any scorer, several at once, and what a failure counts as."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from traceback import format_exc
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import accuracy_score, check_scoring, log_loss, r2_score
from sklearn.utils import _safe_indexing

from hornbeam.errors import UsageError
from hornbeam.growth import ClassTarget, Target
from hornbeam.model import RoutedTable, Tree
from hornbeam.table import Table
from hornbeam.validation.estimate import r2

Rows = npt.NDArray[np.int64]
Score = float | dict[str, float]


class Judge:
    """A scorer, and the rows it is shown: of our own table where it only asks the estimator about them."""

    def __init__(self, estimator: Any, scoring: Any, error_score: Any) -> None:
        if error_score != "raise" and not isinstance(error_score, numbers.Number):
            raise UsageError(f"error_score={error_score!r}: 'raise' or a number is allowed")
        self.error_score = error_score
        self.scorer = check_scoring(estimator, scoring=scoring, raise_exc=error_score == "raise")
        self._names = list(getattr(self.scorer, "_scorers", ()))
        own = bool(getattr(estimator, "_answers_itself", False))
        self._knows_table = own and _asks_only(self.scorer)
        self.is_accuracy = own and is_classifier(estimator) and _means(self.scorer, accuracy_score)
        self.is_log_loss = (
            own and is_classifier(estimator) and _calls(self.scorer, log_loss, -1, "predict_proba")
        )
        self._is_r2 = own and is_regressor(estimator) and _means(self.scorer, r2_score) and _sums_as_we_do()

    def gives_r2(self, y: Any) -> bool:
        """Whether the scorer gives what we call R², to the last bit, of such targets."""
        return self._is_r2 and _plain(y)

    def quick(self, tree: Tree, routed: RoutedTable, target: Target, y: Any, rows: Rows) -> float | None:
        """Accuracy or R², where that is what the scorer gives, without a model; None where it is not."""
        if isinstance(target, ClassTarget):
            if not self.is_accuracy or len(rows) == 0:
                return None
            right = routed.classes(tree, rows) == target.codes.take(rows)
            return int(np.count_nonzero(right)) / len(rows)
        if not self.gives_r2(y) or len(rows) < 2:
            return None
        return r2(target.values[rows], tree.means[routed.leaves(tree, rows)])

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


def _plain(y: Any) -> bool:
    """Whether targets are numbers that lie as we keep them: sums are then taken in the same order."""
    dtype = getattr(y, "dtype", None)
    if not isinstance(dtype, np.dtype) or dtype.kind not in "fiu" or dtype.itemsize > 8:
        return False
    return y.ndim == 1 or (isinstance(y, np.ndarray) and y.flags.c_contiguous)


@cache
def _sums_as_we_do() -> bool:
    """Whether the scikit-learn that is installed gives the R² that we do, to the last bit."""
    rows = np.arange(3000.0).reshape(-1, 3)
    actual, answered = np.sin(rows), np.sin(rows + 0.1)
    parts = [(actual, answered), (actual[:, :1].copy(), answered[:, :1].copy())]
    return all(r2(*part) == r2_score(*part) for part in parts)


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
