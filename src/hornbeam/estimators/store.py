"""Saving and loading: an estimator as a plain document, rebuilt by name, never by an import path."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from hornbeam.errors import UsageError
from hornbeam.model import Tree, document_of, read_document, write_document

from .plain import (
    CLASS_PARAMETERS,
    TREE_PARAMETERS,
    check_parameters,
    class_array,
    finite,
    given_parameters,
    plain,
    refused,
)
from .stored_bags import BAGGED, StoredBag

CLASSIFIER, C45, REGRESSOR = "TreeClassifier", "C45Classifier", "TreeRegressor"
_KNOWN = (CLASSIFIER, C45, REGRESSOR, *BAGGED)


@dataclass(frozen=True)
class StoredModel:
    """What a model file holds: estimator, parameters, tree. Reading one needs no scikit-learn."""

    estimator: str
    parameters: dict[str, Any]
    tree: Tree
    notes: dict[str, Any]
    """What else the writer wanted to keep: plain JSON, shown and never interpreted."""
    unpruned: Tree | None = None
    """The tree before pruning; None where it is the tree itself."""

    @property
    def is_classifier(self) -> bool:
        return self.estimator != REGRESSOR


def model_bytes(model: StoredModel | StoredBag) -> bytes:
    """The content of the model's file."""
    return document_of(model.payload() if isinstance(model, StoredBag) else payload_of(model))


def payload_of(model: StoredModel) -> dict[str, Any]:
    """The plain document of a model."""
    payload = {
        "estimator": model.estimator,
        "parameters": {name: finite(value) for name, value in model.parameters.items()},
        "tree": model.tree.to_record(),
        "notes": model.notes,
    }
    return payload if model.unpruned is None else payload | {"unpruned": model.unpruned.to_record()}


def read_model(path: str | os.PathLike[str]) -> StoredModel | StoredBag:
    """Read a model file; DataError in one line where it holds anything but a known model."""
    payload = read_document(path)
    if payload.get("estimator") in BAGGED:
        return StoredBag.read(path, payload)
    if set(payload) - {"unpruned"} != {"estimator", "parameters", "tree", "notes"}:
        raise refused(path, f"it has the entries {', '.join(sorted(map(str, payload))[:6])}")
    name = payload["estimator"]
    if name not in _KNOWN:
        raise refused(path, f"its estimator {str(name)[:40]!r} is none of {', '.join(_KNOWN)}")
    check_parameters(path, payload, TREE_PARAMETERS | (CLASS_PARAMETERS if name != REGRESSOR else set()))
    tree = Tree.from_record(payload["tree"])
    if (tree.classes is not None) != (name != REGRESSOR):
        raise refused(path, f"its tree is not that of a {name}")
    unpruned = Tree.from_record(payload["unpruned"]) if "unpruned" in payload else None
    if unpruned is not None and not _is_of(unpruned, tree):
        raise refused(path, "its unpruned tree has other attributes, classes or targets than its tree")
    return StoredModel(name, payload["parameters"], tree, payload["notes"], unpruned)


def _is_of(unpruned: Tree, tree: Tree) -> bool:
    """Whether the one could have been pruned to the other."""
    mine, yours = ((some.schema.to_json(), some.classes, some.targets) for some in (unpruned, tree))
    return mine == yours


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted estimator as a file that holds data only and cannot execute code (docs/model-file.md).

    Of a search, such as `TreeSearchCV` or `CrossValidatedC45`, the estimator that it chose is saved.
    """
    from .bagging import BaggedTrees
    from .base import TreeEstimator

    model = getattr(model, "best_estimator_", model)  # of a search the tree that it chose
    name = type(model).__name__
    if not isinstance(model, (TreeEstimator, BaggedTrees)) or name not in _KNOWN:
        raise UsageError(
            f"save takes a fitted {', '.join(_KNOWN[:-1])} or {_KNOWN[-1]}; given is a {name} "
            "(save a pipeline's tree alone)"
        )
    # The file is of the tree: what folds said of it is not kept, and neither is how they were made.
    given = {key: value for key, value in model.get_params(deep=False).items() if key != "cv"}
    parameters = {key: plain(key, value) for key, value in given.items()}
    if isinstance(model, BaggedTrees):
        members = model._members_there()
        write_document(path, StoredBag.of(name, parameters, model.bags_, members).payload())
        return
    tree = model._fitted()
    unpruned = None if model.unpruned_tree_ is tree else model.unpruned_tree_
    write_document(path, payload_of(StoredModel(name, parameters, tree, {}, unpruned)))


def load(path: str | os.PathLike[str]) -> Any:
    """The fitted estimator that `save` wrote."""
    stored = read_model(path)
    if isinstance(stored, StoredBag):
        return stored.estimate()
    model: Any = _estimator_class(stored.estimator)(**given_parameters(stored.parameters))
    tree = stored.tree
    model.tree_ = tree
    model.unpruned_tree_ = tree if stored.unpruned is None else stored.unpruned
    model.n_features_in_ = len(tree.schema)
    if tree.schema.named:
        model.feature_names_in_ = np.array(tree.schema.names, dtype=object)
    if tree.classes is not None:
        model.classes_ = class_array(tree.classes)
        model.n_classes_ = len(tree.classes)
    model.n_outputs_ = 1 if tree.classes is not None else tree.n_targets
    return model


def _estimator_class(name: str) -> Any:
    if name == C45:
        from .c45 import C45Classifier

        return C45Classifier
    if name == CLASSIFIER:
        from .classifier import TreeClassifier

        return TreeClassifier
    from .regressor import TreeRegressor

    return TreeRegressor
