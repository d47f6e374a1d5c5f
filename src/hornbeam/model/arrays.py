"""The flat arrays of a tree (core/tree/tree.hpp): their names and types, and how they are made immutable."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from hornbeam.errors import DataError

Array = npt.NDArray[Any]

_LARGEST: Final = sys.float_info.max

DTYPES: Final[dict[str, type[np.generic]]] = {
    "kind": np.uint8,
    "attribute": np.int32,
    "first_child": np.int32,
    "n_children": np.int32,
    "default_child": np.int32,
    "threshold": np.float64,
    "threshold_integer": np.int64,
    "rows": np.int64,
    "weight": np.float64,
    "impurity": np.float64,
    "gain": np.float64,
    "branch_start": np.int64,
    "branch_code": np.int32,
    "branch_child": np.int32,
    "count_start": np.int64,
    "count_class": np.int32,
    "count": np.float64,
    "mean": np.float64,
}

LEAF, NUMERIC, SUBSET, VALUE, MULTIWAY = range(5)
KIND_NAMES: Final = ("leaf", "numeric", "subset", "value", "multiway")


def is_finite(value: object) -> bool:
    """Whether a value of JSON is a number that a double can be; whole numbers there have any size."""
    return type(value) in (int, float) and -_LARGEST <= value <= _LARGEST  # type: ignore[operator]


def frozen_copy(arrays: Mapping[str, Any]) -> dict[str, Array]:
    """Read-only copies of foreign arrays: nobody else can reach what the tree holds."""
    unknown = sorted(set(arrays) - set(DTYPES) - {"n_classes", "n_targets"})
    if unknown:
        raise DataError(f"tree: unknown array {unknown[0]!r}; the arrays of a tree are {', '.join(DTYPES)}")
    result: dict[str, Array] = {}
    for name, dtype in DTYPES.items():
        if name not in arrays:
            raise DataError(f"tree: array {name!r} is absent")
        given = np.asarray(arrays[name])
        if given.ndim != 1 or given.dtype != dtype:
            raise DataError(
                f"tree: array {name!r} is {given.ndim}-dimensional {given.dtype}; "
                f"it must be one-dimensional {np.dtype(dtype)}"
            )
        result[name] = np.array(given, dtype=dtype, order="C")
        result[name].setflags(write=False)
    return result


def frozen(arrays: Mapping[str, Any]) -> dict[str, Array]:
    """The arrays of a trusted source, made read-only in place."""
    result: dict[str, Array] = {name: arrays[name] for name in DTYPES}
    for array in result.values():
        array.setflags(write=False)
    return result


def rows_of(start: Array, nodes: Array) -> tuple[Array, Array]:
    """The entries of some nodes in lists that are kept one after the other: for each entry the place of its
    node in `nodes`, and its own position."""
    lengths = start[nodes + 1] - start[nodes]
    owner = np.repeat(np.arange(len(nodes)), lengths)
    ends = np.cumsum(lengths)
    position = np.arange(len(owner)) + np.repeat(start[nodes] - (ends - lengths), lengths)
    return owner, position
