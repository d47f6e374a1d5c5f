"""Trees of several training sets, given as how often each row counts in each of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam.growth import Parameters, TableGrower, Target
from hornbeam.model import Tree
from hornbeam.table import Table


def grow_forest(
    table: Table, target: Target, parameters: Parameters, times: npt.NDArray[np.uint8], **given: Any
) -> list[Tree]:
    """The trees of all sets, grown together: `times[row, set]` is how often a row counts."""
    grower = TableGrower(table, target, parameters, **given)
    forest = grower.grow(times)
    return [grower.tree(forest, i) for i in range(forest.n_sets)]
