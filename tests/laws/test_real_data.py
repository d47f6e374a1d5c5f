"""On real sets the tree is as good as scikit-learn's: the same folds, the same settings, numeric columns."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from hornbeam import TreeClassifier, TreeRegressor
from tests.agreement import agree_by
from tests.real_data import RealSet

# Sets of at least 1000 rows with numeric columns; of the larger ones a sample is taken. Not of letter: its
# integers are full of ties, and which of them wins moves the accuracy of a sample by nearly a point.
SETS = [
    *(
        "yeast",
        "spambase",
        "pendigits_test",
        "pendigits_train",
        "letter",
        "adult_test",
        "adult_train",
        "nomao",
    ),
    *("electricity", "shuttle"),
]
MOST_ROWS = 6000
WHOLE = ("letter",)
POINT = 0.01
SEEDS = range(3)  # scikit-learn breaks ties at random: its mean over these


def numeric_part(real: RealSet) -> tuple[npt.NDArray[np.float64], npt.NDArray[Any]]:
    X = real.table[list(real.numeric)].to_numpy(np.float64)
    y = real.target.to_numpy()
    rows = np.random.default_rng(0).permutation(len(y))[: None if real.name in WHOLE else MOST_ROWS]
    return X[rows], y[rows]


def hash_of(X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> str:
    """Of what the models are given: the sets are files of their own."""
    return hashlib.sha256(repr((X.tolist(), y.tolist())).encode()).hexdigest()


def mean_score(models: list[Any], X: Any, y: Any, folds: Any) -> float:
    """Mean of the models' own scores over all folds."""
    scores = [
        model.fit(X[train], y[train]).score(X[test], y[test])
        for train, test in folds.split(X, y)
        for model in models
    ]
    return float(np.mean(scores))


@pytest.mark.agreed
@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("leaf", [1, 10])
@pytest.mark.parametrize("name", SETS)
def test_ten_fold_accuracy_is_within_a_point_of_scikit_learns(
    real_set: Callable[[str], RealSet], name: str, leaf: int
) -> None:
    X, y = numeric_part(real_set(name))
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    ours = mean_score([TreeClassifier(min_samples_leaf=leaf)], X, y, folds)

    def judge() -> None:
        seeds = SEEDS if X.shape[1] < 50 else range(1)
        peers = [DecisionTreeClassifier(min_samples_leaf=leaf, random_state=seed) for seed in seeds]
        theirs = mean_score(peers, X, y, folds)
        print(f"{name}, leaf {leaf}: {ours:.4f}, scikit-learn {theirs:.4f}, difference {ours - theirs:+.4f}")
        assert abs(ours - theirs) <= POINT

    agree_by((hash_of(X, y), leaf), ours, judge)


@pytest.mark.agreed
@pytest.mark.parametrize("leaf", [1, 10])
def test_ten_fold_r2_is_within_two_hundredths_of_scikit_learns(
    real_set: Callable[[str], RealSet], leaf: int
) -> None:
    X, y = numeric_part(real_set("abalone"))
    folds = KFold(10, shuffle=True, random_state=0)
    ours = mean_score([TreeRegressor(min_samples_leaf=leaf)], X, y, folds)

    def judge() -> None:
        peers = [DecisionTreeRegressor(min_samples_leaf=leaf, random_state=seed) for seed in SEEDS]
        theirs = mean_score(peers, X, y, folds)
        print(f"abalone, leaf {leaf}: {ours:.4f}, scikit-learn {theirs:.4f}, difference {ours - theirs:+.4f}")
        assert abs(ours - theirs) <= 0.02

    agree_by((hash_of(X, y), leaf), ours, judge)
