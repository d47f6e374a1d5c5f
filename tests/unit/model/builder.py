"""Valid random trees of every kind of test, tables to route through them, and a plain walk to compare."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from hornbeam.model import Tree
from hornbeam.model.arrays import DTYPES, LEAF, MULTIWAY, NUMERIC, SUBSET, VALUE
from hornbeam.table import Attribute, Column, Schema, Table

FLOATS = [-math.inf, -1e308, -2.5, -0.0, 0.0, 5e-324, 0.1, 1.0, 1.5, 3.0, 1e308]
INTEGERS = [-(2**63), -(2**53) - 1, -3, 0, 1, 7, 2**53 + 1, 2**63 - 1]


def mixed_schema(n_labels: int = 7) -> Schema:
    labels = tuple(sorted(f"label {i}" for i in range(n_labels)))
    return Schema(
        (
            Attribute("height", "numeric", "float64"),
            Attribute("visits", "numeric", "int64"),
            Attribute("colour", "nominal", "nominal", labels),
            Attribute("tokens", "numeric", "uint64"),
            Attribute("Größe\n<b>", "nominal", "nominal", ("a", "b", "ä", "日本")),
            Attribute("width", "numeric", "float64"),
        )
    )


def float_schema(n: int) -> Schema:
    return Schema(tuple(Attribute(f"x{i}", "numeric", "float64") for i in range(n)))


def random_tree(
    rng: np.random.Generator,
    schema: Schema,
    n_tests: int = 10,
    *,
    n_classes: int = 3,
    n_targets: int = 0,
    breadth_first: bool = True,
    weighted: bool = False,
    bounds: Sequence[Sequence[Any]] | None = None,
    nested: bool = False,
) -> Tree:
    """Splits leaf after leaf: the oldest one (breadth-first numbering) or any.

    Thresholds come from `bounds`, a choice for each attribute. nested: a test knows only categories that the
    nearest test of its attribute above sends to it.
    """
    nodes: list[dict[str, Any]] = [{}]
    open_leaves = deque([0])
    for _ in range(n_tests):
        if not breadth_first:
            open_leaves.rotate(int(rng.integers(len(open_leaves))))
        leaf = open_leaves.popleft()
        sent = nodes[leaf].get("sent", {})
        split(rng, schema, nodes[leaf], sent, bounds)
        nodes[leaf]["first_child"] = len(nodes)
        for place in range(nodes[leaf]["n_children"]):
            open_leaves.append(len(nodes))
            nodes.append({})
            if nested:
                here = [code for code, child in nodes[leaf].get("branches", ()) if child == place]
                nodes[-1]["sent"] = {**sent, nodes[leaf]["attribute"]: here}
    arrays = flatten(rng, nodes, n_classes, n_targets, weighted)
    if n_targets:
        return Tree(schema, arrays, targets=[f"target {i}" for i in range(n_targets)])
    return Tree(schema, arrays, classes=[f"class {i}" for i in range(n_classes)])


def split(
    rng: np.random.Generator,
    schema: Schema,
    node: dict[str, Any],
    sent: dict[int, list[int]],
    bounds: Sequence[Sequence[Any]] | None = None,
) -> None:
    a = int(rng.integers(len(schema.attributes)))
    while schema.attributes[a].kind == "nominal" and len(sent.get(a, (0, 1))) < 2:
        a = int(rng.integers(len(schema.attributes)))
    attribute = schema.attributes[a]
    node.update(attribute=a, gain=float(rng.random()), n_children=2)
    if attribute.kind == "numeric":
        choice: Sequence[Any] = INTEGERS if attribute.is_integer else FLOATS
        choice = bounds[a] if bounds is not None else choice
        node["kind"] = NUMERIC
        node["threshold_integer" if attribute.is_integer else "threshold"] = choice[
            int(rng.integers(len(choice)))
        ]
    else:
        allowed = sent.get(a, len(attribute.labels))
        n = int(rng.integers(2, min(len(sent.get(a, attribute.labels)), 6) + 1))
        codes = sorted(rng.choice(allowed, n, replace=False).tolist())
        node["kind"] = int(rng.choice([SUBSET, VALUE, MULTIWAY]))
        node["branches"] = list(zip(codes, branch_children(rng, node["kind"], n), strict=True))
        node["n_children"] = n if node["kind"] == MULTIWAY else 2
    node["default_child"] = int(rng.integers(node["n_children"]))


def branch_children(rng: np.random.Generator, kind: int, n: int) -> list[int]:
    if kind == MULTIWAY:
        return list(range(n))
    if kind == VALUE:
        chosen = int(rng.integers(n))
        return [0 if i == chosen else 1 for i in range(n)]
    return [0, *rng.integers(0, 2, n - 2).tolist(), 1]


def flatten(
    rng: np.random.Generator, nodes: list[dict[str, Any]], n_classes: int, n_targets: int, weighted: bool
) -> dict[str, Any]:
    totals = [np.zeros(n_classes) for _ in nodes]
    for i in reversed(range(len(nodes))):
        children = range(
            nodes[i].get("first_child", 0), nodes[i].get("first_child", 0) + nodes[i].get("n_children", 0)
        )
        totals[i] = sum((totals[c] for c in children), np.zeros(n_classes))
        if not children:
            totals[i] = rng.integers(0, 9, n_classes) * (rng.random(n_classes) if weighted else 1.0)
            totals[i][int(rng.integers(n_classes))] += 1
    missing = {"kind": LEAF, "attribute": -1, "first_child": -1, "default_child": -1}
    lists: dict[str, list[Any]] = {name: [] for name in DTYPES}
    for name in (
        "kind",
        "attribute",
        "first_child",
        "n_children",
        "default_child",
        "threshold",
        "threshold_integer",
        "gain",
    ):
        lists[name] = [node.get(name, missing.get(name, 0)) for node in nodes]
    for name in ("branch_start", "count_start"):
        lists[name] = [0]
    for node, total in zip(nodes, totals, strict=True):
        lists["branch_code"] += [code for code, _ in node.get("branches", ())]
        lists["branch_child"] += [child for _, child in node.get("branches", ())]
        lists["branch_start"].append(len(lists["branch_code"]))
        lists["rows"].append(math.ceil(total.sum()))
        lists["weight"].append(float(total.sum()))
        lists["impurity"].append(float(rng.random()))
        if n_targets:
            lists["mean"] += rng.normal(size=n_targets).tolist()
        else:
            lists["count_class"] += np.flatnonzero(total).tolist()
            lists["count"] += total[total > 0].tolist()
        lists["count_start"].append(len(lists["count_class"]))
    return {name: np.array(lists[name], dtype=dtype) for name, dtype in DTYPES.items()}


def random_table(rng: np.random.Generator, schema: Schema, n: int) -> Table:
    """Values on and between the thresholds; missing and unseen ones everywhere."""
    columns = []
    for attribute in schema.attributes:
        if attribute.kind == "nominal":
            columns.append(Column("nominal", rng.integers(-2, len(attribute.labels), n).astype(np.int32)))
        elif attribute.is_integer:
            values = rng.choice(np.array(INTEGERS, dtype=np.int64), n)
            columns.append(Column("integer", values, (rng.random(n) < 0.2).astype(np.uint8)))
        else:
            columns.append(Column("float", rng.choice(np.array([*FLOATS, math.inf, math.nan]), n)))
    return Table(schema, tuple(columns), n)


def plain_path(tree: Tree, table: Table, row: int) -> list[int]:
    """The walk of one row, as the words of the law say it."""
    arrays = tree.arrays
    path = [0]
    while not tree.is_leaf(path[-1]):
        node = path[-1]
        path.append(
            tree.children(node)[plain_branch(tree, table.columns[arrays["attribute"][node]], node, row)]
        )
    return path


def plain_branch(tree: Tree, column: Column, node: int, row: int) -> int:
    arrays, value = tree.arrays, column.values[row]
    default = int(arrays["default_child"][node])
    if column.kind == "float":
        return default if math.isnan(value) else int(not value <= arrays["threshold"][node])
    if column.kind == "integer":
        if column.missing is not None and column.missing[row]:
            return default
        return int(not int(value) <= int(arrays["threshold_integer"][node]))
    return plain_branches(tree, node).get(int(value), default)


def plain_branches(tree: Tree, node: int) -> dict[int, int]:
    """Every category present at a nominal node and the child it goes to, as docs/model-file.md says it."""
    arrays = tree.arrays
    begin, end = arrays["branch_start"][node : node + 2]
    listed = zip(
        arrays["branch_code"][begin:end].tolist(), arrays["branch_child"][begin:end].tolist(), strict=True
    )
    branches, default = dict(listed), int(arrays["default_child"][node])
    if arrays["kind"][node] not in (SUBSET, VALUE) or default in branches.values():
        return branches
    sent = sent_to(tree, node, int(arrays["attribute"][node]))
    assert sent is not None
    present = [code for code in sent if branches.get(code) != -1]
    return {code: branches.get(code, default) for code in present}


def sent_to(tree: Tree, node: int, attribute: int) -> list[int] | None:
    """The categories that the nearest test of the attribute above sends to a node; None without one."""
    parents = {child: n for n in range(tree.n_nodes) for child in tree.children(n)}
    while node in parents:
        place, node = node - tree.children(parents[node])[0], parents[node]
        if tree.arrays["attribute"][node] == attribute:
            return [code for code, child in plain_branches(tree, node).items() if child == place]
    return None


def in_brief(tree: Tree) -> dict[str, Any]:
    """The arrays of the same tree, every test in brief that can be."""
    arrays = plain_arrays(tree)
    codes, children, start = [], [], [0]
    for node in range(tree.n_nodes):
        begin, end = arrays["branch_start"][node : node + 2]
        branches = dict(zip(arrays["branch_code"][begin:end], arrays["branch_child"][begin:end], strict=True))
        sent = sent_to(tree, node, int(arrays["attribute"][node])) if branches else None
        kind, default = arrays["kind"][node], arrays["default_child"][node]
        if (kind == SUBSET or (kind == VALUE and default == 1)) and sent is not None:
            kept = {code: branches.get(code, -1) for code in sent}
            branches = {code: child for code, child in kept.items() if child != default}
        codes += list(branches)
        children += list(branches.values())
        start.append(len(codes))
    arrays["branch_code"], arrays["branch_child"] = np.array(codes, np.int32), np.array(children, np.int32)
    arrays["branch_start"] = np.array(start)
    return arrays


def plain_arrays(tree: Tree) -> dict[str, Any]:
    """Writable copies, to be damaged."""
    return {name: array.copy() for name, array in tree.arrays.items()}


def chain(n_tests: int, schema: Schema) -> Tree:
    """x0 <= 0, x0 <= 1, ...: one long path to the right."""
    n = 2 * n_tests + 1
    inner = np.zeros(n, dtype=bool)
    inner[0] = True
    inner[2 : n - 1 : 2] = True
    at = np.arange(n)
    arrays: dict[str, Any] = {name: np.zeros(n, dtype=dtype) for name, dtype in DTYPES.items()}
    arrays["kind"][inner] = NUMERIC
    arrays["attribute"][~inner] = -1
    arrays["first_child"] = np.where(inner, np.where(at == 0, 1, at + 1), -1).astype(np.int32)
    arrays["n_children"] = np.where(inner, 2, 0).astype(np.int32)
    arrays["default_child"][~inner] = -1
    arrays["threshold"][inner] = np.arange(n_tests)
    arrays["weight"] = np.ones(n)
    arrays["rows"] = np.ones(n, dtype=np.int64)
    arrays["count_start"] = np.arange(n + 1)
    arrays["count"] = np.ones(n)
    for name in ("branch_code", "branch_child"):
        arrays[name] = np.empty(0, np.int32)
    arrays["branch_start"] = np.zeros(n + 1, np.int64)
    arrays["mean"] = np.empty(0)
    return Tree(schema, arrays, classes=["only"])
