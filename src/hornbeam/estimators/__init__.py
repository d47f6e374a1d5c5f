"""Estimators in the shape of scikit-learn: they validate, call and wrap; no algorithm lives here."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .anytime import AnytimeTreeClassifier
    from .bagged_classifier import BaggedTreesClassifier
    from .bagged_regressor import BaggedTreesRegressor
    from .c45 import C45Classifier
    from .classifier import TreeClassifier
    from .cross_validated_c45 import CrossValidatedC45
    from .lookahead import LookaheadTreeClassifier
    from .regressor import TreeRegressor
    from .relational_bagging import RelationalBagging
    from .relational_tree import RelationalTreeClassifier, RelationalTreeRegressor

__all__ = [
    "AnytimeTreeClassifier",
    "BaggedTreesClassifier",
    "BaggedTreesRegressor",
    "C45Classifier",
    "CrossValidatedC45",
    "LookaheadTreeClassifier",
    "RelationalBagging",
    "RelationalTreeClassifier",
    "RelationalTreeRegressor",
    "TreeClassifier",
    "TreeRegressor",
]

_HOMES = {
    "AnytimeTreeClassifier": "anytime",
    "BaggedTreesClassifier": "bagged_classifier",
    "BaggedTreesRegressor": "bagged_regressor",
    "C45Classifier": "c45",
    "CrossValidatedC45": "cross_validated_c45",
    "LookaheadTreeClassifier": "lookahead",
    "RelationalBagging": "relational_bagging",
    "RelationalTreeClassifier": "relational_tree",
    "RelationalTreeRegressor": "relational_tree",
    "TreeClassifier": "classifier",
    "TreeRegressor": "regressor",
}


def __getattr__(name: str) -> Any:
    # The command reads model files without scikit-learn: its import alone costs a second.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
