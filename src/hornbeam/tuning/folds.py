"""The folds of a search: scikit-learn's, or dealt anew for each repetition as C4.5's xval-prep deals them."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np

from hornbeam.arguments import is_number, shown
from hornbeam.errors import DataError, UsageError
from hornbeam.growth import ClassTarget, Target, TrainingSet, TrainingSets
from hornbeam.validation.folds import FoldNumbers, Rows, rows_by_fold
from hornbeam.validation.splits import Splits, splits_of, splitter_of

FOLDS = 5  # scikit-learn's, where `cv` is None


def folds_of(
    cv: Any,
    repeats: int,
    X: Any,
    y: Any,
    target: Target,
    params: Mapping[str, Any],
    random: np.random.RandomState,
) -> Splits:
    """The training set of all rows, those of the folds, and the rows that judge these."""
    if is_number(cv, numbers.Integral):
        check_folds(int(cv), target.n_rows)
    if repeats == 1:
        return splits_of(splitter_of(cv, y, target), X, y, target, params)
    if cv is not None and not (is_number(cv, numbers.Integral) and cv >= 2):
        raise UsageError(
            f"{shown('cv', cv)} with repeats={repeats}: each repetition deals its own folds; give a number "
            "from 2, or repeats=1",
            parameter="cv",
        )
    folds = deal_repeatedly(target, FOLDS if cv is None else int(cv), repeats, random)
    n_rows = target.n_rows
    each = (TrainingSet(n_rows, left_out=rows) for rows in folds)
    return Splits(TrainingSets(n_rows, (TrainingSet(n_rows), *each)), folds)


def deal_in_turn(target: Target, k: int, random: np.random.RandomState) -> FoldNumbers:
    """The fold of each row: shuffled, ordered by class, and dealt one to each fold in turn. Sizes, and the
    rows of each class, differ by one at most between folds."""
    order = random.permutation(target.n_rows)
    if isinstance(target, ClassTarget):
        order = order[np.argsort(target.codes[order], kind="stable")]
    folds = np.empty(target.n_rows, dtype=np.int64)
    folds[order] = np.arange(target.n_rows) % k
    return folds


def deal_repeatedly(target: Target, k: int, repeats: int, random: np.random.RandomState) -> tuple[Rows, ...]:
    """The rows of each fold, repetition after repetition."""
    check_folds(k, target.n_rows)
    return tuple(rows for _ in range(repeats) for rows in rows_by_fold(deal_in_turn(target, k, random), k))


def check_folds(k: int, n_rows: int) -> None:
    if k > n_rows:
        raise DataError(
            f"{k} folds of n_samples={n_rows} rows; use at most {n_rows} folds, or give more rows"
        )
