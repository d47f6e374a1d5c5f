"""What a task of Spark may take, where nobody gives a limit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import hornbeam as hb
from hornbeam import TreeClassifier
from hornbeam.distributed import spark_engine
from hornbeam.distributed.opening import limit_for
from hornbeam.distributed.spark_engine import SparkEngine, at_a_time, bytes_of, task_memory
from tests.unit.distributed.growing import People

GB = 1 << 30


def context(master: str, *executors: str, **said: str) -> Any:
    """What is asked of a context; names of settings go without `spark.executor.`"""
    settings = {f"spark.executor.{name}": value for name, value in said.items()}
    settings["spark.driver.host"] = "here"
    infos = [SimpleNamespace(host=lambda host=host: host) for host in ("here", *executors)]
    tracker = SimpleNamespace(getExecutorInfos=lambda: infos)
    spread = SimpleNamespace(mapPartitions=lambda asked: asked)
    return SimpleNamespace(
        master=master,
        getConf=lambda: settings,
        parallelize=lambda items, parts: spread,
        _jsc=SimpleNamespace(sc=lambda: SimpleNamespace(statusTracker=lambda: tracker)),
    )


def spare(*rooms: int) -> Any:
    """What machines would answer."""
    return lambda asked: [*rooms]


def test_a_task_takes_half_of_what_spark_gives_its_python() -> None:
    said = {"cores": "4", "pyspark.memory": "8g", "memoryOverhead": "1g"}
    for master in ("spark://m:7077", "yarn", "local[2]"):
        assert task_memory(context(master, **said), 8, spare()) == GB


@pytest.mark.parametrize(
    ("said", "room"),
    [
        ({}, 384 << 20),
        ({"memory": "10g"}, GB),
        ({"memory": "10g", "memoryOverheadFactor": "0.4"}, 4 * GB),
        ({"memory": "10g", "memoryOverhead": "3g"}, 3 * GB),
        ({"minMemoryOverhead": "2g"}, 2 * GB),
    ],
)
def test_in_a_container_tasks_share_what_is_beside_the_heap(said: dict[str, str], room: int) -> None:
    for master in ("yarn", "k8s://https://10.0.0.1:6443"):
        assert task_memory(context(master, **said), 8, spare()) == room // 2
        assert task_memory(context(master, cores="4", **said), 8, spare()) == room // 8


def test_elsewhere_the_tasks_of_a_machine_share_half_of_what_it_has_to_spare() -> None:
    machines = context("spark://m:7077", "a", "a", "b")
    assert task_memory(machines, 6, spare(9 * GB, 8 * GB)) == GB  # two on each executor, four on a
    assert task_memory(context("spark://m:7077", "here"), 2, spare(8 * GB)) == 2 * GB
    assert [at_a_time(*given) for given in ((5, "ab"), (1, ""), (4, "aaaa"))] == [3, 1, 4]


def test_threads_of_spark_share_half_of_what_this_machine_has_to_spare(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spark_engine, "available_memory", lambda: 8 * GB)
    assert task_memory(context("local[4,4]"), 4, spare()) == GB


def test_a_fit_without_a_limit_has_one(spark: Any, people: People) -> None:
    src = hb.source(people[1], engine=spark)
    model = TreeClassifier(max_depth=3).fit_source(src, target="class")
    assert 0 < model.scan_stats_.memory_limit <= 64 << 40
    asked = TreeClassifier(max_depth=3).fit_source(src, target="class", memory_limit="64MB")
    assert asked.scan_stats_.memory_limit == 64_000_000


def test_machines_are_asked_what_they_have_to_spare(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a cluster, by a job."""
    monkeypatch.setattr(spark.sparkContext, "master", "spark://m:7077")
    assert 0 < SparkEngine(spark).memory < 64 << 40


@pytest.mark.parametrize(("known", "limit"), [(None, None), (1, 32_000_000), (10**18, 4 * GB)])
def test_the_limit_fits_the_client_and_is_enough_for_a_scan(
    known: int | None, limit: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hornbeam.boat.meter.available_memory", lambda: 8 * GB)
    source: Any = SimpleNamespace(engine=SimpleNamespace(memory=known))
    assert limit_for(source, None) == limit
    assert limit_for(source, 77) == 77


def test_sizes_are_read_as_spark_writes_them() -> None:
    said = ("1024b", "3k", "512", "512m", "2g", "2gb", "1T")
    assert [bytes_of(size) for size in said] == [
        1024, 3 << 10, 512 << 20, 512 << 20, 2 << 30, 2 << 30, 1 << 40
    ]  # fmt: skip
