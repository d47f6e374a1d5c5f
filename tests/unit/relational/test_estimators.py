"""The estimators over linked tables: fit with folds, predict, explain, files and clones."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold

import hornbeam
from hornbeam import (
    RelationalBagging,
    RelationalData,
    RelationalTree,
    RelationalTreeClassifier,
    RelationalTreeRegressor,
)
from hornbeam.errors import DataError, UsageError
from tests.relational_shop import KEYS, REFERENCES, shop, shop_frames, write_sqlite


@pytest.fixture(scope="module")
def fitted() -> RelationalTreeClassifier:
    return RelationalTreeClassifier(cv=5).fit(shop())


def test_the_question_that_decides_is_found(fitted: RelationalTreeClassifier) -> None:
    lines = fitted.to_text().splitlines()
    assert lines[2].startswith(
        "|   has an order with status = 'late' and, for that order, an item with price <= 12."
    )
    assert fitted.get_n_leaves() == fitted.tree_.n_leaves
    assert fitted.get_depth() == fitted.tree_.depth
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert "orders.status" in fitted.feature_names_in_.tolist()
    assert fitted.n_features_in_ == len(fitted.feature_names_in_)


def test_predictions_are_in_the_order_of_the_target_table(fitted: RelationalTreeClassifier) -> None:
    data = shop()
    said, shares = fitted.predict(data), fitted.predict_proba(data)
    assert said.shape == (200,)
    assert (said == fitted.classes_[shares.argmax(axis=1)]).all()
    assert np.allclose(shares.sum(axis=1), 1)
    assert np.allclose(np.exp(fitted.predict_log_proba(data)), shares)
    labels = shop_frames()["customers"]["churn"].to_numpy()
    assert fitted.score(data) == (said == labels).mean() == fitted.score(shop())
    assert set(fitted.apply(data)) <= set(fitted.tree_.leaves)


def test_folds_are_those_of_lone_fits() -> None:
    data, frames = shop(), shop_frames()
    cv = StratifiedKFold(4, shuffle=True, random_state=1)
    model = RelationalTreeClassifier(cv=cv).fit(data)
    splits = list(cv.split(frames["customers"], frames["customers"]["churn"]))
    bias = model.bias_
    for i, (train, test) in enumerate(splits, 1):
        part = frames | {"customers": frames["customers"].iloc[train]}
        kept = part["orders"]["customer"].isin(part["customers"]["id"])
        part["orders"] = part["orders"][kept]
        part["items"] = part["items"][part["items"]["order"].isin(part["orders"]["id"])]
        alone = RelationalTreeClassifier(bias).fit(
            RelationalData.from_frames(part, KEYS, REFERENCES, target="customers.churn")
        )
        assert model.forest_.tree(i).digest == alone.tree_.digest
        assert model.forest_.unpruned_tree(i).digest == alone.unpruned_tree_.digest
        said = alone.predict(data)[test]
        score = (said == frames["customers"]["churn"].to_numpy()[test]).mean()
        assert model.cv_results_["test_score"][i - 1] == pytest.approx(score)


@pytest.mark.parametrize("algorithm", ["serial", "overlapping", "folds", "auto"])
def test_algorithms_give_the_same_trees(algorithm: str, fitted: RelationalTreeClassifier) -> None:
    model = RelationalTreeClassifier(cv=5, algorithm=algorithm).fit(shop())
    assert [tree.digest for tree in model.forest_.trees] == [tree.digest for tree in fitted.forest_.trees]
    assert (model.cv_results_["test_score"] == fitted.cv_results_["test_score"]).all()


def test_the_estimate_and_the_stability_come_with_folds(fitted: RelationalTreeClassifier) -> None:
    assert fitted.estimate_.mean == pytest.approx(fitted.cv_results_["test_score"].mean())
    assert fitted.estimate_.spread == pytest.approx(fitted.cv_results_["test_score"].std())
    stability = fitted.forest_.stability()
    assert len(stability) == fitted.tree_.n_nodes
    assert stability[0].same == 5
    assert stability[0].band is not None
    assert 12.4 < stability[0].band.low <= stability[0].band.high < 12.6
    again = clone(fitted).set_params(cv=None).fit(shop())
    assert not hasattr(again, "cv_results_")
    assert again.tree_ == fitted.tree_


def test_any_splitter_and_groups_are_taken() -> None:
    data = shop()
    overlapping = RelationalTreeClassifier(cv=ShuffleSplit(3, random_state=0)).fit(data)
    assert len(overlapping.cv_results_["test_score"]) == 3
    groups = np.arange(200) % 7
    grouped = RelationalTreeClassifier(cv=GroupKFold(3)).fit(data, groups=groups)
    assert len(grouped.forest_) == 4
    with pytest.raises(UsageError, match="groups has 3 entries for 200 examples"):
        RelationalTreeClassifier(cv=GroupKFold(3)).fit(data, groups=[1, 2, 3])
    with pytest.raises(UsageError, match="groups are for folds"):
        RelationalTreeClassifier().fit(data, groups=groups)


def test_sql_says_what_predict_says_in_duckdb_and_sqlite(tmp_path: Path) -> None:
    frames = shop_frames()
    data = shop()
    model = RelationalTreeClassifier(prune=None).fit(data)
    expected = dict(zip(frames["customers"]["id"].tolist(), model.predict(data).tolist(), strict=True))
    connection = duckdb.connect()
    for name, frame in frames.items():
        connection.register(name, frame)
    assert dict(connection.execute(model.to_sql()).fetchall()) == expected
    write_sqlite(tmp_path / "shop.sqlite", frames)
    import sqlite3

    with sqlite3.connect(tmp_path / "shop.sqlite") as lite:
        assert dict(lite.execute(model.to_sql("sqlite")).fetchall()) == expected


def test_dates_truth_values_and_integers_are_asked_exactly() -> None:
    draw = np.random.default_rng(8)
    n, m = 120, 400
    people = pd.DataFrame({"id": [f"p{i}'" for i in range(n)], "old": draw.random(n) < 0.5})
    visits = pd.DataFrame(
        {
            "person": draw.choice(people["id"], m),
            "day": [dt.date(2024, 1, 1) + dt.timedelta(int(d)) for d in draw.integers(0, 300, m)],
            "at": pd.to_datetime("2024-01-01") + pd.to_timedelta(draw.integers(0, 10**9, m), "ms"),
            "good": draw.random(m) < 0.5,
            "count": draw.integers(2**53, 2**53 + 9, m),
            "cost": draw.random(m).round(3),
        }
    )
    visits.loc[draw.random(m) < 0.1, "cost"] = np.nan
    late = visits[(visits["day"] > dt.date(2024, 8, 1)) & visits["good"]]
    people["y"] = np.where(people["id"].isin(late["person"]) ^ (draw.random(n) < 0.2), 3, 5)
    frames = {"people": people, "visits": visits}
    data = RelationalData.from_frames(
        frames, {"people": "id"}, {"visits": {"person": "people"}}, target="people.y"
    )
    model = RelationalTreeClassifier(prune=None).fit(data)
    assert model.classes_.tolist() == [3, 5]
    assert model.get_n_leaves() > 8
    connection = duckdb.connect()
    for name, frame in frames.items():
        connection.register(name, frame)
    said = dict(connection.execute(model.to_sql()).fetchall())
    assert said == dict(zip(people["id"], model.predict(data).tolist(), strict=True))
    assert "2024-0" in model.to_text()
    assert "good = true" in model.to_text() or "good = false" in model.to_text()


def test_times_are_respected_in_sql(tmp_path: Path) -> None:
    frames = shop_frames()
    draw = np.random.default_rng(4)
    days = pd.to_datetime("2024-01-01") + pd.to_timedelta(draw.integers(0, 100, len(frames["orders"])), "D")
    frames["orders"]["day"] = days
    asked = pd.to_datetime("2024-01-01") + pd.to_timedelta(draw.integers(20, 90, 200), "D")
    frames["customers"]["asked"] = asked
    data = RelationalData.from_frames(
        frames, KEYS, REFERENCES, target="customers.churn",
        time_columns={"orders": "day"}, example_time="asked",
    )  # fmt: skip
    model = RelationalTreeClassifier(prune=None, min_samples_leaf=3).fit(data)
    assert model.get_n_leaves() > 3
    connection = duckdb.connect()
    for name, frame in frames.items():
        connection.register(name, frame)
    said = dict(connection.execute(model.to_sql()).fetchall())
    assert said == dict(zip(frames["customers"]["id"].tolist(), model.predict(data).tolist(), strict=True))


def test_other_data_may_hold_constants_never_seen(fitted: RelationalTreeClassifier) -> None:
    frames = shop_frames(50, 9)
    frames["orders"]["status"] = frames["orders"]["status"].replace("on time", "lost at sea")
    frames["customers"] = frames["customers"].drop(columns="churn")
    other = RelationalData.from_frames(frames, KEYS, REFERENCES)
    assert (fitted.predict(other) == fitted.predict(shop(50, 9))).all()
    with pytest.raises(DataError, match="is not in the data"):
        fitted.score(other)


def test_data_of_another_kind_is_refused(fitted: RelationalTreeClassifier) -> None:
    frames = shop_frames(50, 9)
    orders = frames["orders"].assign(status=range(len(frames["orders"])))
    other = RelationalData.from_frames(frames | {"orders": orders}, KEYS, REFERENCES)
    with pytest.raises(DataError, match=r"the tree asks 'orders' for 'late' .*, which holds numbers here"):
        fitted.predict(other)
    items = frames["items"].assign(price=frames["items"]["price"].astype(str))
    other = RelationalData.from_frames(frames | {"items": items}, KEYS, REFERENCES)
    with pytest.raises(DataError, match=r"has no order, for items.price holds text; ask with = inst"):
        fitted.predict(other)


def test_columns_are_matched_by_name(fitted: RelationalTreeClassifier, tmp_path: Path) -> None:
    frames = shop_frames()
    orders = frames["orders"].assign(remark="x", paid=1.5)
    turned = frames | {"orders": orders[orders.columns[::-1]]}
    data = RelationalData.from_frames(turned, KEYS, REFERENCES, target="customers.churn")
    hornbeam.save(fitted, tmp_path / "m.hornbeam")
    for model in (fitted, hornbeam.load(tmp_path / "m.hornbeam")):
        assert (model.predict(data) == fitted.predict(shop())).all()
    poorer = frames | {"orders": frames["orders"].drop(columns="status")}
    data = RelationalData.from_frames(poorer, KEYS, REFERENCES, target="customers.churn")
    with pytest.raises(DataError, match="table 'orders' has no column 'status', which the model knows it by"):
        fitted.predict(data)


def test_an_explanation_is_of_one_example(fitted: RelationalTreeClassifier) -> None:
    data = shop()
    said = dict(zip(range(1, 201), fitted.predict(data).tolist(), strict=True))
    for key in (1, 2, 3, 4, 5):
        told = fitted.explain(key)
        assert told.prediction == said[key]
        assert json.dumps(told.to_record())
    assert fitted.explain(3, shop(50, 9)).key == 3
    with pytest.raises(UsageError, match="no example has the key 'nobody'"):
        fitted.explain("nobody")


def test_clones_pickles_and_files_are_alike(fitted: RelationalTreeClassifier, tmp_path: Path) -> None:
    other = shop(60, 5)
    assert clone(fitted).get_params() == fitted.get_params()
    assert clone(RelationalTreeClassifier(fitted.bias_)).bias == fitted.bias_
    pickled = pickle.loads(pickle.dumps(fitted))
    hornbeam.save(fitted, tmp_path / "model")
    loaded = hornbeam.load(tmp_path / "model")
    for model in (pickled, loaded):
        assert model.tree_ == fitted.tree_
        assert model.unpruned_tree_ == fitted.unpruned_tree_
        assert model.bias_ == fitted.bias_
        assert (model.predict(other) == fitted.predict(other)).all()
        assert model.to_sql() == fitted.to_sql()
        with pytest.raises(UsageError, match="a saved model has no data"):
            model.explain(1)
        assert model.explain(1, other).key == 1
    assert len(pickled.forest_) == 6
    assert RelationalTree.from_json(fitted.to_json()) == fitted.tree_


def test_numbers_are_predicted_by_means(tmp_path: Path) -> None:
    frames = shop_frames()
    total = frames["orders"].groupby("customer")["amount"].sum()
    frames["customers"]["spent"] = frames["customers"]["id"].map(total).fillna(0.0)
    data = RelationalData.from_frames(frames, KEYS, REFERENCES, target="customers.spent")
    model = RelationalTreeRegressor(cv=KFold(4)).fit(data)
    assert is_regressor(model)
    assert model.get_n_leaves() > 2
    assert model.estimate_.measure == "r2"
    assert model.score(data) > 0.5
    leaves = model.apply(data)
    spent = frames["customers"]["spent"].to_numpy()
    for leaf in set(leaves.tolist()):
        assert model.predict(data)[leaves == leaf][0] == pytest.approx(spent[leaves == leaf].mean())
    hornbeam.save(model, tmp_path / "model")
    assert (hornbeam.load(tmp_path / "model").predict(data) == model.predict(data)).all()
    with pytest.raises(UsageError, match="the tree predicts numbers; use None"):
        RelationalTreeRegressor(prune="error_based").fit(data)


@pytest.mark.filterwarnings("ignore:.*in every bag")
def test_bags_grown_together_are_bags_grown_alone(tmp_path: Path) -> None:
    data, other = shop(), shop(60, 5)
    model = RelationalBagging(n_estimators=8, oob_score=True, random_state=3).fit(data)
    serial = RelationalBagging(n_estimators=8, algorithm="serial", random_state=3).fit(data)
    assert [tree.digest for tree in model.trees_] == [tree.digest for tree in serial.trees_]
    assert 0.7 < model.oob_score_ <= 1.0
    assert (model.predict_proba(other) == serial.predict_proba(other)).all()
    shares = np.mean([answers(tree, model, other) for tree in model.trees_], axis=0)
    assert np.allclose(shares, model.predict_proba(other))
    assert (model.predict(other) == model.classes_[shares.argmax(axis=1)]).all()
    hornbeam.save(model, tmp_path / "bag")
    loaded = hornbeam.load(tmp_path / "bag")
    assert (loaded.predict_proba(other) == model.predict_proba(other)).all()
    assert all(
        (a == b).all() for a, b in zip(loaded.estimators_samples_, model.estimators_samples_, strict=True)
    )
    with pytest.raises(UsageError, match="algorithm='folds'"):
        RelationalBagging(algorithm="folds").fit(data)


def answers(tree: RelationalTree, model: RelationalBagging, data: RelationalData) -> np.ndarray:
    lone = RelationalTreeClassifier(model.bias_)
    lone.tree_, lone.bias_, lone.target_, lone.classes_ = tree, model.bias_, model.target_, model.classes_
    return lone.predict_proba(data)


@pytest.mark.filterwarnings("ignore:.*in every bag")
def test_out_of_bag_answers_are_those_of_trees_that_lack_the_example() -> None:
    data = shop()
    model = RelationalBagging(n_estimators=12, oob_score=True, random_state=1).fit(data)
    each = [answers(tree, model, data) for tree in model.trees_]
    for example in (0, 17, 199):
        lacking = [e for e, rows in zip(each, model.estimators_samples_, strict=True) if example not in rows]
        expected = np.mean([e[example] for e in lacking], axis=0)
        assert np.allclose(model.oob_decision_function_[example], expected)


def test_examples_without_label_are_predicted_and_not_learned_from() -> None:
    frames = shop_frames()
    labels = frames["customers"]["churn"].to_numpy().copy()
    frames["customers"].loc[::4, "churn"] = None
    data = RelationalData.from_frames(frames, KEYS, REFERENCES, target="customers.churn")
    model = RelationalTreeClassifier(cv=5).fit(data)
    assert model.tree_.size(0) == 150
    assert model.predict(data).shape == (200,)
    known = np.arange(200) % 4 != 0
    assert model.score(data) == pytest.approx((model.predict(data)[known] == labels[known]).mean())


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"criterion": "gini"}, "criterion"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"lookahead": -1}, "lookahead=-1"),
        ({"prune": "reduced_error"}, "prune='reduced_error' is unknown"),
        ({"confidence": 2}, "confidence=2"),
        ({"algorithm": "fast"}, "algorithm='fast'"),
        ({"cache_bytes": -1}, "cache_bytes=-1"),
        ({"bias": 7}, "bias=7"),
        ({"bias": "key(customers)."}, "the bias has no mode, so nothing can be asked"),
        ({"cv": 1}, "cv=1"),
    ],
)  # fmt: skip
def test_parameters_that_mean_nothing_are_refused_in_one_line(
    parameters: dict[str, object], said: str
) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        RelationalTreeClassifier(**parameters).fit(shop(30))
    assert "\n" not in str(caught.value)


def test_other_refusals_are_one_line() -> None:
    assert is_classifier(RelationalTreeClassifier())
    with pytest.raises(UsageError, match="given is a DataFrame, and RelationalData is needed"):
        RelationalTreeClassifier().fit(shop_frames()["orders"])
    with pytest.raises(NotFittedError, match="call 'fit' before 'to_text'"):
        RelationalTreeClassifier().to_text()
    with pytest.raises(NotFittedError, match="call 'fit' before 'predict_proba'"):
        RelationalTreeClassifier().predict_proba(shop(30))
    with pytest.raises(NotFittedError, match="call 'fit' before 'predict'"):
        RelationalBagging().predict(shop(30))
    with pytest.raises(UsageError, match="oob_score=True with bootstrap=False"):
        RelationalBagging(oob_score=True, bootstrap=False).fit(shop(30))


def test_tests_over_the_budget_are_left_out_and_told() -> None:
    with pytest.warns(UserWarning, match="tests took more than budget=1 join steps"):
        model = RelationalTreeClassifier(budget=1).fit(shop())
    assert model.forest_.dropped


def test_files_that_were_changed_are_refused(fitted: RelationalTreeClassifier, tmp_path: Path) -> None:
    from hornbeam.estimators.stored_relational import StoredRelational

    payload = StoredRelational.of(fitted).payload()
    for change in (
        {"target": 7},
        {"bias": "nothing."},
        {"trees": []},
        {"unpruned": []},
        {"features": [1]},
        {"estimator": "RelationalTreeRegressor"},
        {"parameters": {"surprise": 1}},
    ):
        with pytest.raises(DataError, match="is not a model that this version reads") as caught:
            StoredRelational.read("model", payload | change)
        assert "\n" not in str(caught.value)
