"""What growing a forest cost, level by level (Blockeel and Struyf, figure 10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam import _core

COMPONENTS = ("tests", "statistics", "numeric", "other")


@dataclass(frozen=True, eq=False)
class Levels:
    """What growing cost, by depth of the nodes: seconds [level, component], nodes of the forest, list entries
    that were read, and those that the sets would have read one by one."""

    seconds: npt.NDArray[np.float64]
    nodes: npt.NDArray[np.int64]
    entries: npt.NDArray[np.int64]
    own_entries: npt.NDArray[np.int64]

    @classmethod
    def none(cls) -> Levels:
        empty = np.zeros(0, dtype=np.int64)
        return cls(np.zeros((0, len(COMPONENTS))), empty, empty, empty)

    def plus(self, native: _core.Forest) -> Levels:
        """With what one more growth cost."""
        more: Mapping[str, Any] = native.levels()
        seconds = np.asarray(more["seconds"]).reshape(-1, len(COMPONENTS))
        counts = (_sum(getattr(self, name), more[name]) for name in ("nodes", "entries", "own_entries"))
        return Levels(_sum(self.seconds, seconds), *counts)


def _sum(mine: npt.NDArray[Any], yours: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The sum of two arrays that may differ in their first length."""
    long, short = (mine, yours) if len(mine) >= len(yours) else (yours, mine)
    total = long.copy()
    total[: len(short)] += short
    return total
