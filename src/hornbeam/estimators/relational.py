"""What estimators over linked tables share: reading data, growing trees with their folds, answering."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from hornbeam.arguments import NamedParameters, is_list, is_number, refuse, threads_of, whole
from hornbeam.errors import DataError, UsageError
from hornbeam.growth import ClassTarget, NumericTarget, Target, TrainingSet, TrainingSets
from hornbeam.relational.bias import Bias
from hornbeam.relational.data import RelationalData
from hornbeam.relational.database import Coded, Examples, route
from hornbeam.relational.growth import (
    BUDGET,
    FirstOrderParameters,
    QueryEngine,
    RelationalForest,
)
from hornbeam.relational.signature import Signature
from hornbeam.relational.tree import RelationalTree
from hornbeam.table import MAX_ROWS

_MOST_BYTES = 2**62
_UNLEARNED = ("_data", "_coded")
"""What a fit keeps of its data: to explain and to answer without coding it again; no part of a file."""


@dataclass(eq=False, repr=False)
class RelationalEstimator(NamedParameters, BaseEstimator):  # type: ignore[misc]
    """An estimator that learns from `RelationalData`. Subclasses add what is grown."""

    bias: Any = None
    _: KW_ONLY
    criterion: str | None = None
    min_samples_leaf: int = 2
    lookahead: int = 1
    max_depth: int | None = None
    prune: str | None = None
    confidence: float = 0.25
    algorithm: str = "auto"
    budget: int | None = BUDGET
    cache_bytes: int = 256 << 20
    random_state: Any = None
    n_jobs: int | None = None

    def _settings(self, task: str) -> FirstOrderParameters:
        criterion = self.criterion
        if criterion is None:
            criterion = "gain_ratio" if task == "classification" else "variance"
        if not is_number(self.cache_bytes, numbers.Integral) or self.cache_bytes < 0:
            refuse("cache_bytes", self.cache_bytes, "a number of bytes from 0 is allowed")
        cache = min(int(self.cache_bytes), _MOST_BYTES)
        parameters = FirstOrderParameters(
            criterion,
            self.min_samples_leaf,
            self.max_depth,
            getattr(self, "ftest", None),
            prune=self.prune,
            confidence=self.confidence,
            algorithm=self.algorithm,
            engine=QueryEngine(cache=cache > 0, cache_bytes=cache),
            budget=self.budget,
            threads=threads_of(self.n_jobs),
        )
        return parameters.checked(task)

    def _read(self, db: Any, target: str | None, task: str | None) -> tuple[Bias, Coded, Signature]:
        """The bias, the coded examples and what their tables are called."""
        check_data(db)
        bias = self._bias(db, target)
        coded = db.coded(bias, task, target)
        if coded.examples.target is None:
            raise DataError(f"target {coded.examples.target_name!r} is not in the data; name another column")
        return bias, coded, db.signature(coded, target)

    def _bias(self, db: RelationalData, target: str | None) -> Bias:
        given = self.bias
        if given is None:
            given = db.bias if db.bias is not None else db.default_bias(target)
        if isinstance(given, str):
            given = Bias.from_text(given)
        if not isinstance(given, Bias):
            refuse("bias", given, "a Bias, its text, or None for that of the data is allowed")
        if not given.modes:
            raise UsageError("the bias has no mode, so nothing can be asked; add rmode(...) declarations")
        ahead = whole("lookahead", self.lookahead, 0, MAX_ROWS)
        return given if ahead == 1 else replace(given, max_lookahead=ahead)

    def _remember(self, db: RelationalData, bias: Bias, coded: Coded) -> None:
        """Keep what was asked about; data stays at hand for explanations."""
        names = [f"{r.name}.{column}" for r in coded.relations.values() for column in r.columns]
        self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(names)
        self.bias_, self.target_ = bias, coded.examples.target_name or ""
        self._data, self._coded = db, coded

    def _coded_of(self, db: Any, tree: RelationalTree) -> Coded:
        """Data in the relations of the fit, their columns by name; other databases may hold constants never
        seen, and further columns."""
        check_data(db)
        if db is self.__dict__.get("_data"):
            return self._coded
        known = {} if tree.signature is None else tree.signature.predicates
        columns = {name: predicate.columns for name, predicate in known.items()}
        coded: Coded = db.coded(self.bias_, tree.task, self.target_, columns)
        return coded

    def _leaves(self, coded: Coded, tree: Any) -> NDArray[np.int64]:
        return route(coded, tree).astype(np.int64)

    def __getstate__(self) -> dict[str, Any]:
        """A pickle, like a file, holds what was learned and not what from."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in _UNLEARNED}

    def _not_fitted(self, asked: str) -> NoReturn:
        name = type(self).__name__
        raise NotFittedError(f"This {name} instance is not fitted yet: call 'fit' before '{asked}'")


def check_data(db: Any) -> None:
    if not isinstance(db, RelationalData):
        raise UsageError(
            f"given is a {type(db).__name__}, and RelationalData is needed; make one with "
            "RelationalData.from_frames, from_duckdb, from_sqlite, from_csv_folder or from_ace"
        )


def labelled_rows(examples: Examples) -> NDArray[np.int64]:
    """The examples whose target is known."""
    assert examples.target is not None
    known = ~np.isnan(examples.target) if examples.task == "regression" else examples.target >= 0
    rows = np.flatnonzero(known)
    if len(rows) == 0:
        raise DataError(f"target {examples.target_name!r} is missing for all {examples.n} examples")
    return rows


def target_of(examples: Examples, rows: NDArray[np.int64]) -> Target:
    """What is known of some examples."""
    assert examples.target is not None
    if examples.task == "regression":
        values = np.asarray(examples.target, dtype=np.float64)[rows]
        return NumericTarget(values[:, None], (examples.target_name or "y",))
    labels = np.array(examples.classes, dtype=object)
    return ClassTarget(np.asarray(examples.target)[rows].astype(np.int32), labels)


def sets_of(
    cv: Any, examples: Examples, rows: NDArray[np.int64], groups: Any
) -> tuple[TrainingSets, tuple[NDArray[np.int64], ...]]:
    """The set of all examples and those of folds, and the examples that judge each fold."""
    from hornbeam.validation.splits import splits_of, splitter_of

    target = target_of(examples, rows)
    params = {} if groups is None else {"groups": np.asarray(groups)[rows]}
    y = target.codes if isinstance(target, ClassTarget) else target.values[:, 0]
    splits = splits_of(splitter_of(cv, y, target), np.zeros(len(rows)), y, target, params)
    if len(rows) == examples.n:
        return splits.sets, splits.tests
    sets = tuple(TrainingSet.of_rows(examples.n, rows[some.rows]) for some in splits.sets)
    return TrainingSets(examples.n, sets), tuple(rows[test] for test in splits.tests)


def codes_of(examples: Examples, classes: tuple[Any, ...]) -> NDArray[np.int64]:
    """The classes of examples, as places among those of a tree; -1 where it has none such."""
    places = {label: place for place, label in enumerate(classes)}
    known = np.array([places.get(label, -1) for label in examples.classes] + [-1], dtype=np.int64)
    return np.asarray(known[np.asarray(examples.target)], dtype=np.int64)


def node_codes(tree: RelationalTree) -> NDArray[np.int64]:
    """The class that each node predicts, as a place among the tree's."""
    return np.array([tree.code(node) for node in range(tree.n_nodes)], dtype=np.int64)


def node_answers(tree: RelationalTree) -> NDArray[np.float64]:
    """What each node says: the shares of classes, or a number."""
    nodes = range(tree.n_nodes)
    if tree.task == "classification":
        return np.array([tree.shares(node) for node in nodes], dtype=np.float64)
    return np.array([[float(tree.answer(node))] for node in nodes])


def warn_of_dropped(forest: RelationalForest, budget: int | None) -> None:
    if forest.dropped:
        warnings.warn(
            f"{len(forest.dropped)} tests took more than budget={budget} join steps for an example and were "
            f"left out, for instance {forest.dropped[0]}; raise the budget, or tighten the bias",
            stacklevel=4,
        )


def check_groups(groups: Any, n: int) -> None:
    if groups is None:
        return
    if not is_list(groups):
        refuse("groups", groups, "a list with an entry for each example is allowed, or None")
    if len(groups) != n:
        raise UsageError(f"groups has {len(groups)} entries for {n} examples; give one for each")


def clean(estimator: Any, names: tuple[str, ...]) -> None:
    """Leave nothing of an earlier fit that is not true any more."""
    for name in names:
        vars(estimator).pop(name, None)


Report = Callable[[float], object] | None
