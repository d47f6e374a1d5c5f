"""What a search makes smaller: the size of a consistent tree (IIDT-TS) or the expected error (IIDT-EE)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from hornbeam.anytime import expected
from hornbeam.anytime.effort import Effort
from hornbeam.anytime.lookahead import Lookahead
from hornbeam.anytime.sketch import Rows, Sketch

Values = npt.NDArray[Any]

BOUNDS: Final = ("proved", "paper", "searched")

# Nodes that a short search bounds: rows, tests, and the sets of rows that it remembers.
SEARCHED_ROWS: Final = 256
TESTS: Final = 256
REMEMBERED: Final = 256


class Objective(Protocol):
    """The paper's parts that differ between IIDT-TS and IIDT-EE. `values` has a number for every subtree."""

    @property
    def name(self) -> str: ...

    def first(self, lookahead: Lookahead, rows: Rows) -> Sketch:
        """The first tree (GREEDY-BUILD-TREE of the paper)."""

    def rebuilt(
        self, lookahead: Lookahead, rows: Rows, key: int, r: int, seconds: float = inf
    ) -> Sketch | None:
        """Another tree for the rows of a node (REBUILD-TREE); None where the seconds did not suffice."""

    def values(self, sketch: Sketch) -> Values: ...

    def grafted(self, values: Values, sketch: Sketch, node: int, whole: Sketch, part: Values) -> Values:
        """The values of a whole that has a part with these values in the place of a node of the sketch."""

    def least(self, lookahead: Lookahead, sketch: Sketch, node: int, effort: Effort) -> float:
        """What EXPECTED-BENEFIT takes off the value of a node: no rebuild has less."""

    def benefits(self, values: Values, least: Values) -> Values:
        """What a rebuild of each node may gain (EXPECTED-BENEFIT); 0 where there is nothing to gain."""

    def utility(self, benefit: float, cost: int) -> Fraction | float:
        """The benefit a unit of cost, in the numbers by which nodes are compared."""

    def better(self, new: float, old: float) -> bool:
        """Whether a value is better than an older one (BETTER)."""

    def rebuildable(self, sketch: Sketch) -> npt.NDArray[np.bool_]:
        """The nodes that a rebuild could change at all."""


@dataclass(frozen=True)
class TreeSize:
    """IIDT-TS: fewest leaves of a consistent tree. `bound` is "proved", "paper" for the paper's b^2, or
    "searched": small nodes are bounded by a short search, and a prover works beside the rebuilds."""

    bound: str = "proved"
    name: str = "size"

    def first(self, lookahead: Lookahead, rows: Rows) -> Sketch:
        return lookahead.id3(rows)

    def rebuilt(
        self, lookahead: Lookahead, rows: Rows, key: int, r: int, seconds: float = inf
    ) -> Sketch | None:
        return lookahead.rebuilt(rows, key, r, seconds)

    def values(self, sketch: Sketch) -> Values:
        return sketch["leaves"]

    def grafted(self, values: Values, sketch: Sketch, node: int, whole: Sketch, part: Values) -> Values:
        return whole["leaves"]

    def least(self, lookahead: Lookahead, sketch: Sketch, node: int, effort: Effort) -> float:
        if self.bound == "paper":
            return float(effort.fewest**2)
        rows = sketch.rows_of(node)
        if self.bound == "searched" and len(rows) <= SEARCHED_ROWS and effort.tests(TESTS) <= TESTS:
            return float(lookahead.searched_bound(rows, REMEMBERED))
        return float(lookahead.bound(rows))

    def benefits(self, values: Values, least: Values) -> Values:
        saved: Values = np.maximum(values - least, 0.0)
        return saved

    def utility(self, benefit: float, cost: int) -> Fraction:
        return Fraction(int(benefit), cost)

    def better(self, new: float, old: float) -> bool:
        return new < old

    def rebuildable(self, sketch: Sketch) -> npt.NDArray[np.bool_]:
        return ~sketch.is_leaf


@dataclass(frozen=True)
class ExpectedError:
    """IIDT-EE: the least expected error, by C4.5's estimate; trees are pruned by it."""

    name: str = "error"

    def first(self, lookahead: Lookahead, rows: Rows) -> Sketch:
        return lookahead.c45(rows)

    def rebuilt(
        self, lookahead: Lookahead, rows: Rows, key: int, r: int, seconds: float = inf
    ) -> Sketch | None:
        sketch = lookahead.rebuilt(rows, key, r, seconds)
        return None if sketch is None else lookahead.pruned(sketch)

    def values(self, sketch: Sketch) -> Values:
        return expected.of_subtrees(sketch)

    def grafted(self, values: Values, sketch: Sketch, node: int, whole: Sketch, part: Values) -> Values:
        return expected.after_graft(values, sketch, node, whole, part)

    def least(self, lookahead: Lookahead, sketch: Sketch, node: int, effort: Effort) -> float:
        return expected.least(sketch, node)

    def benefits(self, values: Values, least: Values) -> Values:
        saved = values - least
        return np.where(saved >= expected.DUST, saved, 0.0)

    def utility(self, benefit: float, cost: int) -> float:
        return benefit / float(cost)

    def better(self, new: float, old: float) -> bool:
        return old - new >= expected.DUST

    def rebuildable(self, sketch: Sketch) -> npt.NDArray[np.bool_]:
        """Leaves as well that pruning made; those without a usable attribute have no effort."""
        impure = np.diff(sketch["count_start"]) > 1
        return ~sketch.is_leaf | impure


OBJECTIVES: Final[dict[str, Objective]] = {"size": TreeSize("searched"), "error": ExpectedError()}
