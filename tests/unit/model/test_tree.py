"""A tree cannot be changed, knows its sizes, and says what its nodes say."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from hornbeam.model import Tree
from tests.unit.model.builder import float_schema, mixed_schema, plain_arrays, random_table, random_tree

SCHEMA = mixed_schema()


def some_tree(seed: int = 0, **options: object) -> Tree:
    return random_tree(np.random.default_rng(seed), SCHEMA, **{"n_tests": 15, **options})  # type: ignore[arg-type]


def test_arrays_are_read_only_and_nobody_elses() -> None:
    arrays = plain_arrays(some_tree())
    tree = Tree(SCHEMA, arrays, classes=["a", "b", "c"])
    before = tree.digest
    for name, array in tree.arrays.items():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        arrays[name][...] = 0
    with pytest.raises(TypeError):
        tree.arrays["kind"] = arrays["kind"]  # type: ignore[index]
    with pytest.raises(AttributeError, match="cannot be changed"):
        tree.schema = None  # type: ignore[assignment]
    with pytest.raises(AttributeError, match="cannot be changed"):
        del tree.schema
    assert Tree(SCHEMA, tree.arrays, classes=["a", "b", "c"]).digest == before


def test_sizes_agree_with_a_plain_count() -> None:
    tree = some_tree(3, breadth_first=False)
    depths = {0: 0}
    for node in range(tree.n_nodes):
        for child in tree.children(node):
            depths[child] = depths[node] + 1
    assert tree.n_nodes == len(depths)
    assert tree.depth == max(depths.values())
    assert tree.node_depths.tolist() == [depths[node] for node in range(tree.n_nodes)]
    assert tree.n_leaves == sum(tree.is_leaf(node) for node in range(tree.n_nodes))
    assert (tree.n_classes, tree.n_targets) == (3, 0)
    assert "\n" not in repr(tree)
    assert f"{tree.n_leaves} leaves, depth {tree.depth}, 3 classes" in repr(tree)


def test_a_leaf_predicts_its_largest_count_and_the_first_among_equals() -> None:
    tree = some_tree(4, n_classes=5)
    for node in range(tree.n_nodes):
        counts = tree.counts(node)
        assert tree.leaf_class[node] == counts.argmax()
        assert np.array_equal(tree.probabilities([node])[0], counts / counts.sum())
    assert tree.probabilities([]).shape == (0, 5)
    several = [3, 0, 0, 2]
    assert np.array_equal(tree.probabilities(several), np.vstack([tree.probabilities([i]) for i in several]))


def test_counts_of_a_class_that_is_absent_everywhere_are_zero() -> None:
    arrays = plain_arrays(some_tree(1))
    tree = Tree(SCHEMA, arrays, classes=["a", "b", "c", "never"])
    assert all(tree.counts(node)[3] == 0 for node in range(tree.n_nodes))
    assert tree.digest == Tree(SCHEMA, arrays, classes=["a", "b", "c"]).digest


def test_importances_are_scikit_learns() -> None:
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    X, y = rng.random((300, 4)), rng.integers(0, 3, 300)
    peer = DecisionTreeClassifier(random_state=0, max_depth=6).fit(X, y)
    tree = from_sklearn(peer)
    assert np.allclose(tree.feature_importances, peer.feature_importances_, rtol=1e-12, atol=0)
    assert tree.feature_importances.sum() == pytest.approx(1.0)
    lone = random_tree(rng, SCHEMA, n_tests=0)
    assert lone.feature_importances.tolist() == [0.0] * len(SCHEMA.attributes)


def from_sklearn(peer: object) -> Tree:
    """The same tree in our arrays; scikit-learn numbers in preorder, we put children side by side."""
    t = peer.tree_  # type: ignore[attr-defined]
    order = [0]
    for i in order:
        if t.children_left[i] >= 0:
            order += [t.children_left[i], t.children_right[i]]
    at = np.array(order)
    ours = np.empty(len(at), int)
    ours[at] = np.arange(len(at))
    left, right = t.children_left, t.children_right
    w, impurity = t.weighted_n_node_samples, t.impurity
    gain = impurity - (w[left] * impurity[left] + w[right] * impurity[right]) / w
    leaf = left[at] < 0
    counts = t.value[at][:, 0, :] * w[at][:, None]
    n = len(at)
    arrays = {
        "kind": (~leaf).astype(np.uint8),
        "attribute": np.where(leaf, -1, t.feature[at]).astype(np.int32),
        "first_child": np.where(leaf, -1, ours[left[at]]).astype(np.int32),
        "n_children": np.where(leaf, 0, 2).astype(np.int32),
        "default_child": np.where(leaf, -1, 0).astype(np.int32),
        "threshold": np.where(leaf, 0.0, t.threshold[at]),
        "threshold_integer": np.zeros(n, np.int64),
        "rows": t.n_node_samples[at].astype(np.int64),
        "weight": w[at].astype(np.float64),
        "impurity": impurity[at].astype(np.float64),
        "gain": np.where(leaf, 0.0, gain[at]),
        "branch_start": np.zeros(n + 1, np.int64),
        "branch_code": np.empty(0, np.int32),
        "branch_child": np.empty(0, np.int32),
        "count_start": np.arange(n + 1) * counts.shape[1],
        "count_class": np.tile(np.arange(counts.shape[1], dtype=np.int32), n),
        "count": counts.ravel().round(),
        "mean": np.empty(0),
    }
    return Tree(float_schema(t.n_features), arrays, classes=list(range(counts.shape[1])))


def test_predictions_are_scikit_learns() -> None:
    from sklearn.tree import DecisionTreeClassifier

    from hornbeam.table import Column, Table

    rng = np.random.default_rng(1)
    X = rng.random((2000, 6)).astype(np.float32).astype(np.float64)
    y = rng.integers(0, 3, 2000)
    peer = DecisionTreeClassifier(random_state=0).fit(X, y)
    tree = from_sklearn(peer)
    fresh = rng.random((5000, 6)).astype(np.float32).astype(np.float64)
    table = Table(tree.schema, tuple(Column("float", fresh[:, j]) for j in range(6)), len(fresh))
    assert np.array_equal(tree.predict_codes(table), peer.predict(fresh))
    assert np.array_equal(tree.predict_shares(table), peer.predict_proba(fresh))


def test_pickle_gives_an_equal_tree_that_still_routes() -> None:
    tree = some_tree(6)
    table = random_table(np.random.default_rng(0), SCHEMA, 30)
    leaves = tree.apply(table)
    again = pickle.loads(pickle.dumps(tree))
    assert again == tree
    assert hash(again) == hash(tree)
    assert np.array_equal(again.apply(table), leaves)
    assert not again.arrays["kind"].flags.writeable
    assert copy.deepcopy(tree) is tree
    assert copy.copy(tree) is tree


def test_equality_is_that_of_the_digest() -> None:
    tree, other = some_tree(6), some_tree(7)
    assert tree == Tree(SCHEMA, tree.arrays, classes=tree.classes)
    assert tree != other
    assert tree != "a tree"
    assert len({tree, other, some_tree(6)}) == 2


def test_a_trusted_tree_shares_its_arrays() -> None:
    arrays = plain_arrays(some_tree())
    tree = Tree.trusted(SCHEMA, arrays, classes=np.array([1, 2, 3]))  # type: ignore[arg-type]
    assert tree.arrays["kind"] is arrays["kind"]
    assert not tree.arrays["kind"].flags.writeable
    assert tree.classes == (1, 2, 3)
    assert all(type(label) is int for label in tree.classes)
