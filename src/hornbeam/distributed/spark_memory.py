"""What one task of Spark may take: as Spark is told, or a share of what its machines have to spare."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from math import ceil
from typing import Any

from hornbeam.boat.meter import available_memory

_PART = 2  # one task may take half of what there is for it
_SIZE = re.compile(r"(\d+) *([a-z]?)")
_CONTAINERS = ("yarn", "k8s://")
"""Masters that end an executor which takes more than was asked for."""

Ask = Callable[[Any], list[int]]
"""Collects an RDD."""


def task_memory(context: Any, workers: int, ask: Ask) -> int:
    """Bytes that one task may take, of so many that run at a time."""
    said, master = context.getConf(), context.master
    room = said.get("spark.executor.pyspark.memory")
    if room is not None or master.startswith(_CONTAINERS):
        outside = _overhead(said) if room is None else bytes_of(room)
        return outside // int(said.get("spark.executor.cores") or 1) // _PART
    if master.startswith("local") and "cluster" not in master:
        return available_memory() // workers // _PART
    spare = min(ask(context.parallelize(range(workers), workers).mapPartitions(spare_memory)))
    return spare // at_a_time(workers, executor_hosts(context)) // _PART


def spare_memory(_: Iterable[int]) -> Iterator[int]:
    """Of the machine, or the group, in which this is called."""
    yield available_memory()


def at_a_time(workers: int, hosts: Iterable[str]) -> int:
    """How many of so many tasks run on one machine, as if all had as many executors as the fullest."""
    executors = Counter(hosts)
    return ceil(workers / max(1, executors.total())) * max(executors.values(), default=1)


def executor_hosts(context: Any) -> list[str]:
    """The machine of each executor. Spark lists the driver with them."""
    hosts = [str(one.host()) for one in context._jsc.sc().statusTracker().getExecutorInfos()]
    driver = context.getConf().get("spark.driver.host")
    if driver in hosts:
        hosts.remove(driver)
    return hosts


def _overhead(said: Any) -> int:
    """What an executor has beside its heap, as Spark reckons it."""
    told = said.get("spark.executor.memoryOverhead")
    if told is not None:
        return bytes_of(told)
    heap = bytes_of(said.get("spark.executor.memory") or "1g")
    share = float(said.get("spark.executor.memoryOverheadFactor") or 0.1)
    return max(bytes_of(said.get("spark.executor.minMemoryOverhead") or "384m"), int(share * heap))


def bytes_of(said: str) -> int:
    """The bytes of a size as Spark writes it: 512m, 2g, 2gb; a plain number is of mebibytes."""
    (number, unit), *_ = _SIZE.findall(said.lower())
    return int(number) << {"b": 0, "k": 10, "": 20, "m": 20, "g": 30, "t": 40, "p": 50}[unit]
