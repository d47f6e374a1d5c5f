"""What growing a forest cost, level by level (Blockeel and Struyf, figure 10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hornbeam import _core

if TYPE_CHECKING:
    from hornbeam.growth.forest import Forest

COMPONENTS = ("tests", "statistics", "numeric", "other")
COUNTS = ("nodes", "entries", "own_entries", "bands", "bands_apart")


@dataclass(frozen=True, eq=False)
class Levels:
    """What growing cost, by depth of the nodes: seconds [level, component], nodes of the forest, list entries
    that were read, and those that the sets would have read one by one; nodes that near cuts of several sets
    share, and those that found no room for the rows between such cuts, so that the sets parted."""

    seconds: npt.NDArray[np.float64]
    nodes: npt.NDArray[np.int64]
    entries: npt.NDArray[np.int64]
    own_entries: npt.NDArray[np.int64]
    bands: npt.NDArray[np.int64]
    bands_apart: npt.NDArray[np.int64]
    forest: Forest | None = field(default=None, kw_only=True)
    """Whose growth it was."""

    @property
    def f(self) -> npt.NDArray[np.float64]:
        """f of Blockeel and Struyf, section 3.2: different tests per node, down to the last level that has
        any; after pruning."""
        return np.zeros(0) if self.forest is None else self.forest.tests_by_level

    def of(self, forest: Forest) -> Levels:
        """The same, with a forest to read f from."""
        return replace(self, forest=forest)

    @classmethod
    def none(cls) -> Levels:
        empty = np.zeros(0, dtype=np.int64)
        return cls(np.zeros((0, len(COMPONENTS))), *(empty for _ in COUNTS))

    def plus(self, native: _core.Forest) -> Levels:
        """With what one more growth cost."""
        more: Mapping[str, Any] = native.levels()
        seconds = np.asarray(more["seconds"]).reshape(-1, len(COMPONENTS))
        counts = (_sum(getattr(self, name), more[name]) for name in COUNTS)
        return Levels(_sum(self.seconds, seconds), *counts)


def _sum(mine: npt.NDArray[Any], yours: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The sum of two arrays that may differ in their first length."""
    long, short = (mine, yours) if len(mine) >= len(yours) else (yours, mine)
    total = long.copy()
    total[: len(short)] += short
    return total
