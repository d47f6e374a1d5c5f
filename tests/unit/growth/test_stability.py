"""Stability: what the joint walk says of trees is what a plain walk from node to node says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import UsageError
from hornbeam.growth import ClassTarget, Parameters
from hornbeam.growth import stability as joint
from hornbeam.growth.stability import Stability, bifurcations_of, nodes_by_level, stability_of
from hornbeam.model import Tree, walk
from hornbeam.table import Attribute, Schema, encode_classes, from_data
from tests.forests import grow_forest
from tests.unit.model.builder import random_tree

SCHEMA = Schema(
    (
        Attribute("height", "numeric", "float64"),
        Attribute("born", "numeric", "date"),
        Attribute("colour", "nominal", "nominal", ("blue", "green", "red", "white")),
    )
)
BOUNDS = [[0.5, 1.5], [10, 20], []]


def ways(test: walk.Test) -> dict[int, int]:
    """Category -> child of a nominal test; in a value test all others than its own go to child 1."""
    return {code: k for k, codes in enumerate(test.branches) for code in codes}


class Group:
    """Sets that ask the same at a place: what they ask, and who they are."""

    def __init__(self, test: walk.Test | None) -> None:
        self.test, self.known = test, {} if test is None else ways(test)
        self.members: list[tuple[int, int, bool]] = []

    def takes(self, test: walk.Test | None) -> bool | None:
        """Whether the test is this one the other way round; None where it is another one."""
        if test is None or self.test is None:
            return False if test is self.test else None
        if (test.kind, test.attribute) != (self.test.kind, self.test.attribute):
            return None
        if test.kind == "value":
            return False if test.branches[0] == self.test.branches[0] else None
        if test.kind != "subset":
            return False
        common = [code for code in ways(test) if code in self.known]
        for swap in (False, True):
            if all(self.known[code] == ways(test)[code] ^ swap for code in common):
                return swap
        return None


def plain_walk(trees: Sequence[Tree]) -> list[tuple[int, list[Group]]]:
    """(level, groups) of every place, by the words of the definition."""
    found = []
    waiting: list[tuple[int, list[tuple[int, int]]]] = [(0, [(i, 0) for i in range(len(trees))])]
    while waiting:
        level, here = waiting.pop(0)
        groups: list[Group] = []
        for i, node in here:
            test = None if trees[i].is_leaf(node) else trees[i].tests[node]
            swaps = [(group, swap) for group in groups if (swap := group.takes(test)) is not None]
            group, swap = swaps[0] if swaps else (Group(test), False)
            if not swaps:
                groups.append(group)
            elif test is not None and test.kind == "subset":
                group.known.update({code: way ^ swap for code, way in ways(test).items()})
            group.members.append((i, node, swap))
        found.append((level, groups))
        for group in groups:
            below: dict[int, list[tuple[int, int]]] = {}
            for i, node, swap in group.members:
                for k, child in enumerate(trees[i].children(node)):
                    test = trees[i].tests[node]
                    way = test.branches[k][0] if test.kind == "multiway" else k ^ swap
                    below.setdefault(way, []).append((i, child))
            waiting += [(level + 1, entries) for _, entries in sorted(below.items())]
    return found


def family(seed: int, n_trees: int, nested: bool) -> list[Tree]:
    """Trees of which many begin alike: some are copies, others grown from a few seeds."""
    rng = np.random.default_rng(seed)
    seeds = rng.integers(0, 1000, size=2)
    sizes = rng.integers(0, 7, size=n_trees)
    return [
        random_tree(np.random.default_rng(rng.choice(seeds)), SCHEMA, int(size), bounds=BOUNDS, nested=nested)
        for size in sizes
    ]


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 7), st.booleans())
def test_the_joint_walk_is_the_plain_walk(seed: int, n_trees: int, nested: bool) -> None:
    trees = family(seed, n_trees, nested)
    places = plain_walk(trees)
    stability = stability_of(trees)
    seen = 0
    for level, groups in places:
        own = [(group, node) for group in groups for i, node, _ in group.members if i == 0]
        if not own:
            continue
        (group, node), seen = own[0], seen + 1
        record = stability[node]
        others = [[i for i, _, _ in other.members] for other in groups if other is not group]
        assert record.depth == level
        assert record.same == len(group.members) - 1 == stability.same[node]
        assert record.here == record.same + sum(map(len, others)) == stability.here[node]
        assert record.same + record.others + record.leaves + record.gone == record.folds == n_trees - 1
        assert sorted(list(arm.folds) for arm in record.alternatives) == sorted(others)
        if record.band is not None:
            bounds = [trees[i].tests[n].bound for i, n, _ in group.members]
            assert (record.band.low, record.band.high) == (min(bounds), max(bounds))
    assert seen == trees[0].n_nodes


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 7))
def test_bifurcations_and_levels_are_those_of_the_plain_walk(seed: int, n_trees: int) -> None:
    trees = family(seed, n_trees, False)
    places = plain_walk(trees)
    parted = [
        (level, sorted(sorted(i for i, _, _ in group.members) for group in groups))
        for level, groups in places
        if sum(group.test is not None for group in groups) > 1
    ]
    given_ = [
        (record.depth, sorted(sorted([0] * arm.final + list(arm.folds)) for arm in record.arms))
        for record in bifurcations_of(trees)
    ]
    assert sorted(given_) == sorted(parted)
    levels = nodes_by_level(trees)
    f = joint.tests_by_level(trees)
    for level in range(len(levels)):
        groups = [group for at, here in places if at == level for group in here]
        tests = [group for group in groups if group.test is not None]
        assert levels[level].tolist() == [len(tests), len(groups) - len(tests)]
        if tests:
            single = sum(len(group.members) for group in tests) / n_trees
            assert f[level] == pytest.approx(len(tests) / single)


def iris_like() -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.normal(size=90), "b": rng.normal(size=90)})
    return frame, np.where(frame["a"] + 0.8 * rng.normal(size=90) > 0, "yes", "no")


def folds_of(frame: pd.DataFrame, y: Any, k: int = 5, **parameters: Any) -> list[Tree]:
    table = from_data(frame)
    codes, labels = encode_classes(y)
    sets = np.ones((len(frame), k + 1), dtype=np.uint8)
    sets[np.arange(len(frame)), 1 + np.arange(len(frame)) % k] = 0
    return grow_forest(table, ClassTarget(codes, labels), Parameters(**parameters), sets)


def test_equal_trees_agree_everywhere() -> None:
    frame, y = iris_like()
    tree = TreeClassifier(max_depth=3).fit(frame, y).tree_
    stability = stability_of([tree] * 11)
    assert stability.agreement == stability.root_agreement == 1.0
    assert all(record.same == 10 and not record.alternatives for record in stability)
    assert all(record.agreeing == 10 for record in stability if record.is_leaf)
    assert stability.bifurcations == ()
    assert joint.tests_by_level([tree] * 11).tolist() == [1.0] * tree.depth


def test_agreement_weighs_tests_by_their_rows() -> None:
    frame, y = iris_like()
    whole = TreeClassifier(max_depth=2).fit(frame, y).tree_
    root_only = TreeClassifier(max_depth=1).fit(frame, y).tree_
    stability = stability_of([whole, whole, root_only])
    inner = [record for record in stability if not record.is_leaf]
    rows = sum(record.rows for record in inner)
    assert stability.agreement == pytest.approx(1 - (rows - 90) / rows / 2)
    assert [level.agreement for level in stability.by_level] == [1.0, 0.5]
    below = [record for record in inner if record.depth]
    assert all(record.leaves == 1 and record.alternatives[0].is_leaf for record in below)


def test_thresholds_are_written_by_their_type() -> None:
    days = pd.date_range("2024-01-01", periods=12)
    frame = pd.DataFrame({"day": pd.array(days, dtype="date32[pyarrow]")})
    y = np.array(["a"] * 6 + ["b"] * 6)
    table = from_data(frame)
    codes, labels = encode_classes(y)
    sets = np.ones((12, 3), dtype=np.uint8)
    sets[4:6, 1] = 0
    trees = grow_forest(table, ClassTarget(codes, labels), Parameters(), sets)
    band = stability_of(trees)[0].band
    assert band is not None
    assert (band.low_text, band.high_text) == ("2024-01-05", "2024-01-06")
    assert band.text == "2024-01-05 to 2024-01-06"


def test_a_branch_of_a_multiway_test_is_met_by_its_label() -> None:
    frame = pd.DataFrame({"colour": list("abcabcabcabc"), "x": list(range(12))})
    y = np.array(["p", "q", "r"] * 4)
    table = from_data(frame)
    codes, labels = encode_classes(y)
    sets = np.ones((12, 2), dtype=np.uint8)
    sets[::3, 1] = 0  # the fold never sees label a: its first branch is b
    trees = grow_forest(table, ClassTarget(codes, labels), Parameters(nominal="multiway"), sets)
    records = list(stability_of(trees))
    assert [record.same for record in records] == [1, 0, 1, 1]
    assert [record.agreeing for record in records] == [None, 0, 1, 1]
    assert records[1].gone == 1


def test_sides_of_a_subset_meet_by_their_labels() -> None:
    """Without label a the left side is named by b, though b goes where it went."""
    frame = pd.DataFrame({"colour": list("abcd") * 6})
    y = np.array(["p", "q", "p", "q"] * 6)
    table = from_data(frame)
    codes, labels = encode_classes(y)
    sets = np.ones((24, 2), dtype=np.uint8)
    sets[::4, 1] = 0
    trees = grow_forest(table, ClassTarget(codes, labels), Parameters(), sets)
    assert trees[1].test_text(0) == "colour in {b, d}"
    records = list(stability_of(trees))
    assert [record.same for record in records] == [1, 1, 1]
    assert [record.agreeing for record in records if record.is_leaf] == [1, 1]


def test_leaves_of_a_regression_give_the_band_of_their_means() -> None:
    frame, _ = iris_like()
    trees = [TreeRegressor(max_depth=1).fit(frame, frame["a"] + shift).tree_ for shift in (0.0, 1.0, -1.0)]
    leaf = stability_of(trees)[1]
    assert leaf.agreeing is None
    assert leaf.means is not None
    means = [float(tree.means[1, 0]) for tree in trees]
    assert (leaf.means.low, leaf.means.high) == (min(means), max(means))


def test_text_json_and_table_say_the_same() -> None:
    frame, y = iris_like()
    stability = stability_of(folds_of(frame, y, min_samples_leaf=5))
    record = json.loads(stability.to_json())
    assert record["nodes"] == json.loads(json.dumps(stability.table()))
    assert len(record["nodes"]) == len(stability) == stability.tree.n_nodes
    lines = stability.to_text().splitlines()[2:]
    listed = sum(len(node["alternatives"]) for node in record["nodes"])
    assert listed > 0
    assert len(lines) == len(stability) + listed
    assert lines[0].startswith(f"root  n=90  asks {record['nodes'][0]['test']}  ")
    assert f"{record['nodes'][0]['same']} of 5 folds" in lines[0]
    assert "leaves below" in stability.to_text(max_depth=1)
    assert repr(stability).startswith("<Stability: 5 folds, ")


def test_chains_deeper_than_the_stack_are_walked() -> None:
    frame = pd.DataFrame({"x": np.arange(3000)})
    y = np.arange(3000) % 2
    trees = folds_of(frame, y, k=2)
    stability = stability_of(trees)
    assert stability[0].folds == 2
    records = list(stability)
    assert len(records) == trees[0].n_nodes
    deepest = max(records, key=lambda record: record.depth)
    assert deepest.depth > 1000
    assert deepest.path.startswith(f"(the first {deepest.depth - 40} conditions) and x ")


@pytest.mark.parametrize("many", [0, 1])
def test_too_few_trees_are_refused(many: int) -> None:
    frame, y = iris_like()
    tree = TreeClassifier(max_depth=1).fit(frame, y).tree_
    with pytest.raises(UsageError, match="at least one fold"):
        stability_of([tree] * many)


def test_trees_of_different_tables_are_refused() -> None:
    frame, y = iris_like()
    tree = TreeClassifier(max_depth=1).fit(frame, y).tree_
    with pytest.raises(UsageError, match="tree 1 was grown from other columns"):
        stability_of([tree, TreeClassifier(max_depth=1).fit(frame[["b", "a"]], y).tree_])
    with pytest.raises(UsageError, match="tree 1 has other classes"):
        stability_of([tree, TreeClassifier(max_depth=1).fit(frame, y == "yes").tree_])


def test_a_node_that_is_not_there_is_refused() -> None:
    frame, y = iris_like()
    stability: Stability = stability_of(folds_of(frame, y))
    with pytest.raises(UsageError, match="the tree has the nodes 0 to"):
        stability[len(stability)]
