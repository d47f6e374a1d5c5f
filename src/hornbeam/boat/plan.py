"""What a scan does with rows: places they come to, as the core reads them, and the ways between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam.boat.coarse import HELD, CoarseNode

Route = dict[str, Any]
Watch = tuple[int, npt.NDArray[np.uint8] | None]
"""An attribute, and which of its buckets keep their values; None: all."""


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


def coarse_route(node: CoarseNode, children: list[int]) -> Route:
    """The way of rows by a guess: in doubt they are held."""
    route: Route = {"attribute": node.attribute, "missing": HELD, "children": children}
    if node.child_of is not None:
        return route | {"kind": "nominal", "child_of": node.child_of.tolist()}
    return route | {"kind": "coarse", "first": node.first, "last": node.last}
