"""The counts of a file's trees, kept in the file between those who have it open.

They are a cache, beside what the file is about: any batch makes them void, and what is not whole is not used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress

from hornbeam.errors import HornbeamError
from hornbeam.maintained.engine import Engine
from hornbeam.maintained.store import PublishedStore, Store

_PART_BYTES = 1 << 22  # in one cell


class CountsCache:
    """What the trees of all rows and of folds have counted, in this order."""

    def __init__(self, store: Store | PublishedStore) -> None:
        self._store = store
        self._there: int | None = None
        """The batch whose counts the file is known to have."""

    def recall(self, number: int, engines: Sequence[Engine]) -> None:
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

    def save(self, number: int, engines: Sequence[Engine]) -> None:
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
