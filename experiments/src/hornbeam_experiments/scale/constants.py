"""What the cost model is made of, measured: bytes of counters and of values, CPU seconds of each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from hornbeam_experiments.scale.growths import RAW_COUNTER, Cleanup, WeighedGrowth
from hornbeam_experiments.scale.people import Shape, values_listed
from hornbeam_experiments.scale.scans import Counted, WeighedScan

LEVELS = ("part", "worker", "client")


@dataclass(frozen=True)
class Constants:
    """Bytes, and CPU seconds of one core of this machine."""

    counter_base: float
    """Bytes of a counter that is not 0, squeezed,"""
    counter_digit: float
    """and for each binary digit of the mean count."""
    entry_bytes: float
    """Of a value that is listed."""
    sample_bytes: float
    """Of a sampled row."""
    row_bytes: float
    """Of a row that is kept."""
    tree_bytes: float
    """Of a node of a grown tree."""
    decode: float
    """Seconds for a row and attribute, to read and encode it,"""
    survey: float
    """to survey it, reading included,"""
    count: float
    """to count it at a node,"""
    listing: float
    """and to list its value there."""
    part: float
    """Of a part, whatever it has,"""
    pack: float
    """and for each counter of its parcel."""
    merge: float
    """To merge a counter of one parcel more,"""
    merge_entry: float
    """and a listed value."""
    settle: float
    """To find a test, for each counter of its node."""
    watched: float
    """The share of all values that guesses in doubt make the cleanup scan list."""
    keep: float
    """To keep rows of a scan, for each byte."""
    round: float
    """To take a kept byte through a round."""
    family: float
    """To grow a family, for each of its rows and attributes."""
    client: float
    """Of the client, once: bootstraps, and putting the trees of families in their places."""

    def parcel(self, rows: float, shape: Shape, counted: Counted) -> float:
        """Bytes of a parcel that speaks for so many rows."""
        found = self.counters(rows * shape.levels * len_shown(shape, counted), counted.reached)
        return found + self.entry_bytes * entries(rows, shape, counted)

    def watching(self, rows: float, levels: int, classes: int) -> float:
        """Values that so many rows list for guesses of so many levels that are in doubt."""
        return self.watched * sum(values_listed(rows, level, classes) for level in range(levels))

    def cleanup_seconds(self, shape: Shape, cleanup: Cleanup, kept: int) -> float:
        """Of all workers, where so many rows are kept."""
        counted = shape.rows * shape.attributes * (self.decode + cleanup.visits * self.count)
        packed = shape.parts * (self.part + cleanup.counters * self.pack)
        return counted + packed + kept * self.row_bytes * self.keep

    def cleanup_bytes(self, shape: Shape, cleanup: Cleanup) -> float:
        """That workers ship."""
        rows = shape.rows / shape.workers
        listed = self.watching(rows, cleanup.levels, shape.classes) * self.entry_bytes
        counted = self.counters(rows * shape.attributes * cleanup.visits, cleanup.counters)
        return shape.workers * (listed + counted)

    def counters(self, counts: float, reached: float) -> float:
        """Bytes of counters that rows can reach, if they are counted so often in all."""
        if reached <= 0 or counts <= 0:
            return 0.0
        mean = counts / reached
        filled = -np.expm1(-mean)
        each = self.counter_base + self.counter_digit * float(np.log2(1.0 + mean / filled))
        return float(reached * filled * min(each, RAW_COUNTER))

    def records(self) -> list[tuple[str, float]]:
        return [(entry.name, getattr(self, entry.name)) for entry in fields(self)]


def len_shown(shape: Shape, counted: Counted) -> int:
    """Attributes that are counted by buckets."""
    return shape.attributes - len(counted.listed)


def entries(rows: float, shape: Shape, counted: Counted) -> float:
    """Values that so many rows list, if all are alike and each comes to a node of every level."""
    found = 0.0
    for level in range(shape.levels):
        nodes = 2**level
        each = rows / nodes
        found += nodes * float(sum(n * -np.expm1(-each / n) for n in counted.listed))
    return found


def measure(
    by_rows: Sequence[WeighedScan],
    scans: Sequence[WeighedScan],
    listed: Sequence[WeighedScan],
    growth: WeighedGrowth,
) -> Constants:
    """Constants by least squares of relative errors: of bytes from scans whose rows vary, of seconds from
    all scans and a growth."""
    base, digit = _counter_bytes(by_rows)
    part, decode = _fit([(s.shape.parts, _cells(s), s.decode) for s in scans])
    pack, count = _fit(
        [
            (s.shape.parts * s.counted.counters, _cells(s) * s.shape.levels, max(0.0, s.scan - s.decode))
            for s in scans
        ]
    )
    merge = _mean([s.merge / max(1, s.inputs) / s.counted.counters for s in scans])
    settle = _mean([s.settle * s.shape.nodes / s.counted.counters for s in scans])
    told, cleanup, kept = growth.shape, growth.cleanup, growth.stats.held_rows
    round_seconds, round_taken, _ = growth.kernel("take_round")
    family_seconds, _, family_bytes = growth.kernel("finish_bundle")
    every = sum(values_listed(told.rows, level, told.classes) for level in range(cleanup.levels))
    without = Constants(
        counter_base=base,
        counter_digit=digit,
        entry_bytes=_mean([_listed_bytes(s, level) for s in listed for level in LEVELS]),
        sample_bytes=growth.merged("SurveyState")[2] / growth.sample,
        row_bytes=growth.moved / max(1, kept),
        tree_bytes=family_bytes / max(1, growth.nodes),
        decode=decode,
        survey=growth.kernel("survey_part")[0] / (told.rows * told.attributes),
        count=count,
        listing=_mean([max(0.0, s.scan - s.decode) / _listings(s) for s in listed]),
        part=part,
        pack=pack,
        merge=merge,
        merge_entry=_mean([s.merge / max(1, s.inputs) / _per_parcel(s) for s in listed]),
        settle=settle,
        watched=cleanup.entries / every,
        keep=0.0,
        round=round_seconds / max(1, round_taken),
        family=family_seconds / max(1, kept * told.attributes),
        client=growth.client,
    )
    # What the cleanup scan took beyond that is keeping rows, and listing the values of few buckets.
    rest = cleanup.seconds - without.cleanup_seconds(told, cleanup, kept)
    return replace(without, keep=max(0.0, rest) / max(1.0, kept * without.row_bytes))


def _cells(scan: WeighedScan) -> float:
    return float(scan.shape.rows * scan.shape.attributes)


def _listings(scan: WeighedScan) -> float:
    return float(scan.shape.rows * len(scan.counted.listed) * scan.shape.levels)


def _per_parcel(scan: WeighedScan) -> float:
    """Listed values of a parcel that is merged, of which most are of parts."""
    return entries(scan.shape.rows / scan.shape.parts, scan.shape, scan.counted)


def _listed_bytes(scan: WeighedScan, level: str) -> float:
    rows, size = scan.at(level)
    return size / entries(rows, scan.shape, scan.counted)


def _counter_bytes(scans: Sequence[WeighedScan]) -> tuple[float, float]:
    """Bytes of a counter above 0, and for a digit of the mean count."""
    found = []
    for scan in scans:
        for level in LEVELS:
            rows, size = scan.at(level)
            mean = rows * scan.shape.levels * scan.shape.attributes / scan.counted.reached
            filled = float(-np.expm1(-mean))
            above = scan.counted.reached * filled
            found.append((above, above * float(np.log2(1.0 + mean / filled)), size))
    return _fit(found)


def _fit(points: Sequence[tuple[float, float, float]]) -> tuple[float, float]:
    """Two factors, neither below 0, of the first two numbers that together give the third."""
    given = np.array(points, dtype=float)
    known = given[given[:, 2] > 0]
    if not len(known):
        return 0.0, 0.0
    relative = known[:, :2] / known[:, 2:]
    both: list[float] = np.linalg.lstsq(relative, np.ones(len(known)), rcond=None)[0].tolist()
    if min(both) >= 0:
        return both[0], both[1]
    alone = int(both[0] < 0)  # the other explains it by itself
    factor = float((relative[:, alone]).sum() / (relative[:, alone] ** 2).sum())
    return (factor, 0.0) if alone == 0 else (0.0, factor)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else 0.0
