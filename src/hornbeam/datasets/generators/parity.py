"""Parity of bits, and of the signs of numbers (Esmeir and Markovitch 2007), hidden among other columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .family import CLASS, GeneratedColumn, TableFamily, bit, check_count, check_share, real
from .streams import Rows, Values, draw_order

MOST_COLUMNS = 1000


@dataclass(frozen=True)
class Xor(TableFamily):
    """The class is the parity of `bits` columns; the seed decides which of all columns these are."""

    name: ClassVar[str] = "xor"
    usual_rows: ClassVar[int] = 200

    bits: int = 5
    irrelevant: int | None = None
    noise: float = 0.0

    def __post_init__(self) -> None:
        check_count("bits", self.bits, 1, MOST_COLUMNS)
        if self.irrelevant is not None:
            check_count("irrelevant", self.irrelevant, 0, MOST_COLUMNS)
        check_share("noise", self.noise)

    @property
    def title(self) -> str:
        return f"Is the number of ones among {self.bits} hidden bits odd?"

    @property
    def width(self) -> int:
        """All columns but the class: by default there are as many irrelevant ones as relevant ones."""
        return self.bits + (self.bits if self.irrelevant is None else self.irrelevant)

    def columns(self) -> tuple[GeneratedColumn, ...]:
        return (*(bit(f"x{number}") for number in range(1, self.width + 1)), bit_class())

    def relevant(self, seed: int) -> tuple[str, ...]:
        return tuple(f"x{place + 1}" for place in hidden(seed, "xor/order", self.width, self.bits))

    def draw(self, rows: Rows) -> list[Values]:
        columns = rows.bits("xor/bits", self.width)
        odd = np.zeros(rows.count, dtype=np.int8)
        for place in hidden(rows.seed, "xor/order", self.width, self.bits):
            odd ^= columns[place]
        return [*columns, odd ^ rows.chance("xor/noise", self.noise)]


@dataclass(frozen=True)
class NumericXor(TableFamily):
    """Numbers from -1 to 1; the class is 1 where an even number of the relevant ones is negative."""

    name: ClassVar[str] = "numeric-xor"
    usual_rows: ClassVar[int] = 200

    dimensions: int = 3
    irrelevant: int | None = None
    noise: float = 0.0

    def __post_init__(self) -> None:
        check_count("dimensions", self.dimensions, 1, MOST_COLUMNS)
        if self.irrelevant is not None:
            check_count("irrelevant", self.irrelevant, 0, MOST_COLUMNS)
        check_share("noise", self.noise)

    @property
    def title(self) -> str:
        return f"Is the product of {self.dimensions} hidden numbers positive?"

    @property
    def width(self) -> int:
        """All columns but the class."""
        return self.dimensions + (self.dimensions if self.irrelevant is None else self.irrelevant)

    def columns(self) -> tuple[GeneratedColumn, ...]:
        return (*(real(f"x{number}") for number in range(1, self.width + 1)), bit_class())

    def relevant(self, seed: int) -> tuple[str, ...]:
        places = hidden(seed, "numeric-xor/order", self.width, self.dimensions)
        return tuple(f"x{place + 1}" for place in places)

    def draw(self, rows: Rows) -> list[Values]:
        columns = [2 * rows.unit(f"numeric-xor/{place}") - 1 for place in range(self.width)]
        even = np.ones(rows.count, dtype=np.int8)
        for place in hidden(rows.seed, "numeric-xor/order", self.width, self.dimensions):
            even ^= columns[place] < 0
        return [*columns, even ^ rows.chance("numeric-xor/noise", self.noise)]


def bit_class() -> GeneratedColumn:
    """A class of 0 and 1."""
    return GeneratedColumn(CLASS, bit("").type, few=True)


def hidden(seed: int, stream: str, width: int, count: int) -> list[int]:
    """Which `count` of `width` columns matter, in the order in which the rule names them."""
    return [int(place) for place in draw_order(seed, stream, width)[:count]]
