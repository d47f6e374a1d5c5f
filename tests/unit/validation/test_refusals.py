"""What cannot be cross-validated is said in one line; what can only be done serially is done, and said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import model_selection as theirs
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import DataError, HornbeamError, UsageError
from hornbeam.model_selection import cross_val_predict, cross_val_score, cross_validate

N = 40
RANDOM = np.random.default_rng(8)
X = RANDOM.normal(size=(N, 3))
Y = RANDOM.integers(0, 2, N)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"cv": 1}, UsageError, r"cv=1: k-fold cross-validation requires at least one train/test split"),
        ({"cv": 39}, DataError, "n_splits=39 cannot be greater than the number of members in each class"),
        ({"cv": 41}, DataError, r"Cannot have number of splits n_splits=41 greater than"),
        ({"cv": "ten"}, UsageError, "cv='ten': Expected `cv` as an integer"),
        ({"cv": []}, UsageError, "gives no splits"),
        ({"cv": GroupKFold(3)}, DataError, "The 'groups' parameter should not be None"),
        ({"cv": [([0, 1], [40])]}, UsageError, "names row 40; the table has rows 0 to 39"),
        ({"cv": [([0.5, 1.0], [4])]}, UsageError, "give a list of row numbers"),
        ({"cv": [(np.repeat(3, 300), [4])]}, DataError, "row 3 is 300 times in one training set"),
        ({"algorithm": "quick"}, UsageError, "algorithm='quick': use 'auto', 'serial', 'overlapping' or"),
        ({"algorithm": "folds", "cv": ShuffleSplit(2)}, UsageError, "algorithm='folds' for training sets"),
        ({"memory_limit": "much"}, UsageError, "memory_limit='much': give a number of bytes, or a text"),
        ({"memory_limit": "1KB"}, DataError, "memory_limit=1 KB: a tree of this table may need"),
        ({"n_jobs": 0}, UsageError, "n_jobs=0"),
        ({"error_score": "loud"}, UsageError, "error_score='loud': 'raise' or a number is allowed"),
        ({"params": {"speed": 3}}, TypeError, "unexpected keyword argument 'speed'"),
    ],
)
def test_odd_arguments_are_refused_in_one_line(options: Any, error: Any, message: str) -> None:
    for function in (cross_validate, cross_val_score):
        with pytest.raises(error, match=message) as refused:
            function(TreeClassifier(), X, Y, **options)
        assert "\n" not in str(refused.value)


def test_no_target_and_wrong_lengths_are_refused() -> None:
    with pytest.raises(UsageError, match="requires y to be passed"):
        cross_validate(TreeClassifier(), X)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        cross_validate(TreeClassifier(), X, Y[:-1])


def test_wrong_parameters_of_the_tree_are_its_own_refusal() -> None:
    with pytest.raises(UsageError, match="max_depth=0"):
        cross_validate(TreeClassifier(max_depth=0), X, Y)


def test_the_warning_about_rare_classes_stays() -> None:
    rare = Y.copy()
    rare[:2] = 2
    with pytest.warns(UserWarning, match="The least populated class in y has only 2 members"):
        cross_validate(TreeClassifier(), X, rare, cv=5)


def test_one_class_in_a_training_set_is_a_leaf_as_in_scikit_learn() -> None:
    ordered = np.sort(Y)
    with pytest.warns(RuntimeWarning, match="Number of classes in training fold"):
        cross_val_predict(TreeClassifier(), X, ordered, cv=KFold(2), method="predict_proba")
    assert cross_val_score(TreeClassifier(), X, np.zeros(N, dtype=int), cv=KFold(3)).tolist() == [1, 1, 1]


EMPTY: Any = [
    (np.arange(30), np.arange(30, 40)),
    (np.arange(0), np.arange(30)),
    (np.arange(10, 40), np.arange(10)),
]


def test_a_fold_without_rows_counts_as_error_score() -> None:
    for options in ({}, {"error_score": -1.0}, {"scoring": ["accuracy", "f1"], "return_train_score": True}):
        with pytest.warns(FitFailedWarning, match="1 fits failed out of a total of 3.*training set 2 has no"):
            mine = cross_validate(TreeClassifier(), X, Y, cv=EMPTY, **options)
        with pytest.warns(FitFailedWarning):
            yours = theirs.cross_validate(TreeClassifier(), X, Y, cv=EMPTY, **options)
        for name in yours:
            if name.startswith(("test_", "train_")):
                assert np.array_equal(mine[name], yours[name], equal_nan=True)
        assert mine.forest.tree(3).n_leaves > 1
        with pytest.raises(DataError, match="training set 2 has no rows"):
            mine.forest.tree(2)
    with pytest.raises(DataError, match="training set 2 has no rows; every set needs at least one"):
        cross_validate(TreeClassifier(), X, Y, cv=EMPTY, error_score="raise")
    with pytest.raises(DataError, match="training set 1 has no rows"):
        cross_validate(TreeClassifier(), X, Y, cv=EMPTY[1:2])


def test_a_fold_of_weight_zero_or_without_rows_to_validate_on_counts_as_error_score() -> None:
    weights = np.ones(N)
    weights[30:] = 0
    splits: Any = [(np.arange(20), np.arange(20, 30)), (np.arange(30, 40), np.arange(30))]
    with pytest.warns(FitFailedWarning, match="training set 2 has no rows of weight above 0"):
        found = cross_validate(TreeClassifier(), X, Y, cv=splits, params={"sample_weight": weights})
    assert np.isnan(found["test_score"]).tolist() == [False, True]
    alone: Any = [(np.arange(20), np.arange(20, 30)), ([7], np.arange(30))]
    pruned = TreeClassifier(prune="reduced_error", random_state=0)
    with pytest.warns(FitFailedWarning, match="training set 2: validation_fraction=0.33 of n_samples=1"):
        found = cross_validate(pruned, X, Y, cv=alone)
    assert np.isnan(found["test_score"]).tolist() == [False, True]


def fails_now_and_then(estimator: Any, table: Any, y: Any) -> float:
    if y[0] == 1:
        raise RuntimeError("not today")
    return 0.5


def test_a_scorer_that_fails_counts_as_error_score() -> None:
    for scoring in (fails_now_and_then, {"odd": fails_now_and_then, "right": "accuracy"}):
        with pytest.warns(UserWarning, match="Scoring failed"):
            mine = cross_validate(TreeClassifier(), X, Y, cv=KFold(8), scoring=scoring)
        with pytest.warns(UserWarning, match="Scoring failed"):
            yours = theirs.cross_validate(TreeClassifier(), X, Y, cv=KFold(8), scoring=scoring)
        for name in (name for name in yours if name.startswith("test_")):
            assert np.array_equal(mine[name], yours[name], equal_nan=True)
        with pytest.raises(RuntimeError, match="not today"):
            cross_validate(TreeClassifier(), X, Y, cv=KFold(8), scoring=scoring, error_score="raise")
    with pytest.raises(ValueError, match="scoring must return a number"):
        cross_validate(TreeClassifier(), X, Y, scoring=lambda *_: "good")


def test_no_partition_no_cross_val_predict() -> None:
    for cv in (ShuffleSplit(3), [(np.arange(20), np.arange(20, 40))]):
        with pytest.raises(DataError, match="cross_val_predict only works for partitions"):
            cross_val_predict(TreeClassifier(), X, Y, cv=cv)
    with pytest.raises(UsageError, match="method='guess': use 'predict'"):
        cross_val_predict(TreeClassifier(), X, Y, method="guess")
    with pytest.raises(AttributeError, match="decision_function"):
        cross_val_predict(TreeClassifier(), X, Y, method="decision_function")


def test_a_pipeline_runs_serially_and_says_so() -> None:
    pipeline = make_pipeline(StandardScaler(), TreeClassifier(max_depth=2))
    with pytest.warns(UserWarning, match="Pipeline is not a tree of hornbeam: its folds share no growth"):
        found = cross_validate(pipeline, X, Y, cv=4)
    assert np.array_equal(found["test_score"], theirs.cross_validate(pipeline, X, Y, cv=4)["test_score"])
    assert (found.algorithm, found.forest) == ("serial", None)
    assert found.estimator_.predict(X).shape == (N,)
    assert np.array_equal(
        cross_val_predict(pipeline, X, Y, algorithm="serial"), theirs.cross_val_predict(pipeline, X, Y)
    )
    with pytest.raises(UsageError, match="algorithm='folds' for a Pipeline: only hornbeam's trees share"):
        cross_validate(pipeline, X, Y, algorithm="folds")


class OwnFit(TreeClassifier):
    """Fits in its own way, so nobody else may grow its folds."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return super().fit(X, 1 - y, sample_weight)


class OwnAnswer(TreeClassifier):
    """Wants to see X as it was given."""

    def predict(self, X: Any) -> Any:
        return super().predict(X.to_numpy())


def test_a_subclass_fits_and_answers_in_its_own_way() -> None:
    with pytest.warns(UserWarning, match="OwnFit is not a tree of hornbeam"):
        found = cross_validate(OwnFit(max_depth=3), X, Y)
    assert np.array_equal(found["test_score"], theirs.cross_validate(OwnFit(max_depth=3), X, Y)["test_score"])
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        mine = cross_validate(OwnAnswer(max_depth=3), frame, Y)
    assert mine.forest is not None
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        yours = theirs.cross_validate(OwnAnswer(max_depth=3), frame, Y)
    assert np.array_equal(mine["test_score"], yours["test_score"])


def test_errors_are_of_one_family() -> None:
    with pytest.raises(HornbeamError):
        cross_validate(TreeRegressor(), X, Y, cv=StratifiedKFold(50))
