"""Effort: what a rebuild would cost, counted from the attributes and tests of a node and never measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from hornbeam.table import Column, Table

DRAWS: Final = 8  # cuts that are drawn of a numeric attribute, times r
_SUBSETS: Final = 8  # present categories up to which every subset is a test of its own


@dataclass(frozen=True)
class Effort:
    """The usable attributes of a node: how many, the tests of nominal ones, the cuts of each numeric one,
    the fewest branches that a test has, and the tests that nominal ones may have at most further down."""

    usable: int
    nominal_tests: int
    cuts: tuple[int, ...]
    fewest: int
    nominal_below: int

    def tests(self, r: int) -> int:
        """How many tests LSID3(r) evaluates at the node."""
        most = DRAWS * r
        return self.nominal_tests + sum(min(cuts, most) for cuts in self.cuts)

    @property
    def at_most(self) -> Effort:
        """The effort that no node of some of these rows exceeds."""
        return replace(self, nominal_tests=self.nominal_below)

    def cost(self, rows: int, r: int) -> int:
        """The cost r m n^2 t of r samples for each of t tests, each with every attribute of every row."""
        return r * self.tests(r) * self.greedy_cost(rows)

    def greedy_cost(self, rows: int) -> int:
        """The cost of one tree without looking ahead, m n^2 for m rows and n usable attributes."""
        return rows * self.usable**2


def next_r(last_r: int) -> int:
    """The samples of the next rebuild (NEXT-R of the paper): one, then twice as many each time."""
    return 1 if last_r == 0 else 2 * last_r


class Efforts:
    """A table whose nodes are counted; every column is ranked once."""

    def __init__(self, table: Table, nominal: str) -> None:
        self.table, self.nominal = table, nominal

    @cached_property
    def _ranked(self) -> list[tuple[bool, npt.NDArray[np.int64], int]]:
        return [(column.kind == "nominal", *_ranks(column)) for column in self.table.columns]

    def of(self, rows: npt.NDArray[Any]) -> Effort:
        """The effort at the node of these rows."""
        usable = tests = below = fewest = 0
        cuts = []
        for is_nominal, ranks, size in self._ranked:
            values = _different(ranks[rows], size)
            if values < 2:
                continue
            usable += 1
            if not is_nominal:
                cuts.append(values - 1)
            else:
                tests += self._tests(values)
                below += max(self._tests(values), self._tests(min(values, _SUBSETS)))
            branches = values if is_nominal and self.nominal == "multiway" else 2
            fewest = branches if fewest == 0 else min(fewest, branches)
        return Effort(usable, tests, tuple(cuts), max(1, fewest), below)

    def _tests(self, values: int) -> int:
        """The tests of a nominal attribute with so many categories present."""
        if self.nominal == "multiway" or values == 2:
            return 1
        if self.nominal == "value":
            return values
        return 2 ** (values - 1) - 1 if values <= _SUBSETS else values - 1


def _ranks(column: Column) -> tuple[npt.NDArray[np.int64], int]:
    """The known values of a column as ranks from 1, 0 where it is missing, and how many ranks there are."""
    if column.kind == "nominal":
        ranks = column.values.astype(np.int64) + 1
        return np.maximum(ranks, 0), int(ranks.max(initial=0)) + 1
    known = ~np.isnan(column.values) if column.kind == "float" else np.ones(len(column.values), dtype=bool)
    if column.missing is not None:
        known = column.missing == 0
    values, place = np.unique(column.values[known], return_inverse=True)
    ranks = np.zeros(len(column.values), dtype=np.int64)
    ranks[known] = place + 1
    return ranks, len(values) + 1


def _different(ranks: npt.NDArray[np.int64], size: int) -> int:
    """How many different known values there are."""
    if size <= 4 * len(ranks) + 64:
        return int(np.count_nonzero(np.bincount(ranks, minlength=1)[1:]))
    found = np.unique(ranks)
    return len(found) - int(found[0] == 0)
