"""Constructors of estimators: other defaults for a subclass, and scikit-learn's other parameters refused."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable
from types import FunctionType
from typing import Any, Self

from sklearn.base import BaseEstimator

INSTEAD = {
    "splitter": "every split is the best one; leave it out",
    "max_features": "every attribute is looked at; leave it out, or choose columns of X",
    "max_leaf_nodes": "limit the tree by max_depth, min_samples_leaf or min_impurity_decrease",
    "min_weight_fraction_leaf": "use min_samples_leaf with a fraction",
    "class_weight": "numbers have no classes; weigh rows with fit(X, y, sample_weight=...)",
    "monotonic_cst": "monotonic constraints are not supported; leave it out",
}
OF_BAGGING = {
    "estimator": "the trees' own parameters stand beside n_estimators",
    "bootstrap_features": "every attribute is looked at; leave it out, or choose columns of X",
    "warm_start": "fit again with more n_estimators: the same random_state draws the same first bags",
}


OF_LOOKAHEAD = {
    "class_weight": "every row counts as one; repeat rows instead",
    "max_depth": "a consistent tree is as deep as it must be; leave it out, or prune",
    "max_iter": "looking ahead is done once; AnytimeTreeClassifier goes on",
    "warm_start": "improve() goes on where fit ended",
}


def refuse_foreign(estimator: str, names: Iterable[str], own: Collection[str]) -> None:
    """Raise a TypeError for the first of the names that is scikit-learn's and not ours."""
    instead = INSTEAD | OF_BAGGING if "n_estimators" in own else INSTEAD
    if {"r", "granularity"} & set(own):
        instead = instead | OF_LOOKAHEAD
    for name in names:
        if name in instead and name not in own:
            raise TypeError(f"{estimator} has no parameter {name!r}: {instead[name]}")


class PlainEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator that tells what to use instead of a parameter that only scikit-learn has.

    A subclass names in its header what it has by default instead: `class Mine(Tree, criterion="entropy")`.
    """

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        if parameters:
            refuse_foreign(cls.__name__, parameters, cls.__signature__.parameters)
        return super().__new__(cls)  # type: ignore[no-any-return]

    def __init_subclass__(cls, **defaults: Any) -> None:
        super().__init_subclass__()
        if "__init__" not in cls.__dict__ and cls.__init__ is not object.__init__:
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


def _with_defaults(function: Any, name: str, defaults: dict[str, Any]) -> Any:
    """A copy of a function with keyword-only parameters, under another name and with other defaults."""
    copy = FunctionType(function.__code__, function.__globals__, closure=function.__closure__)
    copy.__annotations__, copy.__qualname__ = function.__annotations__, name
    copy.__kwdefaults__ = function.__kwdefaults__ | defaults
    return copy
