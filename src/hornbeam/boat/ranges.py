"""The range of each attribute: its lowest and highest value, and how many are missing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from hornbeam.boat.columns import EncodedColumn, floats, integers
from hornbeam.table import Attribute
from hornbeam.table.columns import Array

_ALL = 2**64 - 1  # from the lowest whole number of 64 bits to the highest
# Looked for where a column may span all of 64 bits: one that no row has leaves a key for missing cells. They
# are drawn at random, and far from 0, so that few columns ever come near them.
_SELDOM = (
    -9_013_575_983_083_582_177,
    -8_600_405_744_623_634_178,
    -6_194_577_822_182_500_116,
    -5_791_101_265_266_582_867,
    5_941_726_430_473_188_379,
    6_474_288_148_621_412_623,
    6_847_890_449_179_857_595,
    8_574_029_003_687_227_468,
)


@dataclass(frozen=True, slots=True)
class Range:
    """The ends of a numeric attribute's values, exact ones by their codes; None where there is no value."""

    lowest: int | float | None
    highest: int | float | None
    missing: int
    unused: int | None = None
    """Where whole numbers span all of 64 bits: one between the ends that no row has, if one is known."""

    def news(self, encoded: EncodedColumn, attribute: Attribute) -> str | None:
        """What of an encoded column is outside, for people; None where nothing is."""
        kind, values, *masks = encoded
        if not len(values):
            return None
        lowest, highest = values.min().item(), values.max().item()
        if kind == "nominal":
            return "missing cells" if lowest < 0 and not self.missing else None
        gaps = masks[0] is not None if kind == "integer" else lowest != lowest
        if gaps:
            if not self.missing:
                return "missing cells"
            known = values[masks[0] == 0] if masks else values[~np.isnan(values)]
            return self.news((kind, known, None) if masks else (kind, known), attribute)
        for end, wrong in (
            (lowest, self.lowest is None or lowest < self.lowest),
            (highest, self.highest is None or highest > self.highest),
        ):
            if wrong:
                return repr(attribute.format(end))
        if self.unused is not None and (values == self.unused).any():
            return repr(attribute.format(self.unused))
        return None


class RangeTally:
    """The range of the cells of a column that went by; of a nominal one only what is missing."""

    def __init__(self, name: str, nominal: bool) -> None:
        self._name, self._nominal = name, nominal
        self._lowest: int | float | None = None
        self._highest: int | float | None = None
        self._missing = 0
        self._unused = list(_SELDOM)

    def add(self, column: pa.Array) -> None:
        """Take in the cells of a chunk."""
        if self._nominal:
            self._missing += _absent(column)
        elif pa.types.is_floating(column.type):
            self._add_floats(floats(column))
        else:
            values, missing = integers(column, self._name)
            self._missing += column.null_count
            known = values if missing is None else values[missing == 0]
            self._extend(known)
            self._look_for_unused(known)

    def _add_floats(self, values: Array) -> None:
        if len(values) and np.isnan(values.min()):
            known = values[~np.isnan(values)]
            self._missing += len(values) - len(known)
            values = known
        self._extend(values)

    def _extend(self, known: Array) -> None:
        if not len(known):
            return
        lowest, highest = known.min().item(), known.max().item()
        self._lowest = lowest if self._lowest is None else min(self._lowest, lowest)
        self._highest = highest if self._highest is None else max(self._highest, highest)

    def _look_for_unused(self, known: Array) -> None:
        if known.dtype == np.int64 and len(known):
            lowest, highest = known.min(), known.max()
            self._unused = [n for n in self._unused if not lowest <= n <= highest or not (known == n).any()]

    def merge(self, other: RangeTally) -> None:
        """Take in the cells of another part."""
        self._missing += other._missing
        self._unused = [number for number in self._unused if number in other._unused]
        for end in (other._lowest, other._highest):
            if end is not None:
                self._lowest = end if self._lowest is None else min(self._lowest, end)
                self._highest = end if self._highest is None else max(self._highest, end)

    def range(self) -> Range:
        """The range of all cells that were taken in."""
        found = Range(self._lowest, self._highest, self._missing)
        if self._lowest is None or self._highest is None or self._highest - self._lowest != _ALL:
            return found
        return replace(found, unused=next(iter(self._unused), None))


def _absent(column: pa.Array) -> int:
    """How many cells of a nominal column have no label."""
    count: int = column.null_count
    if pa.types.is_dictionary(column.type) and column.dictionary.null_count:
        count = column.dictionary_decode().null_count
    if pa.types.is_floating(column.type):
        count = int(np.isnan(floats(column)).sum())
    return count
