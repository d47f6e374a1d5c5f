"""Estimators in the shape of scikit-learn: they validate, call and wrap; no algorithm lives here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .c45 import C45Classifier
    from .classifier import TreeClassifier
    from .regressor import TreeRegressor

__all__ = ["C45Classifier", "TreeClassifier", "TreeRegressor"]


def __getattr__(name: str) -> Any:
    # The command reads model files without scikit-learn: its import alone costs a second.
    if name == "TreeClassifier":
        from .classifier import TreeClassifier

        return TreeClassifier
    if name == "C45Classifier":
        from .c45 import C45Classifier

        return C45Classifier
    if name == "TreeRegressor":
        from .regressor import TreeRegressor

        return TreeRegressor
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
