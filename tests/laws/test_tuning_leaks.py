"""Rows that a fold leaves out have no part in its growth, its pruning or its choice: whatever they become,
nothing changes there."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import KFold, ParameterGrid

from hornbeam import TreeClassifier
from hornbeam.model_selection import TreeSearchCV
from tests.laws.test_folds import some_rows
from tests.laws.tuning_cases import QUIET, Rows, fingerprint, split_scores

pytestmark = pytest.mark.filterwarnings(*QUIET)
EXAMPLES = settings.default.max_examples  # type: ignore[union-attr]
SEED = st.integers(0, 2**32 - 1)


def altered(X: pd.DataFrame, y: Any, rows: Rows, source: random.Random) -> tuple[pd.DataFrame, Any]:
    """Other values, gaps, categories and classes that nobody else has, and other labels, in these rows."""
    X, y = X.copy(), np.array(y, dtype=object)
    n = len(rows)
    X.loc[rows, "few"] = np.array([source.choice([0, 3, 99]) for _ in range(n)])
    X.loc[rows, "ties"] = np.array([source.choice([-1e9, 0.05, np.nan]) for _ in range(n)])
    X.loc[rows, "gaps"] = np.array([source.choice([0.5, np.nan, 1e9]) for _ in range(n)])
    X.loc[rows, "text"] = [source.choice(["!", "a", "zz"]) for _ in range(n)]
    y[rows] = [source.choice("tuvwx") for _ in range(n)]
    return X, y.astype(str)


LEAKY: list[dict[str, list[Any]]] = [
    {"criterion": ["gini", "gain_ratio"], "min_samples_leaf": [1, 0.1], "max_depth": [None, 2]},
    {"criterion": ["c45"], "nominal": ["multiway"], "min_objs": [2, 5], "min_samples_split": [2, 0.3]},
    {"prune": ["error_based"], "confidence": [0.1, 0.5], "nominal": ["value"]},
    {"ccp_alpha": [0.005, 0.03], "min_impurity_decrease": [0.0, 0.01]},
    {"prune": ["reduced_error"], "max_depth": [None, 4]},
]


@settings(max_examples=max(8, EXAMPLES // 4))
@given(SEED, st.sampled_from([None, "balanced"]))
def test_rows_held_out_never_touch_the_trees_of_their_fold(seed: int, class_weight: Any) -> None:
    source = random.Random(seed)
    X, y, _, weights = some_rows(seed, 60)
    splits = list(KFold(4, shuffle=True, random_state=seed % 1000).split(X))
    model = TreeClassifier(random_state=5, class_weight=class_weight)
    params = {"sample_weight": weights + 0.25} if source.random() < 0.5 else {}
    search = TreeSearchCV(model, LEAKY, cv=splits, scoring=fingerprint, refit=False)
    before = split_scores(clone(search).fit(X, y, **params).cv_results_)
    fold = source.randrange(4)
    if params:
        params = {"sample_weight": np.where(np.isin(np.arange(60), splits[fold][1]), 7.5, weights + 0.25)}
    X, y = altered(X, y, splits[fold][1], source)
    after = split_scores(clone(search).fit(X, y, **params).cv_results_)
    assert before[:, fold].tolist() == after[:, fold].tolist()
    others = np.delete(np.arange(4), fold)
    assert (before[:, others] != after[:, others]).any()  # they did learn from these rows


@settings(max_examples=max(8, EXAMPLES // 4))
@given(SEED)
def test_rows_held_out_never_touch_what_their_fold_says_of_others(seed: int) -> None:
    """The same for accuracies, which are counted without models: those of the training rows stay."""
    source = random.Random(seed)
    X, y, _, _ = some_rows(seed, 60)
    splits = list(KFold(4, shuffle=True, random_state=seed % 1000).split(X))
    search = TreeSearchCV(
        TreeClassifier(random_state=5), LEAKY, cv=splits, refit=False, return_train_score=True
    )
    before = split_scores(clone(search).fit(X, y).cv_results_, "train_score")
    fold = source.randrange(4)
    after = split_scores(
        clone(search).fit(*altered(X, y, splits[fold][1], source)).cv_results_, "train_score"
    )
    assert before[:, fold].tolist() == after[:, fold].tolist()


# Outer folds that are not shuffled are blocks where each block has as many rows of each class; they stay so
# whatever becomes of the attributes, and in whatever order a block has its labels.
BLOCK = 12


def blocks(seed: int, k: int) -> tuple[pd.DataFrame, Any]:
    X, _, _, _ = some_rows(seed, BLOCK * k)
    rng = np.random.default_rng(seed)
    by_attribute = np.where(X["ties"] > 0, 1, 0) + np.where(X["few"] > 2, 1, 0) + rng.random(len(X)) * 1.5
    y = np.empty(len(X), dtype="<U1")
    for i in range(k):
        rows = np.arange(BLOCK * i, BLOCK * (i + 1))
        y[rows[np.argsort(by_attribute[rows], kind="stable")]] = list("u" * 4 + "v" * 4 + "w" * 4)
    return X, y


def other_block(X: pd.DataFrame, y: Any, i: int, source: random.Random) -> tuple[pd.DataFrame, Any]:
    """Other attributes for the rows of a block, and their labels in another order."""
    rows = np.arange(BLOCK * i, BLOCK * (i + 1))
    changed, _ = altered(X, y, rows, source)
    y = y.copy()
    y[rows] = source.sample(y[rows].tolist(), BLOCK)
    return changed, y


@settings(max_examples=max(8, EXAMPLES // 4))
@given(SEED, st.sampled_from(["best", "1se"]), st.sampled_from(["mean", "trimmed"]))
def test_rows_of_an_outer_fold_never_touch_the_choice_inside_it(seed: int, select: str, mean: str) -> None:
    source = random.Random(seed)
    X, y = blocks(seed, 4)
    model = TreeClassifier(random_state=5)
    search = TreeSearchCV(model, LEAKY, cv=3, nested=4, select=select, mean=mean, refit=False)
    before = clone(search).fit(X, y).search_.nested
    i = source.randrange(4)
    after = clone(search).fit(*other_block(X, y, i, source)).search_.nested
    assert before.params[i] == after.params[i]
    event(f"other folds choose otherwise: {before.params != after.params}")
    event(f"the fold scores otherwise: {before.scores[i] != after.scores[i]}")


class Watching:
    """A scorer that remembers which trees were judged by the rows of each block."""

    def __init__(self) -> None:
        self.seen: dict[int, list[float]] = {}

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        (block,) = set((X.index // BLOCK).tolist())
        self.seen.setdefault(int(block), []).append(fingerprint(model, X, y))
        return 0.5


@settings(max_examples=max(4, EXAMPLES // 10))
@given(SEED)
def test_no_tree_that_an_outer_fold_judges_knows_its_rows(seed: int) -> None:
    """Those without two folds, which serve the choice inside both, and those without one: all that the rows
    of a fold judge, before and after these rows were changed."""
    source = random.Random(seed)
    X, y = blocks(seed, 4)
    i, grid, seen = source.randrange(4), source.sample(LEAKY, 2), []
    for rows in ((X, y), other_block(X, y, i, source)):
        watching = Watching()
        TreeSearchCV(TreeClassifier(random_state=5), grid, cv=4, nested=4, refit=False, scoring=watching).fit(
            *rows
        )
        seen.append(watching.seen)
    before, after = seen
    n_settings = len(ParameterGrid(grid))
    # Each block judges the trees of the search, of its outer fold, and of the pairs with three others.
    assert [len(before[block]) for block in range(4)] == [5 * n_settings] * 4
    assert sorted(before[i]) == sorted(after[i])
    assert all(sorted(before[j]) != sorted(after[j]) for j in range(4) if j != i)
