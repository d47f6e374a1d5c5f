"""JSON keeps a tree exactly and takes back nothing but that."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from hornbeam.errors import DataError
from hornbeam.model import Tree
from tests.unit.model.builder import mixed_schema, plain_arrays, random_tree
from tests.unit.model.test_canonical import stump

SCHEMA = mixed_schema()


@pytest.mark.parametrize("seed", range(12))
def test_a_round_trip_changes_nothing(seed: int) -> None:
    tree = random_tree(
        np.random.default_rng(seed),
        SCHEMA,
        n_tests=3 * seed,
        breadth_first=bool(seed % 2),
        n_targets=seed % 3,
        weighted=seed % 4 == 0,
    )
    again = Tree.from_json(tree.to_json())
    assert again == tree
    assert again.schema == tree.schema
    assert (again.classes, again.targets) == (tree.classes, tree.targets)
    for name, array in tree.arrays.items():
        if name != "count_start" or tree.n_classes:
            assert array.tobytes() == again.arrays[name].tobytes(), name
    assert again.to_json() == tree.to_json()


@pytest.mark.parametrize(
    "classes", [[False, True], [-5, 2**62], [0, 2**64 - 1], [0.1, 1e300], ["", "ü\u0000"]]
)
def test_class_labels_keep_kind_and_value(classes: list[Any]) -> None:
    again = Tree.from_json(stump(classes).to_json())
    assert again.classes == tuple(classes)
    assert [type(label) for label in again.classes or ()] == [type(label) for label in classes]


@pytest.mark.parametrize(
    "threshold", [0.1, -0.0, 5e-324, 1.7976931348623157e308, float("inf"), float("-inf"), 3.0]
)
def test_thresholds_are_exact(threshold: float) -> None:
    tree = stump(["a", "b"], threshold)
    again = Tree.from_json(tree.to_json())
    assert again.arrays["threshold"][0].tobytes() == np.float64(threshold).tobytes()


def test_unused_thresholds_are_not_stored() -> None:
    arrays = plain_arrays(stump(["a", "b"]))
    arrays["threshold"][1:] = 77.0
    tree = Tree(stump(["a", "b"]).schema, arrays, classes=["a", "b"])
    assert "77" not in tree.to_json()


def path_set(record: Any, path: tuple[Any, ...], value: Any) -> None:
    for key in path[:-1]:
        record = record[key]
    record[path[-1]] = value


WRONG: list[tuple[tuple[Any, ...], Any]] = [
    (("schema",), None),
    (("schema",), {"attributes": []}),
    (("classes",), None),
    (("classes",), "ab"),
    (("classes",), ["a"]),
    (("classes",), ["a", None]),
    (("classes",), ["a", ["b"]]),
    (("targets",), ["y"]),
    (("targets",), {}),
    (("nodes",), []),
    (("nodes", "n_nodes"), 10**9),
    (("nodes", "n_nodes"), "3"),
    (("nodes", "kind"), "leaf"),
    (("nodes", "kind"), ["numeric", "leaf", "tree"]),
    (("nodes", "kind"), ["numeric", "leaf", []]),
    (("nodes", "kind"), [1, 0, 0]),
    (("nodes", "attribute"), [0, -1]),
    (("nodes", "attribute"), [1, -1, -1]),
    (("nodes", "attribute"), [0, -1, "-1"]),
    (("nodes", "attribute"), [0, -1, -1.0]),
    (("nodes", "attribute"), [False, -1, -1]),
    (("nodes", "attribute"), [2**31, -1, -1]),
    (("nodes", "first_child"), [2**200, -1, -1]),
    (("nodes", "first_child"), [1, -1, None]),
    (("nodes", "threshold"), [None, None, None]),
    (("nodes", "threshold"), ["1", None, None]),
    (("nodes", "threshold"), ["nan", None, None]),
    (("nodes", "threshold"), [30, None, None]),
    (("nodes", "threshold"), [float("inf"), None, None]),
    (("nodes", "threshold"), [1.0, 1.0, None]),
    (("nodes", "threshold"), {}),
    (("nodes", "weight"), [10**400, 1, 1]),
    (("nodes", "weight"), [5, 2, True]),
    (("nodes", "count"), [[2], 3, 2, 3]),
    (("nodes", "mean"), []),
    (("nodes", "branch_start"), None),
    (("extra",), 1),
]


@pytest.mark.parametrize(("path", "value"), WRONG)
def test_anything_else_is_refused_in_one_line(path: tuple[Any, ...], value: Any) -> None:
    record = stump(["a", "b"]).to_record()
    path_set(record, path, value)
    with pytest.raises(DataError) as caught:
        Tree.from_record(record)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[]",
        "null",
        "1",
        '{"a":1,"a":2}',
        "[NaN]",
        "[Infinity]",
        "[" * 100_000,
        "9" * 10_000,
        '"\\ud800"',
    ],
)
def test_text_that_is_no_tree_is_refused(text: str) -> None:
    with pytest.raises(DataError) as caught:
        Tree.from_json(text)
    assert "\n" not in str(caught.value)


def test_the_form_is_plain_json() -> None:
    record = stump(["no", "yes"]).to_record()
    assert json.loads(stump(["no", "yes"]).to_json()) == record
    assert record["nodes"]["kind"] == ["numeric", "leaf", "leaf"]
    assert record["nodes"]["threshold"] == [30.0, None, None]
    assert record["nodes"]["count"] == [2, 3, 2, 3]
