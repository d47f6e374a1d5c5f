"""The same tree by a Dask cluster of two workers and by threads of one process: CPU time, bytes shipped."""

import argparse
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import hornbeam as hb
from benchmarks import common
from benchmarks.answers import confirm
from benchmarks.common import Verdict
from hornbeam import TreeClassifier
from hornbeam.datasets import generate

ROWS, QUICK_ROWS, FILES, NOISE = 20_000_000, 400_000, 10, 0.05
MEMORY, WORKERS = "1GB", 2
FUNCTIONS = (1, 7)
PARAMETERS: dict[str, Any] = {"max_depth": 8}
MOST_TIMES, MOST_PERCENT = 3.0, 1.0  # the CPU time of threads; of what a worker reads in a scan, shipped


@dataclass(frozen=True)
class Row:
    """CPU seconds of all processes on one function, by threads and by the cluster, and what it shipped."""

    function: int
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


def write_people(folder: Path, function: int, rows: int) -> str:
    for i in range(FILES):
        made = hb.source(
            lambda i=i: generate(
                "agrawal", rows // FILES, function=function, noise=NOISE, seed=100 * function + i
            )
        )
        made.spool(str(folder / f"f{function}-{i}.parquet"))
    return str(folder / f"f{function}-*.parquet")


def measure(client: Any, files: str, function: int) -> Row:
    """Grow the tree both ways; the digests must agree."""
    begin, wall = time.process_time(), time.perf_counter()
    here = TreeClassifier(**PARAMETERS, n_jobs=WORKERS).fit_source(
        hb.source(files), target="class", memory_limit=MEMORY, algorithm="boat"
    )
    threads, wall_threads = time.process_time() - begin, time.perf_counter() - wall
    before, wall = _cpu(client), time.perf_counter()
    there = TreeClassifier(**PARAMETERS).fit_source(
        hb.source(files, engine=client), target="class", memory_limit=MEMORY, algorithm="boat"
    )
    cluster, wall_cluster = _cpu(client) - before, time.perf_counter() - wall
    confirm(there.tree_.digest == here.tree_.digest, f"function {function}: the cluster grows another tree")
    stats = there.scan_stats_
    read = stats.bytes // stats.scans
    return Row(function, threads, cluster, wall_threads, wall_cluster, read, dict(stats.shipped))


def _cpu(client: Any) -> float:
    """CPU seconds of this process and of all workers."""
    return time.process_time() + sum(client.run(time.process_time).values())


def verdicts(rows: list[Row]) -> list[Verdict]:
    found = []
    for row in rows:
        name = f"F{row.function}"
        found.append(
            Verdict(f"{name}: CPU of the cluster / of threads", row.times, "lower", floor=MOST_TIMES)
        )
        for phase in ("survey", "cleanup scan", "settling"):
            claim = f"{name}, {phase}: shipped by a worker / read by it"
            found.append(Verdict(claim, 100 * row.share(phase), "lower", floor=MOST_PERCENT, unit=" %"))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_ROWS:,} rows")
    parser.add_argument("--rows", type=int, default=None)
    given = parser.parse_args()
    rows = given.rows or (QUICK_ROWS if given.quick else ROWS)
    from distributed import Client, LocalCluster

    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        found = []
        for function in FUNCTIONS:
            files = write_people(Path(folder), function, rows)
            found.append(measure(client, files, function))
            print(asdict(found[-1]), flush=True)
    records = {"rows": rows, "measured": [asdict(row) for row in found]}
    return common.close("distributed", [] if given.quick else verdicts(found), records, [])


if __name__ == "__main__":
    raise SystemExit(main())
