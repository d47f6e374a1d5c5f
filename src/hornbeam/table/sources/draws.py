"""How often rows are drawn for bags: a rule for each row alone, so that nobody need see all of them.

A row has a 64-bit word by its number or its key; of each bag another word follows from it and the bag's seed,
and the place of that word in the distribution function of Poisson's law says how often the bag has the row.
"""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam._core import deal_folds, hash_rows
from hornbeam.errors import DataError
from hornbeam.table.arrow import to_chunked
from hornbeam.table.sources.hashing import Words, _words, mix, named_word

Times = npt.NDArray[np.uint8]

MOST_RATE = 16.0  # a row is then in a bag less than 100 times
_ALL = 1 << 64


@dataclass(frozen=True)
class RowDraws:
    """Bags by their seeds. Each has a row `rate` times on the mean: by Poisson's law, as drawing that share
    of many rows with replacement has it; or, without replacement, once with that chance."""

    seeds: tuple[int, ...]
    rate: float = 1.0
    replace: bool = True

    def __len__(self) -> int:
        return len(self.seeds)

    def times(self, words: Words, bag: int) -> Times:
        """How often a bag has each of the rows that have these words."""
        salt = np.uint64(named_word(f"bag/{self.seeds[bag]}"))
        own = mix(words + salt)
        return np.searchsorted(self._bounds, own, side="right").astype(np.uint8)

    def rows(self, words: Words, bag: int) -> npt.NDArray[np.int64]:
        """The places of the rows that a bag has, each as often as it has it."""
        return np.repeat(np.arange(len(words)), self.times(words, bag))

    def expected(self, rows: int) -> int:
        """How many rows a bag of so many has on the mean."""
        return max(1, round(self.rate * rows))

    def most(self, rows: int) -> int:
        """How many rows a bag of so many has at most."""
        return rows * max(1, len(self._bounds))

    @property
    def _bounds(self) -> Words:
        return _poisson(self.rate) if self.replace else _once(self.rate)


@lru_cache(maxsize=64)
def _poisson(rate: float) -> Words:
    """The words from which on a row is in a bag once, twice, ... (decimals: all machines agree)."""
    with localcontext() as context:
        context.prec = 60
        share = (-Decimal(rate)).exp()
        below, bounds, n = share, list[int](), 0
        while (bound := int(below * _ALL)) < _ALL - 1:
            bounds.append(bound)
            n += 1
            share = share * Decimal(rate) / n
            below += share
    return np.array(bounds, dtype=np.uint64)


@lru_cache(maxsize=64)
def _once(rate: float) -> Words:
    return np.array([min(int((1 - Decimal(rate)) * _ALL), _ALL - 1)], dtype=np.uint64)


def row_words(keys: Any) -> Words:
    """The word of each row by its key: equal keys have equal words, on every machine. A missing key is
    refused."""
    column = to_chunked(keys, "the key")
    read = [(_words(chunk, "key", 1, {}), len(chunk)) for chunk in column.chunks if len(chunk)]
    missing = sum(deal_folds(words, rows, 1, 0)[1] for words, rows in read)
    if missing:
        raise DataError(
            f"the key is missing in {missing:,} of {len(column):,} rows; a row without a key is in no bag: "
            "fill it, or leave such rows out"
        )
    found = [hash_rows([words], rows) for words, rows in read]
    return np.concatenate(found) if found else np.empty(0, dtype=np.uint64)


def numbered_row_words(first: int, count: int) -> Words:
    """The words of rows that are known by their numbers."""
    return row_words(np.arange(first, first + count))
