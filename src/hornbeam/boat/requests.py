"""What settling asks of the rows that a scan keeps, and how all steps that ask are served.

Requests can be pickled: `RowBuffer.carry_out` does the same with them in this process and on the workers of a
cluster.

A node is settled by a step: a generator that yields what it needs of the rows, is given the answer, and ends
with the families below. Steps of different nodes ask for rows of different places, so that they may go side
by side: rows in memory are asked for one node after the other, those of a cluster for all nodes of a level.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from hornbeam.boat.plan import PlaceRecord, Route

Flags = npt.NDArray[np.uint8]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class LookUp:
    """Find the keys of some buckets (by attribute; None: all) among the rows at and below a place."""

    place: int
    watches: dict[int, Flags | None]
    below: Sequence[int]
    """The place itself, and those that its rows went to."""

    @property
    def needed(self) -> Sequence[int]:
        """The places whose rows it is about."""
        return self.below


@dataclass(frozen=True, eq=False)
class SendOn:
    """Send the rows that a place holds on by its test, to new places or those that the guess led to."""

    place: int
    route: Route
    below: Sequence[int]
    """The children, and the places below them."""

    @property
    def needed(self) -> Sequence[int]:
        return [self.place]


@dataclass(frozen=True, eq=False)
class Gather:
    """Bring all rows below a place back to it."""

    place: int
    below: Sequence[int]

    @property
    def needed(self) -> Sequence[int]:
        return self.below


@dataclass(frozen=True, eq=False)
class CountRows:
    """Move the rows of a place to a new one that counts them; the answer is its number."""

    place: int
    made: PlaceRecord

    @property
    def needed(self) -> Sequence[int]:
        return [self.place]


Request = LookUp | SendOn | Gather | CountRows
Answer = int | None
Step = Generator[Request, Answer, T]
Serve = Callable[[Sequence[Request]], Sequence[Answer]]


def take_steps(steps: Sequence[Step[T]], serve: Serve) -> list[T]:
    """What steps end with; all that they ask for at a time is served together."""
    ended: dict[int, T] = {}
    asked: dict[int, Request] = {}

    def go_on(i: int, answer: Answer) -> None:
        try:
            asked[i] = steps[i].send(answer)
        except StopIteration as end:
            ended[i] = end.value

    for i in range(len(steps)):
        go_on(i, None)
    while asked:
        waiting, requests = list(asked), list(asked.values())
        asked.clear()
        for i, answer in zip(waiting, serve(requests), strict=True):
            go_on(i, answer)
    return [ended[i] for i in range(len(steps))]
