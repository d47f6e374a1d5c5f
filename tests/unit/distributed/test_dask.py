"""Trees by a Dask cluster of two workers: those of this process, whatever happens to the workers."""

from __future__ import annotations

import json
import os
import pickle
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hornbeam as hb
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.distributed import kernels
from hornbeam.distributed.dask_engine import DaskEngine, dask_engine
from hornbeam.distributed.messages import flat, pack, unpack
from hornbeam.errors import DataError, EngineError, SourceChanged, UsageError
from hornbeam.table.sources import Reservoir
from tests.unit.cli.test_command import run
from tests.unit.distributed.growing import People, fitted


@pytest.mark.parametrize("algorithm", ["auto", "boat", "rf_hybrid", "rf_write", "rf_read", "rf_vertical"])
def test_the_tree_is_that_of_fit(client: Any, people: People, algorithm: str) -> None:
    table, files = people
    src = hb.source(files, engine=client)
    model = TreeClassifier(max_depth=7).fit_source(src, target="class", algorithm=algorithm)
    assert model.tree_.digest == fitted(table, max_depth=7)
    stats = model.scan_stats_
    assert (stats.engine, stats.workers) == ("dask", 2)
    assert stats.shipped["survey"] > 0
    assert "dask, 2 workers" in stats.to_text()
    json.dumps(stats.to_record())


def test_the_trees_of_folds_and_their_scores_are_those_of_this_process(client: Any, people: People) -> None:
    _, files = people
    here = TreeClassifier(max_depth=5, cv=4).fit_source(hb.source(files), target="class", key="zipcode")
    there = TreeClassifier(max_depth=5, cv=4).fit_source(
        hb.source(files, engine=client), target="class", key="zipcode"
    )
    for i in range(5):
        assert there.forest_.tree(i).digest == here.forest_.tree(i).digest
    np.testing.assert_array_equal(there.cv_results_["test_score"], here.cv_results_["test_score"])


def test_numbers_are_predicted_too(client: Any, people: People) -> None:
    table, files = people
    src = hb.source(files, engine=client, columns=["salary", "age", "loan", "elevel"])
    model = TreeRegressor(max_depth=5).fit_source(src, target="loan")
    alone = TreeRegressor(max_depth=5).fit(table.select(["salary", "age", "elevel"]), table["loan"])
    assert model.tree_.digest == alone.tree_.digest


@pytest.mark.parametrize("rows", [37, 4000])
def test_frames_of_dask_are_scanned_where_they_are(client: Any, people: People, rows: int) -> None:
    frames = pytest.importorskip("dask.dataframe", reason="dask[dataframe] is not installed")
    table = people[0].slice(0, rows)
    frame = frames.from_pandas(table.to_pandas(), npartitions=3)
    there = TreeClassifier(max_depth=4).fit_source(hb.source(frame, engine=client), target="class")
    here = TreeClassifier(max_depth=4).fit_source(hb.source(frame), target="class")
    assert there.tree_.digest == here.tree_.digest == fitted(table, max_depth=4)
    with pytest.raises(UsageError, match="name a column by key="):
        TreeClassifier(cv=3).fit_source(hb.source(frame, engine=client), target="class")


@pytest.mark.parametrize(("most", "batches"), [(1 << 30, {1, 2}), (1, {5})])
def test_what_a_worker_holds_is_taken_in_piles_that_fit(
    client: Any, people: People, monkeypatch: pytest.MonkeyPatch, most: int, batches: set[int]
) -> None:
    monkeypatch.setattr("hornbeam.distributed.dask_engine.BATCH_BYTES", most)
    taken: set[int] = set()

    class Watched(DaskEngine):
        def _batched(self, futures: Any) -> list[list[Any]]:
            batched = super()._batched(futures)
            assert sorted(f.key for batch in batched for f in batch) == sorted(f.key for f in futures)
            taken.add(len(batched))
            return batched

    model = TreeClassifier(max_depth=7).fit_source(
        hb.source(people[1], engine=Watched(client)), target="class", algorithm="boat"
    )
    assert model.tree_.digest == fitted(people[0], max_depth=7)
    assert taken
    assert taken <= batches


def test_a_worker_that_is_killed_changes_nothing(people: People) -> None:
    """Its parts are scanned again by the other, or by the one that takes its place."""
    distributed = pytest.importorskip("distributed", reason="dask[distributed] is not installed")
    table, files = people
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
    )
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        engine = Killing(client)
        src = hb.source(files, engine=engine)
        model = TreeClassifier(max_depth=7).fit_source(src, target="class", algorithm="boat")
    assert engine.killed == 2
    assert model.tree_.digest == fitted(table, max_depth=7)


class Killing(DaskEngine):
    """Kills a worker while parts are scanned, and another when all results of the scan are there."""

    killed = 0

    def __init__(self, client: Any, scanning: Any = kernels.scan_part) -> None:
        super().__init__(client)
        self._scanning = scanning
        self._processes = list(client.run(os.getpid).values())  # nobody can be asked once one is dead

    def _submit(self, run: Any, *given: Any, at: str | None = None) -> Any:
        if self.killed == 0 and given[:1] == (self._scanning,):
            self._kill()
        return super()._submit(run, *given, at=at)

    def reduce(self, merge: Any, items: Any, state: Any) -> Any:
        if self.killed == 1:
            self._kill()
        return super().reduce(merge, items, state)

    def _kill(self) -> None:
        os.kill(self._processes[self.killed], signal.SIGKILL)
        self.killed += 1


def test_what_workers_refuse_is_one_line_here_and_nothing_is_left(client: Any, tmp_path: Path) -> None:
    for i in range(3):
        classes = ["a", "b", None if i == 2 else "a"]
        pq.write_table(pa.table({"x": [1, 2, 3], "class": classes}), tmp_path / f"{i}.parquet")
    src = hb.source(str(tmp_path / "*.parquet"), engine=client)
    with pytest.raises(DataError, match="class") as caught:
        TreeClassifier().fit_source(src, target="class")
    assert "\n" not in str(caught.value)
    assert_idle(client)


def test_a_file_that_changes_between_scans_is_noticed(client: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"x": list(range(100)), "class": ["a", "b"] * 50}), path)
    src = hb.source(str(path), engine=client)
    pq.write_table(pa.table({"x": list(range(90)), "class": ["a", "b"] * 45}), path)
    with pytest.raises(SourceChanged, match="changed since the source was opened"):
        TreeClassifier().fit_source(src, target="class")


def test_an_interrupt_leaves_nothing_running(client: Any, people: People) -> None:
    class Interrupted(DaskEngine):
        def _wait(self, futures: Any, done: Any = None) -> None:
            raise KeyboardInterrupt

    engine = Interrupted(client)
    src = hb.source(people[1], engine=engine)
    with pytest.raises(KeyboardInterrupt):
        TreeClassifier().fit_source(src, target="class")
    assert_idle(client)


def test_work_that_somebody_else_cancels_is_an_error(client: Any, people: People) -> None:
    class Cancelled(DaskEngine):
        def _wait(self, futures: Any, done: Any = None) -> None:
            self.client.cancel(list(futures), force=True)
            super()._wait(futures, done)

    src = hb.source(people[1], engine=Cancelled(client))
    with pytest.raises(EngineError, match=r"^the Dask cluster failed: "):
        TreeClassifier().fit_source(src, target="class")


def assert_idle(client: Any) -> None:
    """No worker has anything to do any more."""
    end = time.monotonic() + 30
    while any(client.processing().values()):
        assert time.monotonic() < end
        threading.Event().wait(0.05)


def test_a_scheduler_that_does_not_answer_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="dask[distributed] is not installed")
    monkeypatch.setattr("hornbeam.distributed.dask_engine._WAIT", 0.5)
    with pytest.raises(EngineError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:1'") as caught:
        dask_engine("tcp://127.0.0.1:1")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["--scheduler", "nonsense"], "--scheduler 'nonsense'; give the address of a Dask scheduler"),
        (
            ["--engine", "dask", "--scheduler", "spark://h:1"],
            "'spark://h:1' is no address of a Dask scheduler",
        ),
        (["--engine", "spark", "--scheduler", "tcp://h:1"], "'tcp://h:1' is no address of a Spark master"),
        (["--engine", "threads", "--scheduler", "tcp://h:1"], "--scheduler is for --engine dask and spark"),
    ],
)
def test_addresses_that_mean_nothing_are_one_line(people: People, asked: list[str], says: str) -> None:
    pytest.importorskip(
        "pyspark" if "spark" in asked else "distributed", reason="what is asked for is not installed"
    )
    refused = run("fit", people[1], "--target", "class", *asked)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr.startswith(f"hornbeam: {says}")
    assert refused.stderr.count("\n") == 1


def test_what_needs_all_rows_in_one_place_is_refused(client: Any, people: People) -> None:
    src = hb.source(people[1], engine=client)
    with pytest.raises(UsageError, match="spread over a cluster"):
        TreeClassifier(prune="error_based").fit_source(src, target="class")
    with pytest.raises(UsageError, match="gathers all rows here"):
        TreeClassifier().fit_source(src, target="class", algorithm="memory")
    with pytest.raises(UsageError, match="allowed are 'threads', 'dask'"):
        hb.source(people[1], engine="ray")


def test_the_command_asks_a_scheduler(client: Any, people: People) -> None:
    table, files = people
    address = client.scheduler.address
    done = run("fit", files, "--target", "class", "--max-depth", "4", "--scheduler", address, "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["digest"] == fitted(table, max_depth=4)
    assert said["scan_stats"]["engine"] == "dask"
    refused = run("fit", files, "--target", "class", "--engine", "ray")
    assert (refused.exit_code, refused.stderr) == (
        2,
        "hornbeam: --engine 'ray'; allowed are threads, dask and spark\n",
    )


def test_messages_tell_damage_and_parts_that_come_twice() -> None:
    pieces = pack([3], {"found": b"12345", "rows": b"6"}, kept=1)
    message = flat(pieces)
    for packed in (pieces, message):
        assert (unpack(packed).parts, unpack(packed)["found"], unpack(packed)["rows"]) == (
            (3,),
            b"12345",
            b"6",
        )
    for fewer in (pieces[:2], (*pieces, b"7"), (pieces[0], b"1234", b"56"), message + b"7"):
        with pytest.raises(EngineError, match="came damaged"):
            unpack(fewer)
    for place in range(len(message)):
        damaged = bytearray(message)
        damaged[place] ^= 1
        with pytest.raises(EngineError, match="came damaged"):
            [piece.open() for piece in unpack(bytes(damaged)).sealed.values()]
    for size in range(len(message)):
        with pytest.raises(EngineError, match="came damaged"):
            unpack(message[:size])
    trees = [pack([i], {str(i): b"x"}) for i in (2, 0, 2, 1, 0)]
    assert unpack(kernels.join(trees, None)).parts == (0, 1, 2)
    both = kernels.join(trees[:2], None)
    with pytest.raises(EngineError, match="delivered parts of a scan twice"):
        kernels.join([both, pack([2, 5], {})], None)


def test_a_worker_of_another_version_is_refused() -> None:
    state = kernels.FinishState.__new__(kernels.FinishState)
    with pytest.raises(EngineError, match="install the same version everywhere"):
        state.__setstate__({"version": "0.0.9"})


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [3, 1, 4, 0, 2]])
def test_the_sample_of_parts_is_that_of_all_rows(people: People, order: list[int]) -> None:
    table, _ = people
    source = hb.source(table)
    samples = []
    for first in range(0, 40_000, 8_000):
        part = Reservoir(500, 4, source.schema, first=first, total=40_000)
        for chunk in hb.source(table.slice(first, 8_000)).scan():
            part.add(chunk)
        samples.append(pickle.loads(pickle.dumps(part)))
    first, *later = (samples[i] for i in order)
    for one in later:
        first.merge(one)
    assert first.table().equals(source.sample(500, seed=4))
