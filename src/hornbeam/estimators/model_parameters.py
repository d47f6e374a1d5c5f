"""Parameters as a model file keeps them: texts, numbers and lists of them, checked when they are read."""

from __future__ import annotations

import numbers
import os
import sys
from collections.abc import Collection
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam.errors import UsageError
from hornbeam.growth import Parameters, Pruning
from hornbeam.model import refused

CLASS_PARAMETERS = {"class_weight", "cost_matrix"}
TREE_PARAMETERS = {entry.name for kind in (Parameters, Pruning) for entry in fields(kind)}
TREE_PARAMETERS |= {"nominal_features", "random_state", "n_jobs"}

# Trees that look ahead, and searches that can go on.
LOOKAHEAD, ANYTIME = "LookaheadTreeClassifier", "AnytimeTreeClassifier"
SEARCHED = (LOOKAHEAD, ANYTIME)

_BOTH = {"nominal", "nominal_features", "max_time", "max_work", "prune", "random_state", "n_jobs"}
SEARCHED_PARAMETERS = {
    LOOKAHEAD: _BOTH | {"r", "sample_fraction"},
    ANYTIME: _BOTH | {"objective", "granularity", "max_iter", "referee"},
}

Path = str | os.PathLike[str]


def check_parameters(path: Path, payload: dict[str, Any], known: Collection[str]) -> None:
    """Refuse parameters and notes that no `save` writes."""
    parameters, notes = payload["parameters"], payload["notes"]
    if not isinstance(parameters, dict) or set(parameters) - set(known) or not isinstance(notes, dict):
        raise refused(path, "its parameters are not those of a tree")
    if not all(is_plain(value, key in CLASS_PARAMETERS) for key, value in parameters.items()):
        raise refused(path, "a parameter is neither text, a number nor a list of them")
    pairs = parameters.get("class_weight")
    if isinstance(pairs, list) and not all(
        len(pair) == 2 and not isinstance(pair[0], list) for pair in pairs
    ):
        raise refused(path, "its class_weight is not a list of labels and weights")


def given_parameters(stored: dict[str, Any]) -> dict[str, Any]:
    """What the constructor was given: a dict of class weights is a list of pairs in the file."""
    parameters = dict(stored)
    if isinstance(parameters.get("class_weight"), list):
        parameters["class_weight"] = {label: weight for label, weight in parameters["class_weight"]}
    return parameters


def finite(value: Any) -> Any:
    """Infinity has no JSON number; the largest double says the same of every threshold."""
    return sys.float_info.max if value == float("inf") else value


def is_plain(value: Any, of_classes: bool = False) -> bool:
    if isinstance(value, list) and of_classes:
        return all(isinstance(row, list) and all(map(is_plain, row)) for row in value)
    if isinstance(value, list):
        return all(isinstance(entry, (str, int)) for entry in value)
    return value is None or isinstance(value, (str, int, float))


def plain(name: str, value: Any) -> Any:
    """A parameter as JSON keeps it; a random generator has no plain form and prediction never uses it."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if name in CLASS_PARAMETERS:
        # A JSON object has text for keys, so a dict of labels is a list of pairs.
        value = _nested(list(value.items()) if isinstance(value, dict) else value)
    elif isinstance(value, (tuple, set, frozenset)):
        value = sorted(value) if not isinstance(value, tuple) else list(value)
    if name == "random_state" and not isinstance(value, int):
        return None
    if isinstance(value, numbers.Real) and not isinstance(value, int):
        value = float(value)
    if not is_plain(value, name in CLASS_PARAMETERS):
        raise UsageError(f"cannot save {name}={value!r}: it is neither text, a number nor a list of them")
    return value


def _nested(value: Any) -> Any:
    """Tuples and NumPy's numbers as plain lists and numbers."""
    if isinstance(value, (list, tuple)):
        return [_nested(entry) for entry in value]
    return value.tolist() if hasattr(value, "tolist") else value


def class_array(classes: tuple[Any, ...]) -> npt.NDArray[Any]:
    """The labels as `classes_` has them."""
    if isinstance(classes[0], str):
        return np.array(classes, dtype=object)
    # Left alone, NumPy makes floats of integers that need uint64.
    return np.array(classes, dtype=np.uint64 if type(classes[0]) is int and max(classes) >= 2**63 else None)
