"""What the file of a maintained tree has beside the rows: settings, trees, and what the batches did; and the
copy of it that readers have while a writer holds the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hornbeam.errors import StorageError
from hornbeam.maintained.database import Database
from hornbeam.maintained.published import Publication

if TYPE_CHECKING:
    import duckdb

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
_CODEC = "zstd"
# In one cell: the database holds several copies of what it writes, and has 64 MB at least.
PART_BYTES = 1 << 20

BatchLine = tuple[str, int | None, bytes | None]
"""The record of a batch without its nodes; these as JSON, how long and compressed, while they are kept."""


class Records(Database):
    """The tables of an open file that are about its trees. What a batch left is known by its number."""

    def __init__(self, path: str, connection: duckdb.DuckDBPyConnection) -> None:
        super().__init__(path, connection)
        self._published = Publication(path)
        self._changed = False

    # ---- settings ----

    def meta(self) -> dict[str, Any]:
        """What was set, by name."""
        return {name: json.loads(value) for name, value in self._meta()}

    def _meta(self) -> list[Any]:
        return self.statement("select name, value from meta")

    def set_meta(self, name: str, value: Any) -> None:
        """Keep something that JSON can say under a name."""
        self.set_all({name: value})

    def set_all(self, given: Mapping[str, Any]) -> None:
        """The same for several names at once."""
        self._changed = True
        pairs = ", ".join(["(?, ?)"] * len(given))
        values = [text for name, value in given.items() for text in (name, json.dumps(value))]
        self.statement(f"insert or replace into meta values {pairs}", values)

    # ---- trees ----

    def set_trees(self, number: int, trees: Sequence[bytes | None]) -> None:
        """Keep the trees that a batch left: of all rows, then of folds. Of those before it the first stays,
        so that both can be shown."""
        self._changed = True
        self.statement(
            "delete from trees where number < ? or (number = ? and tree > 0)", [number - 1, number - 1]
        )
        for tree, data in enumerate(trees):
            for part, begin in enumerate(range(0, len(data or b""), PART_BYTES)):
                cells = [number, tree, part, (data or b"")[begin : begin + PART_BYTES]]
                self.statement("insert into trees values (?, ?, ?, ?)", cells)

    def tree(self, number: int, tree: int = 0) -> bytes | None:
        """One of the trees that a batch left; None where there were no rows for it."""
        asked = "from trees where number = ? and tree = ?"
        parts = self.statement(f"select part {asked} order by part", [number, tree])
        # One by one: the database would hold all of them at once.
        found = [
            self.statement(f"select data {asked} and part = ?", [number, tree, part])[0][0]
            for (part,) in parts
        ]
        return b"".join(found) if found else None

    # ---- batches ----

    def add_batch(self, number: int, id_: str | None, record: Mapping[str, Any]) -> None:
        """Write down what a batch did: a line for ever, its nodes until they are old."""
        line, nodes = dict(record) | {"nodes": None}, json.dumps(record["nodes"]).encode("ascii")
        compressed = pa.compress(nodes, codec=_CODEC, asbytes=True)
        self.statement("insert into batches values (?, ?, ?)", [number, id_, json.dumps(line)])
        self.statement("insert into nodes values (?, ?, ?)", [number, len(nodes), compressed])
        self.statement("delete from nodes where number < ?", [self._oldest(_WITH_NODES, _NODE_BYTES)])

    def batch(self, id_: str) -> dict[str, Any] | None:
        """The record of a batch that was applied, by its id."""
        found = self._batches("id = ?", [id_])
        return record_of(*found[0]) if found else None

    def batches(self) -> list[dict[str, Any]]:
        """The records of all batches, in their order; of old ones without nodes."""
        return [record_of(*found) for found in self._batches()]

    def _batches(
        self, which: str = "true", values: list[Any] | None = None, oldest: int = 0
    ) -> list[BatchLine]:
        """Lines of batches, and their nodes from a batch on."""
        return self.statement(
            f"""select b.record, n.bytes, n.record from batches b
            left join nodes n on n.number = b.number and n.number >= {oldest}
            where {which} order by b.number""",
            values,
        )

    def _oldest(self, most: int, most_bytes: int) -> int:
        """The oldest of the newest so many batches whose nodes have at most so many bytes together; those of
        the last one may have more."""
        (oldest, total), *older = self.statement(
            f"select number, bytes from nodes order by number desc limit {most}"
        )
        for number, size in older:
            total += size
            if total > most_bytes:
                break
            oldest = number
        return int(oldest)

    # ---- readers beside a writer ----

    def _publish(self) -> None:
        """Leave what readers want beside the file; what cannot be read or written is not there for them."""
        try:
            oldest = self._oldest(_PUBLISHED, _PUBLISHED_BYTES)
            recent = f"b.number > (select max(number) - {_PUBLISHED} from batches)"
            lines = self._batches(recent, oldest=oldest)
            there = self.statement("select distinct number, tree from trees order by number, tree")
            state = {
                "meta": self._meta(),
                "batches": [(line, size) for line, size, _ in lines],
                "trees": there,
            }
            nodes = (compressed for *_, compressed in lines if compressed is not None)
            trees = (self.tree(*which) or b"" for which in there)
            self._published.publish(state, [*nodes, *trees])
        except StorageError:
            self._published.withdraw()
        self._changed = False


def record_of(line: str, size: int | None, nodes: bytes | None) -> dict[str, Any]:
    """What a batch did; its nodes are None where they are not kept any more."""
    listed = None if nodes is None else json.loads(pa.decompress(nodes, size, codec=_CODEC, asbytes=True))
    return dict(json.loads(line)) | {"nodes": listed}
