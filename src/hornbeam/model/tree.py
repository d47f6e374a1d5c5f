"""The tree: flat read-only arrays, the schema of what it asks, and everything that is read off them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np
import numpy.typing as npt

from hornbeam import _core, arguments
from hornbeam.drawing import draw_tree, write_dot
from hornbeam.errors import DataError
from hornbeam.model import canonical, json_form, routing, rules, sql, text
from hornbeam.model.arrays import KIND_NAMES, LEAF, Array, frozen, frozen_copy, rows_of
from hornbeam.model.binary import BinaryTree
from hornbeam.model.competitors import Competitor, Competitors
from hornbeam.model.costs import Costs, sums_in_order
from hornbeam.model.labels import Label, checked_classes, checked_targets, plain_labels
from hornbeam.model.picture import depth_to_draw, picture_of
from hornbeam.model.walk import BriefPaths, Tests
from hornbeam.table import Schema, Table

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class Tree:
    """One decision tree. Node 0 is the root; the children of a node are consecutive nodes after it.

    `Tree(schema, arrays, classes=...)` takes arrays from anywhere, copies them and refuses in one line what
    is no valid tree; `Tree.trusted` wraps what the core has just grown, without a copy. Classification gives
    `classes`, the labels in order; regression gives `targets`, the names of the targets. `costs` is there
    where classes weigh or mistakes cost differently: a leaf then predicts by them. `competitors` are the
    arrays of hornbeam.model.competitors, where they were kept.
    """

    schema: Schema
    classes: tuple[Label, ...] | None
    targets: tuple[str, ...] | None
    costs: Costs | None
    kept_competitors: Competitors | None

    def __init__(
        self,
        schema: Schema,
        arrays: Mapping[str, Any],
        *,
        classes: Sequence[Label] | None = None,
        targets: Sequence[str] | None = None,
        costs: Costs | None = None,
        competitors: Mapping[str, Any] | None = None,
    ) -> None:
        self._set(
            frozen_copy(arrays),
            schema=schema,
            classes=checked_classes(classes),
            targets=checked_targets(targets),
            costs=costs,
        )
        if costs is not None:
            Costs.checked(costs.weights, costs.matrix, self.n_classes)
        if (self.classes is None) == (self.targets is None):
            raise DataError("tree: give either classes (classification) or targets (regression)")
        try:
            _core.verify_tree(self.native(), routing.attribute_kinds(schema), routing.n_categories(schema))
        except ValueError as error:
            raise DataError(f"the tree is not valid: {error}") from None
        if competitors is not None:
            checked = Competitors.checked(schema, competitors, self.arrays["kind"])
            self.__dict__["kept_competitors"] = checked

    @classmethod
    def trusted(
        cls,
        schema: Schema,
        arrays: Mapping[str, Any],
        *,
        classes: Sequence[Label] | None = None,
        targets: Sequence[str] | None = None,
        costs: Costs | None = None,
        competitors: Mapping[str, Any] | None = None,
    ) -> Tree:
        """A tree that the core has grown: neither verified nor copied."""
        tree = cls.__new__(cls)
        names = None if targets is None else tuple(targets)
        labels = None if classes is None else plain_labels(classes)
        tree._set(frozen(arrays), schema=schema, classes=labels, targets=names, costs=costs)
        if competitors is not None:
            tree.__dict__["kept_competitors"] = Competitors(schema, competitors)
        return tree

    def _set(self, arrays: dict[str, Array], **fields: Any) -> None:
        self.__dict__.update(fields, arrays=MappingProxyType(arrays), kept_competitors=None)

    arrays: Mapping[str, Array]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Tree cannot be changed; {name!r} was to be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Tree cannot be changed; {name!r} was to be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        kept = self.kept_competitors
        restored = partial(
            Tree.trusted,
            self.schema,
            dict(self.arrays),
            classes=self.classes,
            targets=self.targets,
            costs=self.costs,
            competitors=None if kept is None else dict(kept.arrays),
        )
        return restored, ()

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
        """How many classes there are; 0 for regression."""
        return 0 if self.classes is None else len(self.classes)

    @property
    def n_targets(self) -> int:
        """How many targets there are; 0 for classification."""
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
    def attributes_asked(self) -> frozenset[int]:
        """The positions of the attributes that some test asks for."""
        return frozenset(self.arrays["attribute"][self.arrays["kind"] != LEAF].tolist())

    def _there(self, node: Any) -> int:
        """A node of this tree."""
        n = len(self.arrays["kind"])
        if type(node) is int and 0 <= node < n:
            return node
        return arguments.place("node", node, n, "and 0 is the root")

    def is_leaf(self, node: int) -> bool:
        return bool(self.arrays["kind"][self._there(node)] == LEAF)

    def children(self, node: int) -> range:
        node = self._there(node)
        first = int(self.arrays["first_child"][node])
        return range(first, first + int(self.arrays["n_children"][node]))

    # what the nodes say

    @cached_property
    def tests(self) -> Tests:
        """`tests[node]`: what an inner node asks, in codes."""
        return Tests(self)

    @cached_property
    def _paths(self) -> BriefPaths:
        return BriefPaths(self)

    def branch_codes(self, node: int, child: int) -> npt.NDArray[np.int32]:
        """The codes of the categories that a nominal test sends to one of its children (0-based)."""
        return self._paths.branch_codes(self._there(node), self._there(child))

    def counts(self, node: int) -> npt.NDArray[np.float64]:
        """The weight of each class at a node, in class order."""
        node = self._there(node)
        begin, end = self.arrays["count_start"][node : node + 2]
        dense = np.zeros(self.n_classes)
        dense[self.arrays["count_class"][begin:end]] = self.arrays["count"][begin:end]
        return dense

    def present(self, node: int) -> list[tuple[int, float]]:
        """(class code, weight) of each class that the node has, in class order."""
        node = self._there(node)
        begin, end = self.arrays["count_start"][node : node + 2]
        codes, counts = self.arrays["count_class"][begin:end], self.arrays["count"][begin:end]
        return [pair for pair in zip(codes.tolist(), counts.tolist(), strict=True) if pair[1]]

    @cached_property
    def leaf_class(self) -> npt.NDArray[np.int32]:
        """The class code each node predicts: the largest count, or the least cost; among equals the first."""
        start, count = self.arrays["count_start"], self._weighted
        if self.costs is not None and self.costs.matrix is not None:
            return self.costs.predicted(start, self.arrays["count_class"], self.arrays["count"])
        return _core.heaviest_classes(start, self.arrays["count_class"], count)

    def probabilities(self, nodes: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Class shares of the given nodes, a row for each."""
        at = arguments.places("nodes", nodes, self.n_nodes)
        owner, codes, share = self._shares_at(at)
        shares = np.zeros((len(at), self.n_classes))
        shares[owner, codes] = share
        return shares

    def present_shares(self, nodes: Array) -> tuple[Array, Array, npt.NDArray[np.float64]]:
        """The shares of the classes that some nodes have: (place in `nodes`, class code, share) of each."""
        return self._shares_at(arguments.places("nodes", nodes, self.n_nodes))

    def _shares_at(self, nodes: Array) -> tuple[Array, Array, npt.NDArray[np.float64]]:
        owner, position = rows_of(self.arrays["count_start"], nodes)
        return owner, self.arrays["count_class"][position], self._share[position]

    @cached_property
    def _weighted(self) -> Array:
        """The counts, times the weights of their classes."""
        if self.costs is None:
            return self.arrays["count"]
        weighted: Array = np.array(self.costs.weights)[self.arrays["count_class"]] * self.arrays["count"]
        return weighted

    @cached_property
    def _share(self) -> npt.NDArray[np.float64]:
        start = self.arrays["count_start"]
        shares: npt.NDArray[np.float64] = self._weighted / np.repeat(
            sums_in_order(start, self._weighted), np.diff(start)
        )
        return shares

    @cached_property
    def masses(self) -> npt.NDArray[np.float64]:
        """The weight of each node as the criterion saw it: class weights and costs included."""
        if self.costs is None:
            return self.arrays["weight"]
        factors = self.costs.factors(self.counts(0) > 0)
        if (factors == 1.0).all():
            return self.arrays["weight"]
        start, codes, counts = (self.arrays[name] for name in ("count_start", "count_class", "count"))
        return _core.masses(start, codes, counts, factors)

    @cached_property
    def means(self) -> npt.NDArray[np.float64]:
        """The mean of each target at each node: [n_nodes, n_targets]."""
        return self.arrays["mean"].reshape(self.n_nodes, self.n_targets)

    @cached_property
    def feature_importances(self) -> npt.NDArray[np.float64]:
        """Impurity decrease by each attribute, weighted by the share of examples, adding up to 1."""
        inner = np.flatnonzero(self.arrays["kind"] != LEAF)
        decrease = self.masses[inner] / self.masses[0] * self.arrays["gain"][inner]
        total = np.bincount(
            self.arrays["attribute"][inner], weights=decrease, minlength=len(self.schema.attributes)
        ).astype(np.float64)
        return total / total.sum() if total.sum() > 0 else total

    @cached_property
    def binary(self) -> BinaryTree:
        """The tree over numbers alone, with two branches a node."""
        return BinaryTree(self)

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
        return text.test_text(self, self._there(node), text.style_of("test_text", style))

    def branch_text(self, node: int, child: int, **style: Any) -> str:
        """The condition of one branch (0-based) of a node: `petal_length > 2.45`."""
        shown = text.style_of("branch_text", style)
        return text.branch_text(self, self._there(node), self._there(child), shown)

    def competitors(self, node: int) -> tuple[Competitor, ...]:
        """The best tests of other attributes at a node, best first; none at a leaf, or if none were kept."""
        kept = self.kept_competitors
        return () if kept is None else tuple(self._competitor(kept, i) for i in kept.of(self._there(node)))

    def _competitor(self, kept: Competitors, i: int) -> Competitor:
        attribute = self.schema.attributes[kept.arrays["attribute"][i]]
        begin, end = kept.arrays["branch_start"][i : i + 2]
        codes, children = kept.arrays["branch_code"][begin:end], kept.arrays["branch_child"][begin:end]
        return Competitor(
            text=text.test_text(kept, i, text.Style()),
            attribute=attribute.name,
            kind=KIND_NAMES[kept.arrays["kind"][i]],
            threshold=json_form.threshold(kept, i),
            branches=tuple(zip((attribute.labels[c] for c in codes), children.tolist(), strict=True)),
            default_child=int(kept.arrays["default_child"][i]),
            quality=float(kept.arrays["quality"][i]),
            gain=float(kept.arrays["gain"][i]),
        )

    def to_text(self, max_depth: int | None = None, **style: Any) -> str:
        """The tree as indented lines, one a node. Options: see hornbeam.model.text.Style."""
        most = arguments.whole_or_none("max_depth", max_depth)
        return text.to_text(self, most, text.style_of("to_text", style))

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

    def to_svg(
        self,
        max_depth: int | Literal["auto"] | None = "auto",
        *,
        title: str = "Decision tree",
        missing: bool = False,
    ) -> str:
        """The tree as a picture: each box asks or answers, its bar shows how the rows divide or spread.

        Below `max_depth` subtrees are counted instead of drawn; "auto" draws small trees whole and others
        down to depth 4, None draws everything. With `missing` branches say where missing values go.
        """
        auto = isinstance(max_depth, str) and max_depth == "auto"
        depth = depth_to_draw(self) if auto else arguments.whole_or_none("max_depth", max_depth)
        arguments.text("title", title)
        arguments.flag("missing", missing)
        return draw_tree(picture_of(self, missing=missing), depth, title=title) + "\n"

    def to_dot(self, max_depth: int | None = None, *, missing: bool = False) -> str:
        """The tree in Graphviz's language; options as of `to_svg`, but everything is drawn by itself."""
        arguments.flag("missing", missing)
        return write_dot(picture_of(self, missing=missing), arguments.whole_or_none("max_depth", max_depth))

    def rules(self) -> rules.Rules:
        """A rule for each leaf, its conditions merged by attribute; print it, or see hornbeam.model.rules."""
        return rules.rules_of(self)

    def to_sql(
        self,
        dialect: str = "duckdb",
        output: str = "prediction",
        *,
        of: Label | None = None,
        table: str | Sequence[str] | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> str:
        """The tree as an SQL expression that gives what predict gives (docs/exports.md).

        `dialect` is "duckdb", "postgresql" or "sqlite"; `output` is "prediction", "probability" (of the class
        `of`), "leaf" or "all". With `table`, a name or the parts of a qualified one, the result is a whole
        query, as it always is for "all". `columns` names the table's columns where they are not called like
        the attributes. Several targets: `of` names one.
        """
        return sql.to_sql(self, dialect, output, of, table, columns)

    def to_sklearn(self, X: Any = None) -> Any:
        """A fitted scikit-learn estimator with the same tree, for plot_tree, shap, skl2onnx and their like.

        A DecisionTreeClassifier or DecisionTreeRegressor where all attributes are floats or integers; else
        a Pipeline whose first step turns the other tests into columns. scikit-learn rounds X to float32:
        give the training rows, or others like those to come, and thresholds are chosen such that few of
        them change leaf; those that do are counted (`changed_rows_` of the tree), with an ExportWarning.
        """
        from hornbeam.model.sklearn_form import to_sklearn  # scikit-learn takes its time to import

        return to_sklearn(self, X)


def narrowed(tree: Tree, kept: npt.NDArray[np.int64]) -> Tree:
    """The tree with only the classes of the given codes, ascending; no node may have rows of another."""
    if tree.classes is None or len(kept) == len(tree.classes):
        return tree
    place = np.full(len(tree.classes), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    codes = place[tree.arrays["count_class"]]
    if (codes < 0).any():
        raise DataError("a class that a tree has rows of cannot be taken out of it; keep it")
    costs = tree.costs
    if costs is not None:
        matrix = costs.matrix
        if matrix is not None:
            matrix = tuple(tuple(matrix[i][j] for j in kept) for i in kept)
        costs = Costs(tuple(costs.weights[i] for i in kept), matrix)
    competitors = None if tree.kept_competitors is None else tree.kept_competitors.arrays
    return Tree.trusted(
        tree.schema,
        {**tree.arrays, "count_class": codes},
        classes=[tree.classes[i] for i in kept],
        costs=costs,
        competitors=competitors,
    )
