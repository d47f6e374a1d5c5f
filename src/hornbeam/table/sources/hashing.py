"""64-bit hashes of cells and rows: the same on every machine, in every chunk, for every way to keep a value.

A cell is a word: an integer itself, a float by its bits, a text by its bytes. A row is the mixed sum of its
words, each times a factor of its column's name, so the order of columns does not matter; a checksum is the
sum of its rows, so neither their order nor their chunks do. It finds accidents, not forgeries.
"""

import hashlib
import numbers
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hornbeam._core import checksum, deal_folds, hash_rows
from hornbeam.errors import DataError, UsageError
from hornbeam.table.arrow import is_text, narrow_integers, read_chunked, to_chunked
from hornbeam.table.columns import Array, Mask
from hornbeam.table.labels import cell_texts

Words: TypeAlias = npt.NDArray[np.uint64]
Tables: TypeAlias = dict[str, tuple[pa.Array, Words]]
WordColumn: TypeAlias = tuple[Array, Mask | None, int, Words | None]  # cells, mask, factor, words of places

MOST_FOLDS = 10_000
_MASK = 2**64 - 1
_MISSING = np.uint64(0x9E3779B97F4A7C15)
_LONG = 4096  # bytes of a text that is hashed by itself
_AT_ONCE = 1 << 16  # bytes of texts that are hashed together


def mix(words: Words) -> Words:
    """Scatter each word over all 64 bits, in place: the end of SplitMix64."""
    shifted = np.empty_like(words)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        np.right_shift(words, np.uint64(shift), out=shifted)
        np.bitwise_xor(words, shifted, out=words)
        np.multiply(words, np.uint64(factor), out=words)
    np.right_shift(words, np.uint64(31), out=shifted)
    return np.bitwise_xor(words, shifted, out=words)


@lru_cache(maxsize=4096)
def named_word(name: str) -> int:
    """The word that a name stands for."""
    return int.from_bytes(
        hashlib.blake2b(name.encode("utf-8", "backslashreplace"), digest_size=8).digest(), "little"
    )


def numbered_words(seed: int, name: str, first: int, count: int) -> Words:
    """Words first .. first + count - 1 of the random stream that a seed and a name stand for."""
    start = (named_word(f"{name}/{seed}") + first * int(_MISSING)) & _MASK
    return mix(np.arange(count, dtype=np.uint64) * _MISSING + np.uint64(start))


def words_at(seed: int, name: str, places: npt.NDArray[np.int64]) -> Words:
    """The words at some places of the random stream that a seed and a name stand for."""
    start = np.uint64(named_word(f"{name}/{seed}"))
    return mix(places.astype(np.uint64) * _MISSING + start)


class Checksum:
    """The sum of the hashes of rows, modulo 2^64."""

    def __init__(self) -> None:
        self.value = 0
        self._tables: Tables = {}

    def add(self, batch: pa.RecordBatch) -> None:
        """Count the rows of a batch in."""
        columns = _word_columns(batch, self._tables)
        self.value = (self.value + checksum(columns, batch.num_rows)) & _MASK


def row_hashes(batch: pa.RecordBatch) -> Words:
    """The hash of each row."""
    return hash_rows(_word_columns(batch, {}), batch.num_rows)


def _word_columns(batch: pa.RecordBatch, tables: Tables) -> list[WordColumn]:
    return [
        _words(column, name, named_word(name) | 1, tables)
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]


def fold_of(keys: Any, k: int, seed: int = 0) -> npt.NDArray[np.int32]:
    """The fold, 0 to k - 1, of each key: equal keys share one, on every machine and in chunks of any size.

    `keys` is a column: an Arrow array or anything that becomes one. A missing key is refused.
    """
    if not isinstance(k, numbers.Integral) or not 2 <= k <= MOST_FOLDS:
        raise UsageError(f"k={k!r} folds; whole numbers from 2 to {MOST_FOLDS} are allowed")
    column = to_chunked(keys, "the key")
    word = named_word(f"fold/{seed}")
    dealt = [deal_folds(_words(chunk, "key", 1, {}), len(chunk), int(k), word) for chunk in column.chunks]
    missing = sum(count for _, count in dealt)
    if missing:
        raise DataError(
            f"the key is missing in {missing:,} of {len(column):,} rows; a row without a key has no fold: "
            "fill it, or leave such rows out"
        )
    parts = [folds for folds, _ in dealt]
    return np.concatenate(parts, dtype=np.int32) if parts else np.empty(0, dtype=np.int32)


def _words(column: pa.Array, name: str, factor: int, tables: Tables) -> WordColumn:
    """The cells of a column, so that what the table takes for one value has one word.

    `tables` keeps the last dictionary of each column with its words: neighbouring chunks often share one.
    """
    if is_text(column.type):
        column = column.dictionary_encode()
    if pa.types.is_dictionary(column.type):
        known, table = tables.get(name, (None, None))
        if table is None or not column.dictionary.equals(known):
            table = np.append(_dictionary_words(column.dictionary, name), _MISSING) * np.uint64(factor)
            tables[name] = column.dictionary, table
        places = column.indices
        if places.null_count:
            places = places.cast(pa.int64()).fill_null(len(table) - 1)
        return places.to_numpy(), None, 1, table
    if pa.types.is_null(column.type):
        return np.zeros(len(column), dtype=np.int8), np.ones(len(column), dtype=np.uint8), factor, None
    if pa.types.is_floating(column.type):
        values = column.to_numpy(zero_copy_only=False)
        return values.astype(np.float32) if values.dtype == np.float16 else values, None, factor, None
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    return *narrow_integers(column, name), factor, None


def _dictionary_words(dictionary: pa.Array, name: str) -> Words:
    if not is_text(dictionary.type):
        dictionary = pa.array(cell_texts(read_chunked(pa.chunked_array([dictionary]), name)), pa.string())
    texts = dictionary.cast(pa.string()) if pa.types.is_string_view(dictionary.type) else dictionary
    if not len(texts):
        return np.empty(0, dtype=np.uint64)
    _, places, content = texts.buffers()
    offsets: npt.NDArray[Any] = np.frombuffer(
        places, np.int32 if pa.types.is_string(texts.type) else np.int64
    )
    offsets = offsets[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    data = np.frombuffer(content or b"", np.uint8)
    lengths = offsets[1:] - offsets[:-1]
    words = np.empty(len(texts), dtype=np.uint64)
    begin = 0
    while begin < len(texts):
        end = max(begin + 1, int(np.searchsorted(offsets, offsets[begin] + _AT_ONCE, side="right")) - 1)
        words[begin:end] = _text_words(data[offsets[begin] : offsets[end]], lengths[begin:end])
        begin = end
    if texts.null_count:
        words[texts.is_null().to_numpy(zero_copy_only=False)] = _MISSING
    return words


def _text_words(data: npt.NDArray[np.uint8], lengths: npt.NDArray[np.int64]) -> Words:
    """Mixed sums of the bytes of texts, each times a weight of its place; none is 0, so lengths count."""
    ends = np.cumsum(lengths)
    starts = ends - lengths
    long = np.flatnonzero(lengths > _LONG).tolist()
    if len(lengths) == 1 and long:
        words = np.zeros(1, dtype=np.uint64)
    else:
        places = np.arange(len(data)) - np.repeat(starts, lengths)
        sums = np.zeros(len(data) + 1, dtype=np.uint64)
        np.cumsum((data.astype(np.uint64) + np.uint64(1)) * _weights()[places % _LONG], out=sums[1:])
        words = mix(sums[ends] - sums[starts])
    for i in long:
        digest = hashlib.blake2b(data[starts[i] : ends[i]].tobytes(), digest_size=8).digest()
        words[i] = int.from_bytes(digest, "little")
    return words


@lru_cache(maxsize=1)
def _weights() -> Words:
    return numbered_words(0, "text", 0, _LONG)
