"""What the file of a maintained tree has beside the rows: settings, trees, and what the batches did; and the
copy of it that readers have while a writer holds the file.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from hornbeam.errors import DataError, StorageError
from hornbeam.maintained.database import Database
from hornbeam.model import Tree
from hornbeam.model.arrays import DTYPES
from hornbeam.model.costs import Costs
from hornbeam.table.schema import Schema

TABLES = (
    "create table meta (name varchar primary key, value varchar not null)",
    "create table batches (number bigint primary key, id varchar unique, record varchar not null)",
    "create table nodes (number bigint primary key, bytes bigint not null, record blob not null)",
    "create table trees (number bigint, tree integer, part integer, data blob not null)",
)
_WITH_NODES = 100  # batches whose nodes are kept,
_NODE_BYTES = 32 * 10**6  # and no more of them than have so many together; those of the last one always are
_PUBLISHED = 100  # batches that readers see beside a writer,
_PUBLISHED_BYTES = 200_000  # and of their nodes
_LENGTH = struct.Struct("<Q")
_CODEC = "zstd"
# In one cell: the database holds several copies of what it writes, and has 64 MB at least.
PART_BYTES = 1 << 20

BatchLine = tuple[str, int | None, bytes | None]
"""The record of a batch without its nodes; these as JSON, how long and compressed, while they are kept."""


class StoredState(Protocol):
    """What can be read of a file without its rows. What a batch left is known by its number."""

    def meta(self) -> dict[str, Any]:
        """What was set, by name."""

    def tree(self, number: int, tree: int = 0) -> Tree | None:
        """One of the trees that a batch left; None where there were no rows for it."""

    def batches(self) -> list[dict[str, Any]]:
        """The records of batches, in their order; of old ones without nodes."""


class StateTables:
    """The tables of an open file that are about its trees."""

    def __init__(self, database: Database) -> None:
        self._database, self._changed = database, False

    # ---- settings ----

    def meta(self) -> dict[str, Any]:
        return {name: json.loads(value) for name, value in self._meta()}

    def _meta(self) -> list[Any]:
        return self._database.run("select name, value from meta")

    def set(self, given: Mapping[str, Any]) -> None:
        """Keep what JSON can say under some names."""
        self._changed = True
        pairs = ", ".join(["(?, ?)"] * len(given))
        values = [text for name, value in given.items() for text in (name, json.dumps(value))]
        self._database.run(f"insert or replace into meta values {pairs}", values)

    # ---- trees ----

    def set_trees(self, number: int, trees: Sequence[Tree | None]) -> None:
        """Keep the trees that a batch left: of all rows, then of folds. Of those before it the first stays,
        so that both can be shown."""
        self._changed = True
        self._database.run(
            "delete from trees where number < ? or (number = ? and tree > 0)", [number - 1, number - 1]
        )
        for i, tree in enumerate(trees):
            for part, data in enumerate(_parts(b"" if tree is None else packed(tree))):
                self._database.run("insert into trees values (?, ?, ?, ?)", [number, i, part, data])

    def tree(self, number: int, tree: int = 0) -> Tree | None:
        return _tree_of(self._tree(number, tree), self._database.path)

    def _tree(self, number: int, tree: int) -> bytes:
        asked = "from trees where number = ? and tree = ?"
        parts = self._database.run(f"select part {asked} order by part", [number, tree])
        # One by one: the database would hold all of them at once.
        part_of = f"select data {asked} and part = ?"
        return b"".join(self._database.run(part_of, [number, tree, part])[0][0] for (part,) in parts)

    # ---- batches ----

    def add_batch(self, number: int, id_: str | None, record: Mapping[str, Any]) -> None:
        """Write down what a batch did: a line for ever, its nodes until they are old."""
        line, nodes = dict(record) | {"nodes": None}, json.dumps(record["nodes"]).encode("ascii")
        compressed = pa.compress(nodes, codec=_CODEC, asbytes=True)
        self._database.run("insert into batches values (?, ?, ?)", [number, id_, json.dumps(line)])
        self._database.run("insert into nodes values (?, ?, ?)", [number, len(nodes), compressed])
        self._database.run("delete from nodes where number < ?", [self._oldest(_WITH_NODES, _NODE_BYTES)])

    def batch(self, id_: str) -> dict[str, Any] | None:
        """The record of a batch that was applied, by its id."""
        found = self._batches("id = ?", [id_])
        return _record_of(*found[0]) if found else None

    def batches(self) -> list[dict[str, Any]]:
        return [_record_of(*found) for found in self._batches()]

    def _batches(
        self, which: str = "true", values: list[Any] | None = None, oldest: int = 0
    ) -> list[BatchLine]:
        """Lines of batches, and their nodes from a batch on."""
        return self._database.run(
            f"""select b.record, n.bytes, n.record from batches b
            left join nodes n on n.number = b.number and n.number >= {oldest}
            where {which} order by b.number""",
            values,
        )

    def _oldest(self, most: int, most_bytes: int) -> int:
        """The oldest of the newest so many batches whose nodes have at most so many bytes together; those of
        the last one may have more."""
        (oldest, total), *older = self._database.run(
            f"select number, bytes from nodes order by number desc limit {most}"
        )
        for number, size in older:
            total += size
            if total > most_bytes:
                break
            oldest = number
        return int(oldest)

    # ---- readers beside a writer ----

    def publish(self, *, anew: bool = False) -> None:
        """Leave what readers want beside the file, where it changed; what cannot be read or written is not
        there for them."""
        if not (anew or self._changed):
            return
        publication = self._database.publication
        try:
            oldest = self._oldest(_PUBLISHED, _PUBLISHED_BYTES)
            recent = f"b.number > (select max(number) - {_PUBLISHED} from batches)"
            lines = self._batches(recent, oldest=oldest)
            there = self._database.run("select distinct number, tree from trees order by number, tree")
            state = {
                "meta": self._meta(),
                "batches": [(line, size) for line, size, _ in lines],
                "trees": there,
            }
            nodes = (compressed for *_, compressed in lines if compressed is not None)
            publication.publish(state, [*nodes, *(self._tree(*which) for which in there)])
        except StorageError:
            publication.withdraw()
        self._changed = False


class PublishedState:
    """What a writer published for readers: the settings, the trees and the last batches."""

    def __init__(self, path: str, state: Mapping[str, Any], data: Sequence[bytes]) -> None:
        self._path, self._meta, given = path, state["meta"], iter(data)
        self._lines: list[BatchLine] = [
            (line, size, None if size is None else next(given)) for line, size in state["batches"]
        ]
        self._trees = {tuple(which): next(given) for which in state["trees"]}

    def meta(self) -> dict[str, Any]:
        return {name: json.loads(value) for name, value in self._meta}

    def tree(self, number: int, tree: int = 0) -> Tree | None:
        return _tree_of(self._trees.get((number, tree), b""), self._path)

    def batches(self) -> list[dict[str, Any]]:
        return [_record_of(*found) for found in self._lines]


def _record_of(line: str, size: int | None, nodes: bytes | None) -> dict[str, Any]:
    """What a batch did; its nodes are None where they are not kept any more."""
    listed = None if nodes is None else json.loads(pa.decompress(nodes, size, codec=_CODEC, asbytes=True))
    return dict(json.loads(line)) | {"nodes": listed}


def _tree_of(data: bytes, path: str) -> Tree | None:
    """The tree that the file at a path has as bytes; None where there are none."""
    try:
        return unpacked(data) if data else None
    except DataError as error:
        raise StorageError(f"{path!r}: {error}; use a copy of the file that is whole") from None


def _parts(data: bytes) -> Iterator[bytes]:
    return (data[begin : begin + PART_BYTES] for begin in range(0, len(data), PART_BYTES))


# ---- a tree as few bytes: as JSON one of a million nodes would be larger than the database's memory ----


def packed(tree: Tree) -> bytes:
    """All that `unpacked` needs; maintained trees have no competitors."""
    costs = tree.costs
    head = json.dumps(
        {
            "schema": tree.schema.to_json(),
            "classes": None if tree.classes is None else list(tree.classes),
            "targets": None if tree.targets is None else list(tree.targets),
            "costs": None if costs is None else [costs.weights, costs.matrix],
            "lengths": [len(tree.arrays[name]) for name in DTYPES],
        }
    ).encode()
    arrays = b"".join(_little(tree.arrays[name]).tobytes() for name in DTYPES)
    return b"".join([_LENGTH.pack(len(head)), head, pa.compress(arrays, codec=_CODEC, asbytes=True)])


def unpacked(data: bytes) -> Tree:
    """The tree that was packed, verified; DataError for anything else."""
    try:
        begin = _LENGTH.size + _LENGTH.unpack_from(data)[0]
        head = json.loads(data[_LENGTH.size : begin])
        arrays = _arrays(pa.py_buffer(memoryview(data)[begin:]), head["lengths"])
        classes, targets, costs = head["classes"], head["targets"], head["costs"]
        return Tree(
            Schema.from_json(head["schema"]),
            arrays,
            classes=classes,
            targets=targets,
            costs=None if costs is None else Costs.checked(costs[0], costs[1], len(classes or ())),
        )
    except (
        struct.error,
        pa.ArrowException,
        ArithmeticError,
        LookupError,
        OSError,
        TypeError,
        ValueError,
    ) as error:
        raise DataError(f"a tree in the file is damaged: {type(error).__name__}") from None


def _arrays(body: pa.Buffer, lengths: list[int]) -> dict[str, Any]:
    sizes = [np.dtype(dtype).itemsize * n for dtype, n in zip(DTYPES.values(), lengths, strict=True)]
    raw = pa.decompress(body, sum(sizes), codec=_CODEC, asbytes=True)
    found, begin = {}, 0
    for (name, dtype), n, size in zip(DTYPES.items(), lengths, sizes, strict=True):
        stored = np.frombuffer(raw, np.dtype(dtype).newbyteorder("<"), n, begin)
        found[name] = stored.astype(dtype, copy=False)
        begin += size
    return found


def _little(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return values.astype(values.dtype.newbyteorder("<"), copy=False)
