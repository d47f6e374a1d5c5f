"""The settings that a search tries: a grid, read and checked in all its values before any work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from hornbeam.arguments import brief, refuse
from hornbeam.errors import UsageError
from hornbeam.growth import Parameters, Pruning
from hornbeam.growth.parameters import TUNABLE
from hornbeam.validation.scoring import in_our_words
from hornbeam.validation.shared_growth import shares_growth

PATH = "path"
"""`{"ccp_alpha": "path"}`: the alphas at which the tree of all rows changes."""


@dataclass(frozen=True)
class Setting:
    """How one candidate grows and prunes, checked."""

    parameters: Parameters
    pruning: Pruning


@dataclass(frozen=True)
class Candidates:
    """The settings in the order of scikit-learn's ParameterGrid: as they were given, and as they are read."""

    params: tuple[dict[str, Any], ...]
    settings: tuple[Setting, ...]

    def __len__(self) -> int:
        return len(self.params)

    def __add__(self, others: Candidates) -> Candidates:
        return Candidates(self.params + others.params, self.settings + others.settings)


class Grid:
    """A `param_grid` for an estimator of ours. `candidates` are its settings; where it asks for the path of
    alphas they have to be given."""

    def __init__(self, estimator: Any, param_grid: Any) -> None:
        if not shares_growth(estimator):
            raise UsageError(
                f"a {type(estimator).__name__} cannot be tuned in one growth: give a TreeClassifier, "
                "TreeRegressor or C45Classifier, or use scikit-learn's GridSearchCV"
            )
        self._estimator = estimator
        self._parts = [_checked_part(part) for part in _parts(param_grid)]
        self.asks_path = any(part.get("ccp_alpha") is PATH for part in self._parts)
        self._checked = self._expanded((0.0, 1.0))  # whatever the alphas will be, the others are checked now

    @property
    def own(self) -> Setting:
        """How the estimator itself grows."""
        return next(iter(_settings(self._estimator, [{}])))

    def candidates(self, path: Sequence[float] = ()) -> Candidates:
        """All settings."""
        return self._expanded(path) if self.asks_path else self._checked

    def _expanded(self, path: Sequence[float]) -> Candidates:
        """UsageError where a setting means nothing."""
        parts = [
            {name: list(path) if values is PATH else values for name, values in part.items()}
            for part in self._parts
        ]
        params = tuple(ParameterGrid(parts))
        return Candidates(params, tuple(_settings(self._estimator, params)))


def _settings(estimator: Any, params: Iterable[Mapping[str, Any]]) -> Iterable[Setting]:
    with in_our_words("estimator", estimator):
        model = clone(estimator)
    own = {name: getattr(model, name) for name in TUNABLE}
    for some in params:
        vars(model).update({**own, **some})  # one model for all: to clone each would take longest of all
        yield Setting(*model._checked())


def between(alphas: npt.NDArray[np.float64]) -> list[float]:
    """An alpha for each tree of a path, given where they begin: 0, then the geometric mean of where a tree
    begins and where it ends. The last, a single leaf, has no end: twice where it begins, so that the trees
    of folds, which begin a little elsewhere, are single leaves too."""
    begins = alphas[alphas > 0.0]
    return [0.0, *np.sqrt(begins[:-1] * begins[1:]).tolist(), *(2.0 * begins[-1:]).tolist()]


def _parts(given: Any) -> list[Mapping[str, Any]]:
    parts = [given] if isinstance(given, Mapping) else given
    if not isinstance(parts, Sequence) or not all(isinstance(part, Mapping) for part in parts):
        refuse("param_grid", given, "give a dict of parameter to list of values, or a list of such dicts")
    if not parts or not all(parts):
        raise UsageError(
            "param_grid is empty: name a parameter and its values, such as {'max_depth': [2, 4]}"
        )
    return list(parts)


def _checked_part(part: Mapping[str, Any]) -> dict[str, Any]:
    return {_known(name): _values(name, values) for name, values in part.items()}


def _known(name: Any) -> str:
    if name in TUNABLE:
        return str(name)
    near = get_close_matches(str(name), TUNABLE, n=1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    raise UsageError(
        f"param_grid names {brief(name)}, which is not tuned here: use {', '.join(TUNABLE)}{meant}"
    )


def _values(name: str, values: Any) -> Any:
    if name == "ccp_alpha" and isinstance(values, str) and values == PATH:
        return PATH
    listed = isinstance(values, (Sequence, np.ndarray)) and not isinstance(values, (str, bytes))
    if not listed or (isinstance(values, np.ndarray) and values.ndim != 1):
        raise UsageError(
            f"param_grid[{name!r}]={brief(values)}: give a list of values, such as [{brief(values)}]"
        )
    if len(values) == 0:
        raise UsageError(f"param_grid[{name!r}] has no values: give at least one")
    return values
