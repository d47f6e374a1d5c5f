"""The verifier accepts what the builder makes and names the node of every single thing that can be wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hornbeam.errors import DataError
from hornbeam.model import Tree
from hornbeam.model.arrays import LEAF, MULTIWAY, NUMERIC, SUBSET, VALUE
from tests.unit.model.builder import chain, float_schema, mixed_schema, plain_arrays, random_tree

Arrays = dict[str, Any]
SCHEMA = mixed_schema()
CLASSES = ["class 0", "class 1", "class 2"]


def classification() -> Arrays:
    return plain_arrays(random_tree(np.random.default_rng(1), SCHEMA, n_tests=60, breadth_first=False))


def regression() -> Arrays:
    return plain_arrays(random_tree(np.random.default_rng(1), SCHEMA, n_tests=20, n_targets=2))


def nodes_of(arrays: Arrays, *kinds: int) -> Any:
    return np.flatnonzero(np.isin(arrays["kind"], kinds))


def set_at(name: str, value: Any, *kinds: int) -> Callable[[Arrays], None]:
    """Damages the last node of the given kinds."""

    def damage(arrays: Arrays) -> None:
        arrays[name][nodes_of(arrays, *kinds)[-1]] = value

    return damage


def set_branch(name: str, value: int, kind: int, which: int = 0) -> Callable[[Arrays], None]:
    def damage(arrays: Arrays) -> None:
        node = nodes_of(arrays, kind)[-1]
        arrays[name][arrays["branch_start"][node] + which] = value

    return damage


def set_entry(name: str, index: int, value: Any) -> Callable[[Arrays], None]:
    def damage(arrays: Arrays) -> None:
        arrays[name][index] = value

    return damage


def shorten(name: str) -> Callable[[Arrays], None]:
    def damage(arrays: Arrays) -> None:
        arrays[name] = arrays[name][:-1]

    return damage


def two_parents(arrays: Arrays) -> None:
    inner = nodes_of(arrays, NUMERIC, VALUE, SUBSET)
    arrays["first_child"][inner[0]] = arrays["first_child"][inner[1]]


def orphan_at_the_end(arrays: Arrays) -> None:
    leaf = nodes_of(arrays, LEAF)[-1]
    for name in (
        "kind",
        "attribute",
        "first_child",
        "n_children",
        "default_child",
        "threshold",
        "threshold_integer",
    ):
        arrays[name] = np.append(arrays[name], arrays[name][leaf])
    for name in ("rows", "weight", "impurity", "gain"):
        arrays[name] = np.append(arrays[name], arrays[name][leaf])
    arrays["branch_start"] = np.append(arrays["branch_start"], arrays["branch_start"][-1])
    arrays["count_start"] = np.append(arrays["count_start"], arrays["count_start"][-1] + 1)
    arrays["count_class"] = np.append(arrays["count_class"], np.int32(0))
    arrays["count"] = np.append(arrays["count"], 1.0)


def all_to_one_child(arrays: Arrays) -> None:
    node = nodes_of(arrays, SUBSET)[-1]
    arrays["branch_child"][arrays["branch_start"][node] : arrays["branch_start"][node + 1]] = 1


def cycle_to_the_root(arrays: Arrays) -> None:
    arrays["first_child"][nodes_of(arrays, NUMERIC)[-1]] = 0


DAMAGE = {
    "unknown kind": (set_at("kind", 9, LEAF), "unknown kind"),
    "leaf with attribute": (set_at("attribute", 0, LEAF), "a leaf with"),
    "leaf with child": (set_at("first_child", 1, LEAF), "a leaf with"),
    "leaf with children": (set_at("n_children", 2, LEAF), "a leaf with"),
    "leaf with default": (set_at("default_child", 0, LEAF), "a leaf with"),
    "leaf with gain": (set_at("gain", 0.5, LEAF), "a gain"),
    "test without attribute": (set_at("attribute", -1, NUMERIC), "attribute -1"),
    "attribute out of range": (set_at("attribute", 6, NUMERIC), "attribute 6 of 6"),
    "numeric test on nominal": (set_at("attribute", 2, NUMERIC), "numeric test on a nominal"),
    "subset test on numeric": (set_at("attribute", 0, SUBSET), "nominal test on a numeric"),
    "value test on integer": (set_at("attribute", 1, VALUE), "nominal test on a numeric"),
    "three children": (set_at("n_children", 3, NUMERIC), "3 children"),
    "one branch": (set_at("n_children", 1, MULTIWAY), "at least 2"),
    "negative children": (set_at("n_children", -2, NUMERIC), "-2 children"),
    "default too high": (set_at("default_child", 2, SUBSET), "default child 2"),
    "default negative": (set_at("default_child", -1, NUMERIC), "default child -1"),
    "own child": (cycle_to_the_root, "does not come after"),
    "children beyond the end": (set_at("first_child", 2**31 - 1, NUMERIC), "nodes"),
    "negative child": (set_at("first_child", -5, NUMERIC), "does not come after"),
    "two parents": (two_parents, "two parents|no parent"),
    "orphan": (orphan_at_the_end, "no parent"),
    "threshold NaN": (set_entry("threshold", 0, np.nan), "not a number"),
    "rows negative": (set_at("rows", -1, LEAF), "-1 rows"),
    "weight infinite": (set_at("weight", np.inf, LEAF), "weight"),
    "weight negative": (set_at("weight", -1.0, LEAF), "weight"),
    "impurity NaN": (set_at("impurity", np.nan, LEAF), "impurity"),
    "gain infinite": (set_at("gain", np.inf, NUMERIC), "gain"),
    "category not ascending": (set_branch("branch_code", 0, SUBSET, 1), "does not ascend"),
    "category negative": (set_branch("branch_code", -1, VALUE), "does not ascend"),
    "category out of range": (set_branch("branch_code", 10**6, SUBSET, -1), "categor"),
    "branch to no child": (set_branch("branch_child", 2, SUBSET), "goes to child 2"),
    "branch to negative child": (set_branch("branch_child", -1, VALUE), "goes to child -1"),
    "multiway out of order": (set_branch("branch_child", 1, MULTIWAY), "order of the categories"),
    "all to one child": (all_to_one_child, "one child"),
    "branch_start not from 0": (set_entry("branch_start", 0, 1), "begins at 1"),
    "branch_start negative": (set_entry("branch_start", 5, -1), "goes down"),
    "branch_start beyond the end": (set_entry("branch_start", -1, 10**12), "ends at"),
    "branch_start of a huge jump": (set_entry("branch_start", 3, 2**62), "goes down"),
    "count_start not from 0": (set_entry("count_start", 0, 1), "begins at 1"),
    "count_start beyond the end": (set_entry("count_start", -1, 10**12), "ends at"),
    "no counts": (set_entry("count_start", 1, 0), "add up to nothing"),
    "class out of range": (set_entry("count_class", -1, 3), "3 of 3 classes|does not ascend"),
    "class negative": (set_entry("count_class", 0, -1), "does not ascend"),
    "count negative": (set_entry("count", 0, -1.0), "count is negative"),
    "count NaN": (set_entry("count", 0, np.nan), "count is negative or not finite"),
    "counts that overflow": (lambda a: a["count"].__setitem__(slice(None), 1.7e308), "add up"),
    "no node": (lambda a: a.update({k: v[:0] for k, v in a.items()}), "no node"),
    "means in a classification": (lambda a: a.update(mean=np.zeros(1)), "mean has 1"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_refused_in_one_line(name: str) -> None:
    arrays = classification()
    if name == "threshold NaN":  # needs a float attribute
        node = next(n for n in nodes_of(arrays, NUMERIC) if arrays["attribute"][n] in (0, 5))
        arrays["threshold"][node] = np.nan
    else:
        DAMAGE[name][0](arrays)
    with pytest.raises(DataError, match=DAMAGE[name][1]) as caught:
        Tree(SCHEMA, arrays, classes=CLASSES)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", sorted(classification()))
def test_a_shorter_array_is_refused(name: str) -> None:
    arrays = regression() if name == "mean" else classification()
    shorten(name)(arrays)
    if name == "mean":
        with pytest.raises(DataError):
            Tree(SCHEMA, arrays, targets=["a", "b"])
        return
    if len(classification()[name]) == 0:
        pytest.skip(f"a classification has no {name}")
    with pytest.raises(DataError):
        Tree(SCHEMA, arrays, classes=CLASSES)


@pytest.mark.parametrize("seed", range(20))
def test_valid_trees_are_accepted(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(
        rng, SCHEMA, n_tests=seed, breadth_first=bool(seed % 2), n_targets=seed % 3, weighted=seed % 5 == 0
    )
    assert Tree(tree.schema, tree.arrays, classes=tree.classes, targets=tree.targets) == tree


def test_a_mean_has_to_be_finite() -> None:
    arrays = regression()
    arrays["mean"][3] = np.inf
    with pytest.raises(DataError, match="node 1: a mean is not finite"):
        Tree(SCHEMA, arrays, targets=["a", "b"])


def test_regression_may_leave_out_the_starts_of_counts() -> None:
    arrays = regression()
    arrays["count_start"] = arrays["count_start"][:0]
    assert Tree(SCHEMA, arrays, targets=["a", "b"]).n_targets == 2


def test_classes_and_targets_have_to_fit() -> None:
    arrays = classification()
    for wrong in ([], ["a", 1, 2], ["a", "a", "b"], [1.0, float("nan"), 2.0], [None, "a", "b"], ["a", "b"]):
        with pytest.raises(DataError):
            Tree(SCHEMA, arrays, classes=wrong)
    for wrong, says in (
        ([-1, 0, 2**63], "64-bit"),
        ([0, 1, 2**64], "64-bit"),
        (["a", "b", "\ud800"], "Unicode"),
    ):
        with pytest.raises(DataError, match=says):
            Tree(SCHEMA, arrays, classes=wrong)
    with pytest.raises(DataError, match="Unicode"):
        Tree(SCHEMA, regression(), targets=["a", "\ud800"])
    with pytest.raises(DataError, match="either classes"):
        Tree(SCHEMA, arrays)
    with pytest.raises(DataError, match="names of the targets"):
        Tree(SCHEMA, regression(), targets="ab")


def test_wrong_types_of_arrays_are_refused_by_name() -> None:
    for name, wrong in (("kind", np.zeros(3)), ("mean", np.zeros((2, 2))), ("rows", "text"), ("gain", None)):
        with pytest.raises(DataError, match=f"array '{name}'"):
            Tree(SCHEMA, {**classification(), name: wrong}, classes=CLASSES)
    with pytest.raises(DataError, match="unknown array 'colour'"):
        Tree(SCHEMA, {**classification(), "colour": np.zeros(1)}, classes=CLASSES)
    arrays = classification()
    del arrays["gain"]
    with pytest.raises(DataError, match="'gain' is absent"):
        Tree(SCHEMA, arrays, classes=CLASSES)


def test_a_chain_of_a_million_nodes_is_judged_in_linear_time() -> None:
    tree = chain(500_000, float_schema(1))
    assert tree.depth == 500_000
