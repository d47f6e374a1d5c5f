"""What is written down of a fitted model (digests, sizes, checksums of answers), and how records differ."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

Values = dict[str, Any]
Case = Callable[[], Values]
_SHORT = 16


def checksum(answers: Iterable[Any]) -> str:
    """Of answers one by one; floats by all of their bits."""
    hashed = hashlib.sha256()
    for answer in np.asarray(answers).ravel().tolist():
        text = answer.hex() if isinstance(answer, float) else str(answer)
        hashed.update(text.encode() + b"\n")
    return hashed.hexdigest()[:_SHORT]


def of_tree(tree: Any) -> Values:
    """Of a `hornbeam.Tree`: `record` is all that `to_json` has."""
    return {
        "tree": tree.digest[:_SHORT],
        "leaves": tree.n_leaves,
        "depth": tree.depth,
        "record": _of_record(json.loads(tree.to_json())),
    }


def of_relational_tree(tree: Any) -> Values:
    """Of a `hornbeam.RelationalTree`."""
    return {
        "tree": tree.digest[:_SHORT],
        "leaves": tree.n_leaves,
        "complexity": list(tree.complexity),
        "record": _of_record(json.loads(tree.to_json())),
    }


def _of_record(record: Any) -> str:
    """Ten digits of each float: gains take logarithms, whose last bits are the machine's."""
    text = json.dumps(_rounded(record), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:_SHORT]


def _rounded(record: Any) -> Any:
    if isinstance(record, dict):
        return {key: _rounded(value) for key, value in record.items()}
    if isinstance(record, list):
        return [_rounded(value) for value in record]
    return float(f"{record:.10g}") if isinstance(record, float) else record


def of_model(model: Any, X: Any) -> Values:
    """Of a fitted estimator of one tree: the tree, the one before pruning, and what it answers."""
    values = of_tree(model.tree_)
    if model.unpruned_tree_ != model.tree_:
        values["unpruned"] = model.unpruned_tree_.digest[:_SHORT]
    return values | answers_of(model, X)


def answers_of(model: Any, *given: Any) -> Values:
    """Checksums of what `predict` says, and `predict_proba`, where the model has it."""
    values = {"predict": checksum(model.predict(*given))}
    if hasattr(model, "predict_proba"):
        values["proba"] = checksum(model.predict_proba(*given))
    return values


def of_trees(trees: Iterable[Any]) -> list[str]:
    """The digests alone, of folds or bags."""
    return [tree.digest[:_SHORT] for tree in trees]


def scores(given: Any) -> list[float]:
    """Ten digits: some scores are numpy's sums."""
    return [float(f"{score:.10g}") for score in np.asarray(given).ravel()]


def written_as_json(records: dict[str, Values]) -> str:
    """A line for each, so that a change is a change of a line."""
    lines = (
        f"{json.dumps(name)}: {json.dumps(values, ensure_ascii=False)}" for name, values in records.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def differences(before: Values, now: Values) -> str:
    """One line for each value that is not the same; empty where all are."""
    plain = json.loads(json.dumps(now))
    return "\n".join(
        f"  {name}: {before.get(name, 'not there')!r} before, {plain.get(name, 'not there')!r} now"
        for name in {**before, **plain}
        if before.get(name) != plain.get(name) or (name in before) != (name in plain)
    )
