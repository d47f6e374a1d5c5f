"""Folds as C4.5's xval-prep deals them: sizes and the rows of each class differ by one at most."""

from __future__ import annotations

import numpy as np
import pytest

from hornbeam.errors import DataError, UsageError
from hornbeam.growth import ClassTarget, NumericTarget
from hornbeam.validation.splits import deal_in_turn, deal_repeatedly, folds_of


def classes(*counts: int) -> ClassTarget:
    codes = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return ClassTarget(np.random.default_rng(3).permutation(codes), np.arange(len(counts)))


@pytest.mark.parametrize("counts", [(50, 31), (7, 1, 30), (3, 3, 3, 2), (20,)])
@pytest.mark.parametrize("k", [2, 3, 5, 10])
def test_sizes_and_classes_differ_by_one_at_most(counts: tuple[int, ...], k: int) -> None:
    target = classes(*counts)
    folds = deal_in_turn(target, k, np.random.RandomState(0))
    assert np.ptp(np.bincount(folds, minlength=k)) <= 1
    for code in range(len(counts)):
        assert np.ptp(np.bincount(folds[target.codes == code], minlength=k)) <= 1


def test_numbers_are_shuffled_and_dealt() -> None:
    target = NumericTarget(np.arange(23.0)[:, None], ("y",))
    folds = deal_in_turn(target, 4, np.random.RandomState(0))
    assert sorted(np.bincount(folds).tolist()) == [5, 6, 6, 6]
    assert (np.diff(folds) != 1).any()


def test_each_repetition_is_a_partition_of_its_own() -> None:
    target = classes(20, 17)
    folds = deal_repeatedly(target, 4, 3, np.random.RandomState(5))
    assert len(folds) == 12
    parts = [folds[begin : begin + 4] for begin in (0, 4, 8)]
    for part in parts:
        assert sorted(np.concatenate(part).tolist()) == list(range(37))
        assert all((np.diff(rows) > 0).all() for rows in part)
    assert len({tuple(map(tuple, part)) for part in parts}) == 3
    again = deal_repeatedly(target, 4, 3, np.random.RandomState(5))
    assert all(np.array_equal(a, b) for a, b in zip(folds, again, strict=True))


def test_more_folds_than_rows_are_refused() -> None:
    random, target = np.random.RandomState(0), classes(3, 2)
    for repeats in (1, 4):
        with pytest.raises(DataError, match="6 folds of n_samples=5 rows; use at most 5 folds"):
            folds_of(6, repeats, None, target.codes, target, {}, random)


def test_repetitions_need_a_number_of_folds() -> None:
    random, target = np.random.RandomState(0), classes(30, 20)
    for cv in ([([0], [1])], 1, "five", True):
        with pytest.raises(UsageError, match="with repeats=2: each repetition deals its own folds"):
            folds_of(cv, 2, None, target.codes, target, {}, random)
    assert len(folds_of(None, 2, None, target.codes, target, {}, random).tests) == 10
