"""Hornbeam: one readable decision tree that you can trust."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hornbeam.estimators.classifier import TreeClassifier
    from hornbeam.estimators.regressor import TreeRegressor
    from hornbeam.estimators.store import load, save
    from hornbeam.model import Tree

__version__ = "0.1.0"

__all__ = ["Tree", "TreeClassifier", "TreeRegressor", "__version__", "load", "save"]

# Where each public name lives; nothing is imported before it is asked for.
_HOMES = {
    "Tree": "hornbeam.model",
    "TreeClassifier": "hornbeam.estimators.classifier",
    "TreeRegressor": "hornbeam.estimators.regressor",
    "load": "hornbeam.estimators.store",
    "save": "hornbeam.estimators.store",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'hornbeam' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
