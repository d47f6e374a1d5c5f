"""Dealing rows to folds, as scikit-learn's KFold and StratifiedKFold do it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hornbeam.errors import DataError
from hornbeam.growth import ClassTarget, Target

FoldNumbers = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int64]


def deal_folds(target: Target, k: int, seed: int) -> FoldNumbers:
    """The fold, from 0, of each row: of each class, or of all rows, its share."""
    if isinstance(target, ClassTarget):
        return deal_classes(target.codes, k, seed)
    return deal_rows(target.n_rows, k, seed)


def deal_rows(n_rows: int, k: int, seed: int) -> FoldNumbers:
    """The fold, from 0, of each row, drawn at random: sizes differ by one at most."""
    if k > n_rows:
        raise DataError(f"{k} folds of {n_rows} rows; use at most {n_rows} folds, or give more rows")
    return spread_rows(n_rows, k, np.random.RandomState(seed))


def deal_classes(codes: npt.NDArray[np.int32], k: int, seed: int) -> FoldNumbers:
    """The fold of each row, drawn at random, with nearly the same share of every class in each."""
    counts = np.bincount(codes)
    largest = int(counts.max())
    if k > largest:
        raise DataError(
            f"{k} folds, but no class has as many rows (the largest has {largest}); use fewer folds"
        )
    return spread_classes(codes, counts, k, np.random.RandomState(seed))


def spread_rows(n_rows: int, k: int, random: np.random.RandomState | None) -> FoldNumbers:
    """Rows to folds as KFold does: one block after the other, of all rows in a random order if asked for."""
    sizes = np.full(k, n_rows // k)
    sizes[: n_rows % k] += 1
    numbers = np.arange(k).repeat(sizes)
    if random is None:
        return numbers
    order = np.arange(n_rows)
    random.shuffle(order)
    folds = np.empty(n_rows, dtype=np.int64)
    folds[order] = numbers
    return folds


def spread_classes(
    codes: npt.NDArray[np.int32],
    counts: npt.NDArray[np.int64],
    k: int,
    random: np.random.RandomState | None,
) -> FoldNumbers:
    """Rows to folds as StratifiedKFold does: class after class, by their first rows, each fold its share.
    `counts` are the rows of each class."""
    n_rows = len(codes)
    first = np.full(len(counts), n_rows)
    first[codes[::-1]] = np.arange(n_rows)[::-1]  # of several rows of a class the last one stays
    classes = np.argsort(first, kind="stable")[: np.count_nonzero(counts)]
    rank = np.empty(len(counts), dtype=_small(len(counts)))
    rank[classes] = np.arange(len(classes))
    # Rows class after class go around the folds: so many of each class fall to each.
    ends = np.cumsum(counts[classes])
    turns = (np.concatenate(([0], ends))[:, None] + np.arange(k - 1, -1, -1)) // k
    dealt = []
    for share in np.diff(turns, axis=0):
        numbers = np.arange(k).repeat(share)
        if random is not None:
            random.shuffle(numbers)
        dealt.append(numbers)
    folds = np.empty(n_rows, dtype=np.int64)
    folds[np.argsort(rank.take(codes), kind="stable")] = np.concatenate(dealt)
    return folds


def rows_by_fold(folds: FoldNumbers, k: int) -> tuple[Rows, ...]:
    """The rows of each fold, ascending."""
    order = np.argsort(folds.astype(_small(k)), kind="stable")
    return tuple(np.split(order, np.cumsum(np.bincount(folds, minlength=k))[:-1]))


def _small(n_codes: int) -> type[np.generic]:
    """The type of codes below n_codes that are sorted by their digits, if there is one."""
    return np.uint8 if n_codes <= 2**8 else np.uint16 if n_codes <= 2**16 else np.int64
