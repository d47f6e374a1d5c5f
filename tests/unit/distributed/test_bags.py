"""Bags by the workers of a cluster: those of this process, and their score too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hornbeam as hb
from hornbeam import BaggedTreesClassifier, BaggedTreesRegressor
from hornbeam.distributed import kernels
from tests.unit.cli.test_command import run
from tests.unit.distributed.growing import People, commanding, frame_of
from tests.unit.distributed.test_dask import Killing

pytestmark = pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")


def digests(model: Any) -> list[str]:
    return [tree.digest for tree in model.trees_]


@pytest.mark.parametrize("algorithm", ["auto", "rf_write"])
def test_bags_and_their_score_are_those_of_this_process(cluster: Any, people: People, algorithm: str) -> None:
    _, files = people
    model = BaggedTreesClassifier(n_estimators=4, max_depth=5, oob_score=True, random_state=3)
    here = model.fit_source(hb.source(files), target="class")
    expected, score = digests(here), here.oob_score_
    src = hb.source(files, engine=cluster)
    there = model.fit_source(src, target="class", algorithm=algorithm)
    assert digests(there) == expected
    assert there.oob_score_ == score
    assert there.scan_stats_.engine == src.engine.name


def test_bags_of_numbers_are_those_of_this_process(cluster: Any, people: People) -> None:
    _, files = people
    columns = ["salary", "age", "loan", "elevel"]
    model = BaggedTreesRegressor(n_estimators=3, max_depth=4, max_samples=0.5, oob_score=True, random_state=2)
    here = model.fit_source(hb.source(files, columns=columns), target="loan")
    expected, score = digests(here), here.oob_score_
    there = model.fit_source(hb.source(files, columns=columns, engine=cluster), target="loan")
    assert digests(there) == expected
    assert there.oob_score_ == score


def test_bags_of_frames_need_a_key(cluster: Any, people: People, tmp_path: Path) -> None:
    table = people[0].slice(0, 2000).append_column("id", pa.array(range(2000)))
    src = hb.source(frame_of(cluster, table, tmp_path), engine=cluster)
    model = BaggedTreesClassifier(n_estimators=3, max_depth=4, random_state=1)
    with pytest.raises(hb.errors.UsageError, match="name a column by key="):
        model.fit_source(src, target="class")
    there = digests(model.fit_source(src, target="class", key="id"))
    assert there == digests(model.fit_source(hb.source(table), target="class", key="id"))


def test_bags_survive_a_worker_that_is_killed(people: People) -> None:
    distributed = pytest.importorskip("distributed", reason="dask[distributed] is not installed")
    _, files = people
    model = BaggedTreesClassifier(n_estimators=3, max_depth=5, oob_score=True, random_state=3)
    here = model.fit_source(hb.source(files), target="class")
    expected, score = digests(here), here.oob_score_
    local = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
    )
    with local, distributed.Client(local, set_as_default=False) as client:
        engine = Killing(client, kernels.scan_part)
        there = model.fit_source(hb.source(files, engine=engine), target="class")
    assert engine.killed == 2
    assert digests(there) == expected
    assert there.oob_score_ == score


def test_the_command_asks_a_cluster_for_bags(cluster: Any, people: People, tmp_path: Path) -> None:
    _, files = people
    asked = ("bag", files, "--target", "class", "-n", "3", "--max-depth", "4", "--seed", "5", "--json")
    engines = []
    for i, more in enumerate([(), commanding(cluster)]):
        done = run(*asked, *more, "-o", str(tmp_path / str(i)))
        assert done.exit_code == 0, done.output
        engines.append(json.loads(done.stdout)["scan_stats"]["engine"])
    assert engines == [None, hb.source(files, engine=cluster).engine.name]
    assert digests(hb.load(tmp_path / "1")) == digests(hb.load(tmp_path / "0"))
