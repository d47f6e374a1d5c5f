"""The package seen from the laws: a case as a data frame, a fit, and the fitted tree in canonical form."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import reject

from tests.oracle.canonical import Form, canonical_form, label_value, number, threshold_value
from tests.oracle.grow import TreeNode
from tests.oracle.table import Classes, Column, Targets
from tests.strategies import Case

KINDS = ["leaf", "numeric", "subset", "value", "multiway"]


def is_built() -> bool:
    spec = importlib.util.find_spec("hornbeam")
    return spec is not None and importlib.util.find_spec("hornbeam.estimators") is not None


needs_package = pytest.mark.skipif(
    not is_built(), reason="hornbeam.estimators is not there: build the package"
)


def series(column: Column, face: str = "str") -> pd.Series[Any]:
    """A column as pandas has it. A category's order is turned round, for it must not matter."""
    values, gaps = column.values, [value is None for value in column.values]
    if column.kind == "float":
        return pd.Series([math.nan if v is None else float(v) for v in values], dtype="float64")
    if column.kind == "nominal" and face == "str":
        return pd.Series(list(values), dtype="str")
    if column.kind == "nominal":
        present = sorted({str(v) for v in values if v is not None}, reverse=True)
        return pd.Series(pd.Categorical(list(values), categories=[*present, "never"]))
    whole = [0 if v is None else int(v) for v in values]
    dtype = np.uint64 if max(whole) > 2**63 - 1 else np.int64
    if not any(gaps):
        return pd.Series(np.array(whole, dtype=dtype))
    return pd.Series(pd.arrays.IntegerArray(np.array(whole, dtype=dtype), np.array(gaps)))


def frame(columns: Sequence[Column], face: str = "str") -> pd.DataFrame:
    return pd.DataFrame({column.name: series(column, face) for column in columns})


def target_array(case: Case) -> np.ndarray[Any, Any]:
    if isinstance(case.target, Classes):
        return np.array(case.target.labels)
    rows = np.array(case.target.rows, dtype=np.float64)
    return rows[:, 0] if rows.shape[1] == 1 else rows


def may_be_refused(case: Case) -> bool:
    """One class only, or a table without a single known cell: the package may say no."""
    one_class = isinstance(case.target, Classes) and len(case.target.order) == 1
    return one_class or all(value is None for column in case.columns for value in column.values)


def fit(case: Case, X: Any = None, face: str = "str", **options: Any) -> Any:
    """The fitted estimator; options are further parameters."""
    import hornbeam

    estimator_class: Any = (
        hornbeam.TreeRegressor if isinstance(case.target, Targets) else hornbeam.TreeClassifier
    )
    estimator = estimator_class(**vars(case.parameters), **options)
    try:
        return estimator.fit(frame(case.columns, face) if X is None else X, target_array(case))
    except ValueError:
        if may_be_refused(case):
            reject()
        raise


def fields(tree: Any) -> SimpleNamespace:
    """A tree of the package as the record of arrays that the functions below read."""
    sizes = {"n_classes": tree.n_classes, "n_targets": tree.n_targets}
    return SimpleNamespace(**{**tree.arrays, **sizes}, schema=tree.schema, classes=tree.classes)


def preorder(tree: SimpleNamespace) -> list[int]:
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        first, many = int(tree.first_child[node]), int(tree.n_children[node])
        waiting.extend(reversed(range(first, first + many)))
    return order


def plain_label(label: Any) -> Any:
    return label_value(label.item() if isinstance(label, np.generic) else label)


def node_test(tree: SimpleNamespace, node: int) -> list[Any]:
    attribute = tree.schema.attributes[int(tree.attribute[node])]
    kind = KINDS[int(tree.kind[node])]
    if kind == "numeric" and attribute.type == "float64":
        return [kind, attribute.name, threshold_value(float(tree.threshold[node]))]
    if kind == "numeric":
        lowest = 2**63 if attribute.type == "uint64" else 0  # uint64 codes start at -2^63
        return [kind, attribute.name, int(tree.threshold_integer[node]) + lowest]
    pairs = [[attribute.labels[code], child] for code, child in node_branches(tree, node).items()]
    return [kind, attribute.name, sorted(pairs, key=lambda pair: str(pair[0]).encode())]


def node_branches(tree: SimpleNamespace, node: int) -> dict[int, int]:
    """The categories present and their children; a test may list only the exceptions among those that the
    nearest test of the attribute above sends to it: the others go to its default child."""
    span = range(int(tree.branch_start[node]), int(tree.branch_start[node + 1]))
    listed = {int(tree.branch_code[i]): int(tree.branch_child[i]) for i in span}
    default = int(tree.default_child[node])
    if KINDS[int(tree.kind[node])] == "multiway" or default in listed.values():
        return listed
    below = node
    while True:
        above = parent(tree, below)
        if int(tree.attribute[above]) == int(tree.attribute[node]):
            break
        below = above
    place = below - int(tree.first_child[above])
    sent = [code for code, child in node_branches(tree, above).items() if child == place]
    return {code: listed.get(code, default) for code in sent if listed.get(code) != -1}


def parent(tree: SimpleNamespace, node: int) -> int:
    first, many = np.asarray(tree.first_child), np.asarray(tree.n_children)
    return int(np.flatnonzero((many > 0) & (first <= node) & (node < first + many))[0])


def node_form(tree: SimpleNamespace, node: int) -> dict[str, Any]:
    result: dict[str, Any] = {}
    if int(tree.n_classes) > 0:
        span = range(int(tree.count_start[node]), int(tree.count_start[node + 1]))
        pairs = [(plain_label(tree.classes[int(tree.count_class[i])]), float(tree.count[i])) for i in span]
        result["counts"] = [[label, number(count)] for label, count in pairs if count != 0]
    else:
        width = int(tree.n_targets)
        means = np.asarray(tree.mean).reshape(-1)[node * width : (node + 1) * width]
        result["weight"] = number(float(tree.weight[node]))
        result["mean"] = [(float(mean) + 0.0).hex() for mean in means]
    if int(tree.kind[node]) != 0:
        result["test"] = node_test(tree, node)
        result["children"] = int(tree.n_children[node])
        result["default"] = int(tree.default_child[node])
    return result


def form_of(tree: SimpleNamespace) -> Form:
    """The canonical form, from the tree's arrays and not from its own digest."""
    return [node_form(tree, node) for node in preorder(tree)]


def numbers(tree: SimpleNamespace) -> list[tuple[int, float, float]]:
    """Rows, impurity and gain of each node in preorder: not in the digest, but fixed by the law."""
    return [(int(tree.rows[i]), float(tree.impurity[i]), float(tree.gain[i])) for i in preorder(tree)]


FormAndNumbers = tuple[Form, list[tuple[int, float, float]]]


def form_and_numbers(tree: SimpleNamespace) -> FormAndNumbers:
    return form_of(tree), numbers(tree)


def oracles_form_and_numbers(case: Case, nodes: Sequence[TreeNode]) -> FormAndNumbers:
    """The same of the nodes that the oracle grows."""
    form = canonical_form(nodes, case.columns, case.target)
    return form, [(node.stats.n, node.impurity, node.gain) for node in nodes]


def by_package(case: Case) -> Form:
    return form_of(fields(fit(case).tree_))
