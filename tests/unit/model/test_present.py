"""Tests in brief: the same tree in less room, and nothing else accepted."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hornbeam import TreeClassifier
from hornbeam.errors import DataError
from hornbeam.model import Tree
from hornbeam.model.arrays import DTYPES, SUBSET, VALUE
from hornbeam.model.canonical import canonical_text
from hornbeam.model.walk import brief_nodes
from hornbeam.table import Attribute, Schema
from tests.unit.model.builder import in_brief, plain_path, random_table, random_tree

LABELS = tuple(f"label {i:02d}" for i in range(12))
SCHEMA = Schema(
    (
        Attribute("height", "numeric", "float64"),
        *(Attribute(name, "nominal", "nominal", LABELS) for name in ("colour", "shape", "taste", "smell")),
    )
)


@pytest.mark.parametrize("seed", range(12))
def test_a_tree_in_brief_is_the_same_tree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    full = random_tree(rng, SCHEMA, n_tests=300, nested=True, breadth_first=bool(seed % 2))
    brief = Tree(SCHEMA, in_brief(full), classes=full.classes)
    assert len(brief_nodes(full)) == 0
    assert len(brief_nodes(brief)) > 0
    assert canonical_text(brief) == canonical_text(full)
    assert brief.digest == full.digest
    assert brief.to_text() == full.to_text()
    for node in np.flatnonzero(np.isin(full.arrays["kind"], (SUBSET, VALUE))).tolist():
        for child in (0, 1):
            assert brief.branch_codes(node, child).tolist() == full.branch_codes(node, child).tolist()
    assert Tree.from_json(brief.to_json()).digest == full.digest
    assert pickle.loads(pickle.dumps(brief)).digest == full.digest
    table = random_table(rng, SCHEMA, 400)
    assert brief.apply(table).tolist() == full.apply(table).tolist()
    assert brief.apply(table).tolist() == [plain_path(brief, table, row)[-1] for row in range(400)]


def test_labels_out_of_order_are_listed_in_order() -> None:
    schema = Schema((Attribute("c", "nominal", "nominal", ("z", "b", "y", "a")),))
    brief = Tree(schema, chain_of_values(), classes=["no", "yes"])
    assert '"value","c",[["a",1],["b",0],["y",1]]' in canonical_text(brief)


def chain_of_values() -> dict[str, Any]:
    """c == 0, else c == 1, the second in brief."""
    lists: dict[str, list[Any]] = {
        "kind": [VALUE, 0, VALUE, 0, 0],
        "attribute": [0, -1, 0, -1, -1],
        "first_child": [1, -1, 3, -1, -1],
        "n_children": [2, 0, 2, 0, 0],
        "default_child": [1, -1, 1, -1, -1],
        "threshold": [0.0] * 5,
        "threshold_integer": [0] * 5,
        "rows": [4, 1, 3, 1, 2],
        "weight": [4, 1, 3, 1, 2],
        "impurity": [0.5] * 5,
        "gain": [0.1, 0, 0.1, 0, 0],
        "branch_start": [0, 4, 4, 5, 5, 5],
        "branch_code": [0, 1, 2, 3, 1],
        "branch_child": [0, 1, 1, 1, 0],
        "count_start": [0, 1, 2, 3, 4, 5],
        "count_class": [0] * 5,
        "count": [4, 1, 3, 1, 2],
        "mean": [],
    }
    return {name: np.array(lists[name], dtype=dtype) for name, dtype in DTYPES.items()}


def second(codes: list[int], children: list[int]) -> Callable[[dict[str, Any]], None]:
    """Gives the second test these branches."""

    def change(arrays: dict[str, Any]) -> None:
        arrays["branch_code"] = np.array([0, 1, 2, 3, *codes], np.int32)
        arrays["branch_child"] = np.array([0, 1, 1, 1, *children], np.int32)
        arrays["branch_start"][3:] = 4 + len(codes)

    return change


def at(name: str, node: int, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda arrays: arrays[name].__setitem__(node, value)


def root_in_brief(arrays: dict[str, Any]) -> None:
    arrays["branch_code"] = np.array([0, 1], np.int32)
    arrays["branch_child"] = np.array([0, 0], np.int32)
    arrays["branch_start"] = np.array([0, 1, 1, 2, 2, 2])


ACCEPTED = {
    "as it is": second([1], [0]),
    "one absent": second([1, 3], [0, -1]),
    "in full": second([1, 2], [0, 1]),
    "a subset": at("kind", 2, SUBSET),
    "a subset, the default first": lambda a: (
        second([1, 3], [1, -1])(a),
        at("kind", 2, SUBSET)(a),
        at("default_child", 2, 0)(a),
    ),
    "in full, the default first": lambda a: (second([1, 2], [0, 1])(a), at("default_child", 2, 0)(a)),
}
REFUSED = {
    "no test above": (root_in_brief, "node 0: all its categories"),
    "nothing for child 1": (second([1, 2, 3], [0, -1, -1]), "node 2: all its categories"),
    "a value that is not sent": (second([0], [0]), "node 2: no test above sends category code 0 here"),
    "an absence that is not sent": (second([0, 1], [-1, 0]), "node 2: no test above sends category code 0"),
    "no value": (second([2, 3], [-1, -1]), "node 2: a category goes to child -1"),
    "the value left out": (
        lambda a: (second([2, 3], [1, 1])(a), at("default_child", 2, 0)(a)),
        "node 2: a value test with 0 values",
    ),
    "two values": (second([1, 2], [0, 0]), "node 2: a value test with 2 values"),
    "absent beside present": (second([1, 2, 3], [0, 1, -1]), "node 2: a category goes to child -1"),
    "default to the value": (at("default_child", 2, 0), "node 2: all its categories"),
    "child -2": (second([1, 2], [0, -2]), "node 2: a category goes to child -2"),
    "a code beyond all": (second([1, 9], [0, -1]), "node 2: category code 9"),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_accepted(name: str) -> None:
    arrays = chain_of_values()
    ACCEPTED[name](arrays)
    schema = Schema((Attribute("c", "nominal", "nominal", ("a", "b", "c", "d")),))
    tree = Tree(schema, arrays, classes=["no", "yes"])
    assert Tree.from_json(tree.to_json()).digest == tree.digest


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    arrays = chain_of_values()
    REFUSED[name][0](arrays)
    schema = Schema((Attribute("c", "nominal", "nominal", ("a", "b", "c", "d")),))
    with pytest.raises(DataError, match=REFUSED[name][1]) as caught:
        Tree(schema, arrays, classes=["no", "yes"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("n", [3_000, 34_000])
@pytest.mark.parametrize("mode", ["subset", "value"])
def test_grown_tests_are_brief_and_do_not_depend_on_threads(mode: str, n: int) -> None:
    rng = np.random.default_rng(n)
    frame = pd.DataFrame(
        {
            "key": [f"key {i:05d}" if rng.random() < 0.95 else None for i in range(n)],
            "often": [f"label {i}" for i in rng.integers(0, n // 10, n)],
            "x": rng.normal(size=n).round(1),
        }
    )
    if mode == "subset":  # one test would tell all keys apart
        del frame["key"]
    y = (rng.random(n) < (60 / n if mode == "value" else 0.3)).astype(int)
    trees = [TreeClassifier(nominal=mode, n_jobs=jobs).fit(frame, y).tree_ for jobs in (1, 2)]
    assert len(brief_nodes(trees[0])) > 0
    for name in DTYPES:
        assert np.array_equal(trees[0].arrays[name], trees[1].arrays[name])
    assert Tree.from_json(trees[0].to_json()).digest == trees[1].digest
