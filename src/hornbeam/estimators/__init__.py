"""Estimators in the shape of scikit-learn: they validate, call and wrap; no algorithm lives here."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bagged_classifier import BaggedTreesClassifier
    from .bagged_regressor import BaggedTreesRegressor
    from .c45 import C45Classifier
    from .classifier import TreeClassifier
    from .cross_validated_c45 import CrossValidatedC45
    from .regressor import TreeRegressor

__all__ = [
    "BaggedTreesClassifier",
    "BaggedTreesRegressor",
    "C45Classifier",
    "CrossValidatedC45",
    "TreeClassifier",
    "TreeRegressor",
]

_HOMES = {
    "BaggedTreesClassifier": "bagged_classifier",
    "BaggedTreesRegressor": "bagged_regressor",
    "C45Classifier": "c45",
    "CrossValidatedC45": "cross_validated_c45",
    "TreeClassifier": "classifier",
    "TreeRegressor": "regressor",
}


def __getattr__(name: str) -> Any:
    # The command reads model files without scikit-learn: its import alone costs a second.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
