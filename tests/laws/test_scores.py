"""The law of scores: exact sums, rounded once, so that nothing but the rows and the answers makes a score."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import model_selection as theirs
from sklearn.model_selection import PredefinedSplit

import hornbeam as hb
from hornbeam import BaggedTreesRegressor, MaintainedTree, TreeClassifier, TreeRegressor
from hornbeam.boat.growth import grow_source
from hornbeam.model_selection import TreeSearchCV, cross_val_score, cross_validate
from hornbeam.report.scores import r2_error, score_numbers
from hornbeam.table.sources import fold_of
from hornbeam.validation import scores
from hornbeam.validation.estimate import estimate_by_folds
from tests.laws.cluster_growing import grow_by_cluster
from tests.oracle import scores as oracle

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=12)
WEIGHTS = st.floats(0.0, 1e300)
ROWS, FOLDS = 255, 5


# ---- the expressions ----


@given(PAIRS, st.data())
def test_r2_is_that_of_the_oracle_in_any_order_and_any_parts(rows: Any, data: st.DataObject) -> None:
    table = np.array(data.draw(st.permutations(rows)))
    actual, answered = table[:, :2], table[:, 2:]
    expected = oracle.r2([row[:2] for row in rows], [row[2:] for row in rows])
    assert scores.r2(actual, answered) == expected
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    whole = scores.SquaredErrors(2)
    for begin, end in pairwise([0, *cuts, len(rows)]):
        part = scores.SquaredErrors(2)
        part.add(actual[begin:end], answered[begin:end])
        whole.merge(part.found)
    assert whole.score == expected


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), WEIGHTS, NUMBERS, NUMBERS), min_size=1))
def test_scores_by_weight_are_those_of_the_oracle(rows: Any) -> None:
    actual, answered, weights, y, p = map(np.array, zip(*rows, strict=True))
    assert scores.accuracy(actual, answered) == oracle.accuracy(actual.tolist(), answered.tolist())
    assert scores.exact_mean(y.astype(float)) == oracle.mean(y.tolist())
    far = scores.mean_absolute_error(y / 2, p / 2)
    assert far == oracle.mean_absolute_error((y / 2).tolist(), (p / 2).tolist())
    if weights.any():
        given = actual.tolist(), answered.tolist(), weights.tolist()
        assert scores.accuracy(actual, answered, weights.astype(float)) == oracle.accuracy(*given)
        columns = (np.array(y, dtype=float) / 1e200)[:, None], (np.array(p, dtype=float) / 1e200)[:, None]
        expected = oracle.r2(columns[0].tolist(), columns[1].tolist(), weights.tolist())
        assert scores.r2(*columns, weights.astype(float)) == expected


def test_what_is_not_finite_is_refused() -> None:
    for odd in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match="infinite or NaN"):
            scores.exact_sum(np.array([1.0, odd]))


def test_the_errors_of_a_report_do_not_depend_on_the_order_of_rows() -> None:
    random = np.random.default_rng(3)
    actual, answered = random.normal(size=(2, 400, 2)) + 1e6
    order = random.permutation(400)
    mean = scores.means_of(actual)
    assert np.array_equal(scores.means_of(actual[order]), mean)
    assert score_numbers(actual[order], answered[order], mean, True) == score_numbers(
        actual, answered, mean, True
    )
    assert r2_error(actual[order], answered[order]) == r2_error(actual, answered)
    left, whole = (actual - answered) ** 2, (actual - actual.mean(axis=0)) ** 2
    influence = (left - whole * (left.sum(axis=0) / whole.sum(axis=0))) / whole.mean(axis=0)
    assert r2_error(actual, answered) == pytest.approx(influence.sum(axis=1).std() / 2 / 20, rel=1e-9)


# ---- the ways to a score ----

TARGETS = {
    "far from zero": lambda g: 1e15 + g.integers(-40, 40, ROWS) / 8,
    "near to each other": lambda g: 1e9 + g.random(ROWS),
    "plain": lambda g: g.normal(size=ROWS),
}


def tables(name: str) -> tuple[pa.Table, pa.Table]:
    """The same rows in two orders."""
    g = np.random.default_rng(list(TARGETS).index(name))
    table = pa.table({"x": g.normal(size=ROWS), "y": TARGETS[name](g), "key": np.arange(ROWS)})
    return table, table.take(pa.array(g.permutation(ROWS)))


def in_memory(table: pa.Table, folds: Any) -> tuple[Any, Any, Any]:
    return table.select(["x"]), table["y"].to_numpy(), PredefinedSplit(folds)


@pytest.mark.parametrize("name", TARGETS)
def test_every_way_gives_the_same_r2(name: str, tmp_path: Path) -> None:
    found: dict[str, list[float]] = {}
    for order, table in zip(("rows", "shuffled"), tables(name), strict=True):
        source, folds = hb.source(table), fold_of(table["key"].to_numpy(), FOLDS)
        X, y, cv = in_memory(table, folds)
        model = TreeRegressor(max_depth=3)
        ways = {"cross_validate": cross_validate(model, X, y, cv=cv)["test_score"]}
        ways["r2"] = cross_val_score(model, X, y, cv=cv, scoring="r2", n_jobs=2)
        ways["overlapping"] = cross_val_score(model, X, y, cv=cv, algorithm="overlapping")
        ways["scikit-learn"] = theirs.cross_val_score(model, X.to_pandas(), y, cv=cv)
        ways["fit"] = TreeRegressor(max_depth=3, cv=cv).fit(X, y).cv_results_["test_score"]
        search = TreeSearchCV(model, {"max_depth": [1, 3]}, cv=cv).fit(X, y)
        ways["search"] = [search.cv_results_[f"split{i}_test_score"][1] for i in range(FOLDS)]
        for algorithm in ("memory", "rf_hybrid", "rf_write"):
            scanned = TreeRegressor(max_depth=3, cv=FOLDS, n_jobs=2)
            scanned.fit_source(source, target="y", key="key", algorithm=algorithm)
            ways[algorithm] = scanned.cv_results_["test_score"]
        with MaintainedTree.create(
            tmp_path / order, source, target="y", key="key", cv=FOLDS, max_depth=3
        ) as tree:
            ways["maintained"] = tree.estimate().scores
        found |= {f"{way}, {order}": list(values) for way, values in ways.items()}
    assert len(set(map(tuple, found.values()))) == 1, found


def test_a_model_scores_as_its_cross_validation_does() -> None:
    table, _ = tables("near to each other")
    folds = np.arange(ROWS) % FOLDS
    X, y, cv = in_memory(table, folds)
    found = cross_validate(TreeRegressor(max_depth=4), X, y, cv=cv, return_estimator=True)
    for i, model in enumerate(found["estimator"]):
        rows = pa.array(np.flatnonzero(folds == i))
        assert model.score(X.take(rows), y[folds == i]) == found["test_score"][i]
    weights = np.random.default_rng(0).random(ROWS)
    model = TreeRegressor(max_depth=2).fit(X, y)
    expected = oracle.r2(y[:, None].tolist(), model.predict(X)[:, None].tolist(), weights.tolist())
    assert model.score(X, y, sample_weight=weights) == expected


def test_parts_chunks_and_workers_add_up_to_the_same_scores(tmp_path: Path) -> None:
    from hornbeam.boat.task import SourceTask, read_as  # what `fit_source` makes of its arguments
    from hornbeam.growth import Parameters, Pruning

    table, shuffled = tables("near to each other")
    for i in range(4):
        pq.write_table(shuffled.slice(i * 70, 70), tmp_path / f"{i}.parquet")
    found = []
    for source in (hb.source(table), hb.source(str(tmp_path / "*.parquet"))):
        reading = read_as(source, ("y",), False, (), "key", 32 << 20)
        task = SourceTask(reading, Parameters(criterion="variance", max_depth=3), Pruning(), folds=FOLDS)
        found.append(grow_source(task).estimate)
    for seed in range(3):
        found.append(grow_by_cluster(task, shuffled, seed).estimate)
    assert len({estimate.scores for estimate in found if estimate is not None}) == 1
    assert None not in found


def test_bags_score_the_rows_outside_the_same_in_memory_and_by_scans() -> None:
    table, _ = tables("far from zero")
    models = []
    for algorithm, threads in (("memory", 1), ("rf_hybrid", 2)):
        model = BaggedTreesRegressor(
            n_estimators=9, max_depth=3, oob_score=True, random_state=4, n_jobs=threads
        )
        models.append(model.fit_source(hb.source(table), target="y", algorithm=algorithm))
    assert models[0].oob_score_ == models[1].oob_score_
    X, y = table.select(["x"]), table["y"].to_numpy()
    plain = BaggedTreesRegressor(n_estimators=9, max_depth=3, oob_score=True, random_state=4).fit(X, y)
    known = ~np.isnan(plain.oob_prediction_)
    expected = oracle.r2(y[known, None].tolist(), plain.oob_prediction_[known, None].tolist())
    assert plain.oob_score_ == expected


def test_log_loss_costs_and_weights_do_not_depend_on_the_order_of_rows() -> None:
    g = np.random.default_rng(8)
    X, y = g.normal(size=(300, 3)).round(1), g.integers(0, 3, 300)
    weights, folds, order = g.random(300), np.arange(300) % 4, g.permutation(300)
    matrix = [[0.0, 0.1, 0.7], [0.3, 0.0, 0.1], [1.1, 0.2, 0.0]]
    for model, scoring, weighted in (
        (TreeClassifier(), "neg_log_loss", False),
        (TreeClassifier(cost_matrix=matrix), None, False),
        (TreeClassifier(), None, True),
    ):
        found = []
        for rows in (np.arange(300), order):
            given = {"sample_weight": weights[rows]} if weighted else {}
            search = TreeSearchCV(
                model, {"max_depth": [1, 2, 5]}, cv=PredefinedSplit(folds[rows]), scoring=scoring
            )
            results = search.fit(X[rows], y[rows], **given).cv_results_
            found.append([results[f"split{i}_test_score"].tolist() for i in range(4)])
        assert found[0] == found[1]


def test_the_estimate_of_the_command_is_that_of_the_estimator() -> None:
    from hornbeam.growth import NumericTarget, Parameters, Pruning
    from hornbeam.table import from_data

    table, _ = tables("near to each other")
    folds = np.arange(ROWS) % FOLDS
    X, y, cv = in_memory(table, folds)
    target = NumericTarget(np.ascontiguousarray(y[:, None]), ("y",))
    parameters = Parameters(criterion="variance", max_depth=3)
    _, estimate = estimate_by_folds(from_data(X), target, parameters, folds, pruning=Pruning(), seed=0)
    assert list(estimate.scores) == cross_val_score(TreeRegressor(max_depth=3), X, y, cv=cv).tolist()
