"""Answers by the workers of a cluster: those of this process, written where they are made."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hornbeam as hb
from hornbeam import BaggedTreesClassifier, TreeClassifier, TreeRegressor
from hornbeam.distributed import kernels
from hornbeam.ensemble import Answering
from hornbeam.ensemble.answers import AnswerRequest
from hornbeam.errors import DataError, UsageError
from tests.laws.cluster_growing import UnkindEngine
from tests.unit.cli.test_command import run
from tests.unit.distributed.growing import People, commanding, frame_of


def models(table: pa.Table) -> list[Any]:
    given = table.drop_columns(["class"])
    return [
        TreeClassifier(max_depth=5, cv=2).fit(given, table["class"]),
        TreeRegressor(max_depth=4).fit(given.drop_columns(["loan"]), table["loan"]),
        BaggedTreesClassifier(n_estimators=3, max_depth=4, random_state=1).fit(given, table["class"]),
    ]


def test_workers_write_what_predict_answers(cluster: Any, people: People, tmp_path: Path) -> None:
    table, files = people
    for i, model in enumerate(models(table)):
        told = model.predict_source(hb.source(files, engine=cluster), tmp_path / str(i), keep=["age"])
        found = pa.concat_tables([pq.read_table(path) for path in told.files])
        assert (told.rows, len(told.files)) == (table.num_rows, 5)
        assert found["age"].to_pylist() == table["age"].to_pylist()
        expected = model.predict(table.select(list(model.feature_names_in_)))
        np.testing.assert_array_equal(found["prediction"].to_numpy(zero_copy_only=False), expected)


def test_no_row_comes_to_the_client(cluster: Any, people: People, tmp_path: Path) -> None:
    table, files = people
    model = models(table)[0]
    source = hb.source(files, engine=cluster)
    model.predict_source(source, tmp_path / "out")
    assert 0 < source.engine.shipped < 5000
    assert source.stats.rows == table.num_rows


@pytest.mark.parametrize("seed", range(6))
def test_parts_may_come_twice_and_in_any_order(people: People, tmp_path: Path, seed: int) -> None:
    table, files = people
    model = TreeClassifier(max_depth=4).fit(table.drop_columns(["class"]), table["class"])
    source = hb.source(files, engine=UnkindEngine(seed, twice=0.5))
    told = model.predict_source(source, tmp_path / "out")
    found = pa.concat_tables([pq.read_table(path) for path in told.files])
    expected = model.predict(table.drop_columns(["class"]))
    np.testing.assert_array_equal(found["prediction"].to_numpy(zero_copy_only=False), expected)


def test_a_part_that_is_done_again_leaves_the_same_file(people: People, tmp_path: Path) -> None:
    table, files = people
    tree = TreeClassifier(max_depth=4).fit(table.drop_columns(["class"]), table["class"]).tree_
    source = hb.source(files)
    state = kernels.PredictState(AnswerRequest(Answering((tree,)), source), str(tmp_path), "parquet")
    part = source.parts()[1]
    first = kernels.predict_part(part, state)
    content = (tmp_path / "part-00001.parquet").read_bytes()
    assert kernels.predict_part(part, state) == first
    assert (tmp_path / "part-00001.parquet").read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["part-00001.parquet"]


def test_what_a_worker_refuses_leaves_nothing(cluster: Any, tmp_path: Path) -> None:
    for i in range(3):
        column = pa.array([1, 2, 3]) if i < 2 else pa.array(["a", "b", "c"])
        (tmp_path / "in").mkdir(exist_ok=True)
        pq.write_table(pa.table({"x": column.cast(pa.string())}), tmp_path / "in" / f"{i}.parquet")
    model = TreeClassifier().fit(pa.table({"x": [1, 2, 3]}), ["a", "b", "a"])
    with pytest.raises(DataError, match="convert the column") as caught:
        model.predict_source(hb.source(str(tmp_path / "in" / "*"), engine=cluster), tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_workers_need_a_folder(cluster: Any, people: People, tmp_path: Path) -> None:
    table, files = people
    model = models(table)[0]
    for place in (None, tmp_path / "answers.parquet"):
        with pytest.raises(UsageError, match="workers of a cluster answer"):
            model.predict_source(hb.source(files, engine=cluster), place)


def test_the_command_writes_a_folder(cluster: Any, people: People, tmp_path: Path) -> None:
    table, files = people
    model = TreeClassifier(max_depth=4).fit(table.drop_columns(["class"]), table["class"])
    hb.save(model, tmp_path / "m")
    out = str(tmp_path / "out") + "/"
    done = run("predict", str(tmp_path / "m"), files, *commanding(cluster), "-o", out)
    assert done.exit_code == 0, done.output
    found = pq.read_table(tmp_path / "out")
    expected = model.predict(table.drop_columns(["class"]))
    np.testing.assert_array_equal(found["prediction"].to_numpy(zero_copy_only=False), expected)
    shutil.rmtree(tmp_path / "out")
    here = run("predict", str(tmp_path / "m"), files, "-o", out, "--format", "csv")
    assert here.exit_code == 0, here.output
    assert len(list((tmp_path / "out").glob("part-*.csv"))) == 5


def test_frames_are_answered_for_where_they_are(cluster: Any, people: People, tmp_path: Path) -> None:
    table = people[0].slice(0, 1000)
    model = TreeClassifier(max_depth=4).fit(table.drop_columns(["class"]), table["class"])
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()  # an empty folder is taken
    src = hb.source(frame_of(cluster, table, tmp_path / "in"), engine=cluster)
    told = model.predict_source(src, tmp_path / "out", keep=["age", "salary"])
    found = pa.concat_tables([pq.read_table(path) for path in told.files])
    assert told.rows == 1000
    expected = table.select(["age", "salary"])
    answers = pa.array(model.predict(table.drop_columns(["class"])))
    rows = expected.append_column("prediction", answers).to_pylist()
    assert sorted(found.to_pylist(), key=str) == sorted(rows, key=str)
