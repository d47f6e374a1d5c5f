"""Bits that select: the data bit that address bits name, and one of two parities.

The seed draws where each bit stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .family import GeneratedColumn, TableFamily, bit, check_count, check_share
from .parity import MOST_COLUMNS, bit_class, hidden
from .streams import Rows, Values, draw_order


@dataclass(frozen=True)
class Multiplexer(TableFamily):
    """`address` bits and 2^`address` data bits (4: the multiplexer-20), the highest address bit first."""

    name: ClassVar[str] = "multiplexer"
    usual_rows: ClassVar[int] = 500

    address: int = 4
    irrelevant: int = 0
    noise: float = 0.0

    def __post_init__(self) -> None:
        check_count("address", self.address, 1, 9)
        check_count("irrelevant", self.irrelevant, 0, MOST_COLUMNS)
        check_share("noise", self.noise)

    @property
    def title(self) -> str:
        return f"What is the addressed bit of the multiplexer-{self.inputs}?"

    @property
    def inputs(self) -> int:
        """Address and data bits together."""
        return self.address + (1 << self.address)

    def columns(self) -> tuple[GeneratedColumn, ...]:
        columns = range(1, self.inputs + self.irrelevant + 1)
        return (*(bit(f"x{number}") for number in columns), bit_class())

    def relevant(self, seed: int) -> tuple[str, ...]:
        return tuple(f"x{place + 1}" for place in self._places(seed))

    def draw(self, rows: Rows) -> list[Values]:
        columns = rows.bits("multiplexer/bits", self.inputs + self.irrelevant)
        places = self._places(rows.seed)
        addressed = np.zeros(rows.count, dtype=np.int64)
        for place in places[: self.address]:
            addressed = 2 * addressed + columns[place]
        data = np.stack([columns[place] for place in places[self.address :]])
        chosen = data[addressed, np.arange(rows.count)]
        return [*columns, chosen ^ rows.chance("multiplexer/noise", self.noise)]

    def _places(self, seed: int) -> list[int]:
        return hidden(seed, "multiplexer/order", self.inputs + self.irrelevant, self.inputs)


WIDTH = 11
LEAST, MOST = 2, 5  # bits of a term


@dataclass(frozen=True)
class MultiplexXor(TableFamily):
    """Eleven bits; the seed draws which of them selects, and 2 to 5 of the others for each parity.

    No bit is in both: ours, for the paper does not say.
    """

    name: ClassVar[str] = "multiplex-xor"
    usual_rows: ClassVar[int] = 200

    noise: float = 0.0

    def __post_init__(self) -> None:
        check_share("noise", self.noise)

    @property
    def title(self) -> str:
        return "Is the selected one of two hidden parities odd?"

    def columns(self) -> tuple[GeneratedColumn, ...]:
        return (*(bit(f"x{number}") for number in range(1, WIDTH + 1)), bit_class())

    def terms(self, seed: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns of the parity that counts where the selecting bit is 0, and of the other."""
        _, zero, one = self._places(seed)
        return _names(zero), _names(one)

    def relevant(self, seed: int) -> tuple[str, ...]:
        select, zero, one = self._places(seed)
        return _names([select, *zero, *one])

    def draw(self, rows: Rows) -> list[Values]:
        columns = rows.bits("multiplex-xor/bits", WIDTH)
        select, *terms = self._places(rows.seed)
        odd = [np.bitwise_xor.reduce([columns[place] for place in term]) for term in terms]
        chosen = np.where(columns[select] == 0, *odd)
        return [*columns, chosen ^ rows.chance("multiplex-xor/noise", self.noise)]

    def _places(self, seed: int) -> tuple[int, list[int], list[int]]:
        select, *others = hidden(seed, "multiplex-xor/order", WIDTH, WIDTH)
        zero, one = (_size(seed, f"multiplex-xor/size/{term}") for term in (0, 1))
        return select, others[:zero], others[zero : zero + one]


def _size(seed: int, stream: str) -> int:
    return LEAST + int(draw_order(seed, stream, MOST - LEAST + 1)[0])


def _names(places: list[int]) -> tuple[str, ...]:
    return tuple(f"x{place + 1}" for place in places)
