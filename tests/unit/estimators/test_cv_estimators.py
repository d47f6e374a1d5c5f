"""The parameter cv: the tree and its folds in one growth, and what of them is kept."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_validate

import hornbeam
from hornbeam import C45Classifier, TreeClassifier, TreeRegressor
from hornbeam.errors import DataError, UsageError
from hornbeam.model_selection import cross_validate as together

N = 80
RANDOM = np.random.default_rng(4)
FRAME = pd.DataFrame(
    {
        "a": RANDOM.normal(size=N).round(1),
        "b": RANDOM.choice(["x", "y", None], N),
        "c": RANDOM.integers(0, 9, N),
    }
)
LABELS = np.where(RANDOM.random(N) < 0.2, "no", np.where(FRAME["a"] > 0, "yes", "no"))
NUMBERS = FRAME["a"].to_numpy() + RANDOM.normal(size=N)
MODELS = [
    (TreeClassifier(min_samples_leaf=2), LABELS),
    (C45Classifier(), LABELS),
    (TreeClassifier(prune="reduced_error", random_state=1), LABELS),
    (TreeRegressor(min_samples_leaf=3), NUMBERS),
]


@pytest.mark.parametrize(("model", "y"), MODELS, ids=range(len(MODELS)))
@pytest.mark.parametrize(
    "cv", [4, KFold(3), [(np.arange(50), np.arange(50, 80))]], ids=["4", "KFold", "list"]
)
def test_fit_grows_the_same_tree_and_fills_cv_results(model: Any, y: Any, cv: Any) -> None:
    alone = clone(model).fit(FRAME, y)
    fitted = clone(model).set_params(cv=cv).fit(FRAME, y)
    assert fitted.tree_ == alone.tree_
    assert fitted.unpruned_tree_ == alone.unpruned_tree_
    assert fitted.forest_.tree(0) is fitted.tree_
    expected = cross_validate(model, FRAME, y, cv=cv, return_estimator=True)
    assert type(fitted.cv_results_) is dict
    assert set(fitted.cv_results_) == {"fit_time", "score_time", "test_score"}
    assert np.array_equal(fitted.cv_results_["test_score"], expected["test_score"])
    for i, fold in enumerate(expected["estimator"], 1):
        assert fitted.forest_.tree(i) == fold.tree_


def test_a_generator_draws_as_without_cv() -> None:
    model = TreeClassifier(prune="reduced_error", random_state=np.random.RandomState(3))
    alone = clone(model).fit(FRAME, LABELS).tree_
    scores = together(model, FRAME, LABELS, cv=3)["test_score"]
    assert clone(model).fit(FRAME, LABELS).tree_ == alone  # cross_validate took nothing from it
    fitted = clone(model).set_params(cv=3).fit(FRAME, LABELS)
    assert fitted.tree_ == alone
    assert np.array_equal(fitted.cv_results_["test_score"], scores)
    assert fitted.fit(FRAME, LABELS).tree_ != alone  # a fit does, as ever


def test_weights_weigh_in_the_folds_too() -> None:
    weights = RANDOM.integers(0, 3, N).astype(float)
    fitted = TreeClassifier(cv=KFold(4)).fit(FRAME, LABELS, sample_weight=weights)
    expected = cross_validate(TreeClassifier(), FRAME, LABELS, cv=KFold(4), params={"sample_weight": weights})
    assert np.array_equal(fitted.cv_results_["test_score"], expected["test_score"])


def test_a_fit_without_cv_leaves_nothing_of_an_earlier_one() -> None:
    model = TreeClassifier(cv=3).fit(FRAME, LABELS)
    assert not hasattr(model.pruned(prune="cost_complexity", ccp_alpha=0.01), "cv_results_")
    assert not hasattr(model.set_params(cv=None).fit(FRAME, LABELS), "cv_results_")
    assert not hasattr(model, "forest_")


def test_a_fit_that_fails_leaves_everything_as_it_was() -> None:
    model = TreeClassifier(cv=3).fit(FRAME, LABELS)
    tree, results = model.tree_, model.cv_results_
    for cv, error, message in (
        (1, UsageError, "cv=1: k-fold cross-validation requires"),
        (1000, DataError, "n_splits=1000 greater than the number of samples"),
        (GroupKFold(3), DataError, "The 'groups' parameter should not be None"),
        ("many", UsageError, "Expected `cv` as an integer"),
    ):
        with pytest.raises(error, match=message):
            model.set_params(cv=cv).fit(FRAME, LABELS)
        assert model.tree_ is tree
        assert model.cv_results_ is results


def test_clone_pickle_and_copy() -> None:
    model = TreeClassifier(cv=StratifiedKFold(3, shuffle=True, random_state=0)).fit(FRAME, LABELS)
    assert isinstance(clone(model).cv, StratifiedKFold)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert again.tree_ == model.tree_
        assert [tree.digest for tree in again.forest_.trees()] == [t.digest for t in model.forest_.trees()]
        assert np.array_equal(again.cv_results_["test_score"], model.cv_results_["test_score"])


def test_a_model_file_holds_the_tree_alone(tmp_path: Path) -> None:
    model = C45Classifier(cv=3).fit(FRAME, LABELS)
    hornbeam.save(model, tmp_path / "model.hornbeam")
    again = hornbeam.load(tmp_path / "model.hornbeam")
    assert again.tree_ == model.tree_
    assert again.unpruned_tree_ == model.unpruned_tree_
    assert again.cv is None
    assert not hasattr(again, "cv_results_")


def test_every_kind_of_table_and_labels_is_taken() -> None:
    expected = together(TreeClassifier(), FRAME, LABELS, scoring=["accuracy", "f1_macro"])
    arrow = pa.Table.from_pandas(FRAME, preserve_index=False)

    def by_hand(estimator: Any, X: Any, y: Any) -> float:
        return float(np.mean(estimator.predict(X) == np.asarray(y)))

    for X, y in (
        (pl.DataFrame(arrow), pl.Series(LABELS.tolist())),
        (arrow, pa.array(LABELS.tolist())),
        (arrow, pa.chunked_array([LABELS[:30].tolist(), LABELS[30:].tolist()])),
        (FRAME, pd.Series(LABELS, dtype="category")),
        (FRAME.set_index(np.arange(N)[::-1]), pd.Series(LABELS, index=np.arange(N) + 5)),
        (FRAME.astype(object).where(FRAME.notna(), None).to_numpy().tolist(), LABELS.tolist()),
    ):
        found = together(TreeClassifier(), X, y, scoring=["accuracy", "f1_macro"])
        for name in ("test_accuracy", "test_f1_macro"):
            assert np.array_equal(found[name], expected[name])
        found = together(TreeClassifier(), X, y, scoring=by_hand)
        assert np.array_equal(found["test_score"], expected["test_accuracy"])
        fitted = TreeClassifier(cv=5).fit(X, y)
        assert np.array_equal(fitted.cv_results_["test_score"], expected["test_accuracy"])
