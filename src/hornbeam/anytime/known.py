"""Known: what was found out about sets of rows, so that nobody finds it out again. It changes no result."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

MOST_BYTES: Final = 2**26
_ENTRY: Final = 300  # bytes that an entry takes besides its rows, about

T = TypeVar("T")


class Known:
    """Answers by question and set of rows, the longest unused forgotten first. A question must have one
    answer for a set of rows, whoever asks and whenever: then it does not matter what is still known.

    Sets are told apart by the rows themselves and not by a hash of them. `most_bytes` of 0 remembers nothing.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self.bytes = self.hits = self.misses = 0
        self._answers: OrderedDict[tuple[str, bytes], Any] = OrderedDict()

    def answer(self, question: str, rows: npt.NDArray[Any], find: Callable[[npt.NDArray[Any]], T]) -> T:
        """What is known, or what is found now. Rows ascend. An interrupt leaves nothing half known."""
        if not self.most_bytes:
            return find(rows)
        place = question, rows.astype(np.int32).tobytes()
        if place in self._answers:
            self.hits += 1
            self._answers.move_to_end(place)
            known: T = self._answers[place]
            return known
        self.misses += 1
        found = find(rows)
        self._answers[place] = found
        self.bytes += _ENTRY + len(place[1])
        while self.bytes > self.most_bytes:
            (_, forgotten), _ = self._answers.popitem(last=False)
            self.bytes -= _ENTRY + len(forgotten)
        return found

    def __len__(self) -> int:
        return len(self._answers)
