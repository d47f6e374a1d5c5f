"""The tree as a real scikit-learn estimator, for the tools that take nothing else (docs/exports.md).

scikit-learn rounds X to float32 before it asks a tree. Where x <= t, the rounded x is at most the rounded t;
so only rows whose value is rounded to the same number as t can go wrong, and a threshold on one or the other
side of that number decides for all of them. This is an export, never our predictor.
It imports scikit-learn, so nothing imports it before an export.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import sklearn
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from hornbeam.errors import ExportWarning, UsageError
from hornbeam.model.arrays import LEAF
from hornbeam.model.binary import LARGEST, BinaryTree, is_plain
from hornbeam.table import conform

if TYPE_CHECKING:
    from hornbeam.model.tree import Tree

Floats = npt.NDArray[np.float64]
Rounded = npt.NDArray[np.float32]

# What we fill in of a node, and what a test on a number leaves as it is in a tree of the library's own making
# (scikit-learn 1.10 added tests on categories).
FILLED = {"left_child", "right_child", "feature", "impurity", "n_node_samples", "weighted_n_node_samples"}
FILLED |= {"missing_go_to_left"}
UNTOUCHED = {"left_cat_bitset", "split_kind"}


def to_sklearn(tree: Tree, X: Any = None) -> Any:
    """See Tree.to_sklearn."""
    binary = tree.binary
    piped = not all(is_plain(attribute) for attribute in tree.schema.attributes)
    table = None if X is None else conform(X, tree.schema)
    if table is None:
        model = make_estimator(binary, [own_threshold(binary, place) for place in range(len(binary.nodes))])
        model.changed_rows_ = None
    else:
        rows, leaves = rounded(binary.matrix(table), piped), binary.place[tree.apply(table)]
        model = make_estimator(binary, best_thresholds(binary, rows, leaves, piped))
        model.changed_rows_ = count_changes(model, rows, leaves)
    warn_of_costs(tree)
    if not piped:
        if tree.schema.named:
            model.feature_names_in_ = np.array(tree.schema.names, dtype=object)
        return model
    return Pipeline([("columns", TreeColumns(tree)), ("tree", model)])


def rounded(matrix: Floats, piped: bool) -> Rounded:
    """What scikit-learn makes of the rows; the first step of a pipeline clips them before."""
    with np.errstate(over="ignore"):
        return (np.clip(matrix, -LARGEST, LARGEST) if piped else matrix).astype(np.float32)


def exact_bound(binary: BinaryTree, place: int) -> float | int | None:
    """The bound of a test on a number; None at leaves and for the columns of tests."""
    node = binary.nodes[place]
    if node.bound is None:
        return None
    attribute = binary.tree.schema.attributes[binary.tree.tests[node.source].attribute]
    return attribute.decode(int(node.bound)) if attribute.is_integer else node.bound


def own_threshold(binary: BinaryTree, place: int) -> float:
    """The largest double up to the bound: exact for every row of numbers that float32 has."""
    bound = exact_bound(binary, place)
    if bound is None:
        return -2.0 if binary.nodes[place].column < 0 else 0.5  # -2 is how scikit-learn marks a leaf
    nearest = float(bound)
    return nearest if nearest <= bound else float(np.nextafter(nearest, -np.inf))


def best_thresholds(
    binary: BinaryTree, rows: Rounded, leaves: npt.NDArray[np.int64], piped: bool
) -> list[float]:
    """Our thresholds, each moved across the number it is rounded to where fewer rows go astray that way.

    Below a node lie the nodes from its own place up to an end, those of the left branch first, so that rows
    in the order of their leaves stand together at every node.
    """
    thresholds = [own_threshold(binary, place) for place in range(len(binary.nodes))]
    order = np.argsort(leaves, kind="stable")
    start = np.searchsorted(leaves[order], np.arange(len(binary.nodes) + 1))
    for place, end in enumerate(binary.ends):
        bound = exact_bound(binary, place)
        if bound is None:
            continue
        node = binary.nodes[place]
        cell = rounded(np.array([float(bound)]), piped)[0]
        first, middle, last = start[place], start[node.right], start[end]
        same = rows[order[first:last], node.column] == cell
        left, right = np.count_nonzero(same[: middle - first]), np.count_nonzero(same[middle - first :])
        if left > right and thresholds[place] < cell:
            thresholds[place] = float(cell)
        elif right > left and thresholds[place] >= cell:
            thresholds[place] = float(np.nextafter(cell, np.float32(-np.inf)))
    return thresholds


def count_changes(model: Any, rows: Rounded, leaves: npt.NDArray[np.int64]) -> int:
    """How many rows end in another leaf, or are refused as infinite; a warning says so."""
    refused = np.isinf(rows).any(axis=1)
    changed = int(np.count_nonzero(model.tree_.apply(rows[~refused]) != leaves[~refused]))
    lost = int(np.count_nonzero(refused))
    if changed or lost:
        counts = [f"{changed} of {len(rows)} rows change leaf"] if changed else []
        counts += [f"{lost} of {len(rows)} rows, infinite or beyond float32, are refused"] if lost else []
        warnings.warn(
            f"to_sklearn: {' and '.join(counts)}, because scikit-learn rounds X to float32; "
            "predict with the Hornbeam model where that matters",
            ExportWarning,
            stacklevel=4,
        )
    return changed + lost


def warn_of_costs(tree: Tree) -> None:
    """Warn of leaves that predict another class than their most frequent one, as they do where classes cost
    differently: leaves of scikit-learn cannot."""
    if tree.classes is None:
        return
    leaves = np.flatnonzero(tree.arrays["kind"] == LEAF)
    other = np.count_nonzero(np.argmax(tree.probabilities(leaves), axis=1) != tree.leaf_class[leaves])
    if other:
        warnings.warn(
            f"to_sklearn: {other} of {len(leaves)} leaves predict a class that is not their most frequent, "
            "which scikit-learn's trees cannot; predict_proba is the same",
            ExportWarning,
            stacklevel=4,
        )


class TreeColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Floats and integers as they are, and a column of 1, 0 and NaN for every other test of a tree.

    It takes what Hornbeam's estimators take, and has nothing to learn. Infinities, which scikit-learn's trees
    refuse, become the largest numbers that they know.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def fit(self, X: Any = None, y: Any = None) -> TreeColumns:
        """Do nothing: there is nothing to learn."""
        return self

    def transform(self, X: Any) -> npt.NDArray[np.float64]:
        """A matrix with a column for each of `get_feature_names_out`."""
        table = conform(X, self.tree.schema, estimator=type(self).__name__)
        return np.clip(self.tree.binary.matrix(table), -LARGEST, LARGEST)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of attributes, and the texts of tests."""
        return np.array([column.name for column in self.tree.binary.columns], dtype=object)

    @property
    def n_features_in_(self) -> int:
        return len(self.tree.schema)

    def __sklearn_is_fitted__(self) -> bool:
        return True


# the estimator


def make_estimator(binary: BinaryTree, thresholds: list[float]) -> Any:
    """A fitted DecisionTreeClassifier or DecisionTreeRegressor.

    A tree of two leaves, fitted by the library itself, shows how it keeps trees; ours is built after it.
    """
    tree, n_columns = binary.tree, len(binary.columns)
    criterion, impurities, values = statistics(binary)
    kind = DecisionTreeClassifier if tree.classes is not None else DecisionTreeRegressor
    model = kind(criterion=criterion).fit([[0.0], [1.0]], [0, 1])
    specimen, arguments, state = model.tree_.__reduce__()
    sizes = np.array([max(1, tree.n_classes)] * values.shape[1], dtype=np.intp)
    state |= {"max_depth": binary.depth, "node_count": len(binary.nodes), "values": values}
    state["nodes"] = make_nodes(binary, thresholds, impurities, state["nodes"])
    model.tree_ = specimen(*tree_arguments(arguments, n_columns, sizes))
    model.tree_.__setstate__(state)
    model.n_features_in_ = model.max_features_ = n_columns
    model.n_outputs_ = values.shape[1]
    if tree.classes is not None:
        model.classes_, model.n_classes_ = np.array(list(tree.classes)), np.int64(tree.n_classes)
    return model


def tree_arguments(known: tuple[Any, ...], n_columns: int, sizes: npt.NDArray[np.intp]) -> tuple[Any, ...]:
    """What scikit-learn's tree is made with: columns, classes of each output, outputs, and categories."""
    made: tuple[Any, ...] = (n_columns, sizes, len(sizes))
    if len(known) == 4 and np.shape(known[3]) == (1,):
        return (*made, np.full(n_columns, known[3][0], dtype=np.asarray(known[3]).dtype))
    if len(known) != 3:
        raise unknown_layout(f"its trees are made of {len(known)} arguments")
    return made


def make_nodes(
    binary: BinaryTree, thresholds: list[float], impurities: Floats, specimen: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """The nodes as scikit-learn's own array; what a test on a number does not use is as in the specimen."""
    names = set(specimen.dtype.names or ())
    fields = [name for name in ("threshold", "split_value") if name in names]
    if not names >= FILLED or len(fields) != 1 or names - FILLED - UNTOUCHED - set(fields):
        raise unknown_layout(f"a node has the fields {', '.join(sorted(names))}")
    inner = np.array([node.column >= 0 for node in binary.nodes])
    nodes = specimen[np.where(inner, 0, 1)]
    bounds = nodes[fields[0]]
    if fields[0] == "split_value":
        if "threshold" not in (bounds.dtype.names or ()):
            raise unknown_layout("the value of a split has no threshold")
        bounds = bounds["threshold"]
    bounds[:] = thresholds
    members, leaf = binary.nodes, -2
    nodes["left_child"] = [node.left for node in members]
    nodes["right_child"] = [node.right for node in members]
    nodes["feature"] = [node.column if node.column >= 0 else leaf for node in members]
    nodes["missing_go_to_left"] = [node.missing_left for node in members]
    nodes["impurity"] = impurities
    nodes["n_node_samples"] = gathered(binary, binary.tree.arrays["rows"])
    nodes["weighted_n_node_samples"] = gathered(binary, binary.tree.arrays["weight"])
    return nodes


def unknown_layout(why: str) -> UsageError:
    return UsageError(
        f"scikit-learn {sklearn.__version__} keeps trees in a way that this Hornbeam does not know ({why}); "
        "upgrade Hornbeam, or use scikit-learn 1.8 to 1.10"
    )


# what the nodes hold


def gathered(binary: BinaryTree, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Values that add up, for the nodes of ours; a part of a chain has the sum of its branches."""
    found = values[[node.source for node in binary.nodes]]
    for place in binary.parts[::-1]:
        node = binary.nodes[place]
        found[place] = found[node.left] + found[node.right]
    return found


def averaged(binary: BinaryTree, values: Floats) -> Floats:
    """Values [node, column], for the nodes of ours; a part of a chain has the mean of its branches."""
    found = values[[node.source for node in binary.nodes]]
    if binary.parts:
        weight = binary.tree.arrays["weight"]
        sums, weights = gathered(binary, values * weight[:, None]), gathered(binary, weight)
        found[binary.parts] = sums[binary.parts] / weights[binary.parts, None]
    return found


def statistics(binary: BinaryTree) -> tuple[str, Floats, Floats]:
    """Criterion, impurity of each node, and the values [node, output, class]."""
    return class_statistics(binary) if binary.tree.classes is not None else mean_statistics(binary)


def class_statistics(binary: BinaryTree) -> tuple[str, Floats, Floats]:
    """The criterion is the one that gives the impurities of the tree; gini if none does."""
    tree = binary.tree
    own, grown = tree.probabilities(range(tree.n_nodes)), tree.arrays["impurity"]
    shares = averaged(binary, own)
    for name, measure in (("gini", gini), ("entropy", entropy)):
        if np.allclose(measure(own), grown, rtol=1e-6, atol=1e-9):
            return name, measure(shares), shares[:, None, :]
    return "gini", gini(shares), shares[:, None, :]


def gini(shares: Floats) -> Floats:
    found: Floats = np.maximum(1.0 - np.sum(shares * shares, axis=1), 0.0)
    return found


def entropy(shares: Floats) -> Floats:
    found: Floats = np.abs(np.sum(shares * np.log2(np.where(shares > 0, shares, 1.0)), axis=1))
    return found


def mean_statistics(binary: BinaryTree) -> tuple[str, Floats, Floats]:
    """The impurity is scikit-learn's, the variance averaged over targets; ours is their sum."""
    tree = binary.tree
    own = tree.arrays["impurity"]
    # Around the root's mean, or squares would swallow the variance.
    offset = tree.means - tree.means[0]
    moment = averaged(binary, (own + np.sum(offset**2, axis=1))[:, None])[:, 0]
    impurities = own[[node.source for node in binary.nodes]]
    parts = binary.parts
    spread = moment - np.sum(averaged(binary, offset) ** 2, axis=1)
    impurities[parts] = np.maximum(spread[parts], 0.0)
    return "squared_error", impurities / tree.n_targets, averaged(binary, tree.means)[:, :, None]
