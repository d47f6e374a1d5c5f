"""Rows that a fold leaves out have no part in its growth, its pruning or its choice: whatever they become,
nothing changes there."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import KFold

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
