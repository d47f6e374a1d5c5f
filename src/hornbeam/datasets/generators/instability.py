"""Two splits that are equally good and far apart (figure 12 of the BOAT paper, Gehrke and others 1999)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hornbeam.errors import UsageError

from .family import (
    CLASS,
    MOST_EXTRA,
    GeneratedColumn,
    TableFamily,
    draw_extra,
    extra_columns,
    integer,
    labelled,
    share,
    switch,
    whole,
)
from .streams import Rows, Values

# x has 81 values in four parts, 0-20, 21-40, 41-60 and 61-80; the outer parts are of class A.
_FIRST = np.array([0, 21, 41, 61])
_LENGTH = np.array([21, 20, 20, 20])
_CLASS = np.array([0, 1, 1, 0], dtype=np.int8)


@dataclass(frozen=True)
class Instability(TableFamily):
    """Each part holds a quarter of the rows, so x <= 20 and x <= 60 tie.

    `balanced`: exactly a quarter, in turn, so that every multiple of four rows is a tie that one row more or
    less breaks. `tilt` moves that share of the rows from the last part to the first: 20 is the better split.
    """

    name: ClassVar[str] = "instability"
    asks: ClassVar[str] = "Does the tree split at 20 or at 60?"

    tilt: float = share(0.0, -0.25, 0.25)
    balanced: bool = switch()
    noise: float = share()
    extra: int = whole(0, 0, MOST_EXTRA)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.balanced and self.tilt:
            raise UsageError(
                f"tilt {self.tilt:g} and balanced: a tilted set is not balanced; leave one of them out"
            )

    def columns(self) -> tuple[GeneratedColumn, ...]:
        return (integer("x", few=True), *extra_columns(self.extra), labelled(CLASS, ("A", "B")))

    def relevant(self, seed: int) -> tuple[str, ...]:
        return ("x",)

    def draw(self, rows: Rows) -> list[Values]:
        part = rows.numbers % 4 if self.balanced else self._draw_part(rows)
        x = _FIRST[part] + rows.below("instability/x", _LENGTH[part])
        label = _CLASS[part] ^ rows.chance("instability/noise", self.noise)
        return [x, *draw_extra(rows, self.extra), label]

    def _draw_part(self, rows: Rows) -> Values:
        ends = np.array([0.25 + self.tilt, 0.5 + self.tilt, 0.75 + self.tilt])
        return np.searchsorted(ends, rows.unit("instability/part"), side="right")
