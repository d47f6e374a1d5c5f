"""The multiplexer: address bits say which data bit is the class; the seed draws where each of them stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .family import Family, Plan, bit
from .options import check_count, check_share
from .parity import MOST_COLUMNS, bit_class, hidden
from .streams import Rows, Values


@dataclass(frozen=True)
class Multiplexer(Family):
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

    def plans(self) -> tuple[Plan, ...]:
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
