"""What a tree predicts, by name: class labels of one plain kind, or the names of its targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hornbeam.errors import DataError
from hornbeam.table.schema import is_unicode

Label = bool | int | float | str


def plain_labels(classes: Sequence[Any]) -> tuple[Label, ...]:
    """Labels as plain Python values: NumPy's scalars do not survive JSON."""
    return tuple(label.item() if isinstance(label, np.generic) else label for label in classes)


def checked_classes(classes: Sequence[Any] | None) -> tuple[Label, ...] | None:
    """Labels of one kind, each once, that a file and an array can hold; DataError for any other."""
    if classes is None:
        return None
    labels = plain_labels(classes)
    kinds = {type(label) for label in labels}
    if not labels or len(kinds) > 1 or not kinds <= {bool, int, float, str}:
        raise DataError(
            "tree: classes must be labels of one kind: all text, all integers, all floats or all booleans"
        )
    if kinds == {float} and not np.all(np.isfinite(np.array(labels))):
        raise DataError("tree: a class label is not finite")
    if kinds == {int} and not fits_64_bits(labels):
        raise DataError("tree: the class labels do not fit one type of 64-bit integers")
    if kinds == {str} and not is_unicode("".join(map(str, labels))):
        raise DataError("tree: a class label is not valid Unicode")
    if len(set(labels)) < len(labels):
        raise DataError("tree: a class label is there twice")
    return labels


def fits_64_bits(labels: Sequence[Any]) -> bool:
    """Whether one type, int64 or uint64, holds all labels."""
    low, high = min(labels), max(labels)
    return bool(low >= -(2**63) and high < (2**63 if low < 0 else 2**64))


def checked_targets(targets: Sequence[Any] | None) -> tuple[str, ...] | None:
    if targets is None:
        return None
    if isinstance(targets, str) or not targets or not all(isinstance(name, str) for name in targets):
        raise DataError("tree: targets must be the names of the targets, at least one")
    if not is_unicode("".join(targets)):
        raise DataError("tree: the name of a target is not valid Unicode")
    return tuple(targets)
