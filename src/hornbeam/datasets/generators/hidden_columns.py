"""Classes that columns hidden among others decide: parities, multiplexers, and parities that a bit selects.

The seed draws where the deciding columns stand. The concepts are those of Esmeir and Markovitch (2007).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .family import CLASS, GeneratedColumn, TableFamily, bit, real, share, whole
from .streams import Rows, Values, draw_order

_MOST_COLUMNS = 1000
_WIDTH = 11
_LEAST, _MOST = 2, 5  # bits of a parity of the multiplex-xor


class HiddenColumns(TableFamily):
    """A family whose columns are alike, and whose class some of them decide."""

    column: ClassVar = staticmethod(bit)
    irrelevant: int | None

    @property
    @abstractmethod
    def inputs(self) -> int:
        """How many columns decide the class."""

    @property
    def width(self) -> int:
        """How many columns there are beside the class; as many are irrelevant as decide it, if not said."""
        return self.inputs + (self.inputs if self.irrelevant is None else self.irrelevant)

    def columns(self) -> tuple[GeneratedColumn, ...]:
        return (*(self.column(name) for name in _names(range(self.width))), bit_class())

    def relevant(self, seed: int) -> tuple[str, ...]:
        return _names(self.places(seed))

    def places(self, seed: int) -> list[int]:
        """Where the deciding columns stand, in the order in which the rule names them."""
        places: list[int] = draw_order(seed, f"{self.name}/order", self.width)[: self.inputs].tolist()
        return places


@dataclass(frozen=True)
class Xor(HiddenColumns):
    """The class is the parity of `bits` columns."""

    name: ClassVar[str] = "xor"
    asks: ClassVar[str] = "Is the number of ones among {0.bits} hidden bits odd?"
    usual_rows: ClassVar[int] = 200

    bits: int = whole(5, 1, _MOST_COLUMNS)
    irrelevant: int | None = whole(None, 0, _MOST_COLUMNS)
    noise: float = share()

    @property
    def inputs(self) -> int:
        return self.bits

    def draw(self, rows: Rows) -> list[Values]:
        columns = rows.bits("xor/bits", self.width)
        odd = np.zeros(rows.count, dtype=np.int8)
        for place in self.places(rows.seed):
            odd ^= columns[place]
        return [*columns, odd ^ rows.chance("xor/noise", self.noise)]


@dataclass(frozen=True)
class NumericXor(HiddenColumns):
    """Numbers from -1 to 1; the class is 1 where an even number of the relevant ones is negative."""

    name: ClassVar[str] = "numeric-xor"
    asks: ClassVar[str] = "Is the product of {0.dimensions} hidden numbers positive?"
    usual_rows: ClassVar[int] = 200
    column: ClassVar = staticmethod(real)

    dimensions: int = whole(3, 1, _MOST_COLUMNS)
    irrelevant: int | None = whole(None, 0, _MOST_COLUMNS)
    noise: float = share()

    @property
    def inputs(self) -> int:
        return self.dimensions

    def draw(self, rows: Rows) -> list[Values]:
        columns = [2 * rows.unit(f"numeric-xor/{place}") - 1 for place in range(self.width)]
        even = np.ones(rows.count, dtype=np.int8)
        for place in self.places(rows.seed):
            even ^= columns[place] < 0
        return [*columns, even ^ rows.chance("numeric-xor/noise", self.noise)]


@dataclass(frozen=True)
class Multiplexer(HiddenColumns):
    """`address` bits and 2^`address` data bits (4: the multiplexer-20), the highest address bit first."""

    name: ClassVar[str] = "multiplexer"
    asks: ClassVar[str] = "What is the addressed bit of the multiplexer-{0.inputs}?"
    usual_rows: ClassVar[int] = 500

    address: int = whole(4, 1, 9)
    irrelevant: int = whole(0, 0, _MOST_COLUMNS)
    noise: float = share()

    @property
    def inputs(self) -> int:
        return self.address + (1 << self.address)

    def draw(self, rows: Rows) -> list[Values]:
        columns = rows.bits("multiplexer/bits", self.width)
        places = self.places(rows.seed)
        addressed = np.zeros(rows.count, dtype=np.int64)
        for place in places[: self.address]:
            addressed = 2 * addressed + columns[place]
        data = np.stack([columns[place] for place in places[self.address :]])
        chosen = data[addressed, np.arange(rows.count)]
        return [*columns, chosen ^ rows.chance("multiplexer/noise", self.noise)]


@dataclass(frozen=True)
class MultiplexXor(HiddenColumns):
    """Eleven bits; the seed draws which of them selects, and 2 to 5 of the others for each parity.

    No bit is in both parities; the paper does not say whether one may be.
    """

    name: ClassVar[str] = "multiplex-xor"
    asks: ClassVar[str] = "Is the selected one of two hidden parities odd?"
    usual_rows: ClassVar[int] = 200
    inputs: ClassVar[int] = _WIDTH
    width: ClassVar[int] = _WIDTH

    noise: float = share()

    def terms(self, seed: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns of the parity that counts where the selecting bit is 0, and of the other."""
        _, zero, one = self._parts(seed)
        return _names(zero), _names(one)

    def relevant(self, seed: int) -> tuple[str, ...]:
        select, zero, one = self._parts(seed)
        return _names([select, *zero, *one])

    def draw(self, rows: Rows) -> list[Values]:
        columns = rows.bits("multiplex-xor/bits", _WIDTH)
        select, *terms = self._parts(rows.seed)
        odd = [np.bitwise_xor.reduce([columns[place] for place in term]) for term in terms]
        chosen = np.where(columns[select] == 0, *odd)
        return [*columns, chosen ^ rows.chance("multiplex-xor/noise", self.noise)]

    def _parts(self, seed: int) -> tuple[int, list[int], list[int]]:
        """The place of the selecting bit, and those of both parities."""
        select, *others = self.places(seed)
        zero, one = (_size(seed, f"multiplex-xor/size/{term}") for term in (0, 1))
        return select, others[:zero], others[zero : zero + one]


def _size(seed: int, stream: str) -> int:
    return _LEAST + int(draw_order(seed, stream, _MOST - _LEAST + 1)[0])


def _names(places: Iterable[int]) -> tuple[str, ...]:
    return tuple(f"x{place + 1}" for place in places)


def bit_class() -> GeneratedColumn:
    """A class of 0 and 1."""
    return GeneratedColumn(CLASS, bit("").type, few=True)
