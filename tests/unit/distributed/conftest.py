"""A Dask cluster of two workers and a Spark session on this machine, one for all tests of a process, and rows
in files."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hornbeam.datasets import generate
from hornbeam.distributed.spark_session import spark_engine
from tests.unit.distributed.growing import need_spark

PEOPLE = 40_000


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """The client of two workers, each a process."""
    distributed = pytest.importorskip("distributed", reason="dask[distributed] is not installed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as made,
    ):
        yield made


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Ctrl-C is heard, also where tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def people(tmp_path_factory: pytest.TempPathFactory) -> tuple[pa.Table, str]:
    """Rows of Agrawal's people with noise, and the files that they are in."""
    table = generate("agrawal", PEOPLE, function=7, noise=0.05, seed=3).read_all()
    folder: Path = tmp_path_factory.mktemp("people")
    for i in range(5):
        pq.write_table(table.slice(i * PEOPLE // 5, PEOPLE // 5), folder / f"{i}.parquet")
    return table, str(folder / "*.parquet")


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session of Spark with two threads of this machine; the test is skipped, with the reason, where there
    is none."""
    need_spark()
    engine = spark_engine("local[2,4]")
    yield engine.session
    engine.close()


@pytest.fixture(params=["dask", "spark"])
def cluster(request: pytest.FixtureRequest) -> Any:
    """What `engine=` takes: the client of Dask, and the session of Spark."""
    return request.getfixturevalue({"dask": "client", "spark": "spark"}[request.param])
