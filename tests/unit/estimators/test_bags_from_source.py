"""Bagged trees over a source: bags drawn row by row, the same for any parts, and what is kept of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import r2_score

import hornbeam as hb
from hornbeam import BaggedTreesClassifier, BaggedTreesRegressor, TreeClassifier
from hornbeam.datasets import generate
from hornbeam.ensemble import SourceBags
from hornbeam.errors import DataError, UsageError
from hornbeam.table.sources.draws import RowDraws, numbered_row_words, row_words

pytestmark = pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
ROWS = 4000
COLUMNS = ["salary", "age", "elevel", "car", "loan"]


@pytest.fixture(scope="module")
def table() -> pa.Table:
    made = generate("agrawal", ROWS, function=7, noise=0.05, seed=5).read_all()
    return made.select([*COLUMNS, "class"])


def files(table: pa.Table, folder: Path, parts: int) -> str:
    folder.mkdir()
    each = -(-table.num_rows // parts)
    for i in range(parts):
        pq.write_table(table.slice(i * each, each), folder / f"{i:02}.parquet")
    return str(folder / "*.parquet")


def digests(model: Any) -> list[str]:
    return [tree.digest for tree in model.trees_]


@pytest.mark.parametrize("algorithm", ["auto", "memory", "rf_hybrid", "rf_write", "rf_read", "rf_vertical"])
def test_each_tree_is_that_of_a_lone_fit_of_its_rows(table: pa.Table, algorithm: str) -> None:
    model = BaggedTreesClassifier(n_estimators=4, max_depth=6, random_state=3)
    model.fit_source(hb.source(table), target="class", algorithm=algorithm)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        some = table.take(rows)
        lone = TreeClassifier(max_depth=6).fit(some.drop_columns(["class"]), some["class"])
        assert member.tree_.digest == lone.tree_.digest
    sizes = [len(rows) for rows in model.estimators_samples_]
    assert len(set(sizes)) > 1
    assert all(abs(size - ROWS) < 5 * ROWS**0.5 for size in sizes)


def test_any_number_of_parts_and_threads_gives_the_same_bags(table: pa.Table, tmp_path: Path) -> None:
    found = set()
    for parts, threads in ((1, 1), (3, 2), (7, 3)):
        model = BaggedTreesClassifier(
            n_estimators=5, max_depth=5, oob_score=True, random_state=1, n_jobs=threads
        )
        rows = hb.source(files(table, tmp_path / str(parts), parts))
        model.fit_source(rows, target="class", algorithm="rf_hybrid", memory_limit="300MB")
        found.add((tuple(digests(model)), model.oob_score_))
    assert len(found) == 1


def test_the_first_bags_do_not_depend_on_how_many_follow(table: pa.Table) -> None:
    few, many = (
        digests(
            BaggedTreesClassifier(n_estimators=n, max_depth=4, random_state=2).fit_source(
                hb.source(table), target="class", algorithm=algorithm
            )
        )
        for n, algorithm in ((2, "memory"), (6, "rf_read"))
    )
    assert many[:2] == few


def test_rows_outside_are_asked_of_the_trees_that_lack_them(table: pa.Table) -> None:
    model = BaggedTreesClassifier(n_estimators=12, max_depth=5, oob_score=True, random_state=4)
    model.fit_source(hb.source(table), target="class", algorithm="rf_hybrid")
    X, y = table.drop_columns(["class"]), table["class"].to_numpy(zero_copy_only=False)
    total, asked = np.zeros((ROWS, 2)), np.zeros(ROWS)
    for i, member in enumerate(model.estimators_):
        outside = model.bags_.times(i) == 0
        total[outside] += member.predict_proba(X)[outside]
        asked += outside
    known = asked > 0
    said = model.classes_[(total[known] / asked[known, None]).argmax(axis=1)]
    assert model.oob_score_ == np.mean(said == y[known])
    assert not hasattr(model, "oob_decision_function_")
    assert model.scan_stats_.scans >= 2


def test_numbers_have_r2_outside(table: pa.Table) -> None:
    model = BaggedTreesRegressor(n_estimators=10, max_depth=5, oob_score=True, random_state=4)
    model.fit_source(hb.source(table.drop_columns(["class"])), target="loan", algorithm="rf_read")
    X, y = table.drop_columns(["class", "loan"]), table["loan"].to_numpy().astype(float)
    total, asked = np.zeros(ROWS), np.zeros(ROWS)
    for i, member in enumerate(model.estimators_):
        outside = model.bags_.times(i) == 0
        total[outside] += member.predict(X)[outside]
        asked += outside
    known = asked > 0
    assert model.oob_score_ == pytest.approx(r2_score(y[known], total[known] / asked[known]))
    assert model.predict(X).shape == (ROWS,)


def test_a_key_draws_its_rows_together(table: pa.Table) -> None:
    keys = pa.array([f"household {i // 4}" for i in range(ROWS)])
    keyed = table.append_column("home", keys)
    model = BaggedTreesClassifier(n_estimators=3, max_depth=4, random_state=1)
    model.fit_source(hb.source(keyed), target="class", key="home", algorithm="rf_hybrid")
    assert "home" not in model.feature_names_in_
    times = model.bags_.row_draws.times(row_words(keys), 1).reshape(-1, 4)
    assert (times == times[:, :1]).all()
    some = table.take(np.repeat(np.arange(ROWS), times.ravel()))
    lone = TreeClassifier(max_depth=4).fit(some.drop_columns(["class"]), some["class"])
    assert model.trees_[1].digest == lone.tree_.digest
    with pytest.raises(UsageError, match="drawn by a key"):
        _ = model.estimators_samples_


def test_shares_and_no_replacement(table: pa.Table) -> None:
    half = BaggedTreesClassifier(n_estimators=3, max_depth=3, max_samples=0.5, random_state=1)
    half.fit_source(hb.source(table), target="class")
    assert all(abs(len(rows) - ROWS / 2) < 200 for rows in half.estimators_samples_)
    number = BaggedTreesClassifier(n_estimators=3, max_depth=3, max_samples=2000, random_state=1)
    assert digests(number.fit_source(hb.source(table), target="class")) == digests(half)
    once = BaggedTreesClassifier(n_estimators=2, max_samples=0.25, bootstrap=False, random_state=1)
    once.fit_source(hb.source(table), target="class")
    assert all(len(set(rows)) == len(rows) for rows in once.estimators_samples_)
    whole = BaggedTreesClassifier(n_estimators=2, max_depth=4, bootstrap=False, random_state=1)
    whole.fit_source(hb.source(table), target="class", algorithm="rf_read")
    lone = TreeClassifier(max_depth=4).fit(table.drop_columns(["class"]), table["class"])
    assert set(digests(whole)) == {lone.tree_.digest}


def test_class_weights_and_pruning_are_of_each_bag(table: pa.Table) -> None:
    given = {"class_weight": "balanced", "ccp_alpha": 0.002, "max_depth": 6}
    model = BaggedTreesClassifier(n_estimators=3, random_state=1, **given)
    model.fit_source(hb.source(table), target="class", algorithm="rf_hybrid")
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        some = table.take(rows)
        lone = TreeClassifier(**given).fit(some.drop_columns(["class"]), some["class"])
        assert member.tree_.digest == lone.tree_.digest
        assert member.unpruned_tree_.digest == lone.unpruned_tree_.digest


def test_a_saved_model_draws_its_bags_again(table: pa.Table, tmp_path: Path) -> None:
    model = BaggedTreesClassifier(n_estimators=3, max_depth=3, max_samples=0.7, random_state=1)
    model.fit_source(hb.source(table), target="class")
    hb.save(model, tmp_path / "bag")
    again = hb.load(tmp_path / "bag")
    assert digests(again) == digests(model)
    assert isinstance(again.bags_, SourceBags)
    for before, after in zip(model.estimators_samples_, again.estimators_samples_, strict=True):
        np.testing.assert_array_equal(before, after)


def test_what_cannot_be_is_refused(table: pa.Table) -> None:
    def refused(match: str, kind: type[Exception] = UsageError, source: Any = None, **given: Any) -> None:
        how = {name: given.pop(name) for name in ("algorithm", "key") if name in given}
        model = BaggedTreesClassifier(**{"n_estimators": 2, **given})
        with pytest.raises(kind, match=match) as caught:
            model.fit_source(source or hb.source(table), target="class", **how)
        assert "\n" not in str(caught.value)
        assert not hasattr(model, "estimators_")

    refused("bags with algorithm='boat'", algorithm="boat")
    refused("prune='error_based' asks for the rows", algorithm="rf_read", prune="error_based")
    refused("rows outside the bags", oob_score=True, bootstrap=False)
    refused("n_estimators=0", n_estimators=0)
    refused("at most", max_samples=10**6)
    refused("max_samples=2.5", max_samples=2.5)
    refused("draw all rows alike", source=hb.source(table, weight="age"))
    query = hb.source(lambda: iter(table.to_batches()))
    refused("is not known before", source=query, max_samples=10)
    refused("a bag has no row", DataError, algorithm="rf_read", max_samples=1e-9)
    refused("a bag has no row", DataError, algorithm="memory", max_samples=1e-9)
    gaps = table.append_column("id", pa.array([None, *range(1, ROWS)]))
    refused("a row without a key is in no bag", DataError, source=hb.source(gaps), key="id")


def test_times_follow_poissons_law() -> None:
    words = numbered_row_words(0, 200_000)
    for rate in (0.3, 1.0, 4.0):
        times = RowDraws((7,), rate).times(words, 0)
        assert abs(times.mean() - rate) < 4 * (rate / 200_000) ** 0.5
        assert abs(times.var() - rate) < 0.05 * rate
        assert abs((times == 0).mean() - np.exp(-rate)) < 0.005


def test_a_row_is_drawn_as_often_on_every_machine() -> None:
    times = RowDraws((7,)).times(numbered_row_words(0, 12), 0)
    assert times.tolist() == [0, 2, 2, 1, 0, 2, 1, 2, 0, 0, 0, 2]
