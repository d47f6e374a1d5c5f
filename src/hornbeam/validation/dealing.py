"""The folds of scikit-learn's KFold and StratifiedKFold without the index arrays that they give.

Most of a small cross-validation would be spent on them. Subclasses, other splitters and whatever is refused
are left to scikit-learn, and so is everything where its folds turn out not to be ours.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import check_random_state

from hornbeam.growth import ClassTarget, Target
from hornbeam.validation.folds import Rows, rows_by_fold, spread_classes, spread_rows


def dealt_rows(cv: Any, target: Target, params: Mapping[str, Any]) -> tuple[Rows, ...] | None:
    """The rows that each fold leaves out, ascending; None where scikit-learn has to be asked."""
    if type(cv) not in (KFold, StratifiedKFold) or any(given is not None for given in params.values()):
        return None
    if type(cv.n_splits) is not int or not 2 <= cv.n_splits <= target.n_rows or not _deals_as_we_do():
        return None
    try:
        if type(cv) is KFold:
            return _of_rows(cv, target.n_rows)
        return _of_classes(cv, target.codes, target.counts) if isinstance(target, ClassTarget) else None
    except ValueError:  # a wrong random_state: nothing was drawn yet
        return None


def _of_rows(cv: Any, n_rows: int) -> tuple[Rows, ...]:
    random = _generator(cv.random_state) if cv.shuffle else None
    return rows_by_fold(spread_rows(n_rows, cv.n_splits, random), cv.n_splits)


def _of_classes(cv: Any, codes: Any, counts: Any) -> tuple[Rows, ...] | None:
    k, present = cv.n_splits, counts[counts > 0]
    if k > int(present.max()) or 2 * len(present) > len(codes):
        return None  # an error, or a warning about y
    random = _generator(cv.random_state) if cv.shuffle else None
    rows = rows_by_fold(spread_classes(codes, counts, k, random), k)
    if k > int(present.min()):  # at last: whoever hears it may draw too
        warnings.warn(_few(int(present.min()), k), UserWarning, stacklevel=2)
    return rows


_kept = threading.local()


def _generator(state: Any) -> np.random.RandomState:
    """As check_random_state. To seed a generator once more takes a fiftieth of the time of a new one."""
    generator: np.random.RandomState
    if type(state) is not int:
        generator = check_random_state(state)
        return generator
    if not hasattr(_kept, "generator"):
        _kept.generator = np.random.RandomState(0)
    generator = _kept.generator
    generator.seed(state)
    return generator


def _few(rows: int, k: int) -> str:
    return f"The least populated class in y has only {rows} members, which is less than n_splits={k}."


@cache
def _deals_as_we_do() -> bool:
    """Whether the scikit-learn that is installed deals a small example as we do, and warns as we do."""
    codes = np.array([2, 0, 0, 2, 1, 0, 2, 2, 1, 0, 2, 0, 0, 2, 2, 0, 2, 1, 0, 0, 2], dtype=np.int32)
    counts, k = np.bincount(codes), 4
    for shuffled in ({}, {"shuffle": True, "random_state": 5}):
        rows, classes = KFold(k, **shuffled), StratifiedKFold(k, **shuffled)
        pairs = [(list(rows.split(codes)), _of_rows(rows, len(codes)))]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            pairs.append((list(classes.split(codes, codes)), _of_classes(classes, codes, counts) or ()))
        if [(w.category, str(w.message)) for w in said] != [(UserWarning, _few(3, k))] * 2:
            return False
        for theirs, ours in pairs:
            if len(theirs) != len(ours) or not all(
                np.array_equal(test, out) and np.array_equal(train, np.delete(np.arange(len(codes)), out))
                for (train, test), out in zip(theirs, ours, strict=True)
            ):
                return False
    return True
