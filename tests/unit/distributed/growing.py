"""Trees of people, grown here and by engines, some of which are in trouble."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hornbeam as hb
from hornbeam import TreeClassifier
from hornbeam.distributed import kernels

People = tuple[pa.Table, str]
Kernel = Callable[[Any, Any], bytes]
Trouble = Callable[[Kernel], Kernel]


def need_spark() -> None:
    """Skip the test, with the reason, where Spark cannot run."""
    pytest.importorskip("pyspark", reason="pyspark is not installed; make test-spark installs it")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, and none is installed")


def fitted(table: pa.Table, **parameters: Any) -> str:
    """The digest of the tree that `fit` grows."""
    digest: str = TreeClassifier(**parameters).fit(table.drop_columns(["class"]), table["class"]).tree_.digest
    return digest


def grown_by(engine: Any, files: str) -> str:
    """The digest of the tree that BOAT grows by an engine."""
    src = hb.source(files, engine=engine)
    digest: str = TreeClassifier(max_depth=6).fit_source(src, target="class", algorithm="boat").tree_.digest
    return digest


def commanding(cluster: Any) -> tuple[str, ...]:
    """The options by which the command finds a cluster: Spark has its session in this process."""
    scheduler = getattr(cluster, "scheduler", None)
    return ("--engine", "spark") if scheduler is None else ("--scheduler", scheduler.address)


def frame_of(cluster: Any, table: pa.Table, folder: Path) -> Any:
    """The rows as a frame of three partitions, of Dask or of Spark."""
    if hasattr(cluster, "scheduler"):
        frames = pytest.importorskip("dask.dataframe", reason="dask[dataframe] is not installed")
        return frames.from_pandas(table.to_pandas(), npartitions=3)
    for i, first in enumerate(range(0, table.num_rows, -(-table.num_rows // 3))):
        pq.write_table(table.slice(first, -(-table.num_rows // 3)), folder / f"{i}.parquet")
    return cluster.read.parquet(str(folder))


def troubled(engine: type, cluster: Any, trouble: Trouble) -> Any:
    """An engine that runs the kernel of the cleanup scan with some trouble around it."""

    class Troubled(engine):  # type: ignore[misc]
        def map(self, kernel: Kernel, items: Any, state: Any, done: Any = None) -> Any:
            run = trouble(kernel) if kernel is kernels.scan_part else kernel
            return super().map(run, items, state, done)

    return Troubled(cluster)


def dying(died: Path) -> Trouble:
    """The worker that has read the third part is killed, once."""
    path = str(died)

    def die(kernel: Kernel) -> Kernel:
        def run(part: Any, state: Any) -> bytes:
            found = kernel(part, state)
            if part.index == 2 and not os.path.exists(path):
                open(path, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
            return found

        return run

    return die


def slow(done: Path) -> Trouble:
    """The first part waits until the four others are done."""
    folder = str(done)

    def wait(kernel: Kernel) -> Kernel:
        def run(part: Any, state: Any) -> bytes:
            while part.index == 0 and len(os.listdir(folder)) < 4:
                time.sleep(0.02)
            found = kernel(part, state)
            open(os.path.join(folder, str(part.index)), "w").close()
            return found

        return run

    return wait


def waiting(reached: Path, go_on: Path) -> Trouble:
    """The first part says who reads it, and waits."""
    path, end = str(reached), str(go_on)

    def wait(kernel: Kernel) -> Kernel:
        def run(part: Any, state: Any) -> bytes:
            if part.index == 0:
                with open(path + ".new", "w") as said:
                    said.write(str(os.getpid()))
                os.rename(path + ".new", path)
                while not os.path.exists(end):
                    time.sleep(0.05)
            return kernel(part, state)

        return run

    return wait


def when(path: Path, call: Callable[[], Any]) -> None:
    """Call as soon as there is such a file."""
    while not path.exists():
        time.sleep(0.05)
    call()
