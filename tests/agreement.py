"""What a law finds is compared with what the oracle says, or with the record of it.

A law calls `agree(given, found, expected)`: what is given, what the package makes of it, and a function that
asks the oracle. `tests.recorded_answers` says when the oracle need not be asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class Transcript:
    """What one run of a law compares, hashed in its order; and whether it asks the oracle."""

    def __init__(self, *, asks: bool) -> None:
        self.asks = asks
        self.comparisons = 0
        self._hash = hashlib.sha256()

    def add(self, given: object, found: object) -> None:
        self.comparisons += 1
        self._hash.update(repr((given, found)).encode())

    def digest(self) -> str:
        return self._hash.hexdigest()


_running: list[Transcript] = []


def agree(given: object, found: T, expected: Callable[[], T]) -> None:
    """Asserts that the package finds what the oracle says of what is given."""

    def judge() -> None:
        assert found == expected()

    agree_by(given, found, judge)


def agree_by(given: object, found: object, judge: Callable[[], None]) -> None:
    """The same where a function asks the oracle and asserts that what is found agrees with it. What is given
    and found is written down by `repr`, so it must be plain values."""
    if not _running or _running[-1].asks:
        judge()
    if _running:
        _running[-1].add(given, found)


@contextmanager
def transcript(*, asks: bool) -> Iterator[Transcript]:
    _running.append(Transcript(asks=asks))
    try:
        yield _running[-1]
    finally:
        _running.pop()
