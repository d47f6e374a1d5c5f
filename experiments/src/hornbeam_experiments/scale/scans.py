"""Single scans of a chosen shape, made by the kernels of a cluster: so many nodes that count so many buckets
of so many attributes by class."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import hornbeam
from hornbeam import _core
from hornbeam.boat.layout import Keys, edges_of, layout_of, sample_keys
from hornbeam.boat.nodes import Nodes
from hornbeam.boat.plan import PlaceRecord
from hornbeam.boat.reading import Reading
from hornbeam.boat.survey import Survey, survey, without_sample
from hornbeam.boat.task import SourceTask, read_as
from hornbeam.distributed import kernels
from hornbeam.distributed.messages import expand, size_of, unpack
from hornbeam.growth import Parameters
from hornbeam.table.sources import Part
from hornbeam_experiments.scale.people import Shape, columns_of, files_of
from hornbeam_experiments.scale.weighing import WeighingEngine

_SAMPLED = 20_000  # rows that buckets and tests are laid by
_OFTEN = 5  # that the same is timed
_MANY = 4096  # values of an attribute from which they are listed, as RainForest has it

Shares = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Counted:
    """What every parcel of a scan has: counters, 4 bytes each before they are squeezed; those of them that
    the tests above leave rows for, if each halves the buckets of its attribute; and for every attribute that
    is listed how many values it has, with their classes."""

    counters: int
    reached: float
    listed: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class WeighedScan:
    """What one scan shipped, in bytes, and took, in CPU seconds."""

    shape: Shape
    counted: Counted
    parts: tuple[int, ...]
    """Of what was found in each part,"""
    shipped: tuple[int, ...]
    """of what each worker shipped,"""
    arrived: int
    """and of what came to the client,"""
    raw: int
    """before it was squeezed."""
    state: int
    """Of what every worker is told."""
    decode: float
    """Reading and encoding all rows,"""
    scan: float
    """that and counting them,"""
    merge: float
    """and all merges,"""
    inputs: int
    """into which so many parcels went,"""
    settle: float
    """and finding the test of the root from what came."""

    def at(self, level: str) -> tuple[float, float]:
        """Rows that a parcel speaks for, and its bytes on the mean: of a part, a worker, or all."""
        sizes = {"part": self.parts, "worker": self.shipped, "client": (self.arrived,)}[level]
        return self.shape.rows / len(sizes), float(np.mean(sizes))


def weigh_scan(shape: Shape, folder: Path) -> WeighedScan:
    """Scan the people of a shape once."""
    source = hornbeam.source(files_of(shape, folder), columns=columns_of(shape))
    reading = read_as(source, ("class",), True, (), None, None)
    known = survey(reading, _SAMPLED, 0)
    state, counted = _state(shape, reading, known)
    engine = WeighingEngine(shape.workers)
    parts = engine.parts(source)
    decode = _decoding(parts, state)
    items = engine.map(kernels.scan_part, parts, state)
    found = engine.map(kernels.found_of, items, None)
    arrived = engine.reduce(kernels.merge, found, state)
    (scanned, sent), (merged,) = engine.maps, engine.reductions
    raw = expand(unpack(arrived)[kernels.FOUND])
    return WeighedScan(
        shape,
        counted,
        parts=sent.sizes,
        shipped=merged.shipped,
        arrived=size_of(arrived),
        raw=len(raw),
        state=scanned.state_bytes,
        decode=decode,
        scan=sum(scanned.seconds),
        merge=merged.seconds,
        inputs=merged.inputs,
        settle=0.0 if shape.listed else _settling(reading, known, state, raw),
    )


def _decoding(parts: Sequence[Part], state: kernels.ScanState) -> float:
    begin = time.process_time()
    for part in parts:
        for _ in state.chunks(part):
            pass
    return time.process_time() - begin


def _settling(reading: Reading, known: Survey, state: kernels.ScanState, raw: bytes) -> float:
    """CPU seconds to find the test of the root."""
    scan = state.scan()
    scan.merge_bytes(raw)
    nodes = Nodes(SourceTask(reading, Parameters()), known, layout_of(known, 0))
    nodes.open([known.row_counts])
    root, begin = nodes.settling.open_root(0), time.process_time()
    for _ in range(_OFTEN):
        nodes.settling.settle(root, scan, 0)
    return (time.process_time() - begin) / _OFTEN


def _state(shape: Shape, reading: Reading, known: Survey) -> tuple[kernels.ScanState, Counted]:
    """A scan down a tree whose tests halve the sampled rows, by one attribute after the other."""
    layout = layout_of(known, 0)
    keys = sample_keys(layout, known.sample)
    values = [layout.missing_key(i) for i in range(len(keys))]
    many = [i for i, n in enumerate(values) if n > _MANY]
    edges = edges_of(layout, keys, [False] * len(keys), shape.buckets)
    if shape.listed:
        edges = [np.array([n - 1], dtype=np.uint64) if i in many else None for i, n in enumerate(values)]
    grid = _core.Grid(layout, edges)
    listed = many if shape.listed else []
    shown = [i for i in range(len(keys)) if i not in listed]
    cells = np.array([grid.size(i) + 1 if i in shown else 0 for i in range(len(keys))], dtype=float)
    tree = _Tree(keys, many or [0], PlaceRecord(shown, [(i, None) for i in listed]), cells)
    tree.grow(np.arange(known.sample.n_rows), shape.levels, np.ones(len(keys)))
    counted = Counted(
        counters=round(len(tree.places) * cells.sum()) * shape.classes,
        reached=tree.reached * shape.classes,
        listed=tuple(values[i] * shape.classes for i in listed),
    )
    native: list[dict[str, Any]] = [place.native() for place in tree.places]
    told = [grid.edges(i) for i in range(len(keys))]
    return kernels.ScanState(
        reading, without_sample(known), 0, None, 0, {}, told, {kernels.ALONE: native}
    ), counted


class _Tree:
    """Places of a whole tree."""

    def __init__(self, keys: Sequence[Keys], asked: Sequence[int], like: PlaceRecord, cells: Shares) -> None:
        self._keys, self._asked, self._like, self._cells = keys, asked, like, cells
        self.places: list[PlaceRecord] = []
        self.reached = 0.0

    def grow(self, rows: npt.NDArray[np.int64], levels: int, shares: Shares) -> int:
        """A place and those below, whose rows have such shares of the buckets; its number."""
        at = len(self.places)
        self.places.append(replace(self._like))
        self.reached += float((self._cells * shares).sum())
        if levels == 1:
            return at
        attribute = self._asked[levels % len(self._asked)]
        own = self._keys[attribute][rows]
        lo = int(np.sort(own)[(len(own) - 1) // 2]) if len(own) else 0
        halved = shares.copy()
        halved[attribute] /= 2
        below = [self.grow(side, levels - 1, halved) for side in (rows[own <= lo], rows[own > lo])]
        test = {"kind": "numeric", "attribute": attribute, "lo": lo, "missing": 0, "children": below}
        self.places[at].tests = [test]
        return at
