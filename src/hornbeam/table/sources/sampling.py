"""Uniform samples of rows: every row has a random word by its number, and those with the least words are it.

So the sample is the same whichever chunks, files or formats the rows come in; where the numbers of rows are
known it is known before anything is read, and else the least so far are kept while the rows go by.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hornbeam.table.sources.hashing import Words, numbered_words, words_at
from hornbeam.table.sources.types import TEXT, plain_schema

_AT_ONCE = 1 << 16  # words that stay in the cache
_STREAM = "sample"
_MOST = np.uint64(2**64 - 1)


def sample_rows(n: int, seed: int, total: int) -> npt.NDArray[np.int64]:
    """The numbers of n rows out of `total`, ascending; all of them where there are no more."""
    rows: list[npt.NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
    words: list[Words] = [np.empty(0, dtype=np.uint64)]
    count, bound = 0, _MOST
    for first in range(0, total, _AT_ONCE):
        new = numbered_words(seed, _STREAM, first, min(_AT_ONCE, total - first))
        chosen = np.flatnonzero(new <= bound)
        words.append(new[chosen])
        rows.append(first + chosen)
        count += len(chosen)
        if count >= 2 * n or first + _AT_ONCE >= total:
            least = _least(np.concatenate(words), n)
            words, rows = [np.concatenate(words)[least]], [np.concatenate(rows)[least]]
            count = len(least)
            bound = words[0].max() if count == n else _MOST
    return rows[0]


def _least(words: Words, n: int) -> npt.NDArray[np.int64]:
    """Places of the n least words, ascending; of equal words the first."""
    if len(words) <= n:
        return np.arange(len(words))
    bound = np.partition(words, n - 1)[n - 1]
    below, equal = np.flatnonzero(words < bound), np.flatnonzero(words == bound)
    return np.sort(np.concatenate([below, equal[: n - len(below)]]))


class Reservoir:
    """The sample of rows that go by: at most 2 n of them and a chunk are held.

    Rows are numbered from `first`, where they are a part of all. Of a known `total` a part need not hold
    as many as all of it may: rows whose words are too large to be of the sample, but for a chance of one in
    ten million that it is a little too small, are let go at once.
    """

    def __init__(
        self, n: int, seed: int, schema: pa.Schema, *, first: int = 0, total: int | None = None
    ) -> None:
        self._n, self._seed, self._schema = n, seed, schema
        self._seen = first
        self._bound = _MOST if total is None else _likely_bound(n, total)
        self._words: Words = np.empty(0, dtype=np.uint64)
        self._rows: npt.NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._held: list[pa.Table] = []

    def add(self, chunk: pa.RecordBatch) -> None:
        """Take in the next rows."""
        first, self._seen = self._seen, self._seen + chunk.num_rows
        words = numbered_words(self._seed, _STREAM, first, chunk.num_rows)
        chosen = np.flatnonzero(words <= self._bound)
        if not len(chosen):
            return
        self._held.append(plain_rows(chunk, chosen))
        self._words = np.concatenate([self._words, words[chosen]])
        self._rows = np.concatenate([self._rows, first + chosen])
        if len(self._words) >= 2 * self._n:
            self._settle()

    def _settle(self) -> None:
        kept = _least(self._words, self._n)
        kept = kept[np.argsort(self._rows[kept], kind="stable")]  # parts may have merged in any order
        self._words, self._rows = self._words[kept], self._rows[kept]
        self._held = [pa.concat_tables(self._held).take(kept).combine_chunks()]
        if len(kept) == self._n:
            self._bound = self._words.max()

    def __getstate__(self) -> dict[str, Any]:
        """The state that another process needs: words, which it can work out again, and equal texts are not
        sent."""
        state = self.__dict__ | {"_rows": np.diff(self._rows, prepend=0)}
        del state["_words"]
        return state | {"_held": [_coded(table) for table in self._held]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._rows = np.cumsum(state["_rows"])
        self._words = words_at(self._seed, _STREAM, self._rows)
        self._held = [table.cast(plain_schema(table.schema)) for table in state["_held"]]

    def settle(self) -> None:
        """Let go the rows that are not of the sample."""
        if self._held:
            self._settle()

    def merge(self, later: "Reservoir") -> None:
        """Take in the sample of other rows."""
        self._words = np.concatenate([self._words, later._words])
        self._rows = np.concatenate([self._rows, later._rows])
        self._held += later._held
        self.settle()

    def table(self) -> pa.Table:
        """The sample of all rows that went by, in their order."""
        self.settle()
        return joined(self._held, self._schema)


def _likely_bound(n: int, total: int) -> np.uint64:
    """Above the word of the nth row of a sample, as good as surely."""
    expected = n + 5 * math.sqrt(n) + 10
    return _MOST if expected >= total else np.uint64(int(expected / total * 2**64))


def _coded(table: pa.Table) -> pa.Table:
    """A table with its text by dictionary."""
    columns = [
        column.dictionary_encode() if pa.types.is_string(column.type) else column for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)


def plain_rows(chunk: pa.RecordBatch, places: npt.NDArray[np.int64]) -> pa.Table:
    """Some rows of a chunk, copied, with text as it is: a dictionary may be larger than they are."""
    return pa.Table.from_batches([chunk.take(pa.array(places))]).cast(plain_schema(chunk.schema))


def joined(tables: list[pa.Table], schema: pa.Schema) -> pa.Table:
    """One table of a source's schema from plain rows; equal rows give equal tables, dictionaries and all."""
    if not tables:
        return schema.empty_table()
    whole = pa.concat_tables(tables).combine_chunks()
    columns = [
        whole.column(name).dictionary_encode() if schema.field(name).type == TEXT else whole.column(name)
        for name in schema.names
    ]
    return pa.table(columns, schema=schema)
