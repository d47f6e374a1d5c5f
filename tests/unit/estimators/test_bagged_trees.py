"""Bagged trees: answers by mean and vote, the rows outside, what scikit-learn's bagging says, files."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score

import hornbeam
from hornbeam import BaggedTreesClassifier, BaggedTreesRegressor, TreeClassifier, TreeRegressor
from hornbeam.errors import DataError, UsageError

X, Y = load_breast_cancer(return_X_y=True)
NUMBERS = load_diabetes(return_X_y=True)


def people(rows: int = 300) -> tuple[pd.DataFrame, Any]:
    random = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 80, rows),
            "income": np.where(random.random(rows) < 0.1, np.nan, random.normal(50, 9, rows)),
            "job": random.choice(["clerk", "nurse", "smith", None], rows),
        }
    )
    likely = (frame["age"] > 40).astype(float) + (frame["job"] == "nurse")
    labels = np.where(
        random.random(rows) * 2.5 < likely, "yes", np.where(random.random(rows) < 0.3, "?", "no")
    )
    return frame, labels


def test_shares_are_the_mean_of_the_trees_and_the_largest_is_said() -> None:
    frame, labels = people()
    model = BaggedTreesClassifier(n_estimators=7, random_state=0, min_samples_leaf=4).fit(frame, labels)
    mean = np.mean([member.predict_proba(frame) for member in model.estimators_], axis=0)
    np.testing.assert_allclose(model.predict_proba(frame), mean, rtol=1e-13)
    assert model.predict(frame).tolist() == model.classes_[mean.argmax(axis=1)].tolist()
    np.testing.assert_array_equal(np.exp(model.predict_log_proba(frame)) > 0.5, mean > 0.5)
    assert model.predict_log_proba(frame)[mean == 1.0].max(initial=0.0) == 0.0


def test_votes_are_counted_and_the_first_of_equals_is_said() -> None:
    frame, labels = people()
    model = BaggedTreesClassifier(n_estimators=4, random_state=0, voting="hard", min_samples_leaf=4)
    model.fit(frame, labels)
    said = np.array([member.predict(frame) for member in model.estimators_])
    votes = np.stack([(said == label).mean(axis=0) for label in model.classes_], axis=1)
    np.testing.assert_array_equal(model.predict_proba(frame), votes)
    tied = np.sort(votes, axis=1)[:, -1] == np.sort(votes, axis=1)[:, -2]
    assert tied.any()
    assert model.predict(frame).tolist() == model.classes_[votes.argmax(axis=1)].tolist()


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_costs_are_weighed_where_shares_are_averaged(voting: str) -> None:
    frame, labels = people()
    costs = [[0, 1, 1], [1, 0, 1], [9, 9, 0]]
    model = BaggedTreesClassifier(
        n_estimators=5, random_state=0, cost_matrix=costs, voting=voting, min_samples_leaf=9
    ).fit(frame, labels)
    shares = model.predict_proba(frame)
    if voting == "soft":
        assert model.predict(frame).tolist() == model.classes_[(shares @ costs).argmin(axis=1)].tolist()
    plain = clone(model).set_params(cost_matrix=None).fit(frame, labels)
    assert (model.predict(frame) == "yes").mean() > (plain.predict(frame) == "yes").mean()


def test_numbers_are_the_mean_of_the_trees() -> None:
    table, y = NUMBERS
    for targets in (y, np.column_stack((y, -(y**2)))):
        model = BaggedTreesRegressor(n_estimators=6, random_state=0).fit(table, targets)
        mean = np.mean([member.predict(table) for member in model.estimators_], axis=0)
        np.testing.assert_allclose(model.predict(table), mean, rtol=1e-13)
        assert model.predict(table).shape == targets.shape


def test_scikit_learns_bagging_says_nearly_the_same() -> None:
    ours = BaggedTreesClassifier(n_estimators=40, random_state=1, oob_score=True).fit(X, Y)
    theirs = BaggingClassifier(n_estimators=40, random_state=1, oob_score=True).fit(X, Y)
    assert abs(ours.oob_score_ - theirs.oob_score_) < 0.02
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.99
    assert np.abs(ours.oob_decision_function_ - theirs.oob_decision_function_).mean() < 0.03
    table, y = NUMBERS
    ours = BaggedTreesRegressor(n_estimators=40, random_state=1, oob_score=True).fit(table, y)
    theirs = BaggingRegressor(n_estimators=40, random_state=1, oob_score=True).fit(table, y)
    assert abs(ours.oob_score_ - theirs.oob_score_) < 0.05


@pytest.mark.parametrize("prune", [None, "reduced_error"])
def test_rows_outside_the_bags_are_told_by_the_trees_that_have_not_drawn_them(prune: str | None) -> None:
    frame, labels = people()
    model = BaggedTreesClassifier(n_estimators=30, random_state=2, oob_score=True, prune=prune)
    model.fit(frame, labels)
    expected = np.zeros((len(labels), 3))
    asked = np.zeros(len(labels))
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        outside = np.setdiff1d(np.arange(len(labels)), rows)
        expected[outside] += member.predict_proba(frame.iloc[outside])
        asked[outside] += 1
    np.testing.assert_allclose(model.oob_decision_function_, expected / asked[:, None], rtol=1e-12)
    said = model.classes_[model.oob_decision_function_.argmax(axis=1)]
    assert model.oob_score_ == np.mean(said == labels)


def test_the_score_of_numbers_outside_is_that_of_their_predictions() -> None:
    table, y = NUMBERS
    for targets in (y, np.column_stack((y, -y))):
        model = BaggedTreesRegressor(n_estimators=40, random_state=2, oob_score=True).fit(table, targets)
        assert model.oob_prediction_.shape == targets.shape
        assert model.oob_score_ == pytest.approx(r2_score(targets, model.oob_prediction_), rel=1e-12)


def test_rows_in_every_bag_are_unknown_and_do_not_count() -> None:
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores"):
        model = BaggedTreesClassifier(n_estimators=2, random_state=0, oob_score=True).fit(X, Y)
    known = ~np.isnan(model.oob_decision_function_).any(axis=1)
    drawn = [np.isin(np.arange(len(Y)), rows) for rows in model.estimators_samples_]
    np.testing.assert_array_equal(known, ~np.logical_and(*drawn))
    said = model.classes_[model.oob_decision_function_[known].argmax(axis=1)]
    assert model.oob_score_ == np.mean(said == Y[known])


def test_an_earlier_score_goes_with_a_fit_that_does_not_ask_for_one() -> None:
    model = BaggedTreesClassifier(random_state=0, oob_score=True).fit(X, Y)
    assert model.oob_score_ > 0.9
    model.set_params(oob_score=False).fit(X, Y)
    assert not hasattr(model, "oob_score_")
    assert not hasattr(model, "oob_decision_function_")


def test_members_are_fitted_estimators_with_the_parameters_of_the_whole() -> None:
    frame, labels = people()
    model = BaggedTreesClassifier(n_estimators=3, random_state=0, max_depth=3, criterion="entropy")
    model.fit(frame, labels)
    for member, tree in zip(model.estimators_, model.trees_, strict=True):
        assert type(member) is TreeClassifier
        assert (member.max_depth, member.criterion) == (3, "entropy")
        assert member.tree_ is tree
        assert member.classes_.tolist() == ["?", "no", "yes"]
        assert member.feature_names_in_.tolist() == ["age", "income", "job"]
    assert type(BaggedTreesRegressor(n_estimators=1).fit(*NUMBERS).estimators_[0]) is TreeRegressor


def test_importances_are_the_mean_of_the_trees() -> None:
    model = BaggedTreesClassifier(n_estimators=9, random_state=0).fit(X, Y)
    mean = np.mean([tree.feature_importances for tree in model.trees_], axis=0)
    np.testing.assert_allclose(model.feature_importances_, mean, rtol=1e-12)
    alone = BaggedTreesClassifier(n_estimators=2, random_state=0).fit(np.ones((5, 2)), [0, 0, 0, 1, 1])
    assert alone.feature_importances_.tolist() == [0.0, 0.0]


def test_any_table_may_come_to_predict() -> None:
    frame, labels = people()
    model = BaggedTreesClassifier(n_estimators=5, random_state=0).fit(frame, labels)
    expected = model.predict(frame).tolist()
    assert model.predict(pl.from_pandas(frame[["job", "age", "income"]])).tolist() == expected
    with pytest.raises(DataError, match=r"'job'.*BaggedTreesClassifier needs every column"):
        model.predict(frame.drop(columns="job"))


def test_the_forest_holds_the_same_trees() -> None:
    model = BaggedTreesClassifier(n_estimators=70, random_state=0, max_depth=3).fit(X, Y)
    assert model.forest_.n_sets == 70
    assert [model.forest_.tree(i) for i in range(70)] == model.trees_


def test_a_thousand_bags_grow() -> None:
    model = BaggedTreesClassifier(n_estimators=1000, random_state=0, max_depth=2)
    model.fit(*load_iris(return_X_y=True))
    assert len(model.estimators_) == 1000
    np.testing.assert_allclose(model.predict_proba(load_iris().data).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"algorithm": "folds"}, "algorithm='folds': use 'auto', 'serial' or 'overlapping'"),
        ({"voting": "loud"}, "voting='loud': use 'soft' or 'hard'"),
        ({"oob_score": "yes"}, "oob_score='yes': True or False is allowed"),
        ({"oob_score": True, "bootstrap": False}, "oob_score=True with bootstrap=False"),
        ({"n_estimators": 0}, "n_estimators=0"),
        ({"max_depth": 0}, "max_depth=0"),
        ({"ccp_alpha": 1, "prune": "error_based"}, "ccp_alpha=1 with prune='error_based'"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(parameters: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        BaggedTreesClassifier(**parameters).fit(X, Y)


def test_parameters_of_scikit_learns_bagging_are_refused_with_what_to_use() -> None:
    with pytest.raises(TypeError, match="no parameter 'estimator': the trees' own parameters"):
        BaggedTreesClassifier(estimator=None)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="no parameter 'max_features'"):
        BaggedTreesRegressor(max_features=0.5)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="no parameter 'class_weight': numbers have no classes"):
        BaggedTreesRegressor().set_params(class_weight="balanced")


def test_who_is_not_fitted_says_so() -> None:
    for attribute in ("trees_", "schema_", "feature_importances_", "estimators_samples_"):
        assert not hasattr(BaggedTreesClassifier(), attribute)
    with pytest.raises(NotFittedError, match="call 'fit' before 'predict'"):
        BaggedTreesRegressor().predict(X)
    with pytest.raises(NotFittedError, match="call 'fit' before 'save'"):
        hornbeam.save(BaggedTreesRegressor(), "model")


MODELS: dict[str, Any] = {
    "classes": BaggedTreesClassifier(n_estimators=4, random_state=3, min_samples_leaf=3),
    "votes": BaggedTreesClassifier(n_estimators=4, random_state=3, voting="hard", class_weight="balanced"),
    "pruned": BaggedTreesClassifier(
        n_estimators=4, random_state=3, prune="error_based", class_weight={"no": 2.0}, competitors=2
    ),
    "costs": BaggedTreesClassifier(n_estimators=3, cost_matrix=[[0, 1, 1], [1, 0, 1], [9, 9, 0]]),
    "numbers": BaggedTreesRegressor(n_estimators=4, random_state=3, prune="reduced_error", max_samples=0.7),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_file_keeps_the_model(name: str, tmp_path: Path) -> None:
    frame, labels = people()
    target = labels if name != "numbers" else (labels == "yes") * 1.5
    model = clone(MODELS[name]).fit(frame, target)
    hornbeam.save(model, tmp_path / "model")
    read = hornbeam.load(tmp_path / "model")
    assert type(read) is type(model)
    assert read.get_params() == model.get_params()
    assert read.trees_ == model.trees_
    pairs = zip(read.estimators_, model.estimators_, strict=True)
    assert all(a.unpruned_tree_ == b.unpruned_tree_ and a.random_state == b.random_state for a, b in pairs)
    np.testing.assert_array_equal(read.predict(frame), model.predict(frame))
    if name != "numbers":
        np.testing.assert_array_equal(read.predict_proba(frame), model.predict_proba(frame))
        assert read.classes_.tolist() == model.classes_.tolist()
    for mine, yours in zip(read.estimators_samples_, model.estimators_samples_, strict=True):
        np.testing.assert_array_equal(mine, yours)


def test_bags_that_were_drawn_by_weights_are_not_drawn_otherwise_after_loading(tmp_path: Path) -> None:
    model = BaggedTreesClassifier(n_estimators=2, random_state=0).fit(X, Y, np.arange(len(Y)))
    hornbeam.save(model, tmp_path / "model")
    read = hornbeam.load(tmp_path / "model")
    assert read.predict(X).tolist() == model.predict(X).tolist()
    with pytest.raises(UsageError, match="drawn by weights, which a model file does not keep"):
        _ = read.estimators_samples_
    hornbeam.save(read, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_pickles_and_clones_keep_what_they_should() -> None:
    model = BaggedTreesClassifier(n_estimators=3, random_state=0, oob_score=False).fit(X, Y)
    read = pickle.loads(pickle.dumps(model))
    assert read.trees_ == model.trees_
    assert read.predict(X).tolist() == model.predict(X).tolist()
    assert not hasattr(clone(model), "estimators_")


def test_a_pickle_does_not_hold_the_table() -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(20000, 20))
    model = BaggedTreesClassifier(n_estimators=2, random_state=0, max_depth=2).fit(table, table[:, 0] > 0)
    assert len(pickle.dumps(model)) < 50_000


def test_the_same_seed_fits_the_same_and_another_does_not() -> None:
    first, again, other = (
        BaggedTreesClassifier(n_estimators=3, random_state=seed).fit(X, Y).trees_ for seed in (0, 0, 1)
    )
    assert first == again != other


def test_warnings_are_left_to_who_is_concerned() -> None:
    frame, labels = people()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = BaggedTreesClassifier(n_estimators=30, random_state=0, oob_score=True).fit(frame, labels)
        model.predict(frame)
    with pytest.warns(UserWarning, match="BaggedTreesClassifier was fitted with feature names") as told:
        model.predict(frame.to_numpy())
    assert told[0].filename == __file__
