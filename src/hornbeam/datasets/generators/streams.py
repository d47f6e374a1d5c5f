"""Random numbers by position: number i of a named stream depends on the seed, the name and i alone.

Each stream is a Philox generator of its own, keyed by the seed and by a hash of the stream's name. Philox
counts, so any position is reached at once; only its raw 64-bit words are used, which NumPy keeps as they are.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

# Loaded before the first row is given out: a Ctrl-C while it loads is lost in its initialisation.
from numpy.random import Philox
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Integers = NDArray[np.int64]
Reals = NDArray[np.float64]
Truths = NDArray[np.bool_]
Values = NDArray[Any]

MOST_SEED = 2**64 - 1
_WORDS_A_STEP = 4  # Philox 4x64 makes four words each time it counts


@functools.cache
def _stream_key(name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"hornbeam/{name}".encode()).digest()[:8], "little")


def _words(seed: int, name: str, first: int, count: int) -> Words:
    generator = Philox(key=np.array([seed, _stream_key(name)], dtype=np.uint64))
    skipped = first % _WORDS_A_STEP
    generator.advance(first // _WORDS_A_STEP)
    return np.asarray(generator.random_raw(skipped + count), dtype=np.uint64)[skipped:]


def draw_order(seed: int, name: str, count: int) -> Integers:
    """A random order of 0 .. count - 1."""
    return np.argsort(_words(seed, name, 0, count), kind="stable").astype(np.int64)


@dataclass(frozen=True)
class Rows:
    """The rows first .. first + count - 1 of the set that a seed names; each draw gives a value a row."""

    seed: int
    first: int
    count: int

    @classmethod
    def pieces(cls, seed: int, start: int, count: int, most: int) -> Iterator[Rows]:
        """The rows start .. start + count - 1, at most so many at a time."""
        for first in range(start, start + count, most):
            yield cls(seed, first, min(most, start + count - first))

    @property
    def numbers(self) -> Integers:
        """The rows' own numbers."""
        return np.arange(self.first, self.first + self.count, dtype=np.int64)

    def unit(self, stream: str) -> Reals:
        """Uniform over the 2^53 multiples of 2^-53 in [0, 1)."""
        words = _words(self.seed, stream, self.first, self.count)
        shares: Reals = (words >> np.uint64(11)).astype(np.float64)
        shares *= 2.0**-53
        return shares

    def below(self, stream: str, bound: int | Integers) -> Integers:
        """Uniform over 0 .. bound - 1, for bounds so far below 2^53 that the rounding is of no account."""
        return (self.unit(stream) * bound).astype(np.int64)

    def between(self, stream: str, low: int, high: int) -> Integers:
        """Uniform over low .. high, both included."""
        return self.below(stream, high - low + 1) + low

    def chance(self, stream: str, share: float) -> Truths:
        """True with the given probability; nothing is drawn where that is 0."""
        if share == 0:
            return np.zeros(self.count, dtype=np.bool_)
        return self.unit(stream) < share

    def bits(self, stream: str, width: int) -> list[NDArray[np.int8]]:
        """`width` columns of fair bits; each word of the stream serves 64 of them."""
        columns: list[NDArray[np.int8]] = []
        for begin in range(0, width, 64):
            words = _words(self.seed, f"{stream}/{begin // 64}", self.first, self.count)
            places = range(min(64, width - begin))
            columns += [(words >> np.uint64(place) & np.uint64(1)).astype(np.int8) for place in places]
        return columns
