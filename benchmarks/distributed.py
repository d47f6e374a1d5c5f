"""The same tree by two workers of Dask, by Spark where it is at hand, and by threads of one process: CPU
time, bytes shipped."""

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

import hornbeam as hb
from benchmarks import common
from benchmarks.answers import confirm
from benchmarks.common import Verdict
from hornbeam import TreeClassifier
from hornbeam.datasets import generate
from hornbeam.distributed.spark_session import spark_engine
from hornbeam.errors import EngineError, UsageError

ROWS, QUICK_ROWS, FILES, NOISE = 20_000_000, 400_000, 10, 0.05
MEMORY, WORKERS = "1GB", 2
FUNCTIONS = (1, 7)
PARAMETERS: dict[str, Any] = {"max_depth": 8}
MOST_TIMES, MOST_PERCENT = 3.0, 1.0  # the CPU time of threads; of what a worker reads in a scan, shipped


@dataclass(frozen=True)
class Row:
    """CPU seconds of all processes on one function, by threads and by a cluster, and what it shipped."""

    function: int
    engine: str
    threads: float
    cluster: float
    wall_threads: float
    wall_cluster: float
    read: int
    """Bytes of one scan."""
    shipped: dict[str, int]
    """By phase, of all workers."""

    @property
    def times(self) -> float:
        return self.cluster / self.threads

    def share(self, phase: str) -> float:
        """Of the bytes that one worker reads in a scan, those that it ships."""
        return self.shipped.get(phase, 0) / self.read


@dataclass(frozen=True)
class Alone:
    """The tree by threads of this process."""

    digest: str
    cpu: float
    wall: float


def write_people(folder: Path, function: int, rows: int) -> str:
    for i in range(FILES):
        made = hb.source(
            lambda i=i: generate(
                "agrawal", rows // FILES, function=function, noise=NOISE, seed=100 * function + i
            )
        )
        made.spool(str(folder / f"f{function}-{i}.parquet"))
    return str(folder / f"f{function}-*.parquet")


def by_threads(files: str) -> Alone:
    begin, wall = time.process_time(), time.perf_counter()
    model = TreeClassifier(**PARAMETERS, n_jobs=WORKERS).fit_source(
        hb.source(files), target="class", memory_limit=MEMORY, algorithm="boat"
    )
    return Alone(model.tree_.digest, time.process_time() - begin, time.perf_counter() - wall)


def measure(engine: Any, name: str, files: str, function: int, alone: Alone) -> Row:
    """Grow the same tree by a cluster; the digests must agree."""
    before, wall = _cpu(), time.perf_counter()
    there = TreeClassifier(**PARAMETERS).fit_source(
        hb.source(files, engine=engine), target="class", memory_limit=MEMORY, algorithm="boat"
    )
    cluster, wall_cluster = _cpu() - before, time.perf_counter() - wall
    confirm(there.tree_.digest == alone.digest, f"function {function}: {name} grows another tree")
    stats = there.scan_stats_
    read, shipped = stats.bytes // stats.scans, dict(stats.shipped)
    return Row(function, name, alone.cpu, cluster, alone.wall, wall_cluster, read, shipped)


def _cpu() -> float:
    """CPU seconds of this process and of all below it: workers, and the Java of Spark."""
    times = time.process_time()
    for process in psutil.Process().children(recursive=True):
        try:
            times += sum(process.cpu_times()[:4])  # with those of children that have ended
        except psutil.NoSuchProcess:
            continue
    return times


def verdicts(rows: list[Row]) -> list[Verdict]:
    """The floors are Dask's; Spark is told beside it."""
    found = []
    for row in rows:
        name, floors = f"F{row.function}, {row.engine}", row.engine == "dask"
        floor = MOST_TIMES if floors else None
        found.append(Verdict(f"{name}: CPU of the cluster / of threads", row.times, "lower", floor=floor))
        for phase in ("survey", "cleanup scan", "settling"):
            claim = f"{name}, {phase}: shipped by a worker / read by it"
            floor = MOST_PERCENT if floors else None
            found.append(Verdict(claim, 100 * row.share(phase), "lower", floor=floor, unit=" %"))
    return found


@contextmanager
def dask_client() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def spark_session() -> Iterator[Any]:
    """HornbeamError where there is no Spark."""
    engine = spark_engine(f"local[{WORKERS}]")
    try:
        yield engine.session
    finally:
        engine.close()


ENGINES = {"dask": dask_client, "spark": spark_session}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_ROWS:,} rows")
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument("--only", nargs="+", choices=list(ENGINES), default=list(ENGINES))
    given = parser.parse_args()
    rows = given.rows or (QUICK_ROWS if given.quick else ROWS)
    found: list[Row] = []
    skips: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        files = {function: write_people(Path(folder), function, rows) for function in FUNCTIONS}
        alone = {function: by_threads(files[function]) for function in FUNCTIONS}
        for name in given.only:
            try:
                with ENGINES[name]() as engine:
                    for function in FUNCTIONS:
                        found.append(measure(engine, name, files[function], function, alone[function]))
                        print(asdict(found[-1]), flush=True)
            except (UsageError, EngineError) as error:
                skips.append((name, str(error)))
    records = {"rows": rows, "measured": [asdict(row) for row in found]}
    return common.close("distributed", [] if given.quick else verdicts(found), records, skips)


if __name__ == "__main__":
    raise SystemExit(main())
