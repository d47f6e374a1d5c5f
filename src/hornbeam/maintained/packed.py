"""A tree as few bytes, as the file of a maintained tree keeps it: its arrays as they are, compressed.

As JSON a tree of a million nodes would be larger than the memory that the database has.
"""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pyarrow as pa

from hornbeam.errors import DataError
from hornbeam.model import Tree
from hornbeam.model.arrays import DTYPES
from hornbeam.model.costs import Costs
from hornbeam.table.schema import Schema

_LENGTH = struct.Struct("<Q")
_CODEC = "zstd"


def packed(tree: Tree) -> bytes:
    """All that `unpacked` needs; maintained trees have no competitors."""
    costs = tree.costs
    head = json.dumps(
        {
            "schema": tree.schema.to_json(),
            "classes": None if tree.classes is None else list(tree.classes),
            "targets": None if tree.targets is None else list(tree.targets),
            "costs": None if costs is None else [costs.weights, costs.matrix],
            "lengths": [len(tree.arrays[name]) for name in DTYPES],
        }
    ).encode()
    arrays = b"".join(_little(tree.arrays[name]).tobytes() for name in DTYPES)
    return b"".join([_LENGTH.pack(len(head)), head, pa.compress(arrays, codec=_CODEC, asbytes=True)])


def unpacked(data: bytes) -> Tree:
    """The tree that was packed, verified; DataError for anything else."""
    try:
        begin = _LENGTH.size + _LENGTH.unpack_from(data)[0]
        head = json.loads(data[_LENGTH.size : begin])
        arrays = _arrays(pa.py_buffer(memoryview(data)[begin:]), head["lengths"])
        classes, targets, costs = head["classes"], head["targets"], head["costs"]
        return Tree(
            Schema.from_json(head["schema"]),
            arrays,
            classes=classes,
            targets=targets,
            costs=None if costs is None else Costs.checked(costs[0], costs[1], len(classes or ())),
        )
    except (
        struct.error,
        pa.ArrowException,
        ArithmeticError,
        LookupError,
        OSError,
        TypeError,
        ValueError,
    ) as error:
        raise DataError(f"a tree in the file is damaged: {type(error).__name__}") from None


def _arrays(body: pa.Buffer, lengths: list[int]) -> dict[str, Any]:
    sizes = [np.dtype(dtype).itemsize * n for dtype, n in zip(DTYPES.values(), lengths, strict=True)]
    raw = pa.decompress(body, sum(sizes), codec=_CODEC, asbytes=True)
    found, begin = {}, 0
    for (name, dtype), n, size in zip(DTYPES.items(), lengths, sizes, strict=True):
        stored = np.frombuffer(raw, np.dtype(dtype).newbyteorder("<"), n, begin)
        found[name] = stored.astype(dtype, copy=False)
        begin += size
    return found


def _little(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return values.astype(values.dtype.newbyteorder("<"), copy=False)
