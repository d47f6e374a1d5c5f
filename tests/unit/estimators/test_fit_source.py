"""`fit_source`: what it learns is what `fit` learns, folds by key, what it tells, and what it refuses."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

import hornbeam as hb
from hornbeam import C45Classifier, TreeClassifier, TreeRegressor
from hornbeam.boat import growth
from hornbeam.boat.meter import Progress
from hornbeam.errors import DataError, DataTypeError, SourceChanged, StorageError, UsageError
from hornbeam.table.sources import Source, fold_of
from tests.unit.boat.scanner import grow_by_chunks
from tests.unit.table.sources.rows import every_type, people, write_files


@pytest.fixture
def rows() -> pa.Table:
    return people(600)


@pytest.fixture
def source(rows: pa.Table, tmp_path: Path) -> Source:
    return hb.source(write_files(rows, tmp_path / "people"))


@pytest.fixture
def scanner(monkeypatch: pytest.MonkeyPatch) -> None:
    """An algorithm under the name that auto goes for."""
    monkeypatch.setitem(growth.SCANNING, "boat", grow_by_chunks)


def attributes(rows: pa.Table) -> pa.Table:
    return rows.drop_columns([name for name in ("id", "y") if name in rows.column_names])


def test_all_that_fit_learns_is_there(rows: pa.Table, source: Any) -> None:
    whole = TreeClassifier(max_depth=4).fit(attributes(rows), rows["y"])
    grown = TreeClassifier(max_depth=4).fit_source(source, target="y", key="id")
    learned = {name for name in vars(whole) if name.endswith("_")}
    assert {name for name in vars(grown) if name.endswith("_")} == learned | {"scan_stats_"}
    assert grown.tree_ == whole.tree_
    assert grown.feature_names_in_.tolist() == ["age", "size", "job"]
    assert (grown.predict(rows) == whole.predict(rows)).all()
    assert grown.scan_stats_.scans == 1


def test_columns_of_every_type_are_attributes(tmp_path: Path) -> None:
    rows = every_type(300).append_column("y", pa.array(["a", "b", "b"] * 100))
    whole = TreeClassifier().fit(rows.drop_columns("y"), rows["y"])
    grown = TreeClassifier().fit_source(
        hb.source(lambda: rows.to_batches(max_chunksize=9)), target="y", algorithm="memory"
    )
    assert grown.tree_.digest == whole.tree_.digest
    assert grown.schema_ == whole.schema_


@pytest.mark.parametrize("prune", ["error_based", "cost_complexity", "reduced_error"])
def test_rows_in_memory_prune_as_fit_does(prune: str, rows: pa.Table, source: Any) -> None:
    given: dict[str, Any] = {"prune": prune, "random_state": 3, "class_weight": "balanced"}
    given |= {"ccp_alpha": 0.002} if prune == "cost_complexity" else {}
    whole = TreeClassifier(**given).fit(attributes(rows), rows["y"])
    grown = TreeClassifier(**given).fit_source(source, target="y", key="id")
    assert grown.tree_.digest == whole.tree_.digest
    assert grown.unpruned_tree_.digest == whole.unpruned_tree_.digest
    assert grown.tree_.n_leaves < grown.unpruned_tree_.n_leaves


def test_c45_and_costs_are_known_to_sources(rows: pa.Table, source: Any) -> None:
    costs = [[0, 5], [1, 0]]
    for model in (C45Classifier(competitors=2), TreeClassifier(cost_matrix=costs, max_depth=3)):
        whole = clone(model).fit(attributes(rows), rows["y"])
        assert model.fit_source(source, target="y", key="id").tree_.digest == whole.tree_.digest


SCANS = sorted(growth.SCANNING)


@pytest.mark.parametrize("algorithm", SCANS)
def test_scans_know_weights_costs_and_numbers(algorithm: str, rows: pa.Table) -> None:
    weights = np.random.default_rng(1).choice([0.0, 0.1, 1.0, 1e9], len(rows))
    heavy = rows.append_column("w", pa.array(weights))
    models = [
        (TreeClassifier(max_depth=5), "y"),
        (TreeClassifier(max_depth=5, class_weight="balanced"), "y"),
        (TreeClassifier(max_depth=5, class_weight={rows["y"][0].as_py(): 0.3}), "y"),
        (TreeClassifier(max_depth=5, cost_matrix=[[0, 5], [1, 0]], criterion="entropy"), "y"),
        (TreeRegressor(max_depth=5), "size"),
        (TreeRegressor(max_depth=5), ["size", "age"]),
    ]
    for model, target in models:
        said = [target] if isinstance(target, str) else target
        table = heavy.filter(pa.compute.is_valid(heavy["age"])) if "age" in said else heavy
        X = table.drop_columns([*said, "id", "w"])
        y = table[target] if isinstance(target, str) else table.select(target)
        for weight in (None, "w"):
            whole = clone(model).fit(X, y, sample_weight=None if weight is None else table["w"].to_numpy())
            source = hb.source(
                table, columns=[*X.column_names, *said, *([weight] if weight else [])], weight=weight
            )
            found = clone(model).fit_source(source, target=target, memory_limit="32MB", algorithm=algorithm)
            assert found.tree_.digest == whole.tree_.digest
            assert found.scan_stats_.algorithm == algorithm


def test_several_numbers_are_predicted_together(rows: pa.Table, source: Any) -> None:
    X, y = rows.select(["job", "y"]), rows.select(["size", "id"])
    whole = TreeRegressor(max_depth=3).fit(X, y)
    part = hb.source(rows, columns=["job", "y", "size", "id"])
    grown = TreeRegressor(max_depth=3).fit_source(part, target=["size", "id"])
    assert grown.tree_.digest == whole.tree_.digest
    assert grown.n_outputs_ == 2


@pytest.mark.parametrize(
    ("algorithm", "target"),
    [("memory", "y"), ("memory", "size"), ("boat", "y"), ("rf_hybrid", "y"), ("rf_hybrid", "size")],
)
@pytest.mark.parametrize("key", ["id", None])
def test_folds_go_by_the_key_or_the_number_of_the_row(
    algorithm: str, target: str, key: str | None, rows: pa.Table, source: Any, scanner: None
) -> None:
    model: Any = TreeClassifier if target == "y" else TreeRegressor
    grown = model(max_depth=3, cv=4, random_state=8).fit_source(
        source, target=target, key=key, algorithm=algorithm
    )
    kept = [name for name in rows.column_names if name not in (target, key)]
    folds = fold_of(rows["id"], 4, 8)  # which is the number of the row as well
    assert grown.forest_.n_sets == 5
    assert grown.forest_.tree(0) is grown.tree_
    for fold in range(4):
        grown_from, held = (np.flatnonzero(some) for some in (folds != fold, folds == fold))
        alone = model(max_depth=3).fit(rows.select(kept).take(grown_from), rows[target].take(grown_from))
        assert grown.forest_.tree(fold + 1).digest == alone.tree_.digest
        score = alone.score(rows.select(kept).take(held), rows[target].take(held).to_numpy())
        assert grown.cv_results_["test_score"][fold] == score
    assert set(grown.cv_results_) == {"fit_time", "score_time", "test_score"}
    assert grown.scan_stats_.scans == (1 if algorithm == "memory" else 3)


def test_nothing_of_an_earlier_fit_stays(rows: pa.Table, source: Any) -> None:
    model = TreeClassifier(max_depth=2, cv=3).fit_source(source, target="y", key="id")
    assert model.cv_results_["test_score"].shape == (3,)
    model.set_params(cv=None).fit_source(source, target="y", key="id")
    assert not hasattr(model, "cv_results_")
    assert not hasattr(model, "forest_")
    model.fit(attributes(rows), rows["y"])
    assert not hasattr(model, "scan_stats_")


def test_a_failure_leaves_the_fitted_estimator_as_it_was(source: Any) -> None:
    model = TreeClassifier(max_depth=2, cv=3).fit_source(source, target="y", key="id")
    before = dict(vars(model))
    with pytest.raises(UsageError):
        model.fit_source(source, target="nope")
    assert vars(model) == before


def test_a_model_of_a_source_is_kept_like_any_other(source: Any, rows: pa.Table, tmp_path: Path) -> None:
    model = TreeClassifier(max_depth=3).fit_source(source, target="y", key="id")
    again = pickle.loads(pickle.dumps(model))
    assert again.scan_stats_ == model.scan_stats_
    assert again.tree_ == model.tree_
    assert not hasattr(clone(model), "scan_stats_")
    hb.save(model, tmp_path / "m")
    assert (hb.load(tmp_path / "m").predict(rows) == model.predict(rows)).all()
    assert model.pruned(ccp_alpha=0.5).tree_.n_leaves == 1


def test_the_record_says_what_it_took(source: Any, scanner: None) -> None:
    model = TreeClassifier(max_depth=3).fit_source(source, target="y", memory_limit="100MB", algorithm="boat")
    stats = model.scan_stats_
    assert (stats.scans, stats.rows, stats.alarms, stats.held_rows) == (2, 1200, 2, 600)
    assert stats.bytes == source.stats.bytes > 0
    assert stats.peak_memory > 10**7
    assert stats.memory_limit == 10**8
    assert list(stats.seconds) == ["survey", "gathering", "growing"]
    assert json.loads(json.dumps(stats.to_record()))["spilled_bytes"] == 4096
    text = stats.to_text()
    assert "boat: it was asked for" in text
    assert "4.1 KB on disk for a while" in text
    assert "(limit 100 MB)" in text


def test_whoever_listens_hears_of_every_scan(
    source: Any, scanner: None, capfd: pytest.CaptureFixture[str]
) -> None:
    heard: list[Progress] = []
    TreeClassifier(cv=3).fit_source(source, target="y", key="id", algorithm="boat", progress=heard.append)
    ends = [news for news in heard if news.finished]
    assert [(news.scan, news.phase) for news in ends] == [
        (1, "survey"),
        (2, "gathering"),
        (0, "growing"),
        (3, "judging"),
    ]
    assert [news.rows for news in ends if news.scan] == [600, 600, 600]
    assert all(news.share == 1.0 and news.total_rows in (None, 600) for news in ends)
    assert capfd.readouterr() == ("", "")


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"target": "nope"}, UsageError, "target='nope' is not a column of"),
    ({"target": "y", "key": "y"}, UsageError, "key='y'"),
    ({"target": "y", "key": "no"}, UsageError, "key='no' is not a column of"),
    ({"target": "y", "key": 3}, UsageError, "key=3: give the name of a column"),
    ({"target": ["y", "age"]}, UsageError, "one class is predicted"),
    ({"target": 7}, UsageError, "target=7: give the name of a column"),
    ({"target": []}, UsageError, "target=[]"),
    ({"target": "size"}, DataError, "continuous"),
    ({"target": "y", "algorithm": "best"}, UsageError, "algorithm='best': use 'auto'"),
    ({"target": "y", "algorithm": None}, UsageError, "algorithm=None: use 'auto'"),
    ({"target": "y", "algorithm": "rf_swap"}, UsageError, "algorithm='rf_swap': use 'auto'"),
    ({"target": "y", "variant": "paper"}, UsageError, "ask for that"),
    ({"target": "y", "variant": "mine", "algorithm": "boat"}, UsageError, "variant='mine': use 'paper'"),
    ({"target": "y", "memory_limit": "31MB"}, UsageError, "memory_limit=31 MB: give at least 32 MB"),
    ({"target": "y", "memory_limit": "much"}, UsageError, "memory_limit='much'"),
    ({"target": "y", "progress": True}, UsageError, "progress=True: give a function"),
]


@pytest.mark.parametrize(("given", "kind", "says"), REFUSED)
def test_what_means_nothing_is_refused_before_a_row_is_read(
    given: dict[str, Any], kind: type[Exception], says: str, source: Any
) -> None:
    before = source.stats.scans
    with pytest.raises(kind) as caught:
        TreeClassifier().fit_source(source, **given)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert source.stats.scans == before or "continuous" in says


PARAMETERS: list[tuple[dict[str, Any], str]] = [
    ({"cv": KFold(3)}, "over a source folds are dealt by key= or by row numbers; give how many"),
    ({"cv": True}, "give how many"),
    ({"cv": 1}, "cv=1: from 2 to 10,000 folds"),
    ({"nominal_features": [0]}, "for a source give 'from_dtype' or a list of names"),
    ({"nominal_features": ["nope"]}, "nominal_features='nope' is not a column"),
    ({"class_weight": "heavy"}, "class_weight='heavy'"),
    ({"criterion": "best"}, "criterion='best'"),
    ({"class_weight": {"maybe": 2}}, "class_weight names the class 'maybe'"),
]


@pytest.mark.parametrize(("given", "says"), PARAMETERS)
def test_parameters_that_mean_nothing_here_are_refused(given: dict[str, Any], says: str, source: Any) -> None:
    with pytest.raises(UsageError) as caught:
        TreeClassifier(**given).fit_source(source, target="y")
    assert says in str(caught.value)


@pytest.mark.parametrize("given", [people(5), people(5).to_pandas(), "rows.parquet", None, [1]])
def test_what_is_no_source_is_told_how_to_become_one(given: Any) -> None:
    with pytest.raises(DataTypeError, match=r"make one by hornbeam\.source\("):
        TreeClassifier().fit_source(given, target="y")


def test_a_fold_without_rows_is_named() -> None:
    few = hb.source(people(12))
    for algorithm in ("memory", "rf_hybrid"):
        with pytest.raises(DataError, match=r"fold \d+ of 9 has no row, dealt by key 'job'; use fewer folds"):
            TreeClassifier(cv=9).fit_source(few, target="y", key="job", algorithm=algorithm)


def test_a_query_needs_a_key_for_its_folds(tmp_path: Path) -> None:
    pq.write_table(people(50), tmp_path / "p.parquet")
    source = hb.source(":memory:", sql=f"select * from '{tmp_path}/p.parquet'")
    with pytest.raises(UsageError, match="name a column by key="):
        TreeClassifier(cv=3).fit_source(source, target="y")
    assert TreeClassifier(cv=3).fit_source(source, target="y", key="id").forest_.n_sets == 4


def test_a_query_that_fails_half_way_is_one_line(tmp_path: Path) -> None:
    sql = "select i, case when i = 90000 then error('gone') else 'a' end as y from range(100000) t(i)"
    source = hb.source(":memory:", sql=sql)
    with pytest.raises(DataError, match="gone") as caught:
        TreeClassifier().fit_source(source, target="y")
    assert "\n" not in str(caught.value)


def test_files_that_change_or_are_cut_off_are_named(rows: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(rows, path, row_group_size=50)
    source = hb.source(path)
    pq.write_table(rows.slice(0, 400), path, row_group_size=50)
    with pytest.raises(SourceChanged, match="changed since the source was opened"):
        TreeClassifier().fit_source(source, target="y")
    path.write_bytes(path.read_bytes()[:-500])
    with pytest.raises(DataError, match=r"rows\.parquet"):
        TreeClassifier().fit_source(hb.source(path), target="y")
    with pytest.raises(StorageError, match="no file matches"):
        hb.source(str(tmp_path / "none" / "*.parquet"))


def test_rows_that_change_between_two_scans_are_noticed(scanner: None) -> None:
    scans = iter([people(40), people(40), people(40, seed=2)])
    source = hb.source(lambda: next(scans))
    with pytest.raises(SourceChanged, match="changed between two scans"):
        TreeClassifier().fit_source(source, target="y", algorithm="boat")


def test_missing_and_unfit_targets_are_refused_as_fit_does() -> None:
    rows = pa.table({"x": [1, 2, 3], "y": ["a", None, "b"], "z": [1.0, None, 2.0], "t": ["a", "b", "c"]})
    with pytest.raises(DataError, match="target 'y' has a missing label in row 1"):
        TreeClassifier().fit_source(hb.source(rows), target="y")
    with pytest.raises(DataError, match="rows: target 'z' contains NaN"):
        TreeRegressor().fit_source(hb.source(rows), target="z")
    with pytest.raises(DataError, match="target 't' holds text where numbers are needed"):
        TreeRegressor().fit_source(hb.source(rows), target="t")


def test_weights_that_weigh_nothing_are_refused() -> None:
    rows = pa.table({"x": [1, 2, 3], "y": ["a", "a", "b"], "w": [0.0, 0.0, 0.0], "v": [1.0, -1.0, 0.0]})
    with pytest.raises(DataError, match="weight 'w' is zero for every row"):
        TreeClassifier().fit_source(hb.source(rows, weight="w"), target="y")
    with pytest.raises(DataError, match="weight 'v' of row 1 is -1; finite numbers from 0"):
        TreeClassifier().fit_source(hb.source(rows, weight="v"), target="y")
