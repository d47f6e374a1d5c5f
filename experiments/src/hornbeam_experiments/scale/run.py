"""The experiment from beginning to end: scans and growths are weighed here, clusters simulated from them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from hornbeam_experiments.records import Part, Results, Sheet
from hornbeam_experiments.scale import pictures, sheets, tasks
from hornbeam_experiments.scale.constants import measure
from hornbeam_experiments.scale.growths import DEPTH, weigh_growth
from hornbeam_experiments.scale.people import Shape
from hornbeam_experiments.scale.plan import Plan
from hornbeam_experiments.scale.scans import WeighedScan, weigh_scan
from hornbeam_experiments.scale.simulate import Assumed
from hornbeam_experiments.setting import machine

HEADLINE = "What a cluster costs: bytes, seconds, and where it ends"
SOURCE = {
    "paper": "the cost model of From laptop to cluster, in the documentation",
    "read": "Bytes and CPU seconds are measured on this machine; clusters are simulated.",
}


def run(plan: Plan) -> Results:
    """Everything of the experiment."""
    begin = time.process_time()
    with TemporaryDirectory() as folder, _one_thread():
        weighed = {
            varied: _weigh(shapes, Path(folder), plan, varied) for varied, shapes in plan.shapes.items()
        }
        listed = _weigh(plan.listed, Path(folder), plan, "listed values")
        grown = []
        for rows in plan.growths:
            plan.tell(f"a tree of {rows:,} rows by BOAT")
            grown.append(weigh_growth(Shape(rows, buckets=4096), Path(folder)))
    plan.tell("empty tasks of a scheduler")
    task, origin = tasks.task_seconds()
    last = grown[-1]
    c = measure(weighed["rows"], [scan for scans in weighed.values() for scan in scans], listed, last)
    kept = last.stats.held_rows / last.shape.rows
    plan.tell(f"{len(plan.workers) * len(plan.simulated_rows) * 2} clusters")
    facts = (plan, c, task, last.uneven, kept)
    parts = (
        _of_bytes(sheets.parcels("bytes", weighed, c), sheets.parcels("values", {"values": listed}, c)),
        Part("The constants", CONSTANTS, "", (), (sheets.constants(c, task, origin),), ("constants",)),
        Part("Whole growths", GROWTHS, "", (), (sheets.growths(grown, c),), ("growths",)),
        *_of_clusters(sheets.clusters(*facts), sheets.bottlenecks(*facts)),
    )
    setting: dict[str, Any] = {
        **machine(),
        **_assumed(plan),
        "CPU seconds": round(time.process_time() - begin),
    }
    return Results("scale", HEADLINE, parts, setting, notes_of(plan, kept), SOURCE, summary_of(parts))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Arrow reads with one thread, as it does for a worker."""
    before = pa.cpu_count()
    pa.set_cpu_count(1)
    try:
        yield
    finally:
        pa.set_cpu_count(before)


def _weigh(shapes: Sequence[Shape], folder: Path, plan: Plan, varied: str) -> list[WeighedScan]:
    found = []
    for shape in shapes:
        plan.tell(f"a scan, {varied} varied: {shape.rows:,} rows, {shape.levels} levels")
        found.append(weigh_scan(shape, folder))
    return found


def _of_bytes(counted: Sheet, listed: Sheet) -> Part:
    return Part("Bytes of a scan", BYTES, "", (pictures.of_bytes(counted),), (counted, listed))


def _of_clusters(clusters: Sheet, bottlenecks: Sheet) -> list[Part]:
    shares = [
        pictures.of_shares(f"time-{i}", clusters, title)
        for i, title in enumerate((sheets.BOAT, sheets.FOREST), 1)
    ]
    wall, efficiency = pictures.of_wall(clusters), pictures.of_efficiency(clusters)
    return [
        Part("Simulated clusters", CLUSTERS, "", (wall, efficiency), (clusters,)),
        Part(
            "What the time is spent on",
            SPENT,
            "",
            tuple(shares),
            (bottlenecks,),
            (bottlenecks.name,),
        ),
    ]


def _assumed(plan: Plan) -> dict[str, str]:
    assumed = Assumed()
    return {
        "assumed network": f"{8 * assumed.bandwidth / 1e9:g} Gbit/s to and from each machine",
        "assumed memory": f"{assumed.task_memory / 1e9:g} GB for a task, {assumed.client_memory / 1e9:g} GB "
        "for the client",
        "assumed parts": f"{assumed.part_rows:,} rows, at least 4 a worker",
        "simulated trees": f"depth {DEPTH}, two classes, 9 attributes, {plan.folds} folds by RainForest",
    }


def notes_of(plan: Plan, kept: float) -> tuple[str, ...]:
    notes = [
        "CPU seconds of one thread; the tables lie in the page cache. Parcels are those that the kernels of "
        "a cluster make, merged as an engine merges them; nothing is sent over a network.",
        "The constants of bytes are fitted to the scans whose rows vary; all others show whether they hold "
        "(model / measured in bytes.csv). Those of seconds are fitted to all scans and the largest growth.",
        f"Simulated rows are like those that were grown from: {100 * kept:.0f} % of them are kept by the "
        "cleanup scan, for with noise bootstraps agree on few levels. Disks and the page cache are no limit, "
        "workers are as fast as this core, and none fails. A scheduler hands out one task after the other; "
        "what an engine takes to pass parcels on is left out, and is as much again where all rows are kept.",
        "Scans refuse more than 4,294,967,295 rows: their counters have 32 bits. Above that the figures say "
        "what a cluster would cost, and not that this version grows such a tree.",
    ]
    if plan.quick:
        notes.insert(0, "QUICK: small tables, so that fixed costs weigh much; no figures to quote.")
    return tuple(notes)


def summary_of(parts: Sequence[Part]) -> str:
    """The simulated clusters for a terminal."""
    sheet = next(sheet for part in parts for sheet in part.sheets if sheet.name == "clusters")
    lines = ["                                rows  workers      wall  efficiency  MB to client  waits for"]
    for record in sheet.records():
        wall, share = float(record["wall seconds"] or 0), float(record["efficiency"] or 0)
        lines.append(
            f"{record['set']!s:18}{record['rows']:18,}{record['workers']:9,}{_duration(wall):>10}"
            f"{100 * share:10.0f} %{float(record['MB to the client'] or 0):14,.0f}  {record['waits for']}"
        )
    return "\n".join(lines)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


BYTES = (
    "A parcel is what is found in a part, merged for a worker, merged for the client. By the model it weighs "
    "S (1 - exp(-r)) (a + b log2(1 + r / (1 - exp(-r)))) bytes, where S are the counters that rows can reach "
    "(nodes x attributes x buckets x classes, halved by each test above) and r the mean count of one."
)
CONSTANTS = "Measured on this machine."
GROWTHS = "BOAT by the kernels of a cluster, in this process: what was measured, and what the constants say."
CLUSTERS = "One tree by BOAT, and trees of folds by RainForest, which lists every value of every column."
SPENT = (
    "Workers read and grow (rows), wait for tasks, for parcels on their way up the tree of workers, and for "
    "the client. Below: how many workers it takes until rows are less than half of the time."
)
