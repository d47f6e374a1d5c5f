"""Saving and loading: an estimator as a plain document, rebuilt by name, never by an import path."""

from __future__ import annotations

import numbers
import os
import sys
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam.errors import DataError, UsageError
from hornbeam.growth import Parameters, Pruning
from hornbeam.model import Tree, document_of, read_document, write_document

CLASSIFIER, C45, REGRESSOR = "TreeClassifier", "C45Classifier", "TreeRegressor"
_KNOWN = (CLASSIFIER, C45, REGRESSOR)
_CLASS_PARAMETERS = {"class_weight", "cost_matrix"}
_PARAMETERS = {entry.name for kind in (Parameters, Pruning) for entry in fields(kind)}
_PARAMETERS |= {"nominal_features", "random_state", "n_jobs"}


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


def model_bytes(model: StoredModel) -> bytes:
    """The content of the model's file."""
    return document_of(payload_of(model))


def payload_of(model: StoredModel) -> dict[str, Any]:
    """The plain document of a model."""
    payload = {
        "estimator": model.estimator,
        "parameters": {name: _finite(value) for name, value in model.parameters.items()},
        "tree": model.tree.to_record(),
        "notes": model.notes,
    }
    return payload if model.unpruned is None else payload | {"unpruned": model.unpruned.to_record()}


def _finite(value: Any) -> Any:
    """Infinity has no JSON number; the largest double says the same of every threshold."""
    return sys.float_info.max if value == float("inf") else value


def read_model(path: str | os.PathLike[str]) -> StoredModel:
    """Read a model file; DataError in one line where it holds anything but a known model."""
    payload = read_document(path)
    if set(payload) - {"unpruned"} != {"estimator", "parameters", "tree", "notes"}:
        raise _refused(path, f"it has the entries {', '.join(sorted(map(str, payload))[:6])}")
    name, parameters, notes = payload["estimator"], payload["parameters"], payload["notes"]
    if name not in _KNOWN:
        raise _refused(path, f"its estimator {str(name)[:40]!r} is none of {', '.join(_KNOWN)}")
    known = _PARAMETERS | (_CLASS_PARAMETERS if name != REGRESSOR else set())
    if not isinstance(parameters, dict) or set(parameters) - known or not isinstance(notes, dict):
        raise _refused(path, "its parameters are not those of a tree")
    if not all(_is_plain(value, key in _CLASS_PARAMETERS) for key, value in parameters.items()):
        raise _refused(path, "a parameter is neither text, a number nor a list of them")
    pairs = parameters.get("class_weight")
    if isinstance(pairs, list) and not all(
        len(pair) == 2 and not isinstance(pair[0], list) for pair in pairs
    ):
        raise _refused(path, "its class_weight is not a list of labels and weights")
    tree = Tree.from_record(payload["tree"])
    if (tree.classes is not None) != (name != REGRESSOR):
        raise _refused(path, f"its tree is not that of a {name}")
    unpruned = Tree.from_record(payload["unpruned"]) if "unpruned" in payload else None
    if unpruned is not None and not _is_of(unpruned, tree):
        raise _refused(path, "its unpruned tree has other attributes, classes or targets than its tree")
    return StoredModel(name, parameters, tree, notes, unpruned)


def _is_of(unpruned: Tree, tree: Tree) -> bool:
    """Whether the one could have been pruned to the other."""
    mine, yours = ((some.schema.to_json(), some.classes, some.targets) for some in (unpruned, tree))
    return mine == yours


def _refused(path: str | os.PathLike[str], why: str) -> DataError:
    return DataError(
        f"{os.fspath(path)!r} is not a model that this version reads: {why}; save it again with hornbeam.save"
    )


def _is_plain(value: Any, of_classes: bool = False) -> bool:
    if isinstance(value, list) and of_classes:
        return all(isinstance(row, list) and all(map(_is_plain, row)) for row in value)
    if isinstance(value, list):
        return all(isinstance(entry, (str, int)) for entry in value)
    return value is None or isinstance(value, (str, int, float))


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted estimator as a file that holds data only and cannot execute code (docs/model-file.md)."""
    from .base import TreeEstimator

    name = type(model).__name__
    if not isinstance(model, TreeEstimator) or name not in _KNOWN:
        raise UsageError(
            f"save takes a fitted {', '.join(_KNOWN[:-1])} or {_KNOWN[-1]}; given is a {name} "
            "(save a pipeline's tree alone)"
        )
    # The file is of the tree: what folds said of it is not kept, and neither is how they were made.
    given = {key: value for key, value in model.get_params(deep=False).items() if key != "cv"}
    parameters = {key: _plain(key, value) for key, value in given.items()}
    tree = model._fitted()
    unpruned = None if model.unpruned_tree_ is tree else model.unpruned_tree_
    write_document(path, payload_of(StoredModel(name, parameters, tree, {}, unpruned)))


def _plain(name: str, value: Any) -> Any:
    """A parameter as JSON keeps it; a random generator has no plain form and prediction never uses it."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if name in _CLASS_PARAMETERS:
        # A JSON object has text for keys, so a dict of labels is a list of pairs.
        value = _nested(list(value.items()) if isinstance(value, dict) else value)
    elif isinstance(value, (tuple, set, frozenset)):
        value = sorted(value) if not isinstance(value, tuple) else list(value)
    if name == "random_state" and not isinstance(value, int):
        return None
    if isinstance(value, numbers.Real) and not isinstance(value, int):
        value = float(value)
    if not _is_plain(value, name in _CLASS_PARAMETERS):
        raise UsageError(f"cannot save {name}={value!r}: it is neither text, a number nor a list of them")
    return value


def _nested(value: Any) -> Any:
    """Tuples and NumPy's numbers as plain lists and numbers."""
    if isinstance(value, (list, tuple)):
        return [_nested(entry) for entry in value]
    return value.tolist() if hasattr(value, "tolist") else value


def load(path: str | os.PathLike[str]) -> Any:
    """The fitted estimator that `save` wrote."""
    stored = read_model(path)
    parameters = dict(stored.parameters)
    if isinstance(parameters.get("class_weight"), list):
        parameters["class_weight"] = {label: weight for label, weight in parameters["class_weight"]}
    model: Any = _estimator_class(stored.estimator)(**parameters)
    tree = stored.tree
    model.tree_ = tree
    model.unpruned_tree_ = tree if stored.unpruned is None else stored.unpruned
    model.n_features_in_ = len(tree.schema)
    if tree.schema.named:
        model.feature_names_in_ = np.array(tree.schema.names, dtype=object)
    if tree.classes is not None:
        model.classes_ = _class_array(tree.classes)
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


def _class_array(classes: tuple[Any, ...]) -> npt.NDArray[Any]:
    if isinstance(classes[0], str):
        return np.array(classes, dtype=object)
    # Left alone, NumPy makes floats of integers that need uint64.
    return np.array(classes, dtype=np.uint64 if type(classes[0]) is int and max(classes) >= 2**63 else None)
