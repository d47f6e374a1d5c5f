"""KFold and StratifiedKFold dealt by ourselves: the folds, the warnings and the draws are scikit-learn's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from hornbeam.errors import DataError
from hornbeam.growth import ClassTarget, NumericTarget, Target
from hornbeam.validation import splits
from hornbeam.validation.splits import dealt_rows, splits_of


def classes(codes: list[int], n_labels: int = 6) -> ClassTarget:
    return ClassTarget(np.array(codes, dtype=np.int32), np.arange(n_labels))


def said(cv: Any, target: Target) -> tuple[list[Any], list[str]]:
    """What scikit-learn's split gives and says of a target; None where it refuses."""
    y = target.codes if isinstance(target, ClassTarget) else target.values[:, 0]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        folds = list(cv.split(np.zeros(len(y)), y))
    return folds, [str(one.message) for one in heard]


def check(ours: Any, theirs: Any, target: Target) -> None:
    folds, messages = said(theirs, target)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        splits = splits_of(ours, None, None, target, {"groups": None})
    assert [str(one.message) for one in heard] == messages
    assert len(splits.tests) == len(folds)
    for i, (train, test) in enumerate(folds):
        assert np.array_equal(splits.tests[i], test)
        assert np.array_equal(splits.sets[i + 1].rows, train)
    assert splits.sets.kind == "folds"


@given(st.lists(st.integers(0, 5), min_size=4, max_size=60), st.integers(2, 9), st.integers(0, 99))
def test_classes_are_dealt_as_scikit_learn_deals_them(codes: list[int], k: int, seed: int) -> None:
    target = classes(codes)
    k = min(k, int(target.counts.max()))
    if k < 2:
        return
    check(StratifiedKFold(k), StratifiedKFold(k), target)
    shuffled = {"shuffle": True, "random_state": seed}
    check(StratifiedKFold(k, **shuffled), StratifiedKFold(k, **shuffled), target)


@given(st.integers(2, 300), st.integers(2, 300), st.integers(0, 99))
def test_rows_are_dealt_as_scikit_learn_deals_them(n: int, k: int, seed: int) -> None:
    target = NumericTarget(np.arange(float(n))[:, None], ("y",))
    k = min(k, n)
    check(KFold(k), KFold(k), target)
    check(KFold(k, shuffle=True, random_state=seed), KFold(k, shuffle=True, random_state=seed), target)


@pytest.mark.parametrize("kind", [KFold, StratifiedKFold])
def test_a_generator_goes_on_as_in_scikit_learn(kind: Any) -> None:
    target = classes([0, 1, 1, 0, 2, 2, 2, 1, 0, 0, 1, 2] * 3)
    ours, theirs = (kind(3, shuffle=True, random_state=np.random.RandomState(7)) for _ in range(2))
    for _ in range(3):
        check(ours, theirs, target)
    np.random.seed(11)
    mine = dealt_rows(kind(3, shuffle=True), target, {})
    state = np.random.get_state()[1]
    np.random.seed(11)
    folds, _ = said(kind(3, shuffle=True), target)
    assert mine is not None
    assert all(np.array_equal(rows, test) for rows, (_, test) in zip(mine, folds, strict=True))
    assert np.array_equal(state, np.random.get_state()[1])


class Other(StratifiedKFold):
    """A splitter that somebody changed."""


@pytest.mark.parametrize(
    ("cv", "params"),
    [
        (Other(2), {}),
        (GroupKFold(2), {}),
        (StratifiedKFold(2), {"groups": np.arange(8)}),  # a warning
        (StratifiedKFold(5), {}),  # an error
        (KFold(9), {}),  # an error
    ],
)
def test_what_is_not_sure_is_left_to_scikit_learn(cv: Any, params: dict[str, Any]) -> None:
    assert dealt_rows(cv, classes([0, 1, 0, 1, 0, 1, 0, 1]), params) is None


@pytest.mark.parametrize("state", [-1, "seven", 2**40])
@pytest.mark.parametrize("kind", [KFold, StratifiedKFold])
def test_a_wrong_seed_is_refused_in_scikit_learns_words(kind: Any, state: Any) -> None:
    cv = kind(2, shuffle=True, random_state=state)
    with pytest.raises(DataError, match=r"cv=.*(Seed must be between 0|cannot be used to seed)"):
        splits_of(cv, None, None, classes([0, 1, 0, 1, 0, 1]), {})


def test_many_classes_are_left_to_scikit_learn() -> None:
    """It wonders whether such a y holds numbers."""
    assert dealt_rows(StratifiedKFold(2), classes([0, 1, 2, 3, 4, 4]), {}) is None


def test_numbers_are_not_dealt_by_class() -> None:
    assert dealt_rows(StratifiedKFold(2), NumericTarget(np.arange(8.0)[:, None], ("y",)), {}) is None


def test_another_dealing_of_scikit_learn_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert splits._deals_as_we_do()
    plain = splits.spread_classes
    monkeypatch.setattr(splits, "spread_classes", lambda *given: (plain(*given) + 1) % given[2])
    assert not splits._deals_as_we_do.__wrapped__()
    monkeypatch.undo()
    monkeypatch.setattr(splits, "_few", lambda rows, k: "few rows")
    assert not splits._deals_as_we_do.__wrapped__()
