"""The faulty LED display (Breiman and others 1984): ten digits, seven segments, and 17 idle lights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .family import CLASS, GeneratedColumn, TableFamily, bit, choice, integer, share
from .streams import Rows, Values

# The lit segments of 0 .. 9: top, upper left, upper right, middle, lower left, lower right, bottom.
DIGITS = (
    "1110111",
    "0010010",
    "1011101",
    "1011011",
    "0111010",
    "1101011",
    "1101111",
    "1010010",
    "1111111",
    "1111011",
)
_LIT = np.array([[int(light) for light in digit] for digit in DIGITS], dtype=np.int8)
SEGMENTS = 7


@dataclass(frozen=True)
class Led(TableFamily):
    """`attributes`: 7, or 24 with 17 random bits; each segment is wrong with probability `noise`."""

    name: ClassVar[str] = "led"
    asks: ClassVar[str] = "Which digit does the faulty display show?"

    attributes: int = choice(7, (7, 24))
    noise: float = share(0.1)

    def columns(self) -> tuple[GeneratedColumn, ...]:
        segments = [bit(f"segment{number}") for number in range(1, SEGMENTS + 1)]
        idle = [bit(f"idle{number}") for number in range(1, self.attributes - SEGMENTS + 1)]
        return (*segments, *idle, integer(CLASS, few=True))

    def relevant(self, seed: int) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns()[:SEGMENTS])

    def draw(self, rows: Rows) -> list[Values]:
        digits = rows.below("led/digit", 10)
        segments = [
            _LIT[digits, place] ^ rows.chance(f"led/wrong/{place}", self.noise) for place in range(SEGMENTS)
        ]
        return [*segments, *rows.bits("led/idle", self.attributes - SEGMENTS), digits]
