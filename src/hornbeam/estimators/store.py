"""Saving and loading: an estimator as a plain document, rebuilt by name, never by an import path."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import hornbeam
from hornbeam.errors import UsageError
from hornbeam.model import Tree, document_of, read_document, reading, refused, write_document

from .model_parameters import (
    ANYTIME,
    CLASS_PARAMETERS,
    SEARCHED,
    SEARCHED_PARAMETERS,
    TREE_PARAMETERS,
    check_parameters,
    class_array,
    finite,
    given_parameters,
    plain,
)
from .stored_bags import BAGGED, StoredBag

CLASSIFIER, C45, REGRESSOR = "TreeClassifier", "C45Classifier", "TreeRegressor"
RELATIONAL = ("RelationalTreeClassifier", "RelationalTreeRegressor", "RelationalBagging")
_KNOWN = (CLASSIFIER, C45, REGRESSOR, *SEARCHED, *BAGGED)
# What a fit depends on or tells, but not the tree: how folds were made, and who listened.
_NOT_KEPT = ("cv", "callback")


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
    search: dict[str, Any] | None = None
    """How to go on improving the tree, as it stands in the file: it is verified when that is asked for."""

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
    if model.unpruned is not None:
        payload["unpruned"] = model.unpruned.to_record()
    return payload if model.search is None else payload | {"search": model.search}


def read_model(path: str | os.PathLike[str]) -> StoredModel | StoredBag:
    """Read a model file of one table; DataError in one line where it holds anything but a known model."""
    with reading(path):
        return _read(path, read_document(path))


def _read(path: str | os.PathLike[str], payload: dict[str, Any]) -> StoredModel | StoredBag:
    if payload.get("estimator") in RELATIONAL:
        raise UsageError(
            f"{os.fspath(path)!r} holds a model of linked tables; use hornbeam relational show or predict"
        )
    if payload.get("estimator") in BAGGED:
        return StoredBag.read(path, payload)
    if set(payload) - {"unpruned", "search"} != {"estimator", "parameters", "tree", "notes"}:
        raise refused(path, f"it has the entries {', '.join(sorted(map(str, payload))[:6])}")
    name = payload["estimator"]
    if name not in _KNOWN:
        raise refused(path, f"its estimator {str(name)[:40]!r} is none of {', '.join(_KNOWN)}")
    if (name == ANYTIME) != ("search" in payload):
        raise refused(path, f"a {name} comes {'with' if name == ANYTIME else 'without'} a search")
    check_parameters(path, payload, _parameters_of(name))
    tree = Tree.from_record(payload["tree"])
    if (tree.classes is not None) != (name != REGRESSOR):
        raise refused(path, f"its tree is not that of a {name}")
    unpruned = Tree.from_record(payload["unpruned"]) if "unpruned" in payload else None
    if unpruned is not None and not _is_of(unpruned, tree):
        raise refused(path, "its unpruned tree has other attributes, classes or targets than its tree")
    return StoredModel(name, payload["parameters"], tree, payload["notes"], unpruned, payload.get("search"))


def _parameters_of(name: str) -> set[str]:
    if name in SEARCHED:
        return SEARCHED_PARAMETERS[name]
    return TREE_PARAMETERS | (CLASS_PARAMETERS if name != REGRESSOR else set())


def _is_of(unpruned: Tree, tree: Tree) -> bool:
    """Whether the one could have been pruned to the other."""
    mine, yours = ((some.schema.to_json(), some.classes, some.targets) for some in (unpruned, tree))
    return mine == yours


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted estimator as a file that holds data only and cannot execute code (docs/model-file.md).

    Of a search, such as `TreeSearchCV` or `CrossValidatedC45`, the estimator that it chose is saved.
    """
    from .answering import TreeAnswers
    from .bagging import BaggedTrees

    model = getattr(model, "best_estimator_", model)  # of a search the tree that it chose
    name = type(model).__name__
    if name in RELATIONAL and hasattr(model, "bias"):
        from .stored_relational import StoredRelational

        write_document(path, StoredRelational.of(model).payload())
        return
    if not isinstance(model, (TreeAnswers, BaggedTrees)) or name not in _KNOWN:
        raise UsageError(
            f"save takes a fitted {', '.join((*_KNOWN, *RELATIONAL[:-1]))} or {RELATIONAL[-1]}; "
            f"given is a {name} "
            "(save a pipeline's tree alone)"
        )
    given = {key: value for key, value in model.get_params(deep=False).items() if key not in _NOT_KEPT}
    parameters = {key: plain(key, value) for key, value in given.items()}
    if isinstance(model, BaggedTrees):
        members = model._members_there()
        write_document(path, StoredBag.of(name, parameters, model.bags_, members).payload())
        return
    tree = model._fitted()
    unpruned = None if model.unpruned_tree_ is tree else model.unpruned_tree_
    search = model._search_record() if name == ANYTIME else None
    write_document(path, payload_of(StoredModel(name, parameters, tree, {}, unpruned, search)))


def load(path: str | os.PathLike[str]) -> Any:
    """The fitted estimator that `save` wrote."""
    with reading(path):
        return _loaded(path, read_document(path))


def _loaded(path: str | os.PathLike[str], payload: dict[str, Any]) -> Any:
    if payload.get("estimator") in RELATIONAL:
        from .stored_relational import StoredRelational

        return StoredRelational.read(path, payload).estimate()
    stored = _read(path, payload)
    if isinstance(stored, StoredBag):
        return stored.estimate()
    model: Any = getattr(hornbeam, stored.estimator)(**given_parameters(stored.parameters))
    tree = stored.tree
    unpruned = tree if stored.unpruned is None else stored.unpruned
    if stored.estimator == ANYTIME:
        model._resume(stored.search, unpruned)
    else:
        model.tree_, model.unpruned_tree_ = tree, unpruned
    labels = None if tree.classes is None else class_array(tree.classes)
    model._remember(tree.schema, labels, tree.n_targets or 1)
    return model
