"""The 625 ways to load a balance with weights and distances of 1 to 5, and to which side it tips."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .family import CLASS, Family, Plan, integer, labelled
from .streams import Rows, Values

SIDES = ("left_weight", "left_distance", "right_weight", "right_distance")
MOST = 5  # of a weight and of a distance
TIPS = ("L", "B", "R")  # B: it is balanced


@dataclass(frozen=True)
class Balance(Family):
    """All loads, the last number running fastest; nothing is chosen or drawn."""

    name: ClassVar[str] = "balance"

    @property
    def title(self) -> str:
        return "To which side does the balance tip?"

    @property
    def size(self) -> int:
        return int(MOST ** len(SIDES))

    def plans(self) -> tuple[Plan, ...]:
        return (*(integer(side, few=True) for side in SIDES), labelled(CLASS, TIPS))

    def relevant(self, seed: int) -> tuple[str, ...]:
        return SIDES

    def draw(self, rows: Rows) -> list[Values]:
        places = MOST ** np.arange(len(SIDES))[::-1]
        loads = 1 + rows.numbers[:, None] // places % MOST
        left, right = loads[:, 0] * loads[:, 1], loads[:, 2] * loads[:, 3]
        return [*loads.T, 1 + np.sign(right - left)]
