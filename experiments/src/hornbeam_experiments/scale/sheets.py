"""The numbers of the page: bytes and growths beside the model, constants, simulated clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hornbeam_experiments.records import Cell, Sheet
from hornbeam_experiments.scale.constants import LEVELS, Constants
from hornbeam_experiments.scale.growths import WeighedGrowth
from hornbeam_experiments.scale.plan import Plan
from hornbeam_experiments.scale.scans import WeighedScan
from hornbeam_experiments.scale.simulate import Assumed, Job, Outcome, simulate

BOAT, FOREST = "BOAT, one tree", "RainForest, folds"
MEANING = {
    "counter_base": ("bytes", 1.0, "a counter above 0, squeezed"),
    "counter_digit": ("bytes", 1.0, "more for each binary digit of the mean count"),
    "entry_bytes": ("bytes", 1.0, "a value that is listed, squeezed"),
    "sample_bytes": ("bytes", 1.0, "a sampled row, squeezed"),
    "row_bytes": ("bytes", 1.0, "a row that is kept"),
    "tree_bytes": ("bytes", 1.0, "a node of a family's tree"),
    "decode": ("ns", 1e9, "reading and encoding, a row and attribute"),
    "survey": ("ns", 1e9, "surveying, reading included, a row and attribute"),
    "count": ("ns", 1e9, "counting at a node, a row and attribute"),
    "listing": ("ns", 1e9, "listing a value at a node, a row and attribute"),
    "part": ("ms", 1e3, "a part, whatever it has"),
    "pack": ("ns", 1e9, "packing and squeezing, a counter of a part"),
    "merge": ("ns", 1e9, "merging one parcel more, a counter"),
    "merge_entry": ("ns", 1e9, "merging one parcel more, a listed value"),
    "settle": ("ns", 1e9, "finding the test of a node, a counter of it"),
    "watched": ("%", 100, "values that are listed for guesses in doubt, of all"),
    "keep": ("ns", 1e9, "keeping rows in a cleanup scan and listing values, a byte of the rows"),
    "round": ("ns", 1e9, "a round over rows that are kept, a byte"),
    "family": ("ns", 1e9, "growing a family in memory, a row and attribute"),
    "client": ("ms", 1e3, "the client, once: bootstraps and putting trees together"),
}


def parcels(name: str, weighed: Mapping[str, Sequence[WeighedScan]], c: Constants) -> Sheet:
    """Every scan: what parcels of a part, a worker and the client weigh, and what the model says."""
    records: list[dict[str, Cell]] = []
    for varied, scans in weighed.items():
        for scan in scans:
            shape = scan.shape
            for level in LEVELS:
                rows, size = scan.at(level)
                said = c.parcel(rows, shape, scan.counted)
                records.append(
                    {
                        "varied": varied,
                        "parcel of": level,
                        "rows": round(rows),
                        "attributes": shape.attributes,
                        "nodes": shape.nodes,
                        "classes": shape.classes,
                        "buckets": shape.buckets,
                        "parts": shape.parts,
                        "workers": shape.workers,
                        "counters": scan.counted.counters,
                        "unsqueezed bytes": scan.raw if level == "client" else None,
                        "bytes measured": round(size),
                        "bytes by the model": round(said),
                        "model / measured": said / size,
                    }
                )
    return Sheet.of(name, records)


def constants(c: Constants, task: float, origin: str) -> Sheet:
    """What was measured, in units that can be read."""
    records: list[dict[str, Cell]] = [
        {"constant": MEANING[name][2], "value": value * MEANING[name][1], "unit": MEANING[name][0]}
        for name, value in c.records()
    ]
    records.append({"constant": f"a task of the scheduler ({origin})", "value": task * 1e3, "unit": "ms"})
    return Sheet.of("constants", records)


def growths(weighed: Sequence[WeighedGrowth], c: Constants) -> Sheet:
    """Whole growths here: what kernels took and workers shipped, and what the model says."""
    records: list[dict[str, Cell]] = []
    for growth in weighed:
        shape = growth.shape
        cells = shape.rows * shape.attributes
        kept = growth.stats.held_rows
        round_taken = growth.kernel("take_round")[1]
        said: dict[str, tuple[float, float, float | None, float | None]] = {
            "survey": (
                growth.kernel("survey_part")[0],
                cells * c.survey,
                growth.merged("SurveyState")[1],
                growth.sample * c.sample_bytes,
            ),
            "cleanup scan": (
                growth.cleanup.seconds,
                c.cleanup_seconds(shape, growth.cleanup, kept),
                growth.cleanup.shipped,
                c.cleanup_bytes(shape, growth.cleanup),
            ),
            "rounds": (growth.kernel("take_round")[0], round_taken * c.round, None, None),
            "families": (
                growth.kernel("finish_bundle")[0],
                kept * shape.attributes * c.family,
                growth.merged("join")[1],
                growth.nodes * c.tree_bytes,
            ),
        }
        for phase, (seconds, by_model, shipped, model_bytes) in said.items():
            records.append(
                {
                    "rows": shape.rows,
                    "phase": phase,
                    "CPU ms": 1e3 * seconds,
                    "CPU ms by the model": 1e3 * by_model,
                    "bytes shipped": None if shipped is None else round(shipped),
                    "bytes by the model": None if model_bytes is None else round(model_bytes),
                }
            )
    return Sheet.of("growths", records)


def clusters(plan: Plan, c: Constants, task: float, uneven: Sequence[float], kept: float) -> Sheet:
    """Simulated growths."""
    records: list[dict[str, Cell]] = []
    for name, folds in ((BOAT, 1), (FOREST, plan.folds)):
        for rows in plan.simulated_rows:
            job = Job(rows, folds, kept=kept)
            for workers in plan.workers:
                outcome = simulate(job, workers, c, task, uneven, Assumed())
                records.append(_cluster(name, rows, workers, outcome))
    return Sheet.of("clusters", records)


def _cluster(name: str, rows: float, workers: int, outcome: Outcome) -> dict[str, Cell]:
    return {
        "set": name,
        "rows": int(rows),
        "workers": workers,
        "wall seconds": outcome.wall,
        "efficiency": outcome.efficiency(workers),
        "scans": outcome.scans,
        "waits for": outcome.waits_for,
        "seconds of rows": outcome.rows,
        "of the scheduler": outcome.scheduler,
        "of merging": outcome.merging,
        "of the client": outcome.client,
        "MB to the client": outcome.arrived / 1e6,
        "MB shipped by a worker": outcome.shipped / workers / 1e6,
        "GB of rows moved": outcome.moved / 1e9,
    }


def bottlenecks(plan: Plan, c: Constants, task: float, uneven: Sequence[float], kept: float) -> Sheet:
    """How many workers it takes until rows are no longer what most of the time is spent on."""
    records: list[dict[str, Cell]] = []
    most = max(plan.workers)
    for name, folds in ((BOAT, 1), (FOREST, plan.folds)):
        for rows in plan.simulated_rows:
            job = Job(rows, folds, kept=kept)
            workers, found = 1, None
            while workers <= most and found is None:
                outcome = simulate(job, workers, c, task, uneven, Assumed())
                found = workers if outcome.rows < outcome.wall / 2 else None
                workers = max(workers + 1, round(workers * 1.2))
            last = simulate(job, found or most, c, task, uneven, Assumed())
            records.append(
                {
                    "set": name,
                    "rows": int(rows),
                    "workers": found,
                    "wall seconds then": last.wall,
                    "waits for": last.waits_for,
                }
            )
    return Sheet.of("bottlenecks", records)
