"""What one round does to the rows that workers hold, and in the same order to the scan of the client, which
has no rows, so that only its places change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hornbeam import _core
from hornbeam.boat.requests import Count, Flags, Gather, LookUp, Request, SendOn

Places = Sequence[dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Looking:
    """Some buckets of a place are watched from now on."""

    place: int
    watches: Mapping[int, Flags | None]

    def places(self, known: Places) -> Iterator[int]:
        """Those whose rows it needs."""
        return _below(self.place, known)

    def apply(self, scan: _core.SourceScan) -> None:
        scan.look_up(self.place, list(self.watches.items()))


@dataclass(frozen=True, eq=False)
class Sending:
    """A place has a test, which sends its rows on."""

    place: int
    route: dict[str, Any]

    def places(self, known: Places) -> Iterator[int]:
        yield self.place

    def apply(self, scan: _core.SourceScan) -> None:
        scan.decide_by(self.place, self.route)


@dataclass(frozen=True)
class Gathering:
    """All rows below a place come back to it."""

    place: int

    def places(self, known: Places) -> Iterator[int]:
        return _below(self.place, known)

    def apply(self, scan: _core.SourceScan) -> None:
        scan.put_back(scan.gather(self.place), self.place)


@dataclass(frozen=True, eq=False)
class Counting:
    """The rows of a place move to a new one that counts them."""

    place: int
    made: dict[str, Any]

    def places(self, known: Places) -> Iterator[int]:
        yield self.place

    def apply(self, scan: _core.SourceScan) -> None:
        made = scan.add_place(self.made)
        scan.add_kept(scan.take_rows(self.place), made)


Op = Looking | Sending | Gathering | Counting


def op_of(request: Request, layout: _core.RowLayout) -> Op:
    """What a request means for rows wherever they are."""
    match request:
        case LookUp(place, watches):
            return Looking(place, dict(watches))
        case SendOn(place, settled, children):
            return Sending(place, settled.route(layout, list(children)))
        case Gather(place):
            return Gathering(place)
        case Count(place, made):
            return Counting(place, made.native())


def _below(place: int, known: Places) -> Iterator[int]:
    """A place and those that its tests lead to."""
    yield place
    for test in known[place]["tests"]:
        for child in test["children"]:
            if child >= 0:
                yield from _below(child, known)
