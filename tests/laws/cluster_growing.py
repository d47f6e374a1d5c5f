"""A cluster that lives in this process and is as unkind as one may be: nothing is shared, parts end in any
order, and some arrive twice."""

from __future__ import annotations

import pickle
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pyarrow as pa

from hornbeam.boat.grown import SourceGrowth
from hornbeam.boat.growth import grow_source
from hornbeam.boat.task import SourceTask
from hornbeam.distributed.engine import Done, Items, Kernel, Merge, Pick
from hornbeam.distributed.messages import Packed, flat
from hornbeam.distributed.scanner import ClusterScanner
from hornbeam.table.sources import Part, Source
from hornbeam.table.sources.arrow_data import TablePart
from hornbeam.table.sources.part import Origin
from hornbeam.table.sources.types import normal_schema


@dataclass(frozen=True)
class _Item:
    message: Packed


class UnkindEngine:
    """Workers that know nothing of each other, and have messages flat or in pieces; `twice` is the chance
    that something is delivered again."""

    name = "unkind"
    memory = None

    def __init__(self, seed: int = 0, workers: int = 2, twice: float = 0.2) -> None:
        self.workers, self.shipped, self._twice = workers, 0, twice
        self._draw = random.Random(seed)
        self.cancelled = 0

    def parts(self, source: Source) -> list[bytes]:
        return [pickle.dumps(part) for part in source.parts()]

    def map(self, kernel: Kernel, items: Items, state: Any, done: Done | None = None) -> Items:
        found: list[_Item] = [_Item(b"")] * len(items)
        order = list(range(len(items)))
        self._draw.shuffle(order)
        for n, i in enumerate(order):
            message = kernel(_opened(items[i]), pickle.loads(pickle.dumps(state)))
            found[i] = _Item(flat(message) if self._draw.random() < 0.5 else message)
            if done is not None:
                done(n + 1)
        return found

    def reduce(self, merge: Merge, items: Items, state: Any) -> Packed:
        level = [_opened(item) for item in items]
        again = [message for message in level if self._draw.random() < self._twice]
        self._draw.shuffle(level)
        if again:  # what comes twice is merged with all the rest: a tree must not part it
            return merge([*again, *level], pickle.loads(pickle.dumps(state)))
        while len(level) > 1:
            fan = self._draw.randrange(2, 4)
            level = [merge(level[i : i + fan], state) for i in range(0, len(level), fan)]
            self._draw.shuffle(level)
        return level[0]

    def shuffle(self, pick: Pick, items: Items, destinations: int, state: Any) -> Items:
        return [self._picked(pick, items, to, state) for to in range(destinations)]

    def _picked(self, pick: Pick, items: Items, to: int, state: Any) -> list[Packed]:
        picked = [pick(_opened(item), to, state) for item in items]
        picked += [message for message in picked if self._draw.random() < self._twice]
        self._draw.shuffle(picked)
        return picked

    def cancel(self) -> None:
        self.cancelled += 1


def _opened(item: Any) -> Any:
    """A part as it comes over the network, what a map gave, or what a shuffle brought."""
    if isinstance(item, list):
        return item
    return item.message if isinstance(item, _Item) else pickle.loads(item)


def in_parts(
    table: pa.Table, cuts: Sequence[int], *, numbered: bool = True, weight: str | None = None
) -> Source:
    """A source of the rows between some cuts."""
    schema = normal_schema(table.schema, "the table")
    parts: list[Part] = []
    ends = [0, *cuts, table.num_rows]
    for first, end in pairwise(ends):
        piece = table.slice(first, end - first)
        known = first if numbered or not parts else None
        parts.append(TablePart(len(parts), "the table", schema, len(piece), known, None, piece))
    return Source(Origin("the table", "table in parts", schema, tuple(parts)), weight)


def random_cuts(seed: int, rows: int, most: int = 6) -> list[int]:
    """A few places to cut, also such that leave nothing between them."""
    draw = random.Random(seed)
    return sorted(draw.randrange(rows + 1) for _ in range(draw.randrange(most + 1)))


def grow_by_cluster(task: SourceTask, table: pa.Table, seed: int, *, numbered: bool = True) -> SourceGrowth:
    """What a task grows where the rows of its table are in parts that only workers see."""
    source = in_parts(
        table, random_cuts(seed, table.num_rows), numbered=numbered, weight=task.reading.source.weight
    )
    reading = replace(task.reading, source=source)
    scanner = ClusterScanner(UnkindEngine(seed, workers=1 + seed % 3))
    return grow_source(replace(task, reading=reading, scanner=scanner))
