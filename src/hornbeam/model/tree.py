"""The tree: flat read-only arrays, the schema of what it asks, and everything that is read off them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.errors import DataError
from hornbeam.model import canonical, json_form, present, routing, text
from hornbeam.model.arrays import LEAF, Array, frozen, frozen_copy, rows_of
from hornbeam.model.labels import Label, checked_classes, checked_targets, plain_labels
from hornbeam.table import Schema, Table

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class Tree:
    """One decision tree. Node 0 is the root; the children of a node are consecutive nodes after it.

    `Tree(schema, arrays, classes=...)` takes arrays from anywhere, copies them and refuses in one line what
    is no valid tree; `Tree.trusted` wraps what the core has just grown, without a copy. Classification gives
    `classes`, the labels in order; regression gives `targets`, the names of the targets.
    """

    schema: Schema
    classes: tuple[Label, ...] | None
    targets: tuple[str, ...] | None

    def __init__(
        self,
        schema: Schema,
        arrays: Mapping[str, Any],
        *,
        classes: Sequence[Label] | None = None,
        targets: Sequence[str] | None = None,
    ) -> None:
        self._set(schema, frozen_copy(arrays), checked_classes(classes), checked_targets(targets))
        if (self.classes is None) == (self.targets is None):
            raise DataError("tree: give either classes (classification) or targets (regression)")
        try:
            _core.verify_tree(self.native(), routing.attribute_kinds(schema), routing.n_categories(schema))
        except ValueError as error:
            raise DataError(f"the tree is not valid: {error}") from None

    @classmethod
    def trusted(
        cls,
        schema: Schema,
        arrays: Mapping[str, Any],
        *,
        classes: Sequence[Label] | None = None,
        targets: Sequence[str] | None = None,
    ) -> Tree:
        """A tree that the core has grown: neither verified nor copied."""
        tree = cls.__new__(cls)
        names = None if targets is None else tuple(targets)
        tree._set(schema, frozen(arrays), None if classes is None else plain_labels(classes), names)
        return tree

    def _set(
        self,
        schema: Schema,
        arrays: dict[str, Array],
        classes: tuple[Label, ...] | None,
        targets: tuple[str, ...] | None,
    ) -> None:
        self.__dict__.update(schema=schema, classes=classes, targets=targets, arrays=MappingProxyType(arrays))

    arrays: Mapping[str, Array]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Tree cannot be changed; {name!r} was to be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Tree cannot be changed; {name!r} was to be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.schema, dict(self.arrays), self.classes, self.targets)

    def __copy__(self) -> Tree:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tree:
        return self

    def __eq__(self, other: object) -> bool:
        """Equal in the sense of the digest: the same tests, children and counts."""
        return self.digest == other.digest if isinstance(other, Tree) else NotImplemented

    def __hash__(self) -> int:
        return int(self.digest[:15], 16)

    def __repr__(self) -> str:
        of = f"{self.n_classes} classes" if self.n_classes else f"{self.n_targets} targets"
        return f"<Tree: {self.n_nodes} nodes, {self.n_leaves} leaves, depth {self.depth}, {of}>"

    # sizes

    @property
    def n_nodes(self) -> int:
        return len(self.arrays["kind"])

    @cached_property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.arrays["kind"] == LEAF))

    @property
    def n_classes(self) -> int:
        """0 for regression."""
        return 0 if self.classes is None else len(self.classes)

    @property
    def n_targets(self) -> int:
        """0 for classification."""
        return 0 if self.targets is None else len(self.targets)

    @cached_property
    def depth(self) -> int:
        """Tests on the longest path; 0 for a single leaf."""
        return int(self.node_depths.max())

    @cached_property
    def node_depths(self) -> npt.NDArray[np.int32]:
        first, n = self.arrays["first_child"].tolist(), self.arrays["n_children"].tolist()
        depths = [0] * self.n_nodes
        for node, count in enumerate(n):
            for child in range(first[node], first[node] + count):
                depths[child] = depths[node] + 1
        return np.array(depths, dtype=np.int32)

    @cached_property
    def parents(self) -> npt.NDArray[np.int32]:
        """The parent of each node; -1 for the root."""
        inner = np.flatnonzero(self.arrays["n_children"])
        first, n = self.arrays["first_child"][inner], self.arrays["n_children"][inner]
        parents = np.full(self.n_nodes, -1, dtype=np.int32)
        within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
        parents[np.repeat(first, n) + within] = np.repeat(inner, n)
        return parents

    @cached_property
    def brief_nodes(self) -> frozenset[int]:
        """Nominal tests whose branches are stored in brief."""
        return frozenset(present.brief_nodes(self).tolist())

    def is_leaf(self, node: int) -> bool:
        return bool(self.arrays["kind"][node] == LEAF)

    def children(self, node: int) -> range:
        first = int(self.arrays["first_child"][node])
        return range(first, first + int(self.arrays["n_children"][node]))

    # what the nodes say

    def branch_codes(self, node: int, child: int) -> npt.NDArray[np.int32]:
        """The codes of the categories that a nominal test sends to one of its children (0-based)."""
        return present.branch_codes(self, node, child)

    def counts(self, node: int) -> npt.NDArray[np.float64]:
        """The weight of each class at a node, in class order."""
        begin, end = self.arrays["count_start"][node : node + 2]
        dense = np.zeros(self.n_classes)
        dense[self.arrays["count_class"][begin:end]] = self.arrays["count"][begin:end]
        return dense

    @cached_property
    def leaf_class(self) -> npt.NDArray[np.int32]:
        """The class code each node predicts: the largest count, among equals the first class."""
        start, count = self.arrays["count_start"], self.arrays["count"]
        largest = np.maximum.reduceat(count, start[:-1])
        hits = np.flatnonzero(count == np.repeat(largest, np.diff(start)))
        first = hits[np.searchsorted(hits, start[:-1])]
        codes: npt.NDArray[np.int32] = self.arrays["count_class"][first]
        codes.setflags(write=False)
        return codes

    def probabilities(self, nodes: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Class shares of the given nodes, a row for each."""
        at = np.asarray(nodes, dtype=np.int64)
        owner, position = rows_of(self.arrays["count_start"], at)
        shares = np.zeros((len(at), self.n_classes))
        shares[owner, self.arrays["count_class"][position]] = self._share[position]
        return shares

    @cached_property
    def _share(self) -> npt.NDArray[np.float64]:
        start, count = self.arrays["count_start"], self.arrays["count"]
        total = np.add.reduceat(count, start[:-1])
        shares: npt.NDArray[np.float64] = count / np.repeat(total, np.diff(start))
        return shares

    @cached_property
    def means(self) -> npt.NDArray[np.float64]:
        """The mean of each target at each node: [n_nodes, n_targets]."""
        return self.arrays["mean"].reshape(self.n_nodes, self.n_targets)

    @cached_property
    def feature_importances(self) -> npt.NDArray[np.float64]:
        """Impurity decrease by each attribute, weighted by the share of examples, adding up to 1."""
        inner = np.flatnonzero(self.arrays["kind"] != LEAF)
        decrease = self.arrays["weight"][inner] / self.arrays["weight"][0] * self.arrays["gain"][inner]
        total = np.bincount(
            self.arrays["attribute"][inner], weights=decrease, minlength=len(self.schema.attributes)
        ).astype(np.float64)
        return total / total.sum() if total.sum() > 0 else total

    # routing

    def native(self) -> dict[str, Any]:
        """The arrays as the core takes them."""
        return {**self.arrays, "n_classes": self.n_classes, "n_targets": self.n_targets}

    @cached_property
    def router(self) -> _core.Router:
        return routing.make_router(self)

    def apply(self, table: Table, threads: int = 1) -> npt.NDArray[np.int32]:
        """The leaf of each row. The table must conform to the tree's schema (hornbeam.table.conform)."""
        return routing.leaves(self, table, threads)

    def decision_path(self, table: Table, threads: int = 1) -> csr_matrix:
        """A sparse matrix [n_rows, n_nodes] with a one for each node on the row's path."""
        return routing.decision_path(self, table, threads)

    def predict_codes(self, table: Table, threads: int = 1) -> npt.NDArray[np.int32]:
        """The class code of each row."""
        codes: npt.NDArray[np.int32] = self.leaf_class[self.apply(table, threads)]
        return codes

    def predict_shares(self, table: Table, threads: int = 1) -> npt.NDArray[np.float64]:
        """The class shares of each row's leaf."""
        return self.probabilities(self.apply(table, threads))

    def predict_means(self, table: Table, threads: int = 1) -> npt.NDArray[np.float64]:
        """The means of each row's leaf: [n_rows, n_targets]."""
        means: npt.NDArray[np.float64] = self.means[self.apply(table, threads)]
        return means

    # faces

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical form: equal for equal trees, whatever table or encoding they came from."""
        return canonical.digest(self)

    def test_text(self, node: int, **style: Any) -> str:
        """What a node asks, readable: `petal_length <= 2.45`; at a leaf the empty text."""
        return text.test_text(self, node, text.Style(**style))

    def branch_text(self, node: int, child: int, **style: Any) -> str:
        """The condition of one branch (0-based) of a node: `petal_length > 2.45`."""
        return text.branch_text(self, node, child, text.Style(**style))

    def to_text(self, max_depth: int | None = None, **style: Any) -> str:
        """The tree as indented lines, one a node. Options: see hornbeam.model.text.Style."""
        return text.to_text(self, max_depth, text.Style(**style))

    def to_json(self) -> str:
        """The whole tree as JSON, exact to the last bit (docs/model-file.md)."""
        return json_form.to_json(self)

    @classmethod
    def from_json(cls, source: str) -> Tree:
        """The tree that `to_json` wrote; anything else is refused with a DataError."""
        return json_form.from_json(source)

    def to_record(self) -> dict[str, Any]:
        """What `to_json` writes, as plain dicts, lists and numbers."""
        return json_form.to_record(self)

    @classmethod
    def from_record(cls, record: object) -> Tree:
        return json_form.from_record(record)


def _restore(
    schema: Schema,
    arrays: dict[str, Array],
    classes: tuple[Label, ...] | None,
    targets: tuple[str, ...] | None,
) -> Tree:
    return Tree.trusted(schema, arrays, classes=classes, targets=targets)
