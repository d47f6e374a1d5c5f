"""Competitors: the best tests of other attributes at each node of a tree, kept where they were asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from hornbeam.errors import DataError
from hornbeam.model.arrays import KIND_NAMES, LEAF, NUMERIC, Array, rows_of
from hornbeam.table import Schema

# Tests as in a tree; competitor i of all belongs to the node with start[node] <= i < start[node + 1].
DTYPES: Final[dict[str, type[np.generic]]] = {
    "start": np.int64,
    "kind": np.uint8,
    "attribute": np.int32,
    "default_child": np.int32,
    "threshold": np.float64,
    "threshold_integer": np.int64,
    "quality": np.float64,
    "gain": np.float64,
    "branch_start": np.int64,
    "branch_code": np.int32,
    "branch_child": np.int32,
}
PER_TEST: Final = tuple(name for name in DTYPES if not name.startswith(("start", "branch")))


@dataclass(frozen=True, slots=True)
class Competitor:
    """A test that a node might have asked instead of its own."""

    text: str
    attribute: str
    kind: str
    threshold: Any
    """The threshold of a numeric test; None for the others."""
    branches: tuple[tuple[str, int], ...]
    """Each category that is present at the node of a nominal test, and the child it goes to."""
    default_child: int
    quality: float
    gain: float


class Competitors:
    """The competitors of all nodes, as flat read-only arrays. They have no part in what the tree predicts."""

    def __init__(self, schema: Schema, arrays: Mapping[str, Array]) -> None:
        self.schema = schema
        self.arrays = MappingProxyType({name: arrays[name] for name in DTYPES})
        for array in self.arrays.values():
            array.setflags(write=False)

    @classmethod
    def checked(cls, schema: Schema, arrays: Mapping[str, Any], node_kinds: Array) -> Competitors:
        """Copies of arrays from anywhere; DataError in one line where they are not those of the tree."""
        if set(arrays) != set(DTYPES):
            raise DataError(f"tree: competitors are not exactly the arrays {', '.join(DTYPES)}")
        copies = {name: np.array(arrays[name], dtype=dtype) for name, dtype in DTYPES.items()}
        problem = _problem(schema, copies, node_kinds)
        if problem:
            raise DataError(f"the tree is not valid: competitors: {problem}")
        return cls(schema, copies)

    def of(self, node: int) -> range:
        """The places of a node's competitors, best first."""
        return range(int(self.arrays["start"][node]), int(self.arrays["start"][node + 1]))

    def branch_codes(self, number: int, child: int, /) -> Array:
        """The codes of the categories that a nominal test sends to one of its children."""
        begin, end = self.arrays["branch_start"][number : number + 2]
        sent = self.arrays["branch_child"][begin:end] == child
        codes: Array = self.arrays["branch_code"][begin:end][sent]
        return codes

    def take(self, nodes: Sequence[int]) -> Competitors:
        """The competitors of a tree whose nodes have the tests of these nodes; -1 for a leaf."""
        origin = np.asarray(nodes, dtype=np.int64)
        inner = np.flatnonzero(origin >= 0)
        owner, tests = rows_of(self.arrays["start"], origin[inner])
        _, branches = rows_of(self.arrays["branch_start"], tests)
        counts = np.bincount(inner[owner], minlength=len(origin))
        sizes = np.diff(self.arrays["branch_start"])[tests]
        taken = {name: self.arrays[name][tests] for name in PER_TEST}
        taken |= {name: self.arrays[name][branches] for name in ("branch_code", "branch_child")}
        taken |= {"start": _starts(counts), "branch_start": _starts(sizes)}
        return Competitors(self.schema, taken)


def _starts(sizes: Array) -> Array:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _problem(schema: Schema, arrays: Mapping[str, Array], node_kinds: Array) -> str | None:
    """What is wrong with the arrays, or None."""
    n, many = len(node_kinds), len(arrays["kind"])
    if any(len(arrays[name]) != many for name in PER_TEST):
        return "the lists differ in length"
    if not _is_partition(arrays["start"], n, many):
        return "'start' does not part them among the nodes"
    if not _is_partition(arrays["branch_start"], many, len(arrays["branch_code"])):
        return "'branch_start' does not part the branches among them"
    if len(arrays["branch_code"]) != len(arrays["branch_child"]):
        return "'branch_code' and 'branch_child' differ in length"
    if np.diff(arrays["start"])[node_kinds == LEAF].any():
        return "a leaf has one"
    if not np.isfinite(arrays["gain"]).all() or np.isnan(arrays["quality"]).any():
        return "a gain or quality is not a number"
    for i in range(many):
        if problem := _problem_of_test(schema, arrays, i):
            return f"number {i} {problem}"
    return None


def _is_partition(start: Array, parts: int, total: int) -> bool:
    # Neighbours are compared: a difference of theirs may be too large for its type, and wrap around.
    return bool(
        len(start) == parts + 1 and start[0] == 0 and start[-1] == total and (start[1:] >= start[:-1]).all()
    )


def _problem_of_test(schema: Schema, arrays: Mapping[str, Array], i: int) -> str | None:
    attribute, kind = int(arrays["attribute"][i]), int(arrays["kind"][i])
    if not 0 <= attribute < len(schema.attributes):
        return f"asks attribute {attribute} of {len(schema.attributes)}"
    if kind == LEAF or kind >= len(KIND_NAMES):
        return f"has the unknown kind {kind}"
    if (kind == NUMERIC) != (schema.attributes[attribute].kind == "numeric"):
        return "is a test of another kind of attribute"
    begin, end = arrays["branch_start"][i : i + 2]
    codes, children = arrays["branch_code"][begin:end], arrays["branch_child"][begin:end]
    if kind == NUMERIC:
        if len(codes) or np.isnan(arrays["threshold"][i]):
            return "is a numeric test with categories or without a threshold"
        n_children = 2
    else:
        labels = len(schema.attributes[attribute].labels)
        if len(codes) < 2 or codes[0] < 0 or codes[-1] >= labels or (codes[1:] <= codes[:-1]).any():
            return "has categories that are not ascending or not there"
        n_children = len(codes) if KIND_NAMES[kind] == "multiway" else 2
        if set(children.tolist()) != set(range(n_children)):
            return "has a branch to no child, or a child without a branch"
    if not 0 <= arrays["default_child"][i] < n_children:
        return "has a default branch that is not there"
    return None
