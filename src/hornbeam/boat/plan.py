"""What a scan does with rows: places they come to, as the core reads them, and the ways between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

HELD = -1  # as the core says it

Rows = npt.NDArray[np.int64]
Route = dict[str, Any]
Watch = tuple[int, npt.NDArray[np.uint8] | None]
"""An attribute, and which of its buckets keep their values; None: all."""


@dataclass(eq=False)
class CoarseNode:
    """A node as the bootstrap trees see it, and the sampled rows that come to it. Without an attribute they
    do not agree, or it is too small to ask them."""

    rows: Rows
    attribute: int = -1
    first: int = 1
    """Numeric: rows in buckets before it go left,"""
    last: int = 0
    """and those in buckets after it right; the others, and missing values, are held."""
    child_of: npt.NDArray[np.int32] | None = None
    """Nominal: by category."""
    children: list[CoarseNode] = field(default_factory=list)
    gains: tuple[float, ...] = ()
    """Of the bootstrap trees."""

    @property
    def agreed(self) -> bool:
        return self.attribute >= 0

    def walk(self) -> Iterator[CoarseNode]:
        """The node and all below."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass
class PlaceRecord:
    """What happens to the rows of a place: attributes to count, values to keep, whether all rows are kept,
    the tests that send them on, and whether the values of what is counted are summed up."""

    counted: Sequence[int] = ()
    watches: list[Watch] = field(default_factory=list)
    keeps: bool = False
    tests: list[Route] = field(default_factory=list)
    sums: bool = False

    def native(self) -> dict[str, Any]:
        return {
            "counted": list(self.counted),
            "watches": self.watches,
            "keeps": self.keeps,
            "tests": self.tests,
            "sums": self.sums,
        }


@dataclass
class ScanPlan:
    """The places of a scan, the first of them where all rows come to: the guesses of those whose tests are
    coarse, and the tests that are known of others."""

    places: list[PlaceRecord] = field(default_factory=list)
    guesses: dict[int, CoarseNode] = field(default_factory=dict)
    routes: dict[int, Route] = field(default_factory=dict)

    def add(self, place: PlaceRecord) -> int:
        """A further place; its number."""
        self.places.append(place)
        return len(self.places) - 1

    def lead(
        self, known: Mapping[int, Route], wanted: Mapping[int, Callable[[], int]], place: int = 0
    ) -> int:
        """The ways by which rows came to some places of a plan before; what is wanted there adds its own
        places. The number of the first, or -1: nothing is wanted at this place or below."""
        if place in wanted:
            return wanted[place]()
        if place not in known:
            return -1
        at = self.add(PlaceRecord())
        children = [self.lead(known, wanted, child) for child in known[place]["children"]]
        if all(child < 0 for child in children):
            del self.places[at:]
            return -1
        self.routes[at] = known[place] | {"children": children}
        self.places[at].tests = [self.routes[at]]
        return at


def coarse_route(node: CoarseNode, children: list[int]) -> Route:
    """The way of rows by a guess: in doubt they are held."""
    route: Route = {"attribute": node.attribute, "missing": HELD, "children": children}
    if node.child_of is not None:
        return route | {"kind": "nominal", "child_of": node.child_of.tolist()}
    return route | {"kind": "coarse", "first": node.first, "last": node.last}
