"""Dealing rows to folds at random, as scikit-learn's KFold and StratifiedKFold do with shuffle=True."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hornbeam.errors import DataError

FoldNumbers = npt.NDArray[np.int64]


def deal_rows(n_rows: int, k: int, seed: int) -> FoldNumbers:
    """The fold, from 0, of each row: sizes differ by one at most."""
    if k > n_rows:
        raise DataError(f"{k} folds of {n_rows} rows; use at most {n_rows} folds, or give more rows")
    sizes = np.full(k, n_rows // k)
    sizes[: n_rows % k] += 1
    order = np.arange(n_rows)
    np.random.RandomState(seed).shuffle(order)
    folds = np.empty(n_rows, dtype=np.int64)
    folds[order] = np.repeat(np.arange(k), sizes)
    return folds


def deal_classes(codes: npt.NDArray[np.int32], k: int, seed: int) -> FoldNumbers:
    """The fold of each row, with nearly the same share of every class in each."""
    present, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    ranks = np.argsort(np.argsort(first))[inverse]  # classes in the order of their first row
    counts = np.bincount(ranks)
    if k > counts.max():
        raise DataError(
            f"{k} folds, but no class has as many rows (the largest has {counts.max()}); use fewer folds"
        )
    dealt = np.sort(ranks)
    shares = np.array([np.bincount(dealt[i::k], minlength=len(present)) for i in range(k)])
    random = np.random.RandomState(seed)
    folds = np.empty(len(codes), dtype=np.int64)
    for place in range(len(present)):
        numbers = np.arange(k).repeat(shares[:, place])
        random.shuffle(numbers)
        folds[ranks == place] = numbers
    return folds
