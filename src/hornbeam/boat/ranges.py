"""The range of each attribute: its lowest and highest value, and how many are missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hornbeam.boat.columns import EncodedColumn, floats, integers
from hornbeam.table import Attribute
from hornbeam.table.columns import Array


@dataclass(frozen=True, slots=True)
class Range:
    """The ends of a numeric attribute's values, exact ones by their codes; None where there is no value."""

    lowest: int | float | None
    highest: int | float | None
    missing: int

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
        return None


class RangeTally:
    """The range of the cells of a column that went by; of a nominal one only what is missing."""

    def __init__(self, name: str, nominal: bool) -> None:
        self._name, self._nominal = name, nominal
        self._lowest: int | float | None = None
        self._highest: int | float | None = None
        self._missing = 0

    def add(self, column: pa.Array) -> None:
        """Take in the cells of a chunk."""
        if self._nominal:
            self._missing += _absent(column)
        elif pa.types.is_floating(column.type):
            self._add_floats(floats(column))
        else:
            values, missing = integers(column, self._name)
            self._missing += column.null_count
            self._extend(values if missing is None else values[missing == 0])

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

    def merge(self, other: RangeTally) -> None:
        """Take in the cells of another part."""
        self._missing += other._missing
        for end in (other._lowest, other._highest):
            if end is not None:
                self._lowest = end if self._lowest is None else min(self._lowest, end)
                self._highest = end if self._highest is None else max(self._highest, end)

    def range(self) -> Range:
        """The range of all cells that were taken in."""
        return Range(self._lowest, self._highest, self._missing)


def _absent(column: pa.Array) -> int:
    """How many cells of a nominal column have no label."""
    count: int = column.null_count
    if pa.types.is_dictionary(column.type) and column.dictionary.null_count:
        count = column.dictionary_decode().null_count
    if pa.types.is_floating(column.type):
        count = int(np.isnan(floats(column)).sum())
    return count
