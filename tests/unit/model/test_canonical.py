"""The digest is the SHA-256 of the canonical form of docs/law.md, and blind to numbering and encoding."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import pytest

from hornbeam.model import Tree
from hornbeam.model.arrays import DTYPES, KIND_NAMES, NUMERIC
from hornbeam.model.canonical import canonical_parts, canonical_text
from hornbeam.table import Attribute, Schema
from tests.unit.model.builder import (
    chain,
    float_schema,
    mixed_schema,
    plain_arrays,
    plain_branches,
    random_tree,
)

SCHEMA = mixed_schema()


def number(x: float) -> int | str:
    return int(x) if float(x).is_integer() else float(x).hex()


def records(tree: Tree, node: int = 0) -> list[dict[str, Any]]:
    """The canonical form in the words of the law, by recursion."""
    a = tree.arrays
    record: dict[str, Any] = {}
    if tree.classes is not None:
        pairs = zip(tree.classes, tree.counts(node), strict=True)
        record["counts"] = [[x.hex() if isinstance(x, float) else x, number(c)] for x, c in pairs if c > 0]
    else:
        record["weight"] = number(a["weight"][node])
        record["mean"] = [float(mean + 0.0).hex() for mean in tree.means[node]]
    if tree.is_leaf(node):
        return [record]
    attribute = tree.schema.attributes[a["attribute"][node]]
    if a["kind"][node] == NUMERIC:
        exact = attribute.decode(int(a["threshold_integer"][node])) if attribute.is_integer else None
        record["test"] = [
            "numeric",
            attribute.name,
            float(a["threshold"][node] + 0.0).hex() if exact is None else exact,
        ]
    else:
        pairs = plain_branches(tree, node).items()
        branches = sorted([attribute.labels[code], child] for code, child in pairs)
        record["test"] = [KIND_NAMES[a["kind"][node]], attribute.name, branches]
    record["children"] = len(tree.children(node))
    record["default"] = int(a["default_child"][node])
    return [record] + [below for child in tree.children(node) for below in records(tree, child)]


@pytest.mark.parametrize("seed", range(12))
def test_the_text_is_the_json_of_the_records_and_the_digest_its_hash(seed: int) -> None:
    tree = random_tree(
        np.random.default_rng(seed),
        SCHEMA,
        n_tests=25,
        breadth_first=bool(seed % 2),
        n_targets=seed % 3,
        weighted=seed % 4 == 0,
    )
    expected = json.dumps(records(tree), sort_keys=True, separators=(",", ":"))
    assert canonical_text(tree) == expected
    assert tree.digest == hashlib.sha256(expected.encode("ascii")).hexdigest()


def stump(classes: list[Any], threshold: float = 30.0, counts: tuple[float, ...] = (2, 3, 2, 3)) -> Tree:
    lists: dict[str, list[Any]] = {
        "kind": [1, 0, 0],
        "attribute": [0, -1, -1],
        "first_child": [1, -1, -1],
        "n_children": [2, 0, 0],
        "default_child": [1, -1, -1],
        "threshold": [threshold, 0.0, 0.0],
        "threshold_integer": [0, 0, 0],
        "rows": [5, 2, 3],
        "weight": [5, 2, 3],
        "impurity": [0.48, 0, 0],
        "gain": [0.48, 0, 0],
        "branch_start": [0, 0, 0, 0],
        "branch_code": [],
        "branch_child": [],
        "count_start": [0, 2, 3, 4],
        "count_class": [0, 1, 0, 1],
        "count": list(counts),
        "mean": [],
    }
    schema = Schema((Attribute("age", "numeric", "float64"),))
    return Tree(schema, {k: np.array(lists[k], dtype=dtype) for k, dtype in DTYPES.items()}, classes=classes)


def test_the_example_of_the_law() -> None:
    assert canonical_text(stump(["no", "yes"])) == (
        '[{"children":2,"counts":[["no",2],["yes",3]],"default":1,"test":["numeric","age","0x1.e000000000000p+4"]},'
        '{"counts":[["no",2]]},{"counts":[["yes",3]]}]'
    )


@pytest.mark.parametrize(
    "threshold",
    [5e-324, -2.2e-308, 2.0**-1022, -0.1, 1 / 3, 1e300, float("inf"), float("-inf"), 1.0, -1024.0],
)
def test_every_double_is_written_as_python_writes_it(threshold: float) -> None:
    tree = stump(["no", "yes"], threshold)
    assert canonical_text(tree) == json.dumps(records(tree), sort_keys=True, separators=(",", ":"))


@pytest.mark.parametrize("count", [2.0**53, 2.0**53 - 1, 1e23, 1.5e300, 0.1, 5e-324, 2.5])
def test_every_count_is_written_to_its_last_digit(count: float) -> None:
    tree = stump(["no", "yes"], counts=(count, 3, count, 3))
    assert canonical_text(tree) == json.dumps(records(tree), sort_keys=True, separators=(",", ":"))


def test_a_long_text_comes_in_parts_and_is_the_same() -> None:
    tree = chain(20_000, float_schema(1))
    parts = list(canonical_parts(tree))
    assert len(parts) > 1
    asked = [record["test"][2] for record in json.loads(b"".join(parts)) if "test" in record]
    assert asked == [float(i).hex() for i in range(20_000)]
    assert hashlib.sha256(b"".join(parts)).hexdigest() == tree.digest


def test_labels_keep_their_kind() -> None:
    digests = [stump(labels).digest for labels in ([False, True], [0, 1], [0.0, 1.0], ["0", "1"])]
    assert len(set(digests)) == 4
    assert '["0x1.8000000000000p+0",2]' in canonical_text(stump([1.5, 2.0]))


def test_minus_zero_is_zero() -> None:
    assert stump(["a", "b"], -0.0).digest == stump(["a", "b"], 0.0).digest


def test_a_zero_count_is_left_out() -> None:
    tree = stump(["a", "b"], counts=(2, 0, 2, 3))
    assert canonical_text(tree).startswith('[{"children":2,"counts":[["a",2]],')


def test_numbering_does_not_enter() -> None:
    tree = random_tree(np.random.default_rng(2), SCHEMA, n_tests=30, breadth_first=False)
    assert renumbered(tree).digest == tree.digest
    assert not np.array_equal(renumbered(tree).arrays["kind"], tree.arrays["kind"])


def renumbered(tree: Tree) -> Tree:
    """The same tree, breadth-first."""
    order = [0]
    for node in order:
        order.extend(tree.children(node))
    at = np.array(order)
    new = np.empty(len(at), int)
    new[at] = np.arange(len(at))
    arrays = plain_arrays(tree)
    for name in DTYPES:
        if (
            len(arrays[name]) == tree.n_nodes
            and "start" not in name
            and not name.startswith(("branch", "count"))
        ):
            arrays[name] = arrays[name][at]
    arrays["first_child"] = np.where(arrays["first_child"] < 0, -1, new[arrays["first_child"]]).astype(
        np.int32
    )
    for start, lists in (
        ("branch_start", ("branch_code", "branch_child")),
        ("count_start", ("count_class", "count")),
    ):
        spans = [(tree.arrays[start][n], tree.arrays[start][n + 1]) for n in order]
        for name in lists:
            arrays[name] = np.concatenate([tree.arrays[name][b:e] for b, e in spans])
        arrays[start] = np.cumsum([0] + [e - b for b, e in spans])
    return Tree(tree.schema, arrays, classes=tree.classes)


def test_categories_that_no_node_knows_do_not_enter() -> None:
    narrow = Schema((Attribute("c", "nominal", "nominal", ("a", "c", "e")),))
    wide = Schema((Attribute("c", "nominal", "nominal", ("a", "b", "c", "d", "e", "f")),))
    tree = random_tree(np.random.default_rng(2), narrow, n_tests=9)
    arrays = plain_arrays(tree)
    arrays["branch_code"] = arrays["branch_code"] * np.int32(2)
    assert Tree(wide, arrays, classes=tree.classes).digest == tree.digest


def test_everything_the_law_names_enters() -> None:
    tree = random_tree(np.random.default_rng(11), SCHEMA, n_tests=30)
    seen = {tree.digest}
    for name in ("threshold", "threshold_integer", "default_child", "count"):
        arrays = plain_arrays(tree)
        at = {"threshold": (0, 5), "threshold_integer": (1, 3)}.get(name)
        inner = np.flatnonzero(
            (arrays["kind"] == NUMERIC) & (np.isin(arrays["attribute"], at) if at else True)
        )
        index = 0 if name == "count" else inner[0]
        arrays[name][index] = 1 - arrays[name][index] if name == "default_child" else 12345
        seen.add(Tree(SCHEMA, arrays, classes=tree.classes).digest)
    seen.add(Tree(SCHEMA, tree.arrays, classes=["x", "y", "z"]).digest)
    renamed = Schema(tuple(Attribute(a.name + "'", a.kind, a.type, a.labels) for a in SCHEMA.attributes))
    seen.add(Tree(renamed, tree.arrays, classes=tree.classes).digest)
    assert len(seen) == 7


def test_what_the_law_does_not_name_stays_out() -> None:
    tree = random_tree(np.random.default_rng(11), SCHEMA, n_tests=30)
    arrays = plain_arrays(tree)
    arrays["impurity"] += 1
    arrays["rows"] += 1
    arrays["gain"][arrays["kind"] != 0] += 1
    assert Tree(SCHEMA, arrays, classes=tree.classes).digest == tree.digest


def test_a_hundred_thousand_nodes_have_a_digest() -> None:
    tree = chain(50_000, float_schema(1))
    assert len(tree.digest) == 64
