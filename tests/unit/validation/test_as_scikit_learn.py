"""The results are those of sklearn.model_selection, to the last bit, for every splitter and scorer."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn import model_selection as theirs
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from hornbeam import C45Classifier, TreeClassifier, TreeRegressor
from hornbeam import model_selection as ours

N = 90


def some_rows(n: int = N) -> tuple[pd.DataFrame, NDArray[Any], NDArray[np.float64], NDArray[np.int64]]:
    """Numbers with gaps and ties, text, a class of three, a number, groups."""
    random = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "a": random.integers(0, 12, n).astype(float),
            "b": random.normal(size=n).round(1),
            "c": random.choice(["red", "green", "blue", None], n),
        }
    )
    frame.loc[random.random(n) < 0.1, "a"] = np.nan
    odd = random.random(n) < 0.25
    labels = np.where(odd, random.choice(["u", "v", "w"], n), np.where(frame["b"] > 0, "u", "v"))
    numbers = frame["b"].to_numpy() * 2 + random.normal(size=n)
    return frame, labels, numbers, random.integers(0, 7, n)


X, LABELS, NUMBERS, GROUPS = some_rows()
LIST = [(np.arange(50), np.arange(50, 70)), (np.arange(20, 80), np.arange(0, 20)), ([1, 2, 2, 3, 40], [5, 6])]
SPLITTERS = [
    None,
    3,
    KFold(4),
    KFold(3, shuffle=True, random_state=1),
    StratifiedKFold(5),
    GroupKFold(4),
    RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=2),
    PredefinedSplit(np.arange(N) % 4),
    PredefinedSplit(np.arange(N) % 4 - 1),
    ShuffleSplit(3, test_size=0.3, random_state=4),
    TimeSeriesSplit(4),
    LIST,
]
MODELS = [
    (TreeClassifier(min_samples_leaf=3), LABELS),
    (C45Classifier(), LABELS),
    (TreeClassifier(prune="reduced_error", random_state=5, class_weight="balanced"), LABELS),
    (TreeRegressor(min_samples_leaf=4, ccp_alpha=0.01), NUMBERS),
    (TreeRegressor(max_depth=3), np.column_stack([NUMBERS, -(NUMBERS**2)])),
]


def both(model: Any, y: Any, X: Any = X, **options: Any) -> tuple[Any, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ours.cross_validate(model, X, y, **options), theirs.cross_validate(model, X, y, **options)


def assert_same(mine: Any, yours: Any, close: bool = False) -> None:
    """Equal keys in equal order, and equal figures but for the seconds; `close`: within rounding."""
    assert list(mine) == list(yours)
    for name in mine:
        if name.startswith(("test_", "train_")):
            if close:
                assert mine[name] == pytest.approx(yours[name], rel=1e-12, abs=1e-14, nan_ok=True), name
            else:
                assert np.array_equal(mine[name], yours[name], equal_nan=True), name
            assert mine[name].dtype == yours[name].dtype


@pytest.mark.parametrize("cv", SPLITTERS, ids=lambda cv: type(cv).__name__)
@pytest.mark.parametrize(("model", "y"), MODELS, ids=range(len(MODELS)))
def test_every_splitter_gives_the_same_scores(model: Any, y: Any, cv: Any) -> None:
    if isinstance(model, TreeRegressor) and isinstance(cv, StratifiedKFold | RepeatedStratifiedKFold):
        pytest.skip("numbers have no strata")
    assert_same(*both(model, y, cv=cv, groups=GROUPS, return_train_score=True))


def test_leave_one_out_gives_the_same_scores() -> None:
    assert_same(*both(TreeClassifier(max_depth=4), LABELS[:70], X[:70], cv=LeaveOneOut()))


def by_hand(estimator: Any, table: Any, y: Any) -> float:
    assert isinstance(table, pd.DataFrame)
    assert len(table) == len(y)
    return float(np.mean(estimator.predict(table) == y))


def two_by_hand(estimator: Any, table: Any, y: Any) -> dict[str, float]:
    return {"right": by_hand(estimator, table, y), "rows": float(len(y))}


SCORINGS = [
    None,
    "accuracy",
    "neg_log_loss",
    "roc_auc_ovr",
    ["accuracy", "f1_macro", "neg_log_loss"],
    {"right": "accuracy", "mine": make_scorer(accuracy_score, normalize=False)},
    by_hand,
    two_by_hand,
    {"one": by_hand, "other": "balanced_accuracy"},
]


@pytest.mark.parametrize("scoring", SCORINGS)
def test_every_kind_of_scoring_gives_the_same_scores(scoring: Any) -> None:
    for cv in (4, ShuffleSplit(3, random_state=1)):
        options = {"scoring": scoring, "cv": cv, "return_train_score": True, "return_indices": True}
        mine, yours = both(TreeClassifier(min_samples_leaf=5), LABELS, return_estimator=True, **options)
        assert_same(mine, yours, close=scoring == "neg_log_loss")  # whose sum is exact here
        for part in ("train", "test"):
            pairs = zip(mine["indices"][part], yours["indices"][part], strict=True)
            assert all(np.array_equal(a, b) for a, b in pairs)
        pairs = zip(mine["estimator"], yours["estimator"], strict=True)
        assert all(a.tree_ == b.tree_ and a.classes_.tolist() == b.classes_.tolist() for a, b in pairs)


def test_a_class_that_a_fold_lacks_scores_as_it_does_there() -> None:
    rare = LABELS.copy()
    rare[rare == "w"] = "u"
    rare[[4, 50]] = "w"
    for scoring in ("accuracy", "neg_log_loss", "roc_auc_ovr", "f1_macro"):
        mine, yours = both(TreeClassifier(max_depth=3), rare, cv=KFold(9), scoring=scoring)
        assert_same(mine, yours)
        assert scoring == "accuracy" or np.isfinite(mine["test_score"]).any()


@pytest.mark.parametrize("cv", [KFold(4), ShuffleSplit(3, random_state=0)], ids=["folds", "sets"])
def test_weights_come_by_params(cv: Any) -> None:
    weights = np.random.default_rng(1).integers(0, 4, N).astype(float)
    for model, y in MODELS:
        assert_same(*both(model, y, cv=cv, params={"sample_weight": weights}))


def test_cross_val_score_gives_the_same_scores() -> None:
    for model, y in MODELS:
        mine, yours = (how.cross_val_score(model, X, y, cv=4) for how in (ours, theirs))
        assert np.array_equal(mine, yours)
        named = "accuracy" if isinstance(model, TreeClassifier) else "r2"
        assert np.array_equal(mine, ours.cross_val_score(model, X, y, cv=4, scoring=named))
        rounded = theirs.cross_val_score(model, X, y, cv=4, scoring=named)
        assert mine == pytest.approx(rounded, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba"])
@pytest.mark.parametrize("cv", [None, KFold(4, shuffle=True, random_state=0), LeaveOneOut()], ids=str)
def test_cross_val_predict_gives_the_same_answers(method: str, cv: Any) -> None:
    for model, y in MODELS:
        if method != "predict" and isinstance(model, TreeRegressor):
            with pytest.raises(AttributeError):
                ours.cross_val_predict(model, X, y, method=method)
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            mine = ours.cross_val_predict(model, X, y, cv=cv, method=method)
            yours = theirs.cross_val_predict(model, X, y, cv=cv, method=method)
        assert np.array_equal(mine, yours)
        assert mine.dtype == yours.dtype


def test_a_class_that_a_fold_lacks_has_a_column_in_cross_val_predict() -> None:
    rare = np.where(np.arange(N) < 20, "z", LABELS)
    for method in ("predict_proba", "predict_log_proba"):
        with pytest.warns(RuntimeWarning, match="Number of classes in training fold"):
            mine = ours.cross_val_predict(TreeClassifier(), X, rare, cv=KFold(3), method=method)
        with pytest.warns(RuntimeWarning, match="Number of classes in training fold"):
            yours = theirs.cross_val_predict(TreeClassifier(), X, rare, cv=KFold(3), method=method)
        assert mine.shape == (N, 4)
        assert np.array_equal(mine, yours)
