"""Trees by a local session of Spark: those of this process, from files and from frames."""

from __future__ import annotations

import json
import time
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hornbeam as hb
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.distributed import spark_work
from hornbeam.distributed.spark_engine import SparkEngine
from hornbeam.errors import UsageError
from tests.unit.cli.test_command import run
from tests.unit.distributed.growing import People, fitted


def in_files(table: pa.Table, folder: Path, files: int) -> str:
    """The rows in so many files, some of which are short."""
    ends = [0, *(table.num_rows * i * i // files**2 for i in range(1, files + 1))]
    for i in range(files):
        pq.write_table(table.slice(ends[i], ends[i + 1] - ends[i]), folder / f"{i:02}.parquet")
    return str(folder / "*.parquet")


@pytest.mark.parametrize("algorithm", ["auto", "boat", "rf_hybrid", "rf_write", "rf_read", "rf_vertical"])
def test_the_tree_is_that_of_fit(spark: Any, people: People, algorithm: str) -> None:
    table, files = people
    model = TreeClassifier(max_depth=7).fit_source(
        hb.source(files, engine=spark), target="class", algorithm=algorithm
    )
    assert model.tree_.digest == fitted(table, max_depth=7)
    stats = model.scan_stats_
    assert (stats.engine, stats.workers) == ("spark", 2)
    assert stats.shipped["survey"] > 0
    json.dumps(stats.to_record())


@pytest.mark.parametrize("parts", [1, 3, 11])
def test_weights_and_numbers_do_not_depend_on_the_parts(
    spark: Any, people: People, tmp_path: Path, parts: int
) -> None:
    weights = np.random.default_rng(5).integers(0, 4, 6_000).astype(float)
    table = people[0].slice(0, 6_000).append_column("weight", pa.array(weights))
    files = in_files(table, tmp_path, parts)
    src = hb.source(files, engine=spark, weight="weight")
    model = TreeClassifier(max_depth=5, class_weight="balanced").fit_source(src, target="class")
    plain = table.drop_columns(["class", "weight"])
    alone = TreeClassifier(max_depth=5, class_weight="balanced").fit(plain, table["class"], weights)
    assert model.tree_.digest == alone.tree_.digest
    numbers = hb.source(files, engine=spark, columns=["salary", "age", "loan", "elevel"])
    grown = TreeRegressor(max_depth=4).fit_source(numbers, target="loan")
    least = TreeRegressor(max_depth=4).fit(table.select(["salary", "age", "elevel"]), table["loan"])
    assert grown.tree_.digest == least.tree_.digest


def test_the_trees_of_folds_and_their_scores_are_those_of_this_process(spark: Any, people: People) -> None:
    _, files = people
    here = TreeClassifier(max_depth=4, cv=3).fit_source(hb.source(files), target="class", key="zipcode")
    there = TreeClassifier(max_depth=4, cv=3).fit_source(
        hb.source(files, engine=spark), target="class", key="zipcode"
    )
    for i in range(4):
        assert there.forest_.tree(i).digest == here.forest_.tree(i).digest
    np.testing.assert_array_equal(there.cv_results_["test_score"], here.cv_results_["test_score"])


def test_frames_of_spark_are_scanned_where_they_are(spark: Any, people: People) -> None:
    """After a shuffle too, where Spark chooses the partitions itself, and some have no rows."""
    table, files = people
    frame = spark.read.parquet(str(Path(files).parent)).where("age < 60")
    young = table.filter(pa.compute.less(table["age"], 60))
    src = hb.source(frame)
    model = TreeClassifier(max_depth=5).fit_source(src, target="class")
    assert model.tree_.digest == fitted(young, max_depth=5)
    assert model.scan_stats_.engine == "spark"
    assert src.fingerprint == _fingerprint(young)
    few = frame.limit(40).repartition(7, "elevel").withColumnRenamed("loan", "a loan.`of`")
    again = hb.source(few)
    assert again.rows is None
    grown = TreeClassifier(max_depth=3).fit_source(again, target="class")
    assert again.rows == 40
    here = TreeClassifier(max_depth=3).fit_source(hb.source(_read(again)), target="class")
    assert grown.tree_.digest == here.tree_.digest
    with pytest.raises(UsageError, match="name a column by key="):
        TreeClassifier(cv=3).fit_source(hb.source(frame), target="class")
    with pytest.raises(UsageError, match="scanned by its own session"):
        hb.source(frame, engine="tcp://127.0.0.1:8786")
    with pytest.raises(UsageError, match="is not for frames of Spark"):
        hb.source(frame, sql="select 1")


def _read(src: Any) -> pa.Table:
    return pa.Table.from_batches(list(src.scan())).unify_dictionaries()


def _fingerprint(table: pa.Table) -> str | None:
    src = hb.source(table)
    list(src.scan())
    return src.fingerprint


def test_rows_are_given_back_when_the_tree_is_there(spark: Any, people: People) -> None:
    engine = SparkEngine(spark)
    TreeClassifier(max_depth=5).fit_source(
        hb.source(people[1], engine=engine), target="class", algorithm="boat"
    )
    kept, end = spark.sparkContext._jsc.getPersistentRDDs, time.monotonic() + 60
    while len(kept()):  # nobody waits for it
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_command_asks_a_session(spark: Any, people: People) -> None:
    """That of this process, so that no second one has to start."""
    table, files = people
    asked = ("fit", files, "--target", "class", "--max-depth", "4", "--engine", "spark", "--json")
    for more in ((), ("--scheduler", "local[2,4]")):
        done = run(*asked, *more)
        assert done.exit_code == 0, done.output
        said = json.loads(done.stdout)
        assert said["digest"] == fitted(table, max_depth=4)
        assert said["scan_stats"]["engine"] == "spark"
    other = run(*asked, "--scheduler", "spark://127.0.0.1:1")
    assert other.exit_code == 2
    assert "this process has a Spark session at 'local[2,4]'" in other.stderr


def test_messages_are_whole_again_in_whatever_order_pieces_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spark_work, "PIECE", 3)
    messages = {0: [b"abcdefgh", b"ij"], 7: [b"klm"]}
    pieces = [piece for partition, made in messages.items() for piece in spark_work.cut(partition, made)]
    assert len(pieces) == 5
    for order in permutations(pieces):
        assert sorted(spark_work.joined(order)) == [b"abcdefgh", b"ij", b"klm"]
    assert list(spark_work.joined(pieces[1:3])) == []
