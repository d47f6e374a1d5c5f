"""What a cross-validation gives back: scikit-learn's dict with the forest, and what the growth cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam.growth import Forest
from hornbeam.growth.levels import COMPONENTS


@dataclass(frozen=True, eq=False)
class Timing:
    """Seconds of one cross-validation. `reading` is turning X and y into a table, `growing` all trees with
    their pruning, `scoring` all folds; the others are parts of growing, by kind of work and by depth."""

    reading: float
    growing: float
    scoring: float
    forest: Forest | None = None

    @property
    def components(self) -> Mapping[str, float]:
        """Seconds of the native growth by kind of work: tests, statistics, numeric, other."""
        seconds = self.by_level.sum(axis=0)
        return dict(zip(COMPONENTS, seconds.tolist(), strict=True))

    @property
    def by_level(self) -> npt.NDArray[np.float64]:
        """The same seconds by depth: [level, component]."""
        return np.zeros((0, len(COMPONENTS))) if self.forest is None else self.forest.levels.seconds

    @property
    def f(self) -> npt.NDArray[np.float64]:
        """Different tests for each node of the forest, by depth (Blockeel and Struyf, section 3.2)."""
        return np.zeros(0) if self.forest is None else self.forest.tests_by_level


class CrossValidation(dict[str, Any]):
    """The dict of scikit-learn's cross_validate, and beside it the tree of all rows, the forest, the timing.

    `estimator_` is fitted to all rows; `forest` is None, and `algorithm` "serial", where the estimator was
    not one of ours.
    """

    def __init__(
        self,
        results: Mapping[str, Any],
        *,
        forest: Forest | None,
        algorithm: str,
        timing: Timing,
        whole: Callable[[], Any],
    ) -> None:
        super().__init__(results)
        self.forest, self.algorithm, self.timing = forest, algorithm, timing
        self._whole: Callable[[], Any] | None = whole
        self._estimator: Any = None

    @property
    def estimator_(self) -> Any:
        """The estimator fitted to all rows; one of ours was grown together with the folds."""
        if self._whole is not None:
            self._estimator, self._whole = self._whole(), None
        return self._estimator

    def __reduce__(self) -> tuple[Any, ...]:
        kept = {"forest": self.forest, "algorithm": self.algorithm, "timing": self.timing}
        return _restore, (dict(self), kept, self.estimator_)


def _restore(results: dict[str, Any], kept: dict[str, Any], estimator: Any) -> CrossValidation:
    return CrossValidation(results, **kept, whole=lambda: estimator)
