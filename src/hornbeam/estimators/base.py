"""What both tree estimators share: parameters, growing, routing, and the sizes of the tree."""

from __future__ import annotations

import inspect
import os
import warnings
from types import FunctionType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from hornbeam.errors import UsageError
from hornbeam.growth import MAX_THREADS, ClassTarget, NumericTarget, Parameters, grow_tree
from hornbeam.model import Tree
from hornbeam.table import Schema, Table, conform

from .foreign import refuse_foreign

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.utils import Tags


class TreeEstimator(BaseEstimator):  # type: ignore[misc]
    """A decision tree over one table. Subclasses add the target: a class or numbers.

    A subclass names in its header what it has by default instead: `class Mine(Tree, criterion="entropy")`.
    """

    tree_: Tree
    n_features_in_: int

    def __init__(
        self,
        *,
        criterion: str = "gini",
        nominal: str = "subset",
        nominal_features: Any = "from_dtype",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_impurity_decrease: float = 0.0,
        min_objs: float | None = None,
        competitors: int = 0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.nominal = nominal
        self.nominal_features = nominal_features
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.min_objs = min_objs
        self.competitors = competitors
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        refuse_foreign(cls.__name__, parameters, inspect.signature(cls.__init__).parameters)
        return super().__new__(cls)  # type: ignore[no-any-return]

    def __init_subclass__(cls, **defaults: Any) -> None:
        super().__init_subclass__()
        if "__init__" not in cls.__dict__:
            # A constructor of its own: the defaults, and the class that a wrong call is told about.
            cls.__init__ = _with_defaults(cls.__init__, f"{cls.__qualname__}.__init__", defaults)  # type: ignore[method-assign]
        # Without this the signature that people see would be that of __new__.
        signature = inspect.signature(cls.__init__)
        cls.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters; the names are those of the constructor."""
        refuse_foreign(type(self).__name__, parameters, self.get_params(deep=False))
        super().set_params(**parameters)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = False
        return tags

    def _checked(self, task: str) -> Parameters:
        return Parameters.of(self).checked(task=task)

    def _grow(self, table: Table, target: ClassTarget | NumericTarget, parameters: Parameters) -> None:
        """Grow the tree and keep it; attributes of an earlier fit go when they no longer hold."""
        self.tree_ = grow_tree(table, target, parameters, threads=threads_of(self.n_jobs))
        self.n_features_in_ = len(table.columns)
        if table.schema.named:
            self.feature_names_in_ = np.array(table.schema.names, dtype=object)
        elif "feature_names_in_" in self.__dict__:
            del self.feature_names_in_

    def _require_target(self, y: Any) -> None:
        if y is None:
            raise UsageError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None"
            )

    def _fitted(self) -> Tree:
        try:
            return self.__dict__["tree_"]  # type: ignore[no-any-return]
        except KeyError:
            name = type(self).__name__
            raise NotFittedError(
                f"This {name} instance is not fitted yet: call 'fit' before '{_caller()}'"
            ) from None

    def _conform(self, X: Any) -> tuple[Tree, Table]:
        tree = self._fitted()
        if isinstance(X, np.ndarray) and tree.schema.named:
            name = type(self).__name__
            message = f"X does not have valid feature names, but {name} was fitted with feature names"
            warnings.warn(message, UserWarning, stacklevel=3)
        return tree, conform(X, tree.schema, estimator=type(self).__name__)

    @property
    def schema_(self) -> Schema:
        """Names, kinds and categories of the attributes."""
        return self._fitted().schema

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of the decrease of impurity by the tests on each attribute; zeros for a single leaf."""
        return self._fitted().feature_importances

    def apply(self, X: Any) -> NDArray[np.int64]:
        """The leaf that each row reaches, as an index of `tree_`."""
        tree, table = self._conform(X)
        return tree.apply(table, threads_of(self.n_jobs)).astype(np.int64)

    def decision_path(self, X: Any) -> csr_matrix:
        """The nodes that each row passes: a sparse indicator matrix of rows by nodes."""
        tree, table = self._conform(X)
        return tree.decision_path(table, threads_of(self.n_jobs))

    def get_depth(self) -> int:
        """The most tests on the way from the root to a leaf."""
        return self._fitted().depth

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        return self._fitted().n_leaves


def _with_defaults(function: Any, name: str, defaults: dict[str, Any]) -> Any:
    """A copy of a function with keyword-only parameters, under another name and with other defaults."""
    copy = FunctionType(function.__code__, function.__globals__, closure=function.__closure__)
    copy.__annotations__, copy.__qualname__ = function.__annotations__, name
    copy.__kwdefaults__ = function.__kwdefaults__ | defaults
    return copy


def threads_of(n_jobs: int | None) -> int:
    """Threads for scikit-learn's n_jobs: None is one, -1 all processors, -2 all but one."""
    if n_jobs is None:
        return 1
    whole = isinstance(n_jobs, (int, np.integer)) and not isinstance(n_jobs, bool)
    if not whole or n_jobs == 0 or n_jobs > MAX_THREADS:
        raise UsageError(
            f"n_jobs={n_jobs!r}: None (one thread), 1 to {MAX_THREADS} or -1 (all processors) is allowed"
        )
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


def _caller() -> str:
    """The public method that found the estimator unfitted, for the message."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_name.startswith("_"):
        frame = frame.f_back
    return frame.f_code.co_name if frame is not None else "predict"
