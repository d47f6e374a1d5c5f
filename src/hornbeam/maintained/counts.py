"""The counts of warm trees, kept in their file for whoever opens it next: a cache of what its rows give.

Any batch makes it void. What does not fit to the letter is not used: the tree is cold then, and never wrong.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hornbeam.boat.layout import Keys
from hornbeam.boat.survey import Range, Survey
from hornbeam.boat.task import SourceTask
from hornbeam.errors import HornbeamError
from hornbeam.growth import ClassTarget, NumericTarget
from hornbeam.maintained.kept import KeptNode, KeptTree
from hornbeam.model import Tree
from hornbeam.table import Table

if TYPE_CHECKING:
    from hornbeam.maintained.incremental import IncrementalTree
    from hornbeam.maintained.store import PublishedStore, Store

VERSION = 1
_LENGTH = struct.Struct("<Q")
_CODEC = "zstd"
# What to write and read a byte costs beside reading and counting a row again, and a row's share of both.
_MOST_BYTES, _LEAST_ROWS = 50, 20_000


def to_bytes(kept: KeptTree) -> bytes | None:
    """All that is counted; None where to count again is as quick."""
    rows = kept.survey.rows
    if rows < _LEAST_ROWS or kept.scan.bytes > _MOST_BYTES * rows:
        return None
    scan = kept.scan.to_bytes()
    packed = pa.compress(scan, codec=_CODEC, asbytes=True)
    edges = [b"" if part is None else part.astype("<u8").tobytes() for part in kept.edges]
    head = json.dumps(
        {
            "version": VERSION,
            "layout": _layout(kept),
            "survey": _survey_record(kept.survey),
            "room": kept.room,
            "places": kept.n_places,
            "nodes": list(_node_records(kept)),
            "edges": [None if part is None else len(part) for part in kept.edges],
            "scan": len(scan),
        }
    ).encode()
    return b"".join([_LENGTH.pack(len(head)), head, *edges, packed])


def from_bytes(data: bytes, task: SourceTask, tree: Tree) -> KeptTree | None:
    """What was counted of a tree's rows; None where the bytes are of something else."""
    begin = _LENGTH.size + _LENGTH.unpack_from(data)[0]
    head = json.loads(data[_LENGTH.size : begin])
    if head["version"] != VERSION:
        return None
    edges: list[Keys | None] = []
    for size in head["edges"]:
        edges.append(None if size is None else np.frombuffer(data, "<u8", size, begin).astype(np.uint64))
        begin += 8 * (size or 0)
    kept = KeptTree(task, _survey(head["survey"], task, tree), head["room"], edges)
    if _layout(kept) != head["layout"]:
        return None
    kept.restore(_nodes(head["nodes"]), head["places"])
    rest = pa.py_buffer(memoryview(data)[begin:])
    kept.scan.merge_bytes(pa.decompress(rest, head["scan"], codec=_CODEC, asbytes=True))
    return kept if _fits(kept, tree) else None


def _fits(kept: KeptTree, tree: Tree) -> bool:
    """Whether the counts of the root are those of the tree's, and its nodes have such numbers."""
    rows = int(kept.scan.totals(kept.root.place).sum())
    numbers = all(0 <= node.number < tree.n_nodes for node in kept.root.walk())
    return numbers and rows == kept.survey.rows == int(tree.arrays["rows"][0])


def _layout(kept: KeptTree) -> list[int]:
    """What rows of another layout would not have in common."""
    attributes = range(len(kept.survey.schema))
    keys, sizes = map(kept.layout.missing_key, attributes), map(kept.grid.size, attributes)
    return [kept.layout.stride, kept.layout.sum_words, *keys, *sizes]


# ---- the survey: labels and classes are the tree's ----


def _survey_record(survey: Survey) -> dict[str, Any]:
    return {
        "rows": survey.rows,
        "labels": survey.labels.dtype.str,
        "class_counts": survey.class_counts.tolist(),
        "ranges": [
            [_plain(span.lowest), _plain(span.highest), span.missing, span.unused] for span in survey.ranges
        ],
        "weighted": survey.weighted,
        "exponents": [survey.weight_exponents, survey.target_exponents],
    }


def _plain(number: Any) -> Any:
    return number.item() if isinstance(number, np.generic) else number


def _survey(record: dict[str, Any], task: SourceTask, tree: Tree) -> Survey:
    """The survey without its sample, which has served."""
    labels = np.array(tree.classes or [], dtype=record["labels"])
    weights, targets = (None if pair is None else tuple(pair) for pair in record["exponents"])
    return Survey(
        rows=record["rows"],
        schema=tree.schema,
        labels=labels,
        class_counts=np.array(record["class_counts"], dtype=np.int64),
        ranges=tuple(Range(*span) for span in record["ranges"]),
        weighted=record["weighted"],
        weight_exponents=weights,
        target_exponents=targets,
        sample=Table(tree.schema, (), 0),
        sample_target=(
            ClassTarget(np.empty(0, dtype=np.int32), labels)
            if task.reading.classification
            else NumericTarget(np.empty((0, len(task.reading.targets))), task.reading.targets)
        ),
    )


# ---- nodes, each before its children ----


def _node_records(kept: KeptTree) -> Iterator[list[Any]]:
    for node in kept.root.walk():
        looked = [[attribute, np.flatnonzero(flags).tolist(), len(flags)] for attribute, flags in node.looked]
        yield [node.place, node.number, node.counted, node.route, looked, len(node.children)]


def _nodes(records: list[list[Any]]) -> KeptNode:
    waiting = iter(records)

    def read(parent: KeptNode | None) -> KeptNode:
        place, number, counted, route, looked, n_children = next(waiting)
        depth = 0 if parent is None else parent.depth + 1
        node = KeptNode(place, number, counted, route, parent=parent, depth=depth)
        for attribute, buckets, size in looked:
            flags = np.zeros(size, dtype=np.uint8)
            flags[buckets] = 1
            node.watch({attribute: flags})
        node.children = [read(node) for _ in range(n_children)]
        return node

    return read(None)


_PART_BYTES = 1 << 22  # in one cell


class CountsCache:
    """What the trees of all rows and of folds have counted, in this order."""

    def __init__(self, store: Store | PublishedStore) -> None:
        self._store = store
        self._there: int | None = None
        """The batch whose counts the file is known to have."""

    def recall(self, number: int, engines: Sequence[IncrementalTree]) -> None:
        """Let cold trees have what they had counted when the file was closed, after the same batch."""
        if engines[0].warm:
            return
        saved: dict[int, bytes] = {}
        with suppress(HornbeamError):  # what cannot be read is counted again
            saved = self._read(number)
        for i, counts in saved.items():
            if i < len(engines):
                engines[i].recall(counts)
        if all(engine.warm for engine in engines):
            self._there = number

    def save(self, number: int, engines: Sequence[IncrementalTree]) -> None:
        """Keep what is counted, where counting it again would take longer."""
        if self._store.read_only or self._there == number:
            return
        given = {i: counts for i, engine in enumerate(engines) if (counts := engine.counts()) is not None}
        if given:
            with suppress(HornbeamError):  # all of it can be had from the rows
                self._write(number, given)
                self._there = number

    def drop(self) -> None:
        """Nothing is known of the rows that a batch leaves."""
        if self._exists():
            self._store.database.run("delete from counts")

    def _write(self, number: int, counts: Mapping[int, bytes]) -> None:
        table = "create table if not exists counts (tree integer, part integer, mark varchar, data blob)"
        with self._store.database.transaction():
            self._store.database.run(table)
            self._store.database.run("delete from counts")
            for tree, data in counts.items():
                mark = _mark(number, tree, data)
                for part, begin in enumerate(range(0, len(data), _PART_BYTES)):
                    cells = [tree, part, mark, data[begin : begin + _PART_BYTES]]
                    self._store.database.run("insert into counts values (?, ?, ?, ?)", cells)

    def _read(self, number: int) -> dict[int, bytes]:
        """What was kept of trees after a batch, where it is whole and of that batch."""
        if not self._exists():
            return {}
        found: dict[int, tuple[list[bytes], str]] = {}
        parts = "select tree, part, mark from counts order by tree, part"
        for tree, part, mark in self._store.database.run(parts):
            # One by one: the database would hold many at once.
            asked = "select data from counts where tree = ? and part = ?"
            found.setdefault(tree, ([], mark))[0].append(self._store.database.run(asked, [tree, part])[0][0])
        whole = {tree: (b"".join(parts), mark) for tree, (parts, mark) in found.items()}
        return {tree: data for tree, (data, mark) in whole.items() if mark == _mark(number, tree, data)}

    def _exists(self) -> bool:
        return bool(self._store.database.run("select 1 from duckdb_tables() where table_name = 'counts'"))


def _mark(number: int, tree: int, data: bytes) -> str:
    """What only these counts of a tree have after a batch."""
    return hashlib.sha256(f"{number} {tree} ".encode() + data).hexdigest()
