"""What a search is given: a table, a grid, the training sets, and the rows that judge each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from hornbeam.growth import Engine, Target, TrainingSets
from hornbeam.model import RoutedTable
from hornbeam.table import Table
from hornbeam.tuning.grid import Candidates
from hornbeam.tuning.measures import Measure
from hornbeam.validation.scoring import Judge

Rows = npt.NDArray[np.int64]


class Trial(NamedTuple):
    """Rows that judge the trees of a training set that does not have them."""

    of: int
    rows: Rows


@dataclass(frozen=True, eq=False)
class Task:
    """All that a search needs, read and checked. Set 0 is all rows."""

    estimator: Any
    candidates: Candidates
    X: Any
    y: Any
    table: Table
    target: Target
    sets: TrainingSets
    trials: Sequence[Trial]
    sized: Set[int]
    """The sets whose trees' sizes settle ties: that of all rows, and those of outer folds."""
    judge: Judge
    measure: Measure | None
    score_params: Mapping[str, Any] = field(default_factory=dict)
    seeds: Sequence[int] = ()
    """What each set draws its validation rows by, where some are kept out of growing."""
    engine: Engine = field(default_factory=Engine)
    memory_limit: int | None = None
    threads: int = 1

    @cached_property
    def models(self) -> list[Any]:
        """The unfitted estimator of each setting."""
        return [self.model(params) for params in self.candidates.params]

    def model(self, params: Mapping[str, Any]) -> Any:
        """The unfitted estimator of a setting."""
        return clone(self.estimator).set_params(**clone(params, safe=False))

    @cached_property
    def routed(self) -> RoutedTable:
        """The table, ready to go down the trees."""
        return RoutedTable(self.table)

    @cached_property
    def judged(self) -> Mapping[int, list[int]]:
        """The trials of each set that has any."""
        found: dict[int, list[int]] = {}
        for t, trial in enumerate(self.trials):
            found.setdefault(trial.of, []).append(t)
        return found
