"""Training sets: kept small, told apart, and handed to the core as counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    LeavePOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from hornbeam.errors import DataError, UsageError
from hornbeam.growth import TrainingSet, TrainingSets

N = 24
CLASSES = np.arange(N) % 3 % 2


def sets_of(cv: Any) -> TrainingSets:
    groups = np.arange(N) // 2 if isinstance(cv, GroupKFold) else None
    splits = cv.split(np.zeros(N), CLASSES, groups)
    return TrainingSets.of_rows(N, (train for train, _ in splits), all_rows_first=True)


@pytest.mark.parametrize(
    "cv",
    [
        KFold(2),
        KFold(5, shuffle=True, random_state=0),
        StratifiedKFold(3),
        GroupKFold(4),
        RepeatedKFold(n_splits=4, n_repeats=3, random_state=0),
        RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0),
        PredefinedSplit(np.arange(N) // 9),
        LeaveOneOut(),
    ],
    ids=lambda cv: type(cv).__name__,
)
def test_complements_of_partitions_are_folds(cv: Any) -> None:
    sets = sets_of(cv)
    assert sets.kind == "folds"
    assert sets.checked("folds") == "folds"


@pytest.mark.parametrize(
    "cv",
    [
        ShuffleSplit(3, random_state=0),
        TimeSeriesSplit(3),
        LeavePOut(2),
        PredefinedSplit(np.arange(N) % 4 - 1),
    ],
    ids=lambda cv: type(cv).__name__,
)
def test_other_sets_overlap(cv: Any) -> None:
    sets = sets_of(cv)
    assert sets.kind == "overlapping"
    assert sets.checked("overlapping") == "overlapping"
    with pytest.raises(UsageError, match="algorithm='folds' for training sets that are not the complements"):
        sets.checked("folds")


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        ([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]], "folds"),
        ([[3, 2], [1, 0]], "folds"),
        ([[2, 3], [0, 1, 1]], "overlapping"),
        ([[2, 3]], "overlapping"),
        ([[2, 3], [0, 1], [1, 3]], "overlapping"),
        ([[0, 1, 2, 3], [0, 1]], "overlapping"),
        ([], "overlapping"),
    ],
)
def test_partitions_must_be_whole(rows: Any, kind: str) -> None:
    assert TrainingSets.of_rows(4, rows, all_rows_first=True).kind == kind


def test_the_counts_are_those_of_the_rows() -> None:
    rows = [[0, 2, 2, 1], [3], list(range(5)), [True, False, True, True, True], [4, 0, 1, 2], [-1, -5]]
    sets = TrainingSets.of_rows(5, rows)
    expected = [[1, 1, 2, 0, 0], [0, 0, 0, 1, 0], [1] * 5, [1, 0, 1, 1, 1], [1, 1, 1, 0, 1], [1, 0, 0, 0, 1]]
    assert sets.multiplicity().T.tolist() == expected
    assert sets.multiplicity(1, 3).T.tolist() == expected[1:3]
    assert sets.multiplicity().flags.f_contiguous  # a set in one piece
    assert [len(one) for one in sets] == [4, 1, 5, 4, 4, 2]
    codes = np.array([0, 1, 0, 2, 2], dtype=np.int32)
    for one, times in zip(sets, expected, strict=True):
        assert one.count(codes, 3, np.bincount(codes)).tolist() == np.bincount(codes, times, 3).tolist()


def test_rows_come_back_in_their_order() -> None:
    """What draws rows at random depends on it."""
    for rows in ([4, 0, 3, 1], [0, 1, 3, 4], [2, 2, 0], [1]):
        assert TrainingSet.of_rows(5, rows).rows.tolist() == rows


def test_leave_one_out_of_many_rows_is_small() -> None:
    n = 3000
    sets = TrainingSets.of_rows(n, (np.delete(np.arange(n), i) for i in range(n)))
    kept = [0 if array is None else array.nbytes for one in sets for array in (one.left_out, one.taken)]
    assert sum(kept) == 8 * n
    assert sets.kind == "folds"


def test_a_row_counts_no_more_than_255_times() -> None:
    assert TrainingSet.of_rows(3, [1] * 255).times().tolist() == [0, 255, 0]
    with pytest.raises(
        DataError, match="row 1 is 256 times in one training set; up to 255 times are allowed"
    ):
        TrainingSet.of_rows(3, [1] * 256).times()
