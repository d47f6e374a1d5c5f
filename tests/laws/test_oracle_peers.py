"""What others say to the oracle: textbook formulas, theorems, NumPy's eigenvectors, scikit-learn's trees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tests.oracle.candidates import at_node, best_subset, every_subset, numeric
from tests.oracle.grow import TreeNode, grow
from tests.oracle.growth import Growth
from tests.oracle.ordering import principal_scores
from tests.oracle.quality import entropy_gain, gini_gain, variance_gain_binary
from tests.oracle.table import AllParameters, ClassCounts, Classes, Column, Parameters, Sample, Targets

pytestmark = pytest.mark.recorded

FEW = settings(max_examples=max(10, settings.default.max_examples // 20))  # type: ignore[union-attr]


@pytest.mark.parametrize("criterion", ["gini", "entropy", "variance"])
@FEW
@given(st.integers(0, 2**32 - 1))
def test_prefix_cuts_beyond_twelve_are_as_good_as_all_subsets(criterion: str, seed: int) -> None:
    """Fisher's and Breiman's theorem: for two classes or one target the best subset is a prefix."""
    source = np.random.default_rng(seed)
    names = [chr(97 + int(i)) for i in [*range(13), *source.integers(0, 13, 20)]]
    column = Column("w", "nominal", tuple(names))
    if criterion == "variance":
        target: Classes | Targets = Targets(tuple((float(y),) for y in source.integers(0, 50, 33)))
    else:
        target = Classes(tuple(int(y) for y in source.integers(0, 2, 33)))
    assume(not target.statistics(range(33), Sample.of(33)).is_pure())
    node = at_node(0, column, target, range(33), Sample.of(33), AllParameters(criterion), 1)
    found = best_subset(node)
    assert found is not None
    every = node.best(every_subset(node))
    assert every is not None
    assert found.quality == pytest.approx(every.quality, rel=1e-12)


def test_the_principal_component_of_a_line_is_the_line() -> None:
    table = [[j, 20 - j, 7] for j in (3, 9, 0, 14, 20, 11)]
    scores = principal_scores(table, [27] * 6, 1)
    order = sorted(range(6), key=lambda j: scores[j])
    assert order in ([2, 0, 1, 5, 3, 4], [4, 3, 5, 1, 0, 2])


@given(st.integers(0, 2**32 - 1))
def test_principal_scores_are_those_of_an_eigenvector(seed: int) -> None:
    source = np.random.default_rng(seed)
    table = source.integers(0, 9, (14, 4)) + 1
    sizes = table.sum(axis=1)
    dev = table / sizes[:, None] - table.sum(axis=0) / sizes.sum()
    values, vectors = np.linalg.eigh((dev * sizes[:, None]).T @ dev)
    assume(values[-2] / values[-1] < 0.6)  # 32 rounds settle it
    scores = np.array(principal_scores(table.tolist(), sizes.tolist(), 1))
    expected = dev @ vectors[:, -1]
    expected = expected if expected @ scores > 0 else -expected
    assert np.allclose(scores, expected, atol=1e-4)


def test_gains_agree_with_textbook_formulas() -> None:
    left, right = ClassCounts(7, (4, 2, 1), 7), ClassCounts(5, (0, 1, 4), 5)
    node = left + right

    def gini(counts: ClassCounts) -> float:
        return float(1 - sum((c / counts.n) ** 2 for c in counts.counts))

    def entropy(counts: ClassCounts) -> float:
        return float(-sum(c / counts.n * math.log2(c / counts.n) for c in counts.counts if c))

    def information(whole: ClassCounts, parts: list[ClassCounts]) -> float:
        return entropy_gain(whole.n, whole, parts)

    for textbook, ours in ((gini, gini_gain), (entropy, information)):
        expected = textbook(node) - 7 / 12 * textbook(left) - 5 / 12 * textbook(right)
        assert ours(node, [left, right]) == pytest.approx(expected, rel=1e-12)
    y = Targets(((1.0,), (4.0,), (2.5,), (9.0,)))
    a, b = y.statistics([0, 2], Sample.of(4)), y.statistics([1, 3], Sample.of(4))
    between = np.var([1, 4, 2.5, 9]) - np.var([1, 2.5]) / 2 - np.var([4, 9]) / 2
    assert variance_gain_binary(a + b, a, b) == pytest.approx(float(between), rel=1e-12)


def is_clear(
    columns: Sequence[Column], target: Classes | Targets, node: TreeNode, parameters: Parameters
) -> bool:
    """Whether the best test of the node stands out from all others."""
    sample, full = Sample.of(len(columns[0].values)), AllParameters.of(parameters)
    qualities = []
    for i, column in enumerate(columns):
        here = at_node(i, column, target, node.rows, sample, full, 1)
        qualities += [choice.quality for choice in map(here.choice, numeric(here)) if choice is not None]
    best = sorted(qualities)[-2:]
    return len(best) == 1 or best[1] - best[0] > 1e-9 * (1 + best[1])


def subtree_sizes(nodes: Sequence[TreeNode]) -> list[int]:
    """How many nodes, itself included, hang below each node of a binary tree in preorder."""
    size = [1] * len(nodes)
    for i in reversed(range(len(nodes))):
        if nodes[i].choice is not None:
            left = size[i + 1]
            size[i] = 1 + left + size[i + 1 + left]
    return size


@pytest.mark.parametrize("criterion", ["gini", "entropy", "variance"])
@settings(max_examples=max(40, settings.default.max_examples // 5))  # type: ignore[union-attr]
@given(st.integers(0, 2**32 - 1))
def test_scikit_learn_splits_alike_where_one_test_is_best(criterion: str, seed: int) -> None:
    source = np.random.default_rng(seed)
    n = int(source.integers(5, 50))
    X = source.integers(-20, 20, (n, 3)).astype(float)  # small integers survive its float32
    parameters = Parameters(criterion)
    target: Classes | Targets
    if criterion == "variance":
        y = source.integers(0, 100, n).astype(float)
        target = Targets(tuple((float(v),) for v in y))
        peer = DecisionTreeRegressor(random_state=0).fit(X, y).tree_
    else:
        y = source.integers(0, 3, n)
        target = Classes(tuple(int(v) for v in y))
        peer = DecisionTreeClassifier(criterion=criterion, random_state=0).fit(X, y).tree_
    columns = [Column(f"x{i}", "float", tuple(map(float, X[:, i]))) for i in range(3)]
    nodes = grow(columns, target, parameters)
    size = subtree_sizes(nodes)
    waiting = [(0, 0)]
    while waiting:
        i, j = waiting.pop()
        choice = nodes[i].choice
        assert (choice is None) == (peer.children_left[j] < 0)
        assert nodes[i].stats.n == peer.n_node_samples[j]
        assert nodes[i].impurity == pytest.approx(peer.impurity[j], rel=1e-6, abs=1e-9)
        if choice is not None and is_clear(columns, target, nodes[i], parameters):
            assert (choice.candidate.attribute, choice.candidate.threshold) == (
                peer.feature[j],
                peer.threshold[j],
            )
            waiting += [(i + 1, peer.children_left[j]), (i + 1 + size[i + 1], peer.children_right[j])]


def follow(nodes: list[TreeNode], peer: Any, growth: Growth) -> int:
    """Where scikit-learn takes the same test, the children agree as well; its other tests are ties. How many
    nodes were compared."""
    size, waiting, compared = subtree_sizes(nodes), [(0, 0)], 0
    while waiting:
        i, j = waiting.pop()
        compared += 1
        node = nodes[i]
        assert node.stats.rows == peer.n_node_samples[j]
        assert node.mass == pytest.approx(peer.weighted_n_node_samples[j], rel=1e-9)
        assert node.impurity == pytest.approx(peer.impurity[j], rel=1e-6, abs=1e-9)
        if growth.costs is not None:
            assert isinstance(node.stats, ClassCounts)
            assert growth.costs.shares(node.stats) == pytest.approx(list(peer.value[j][0]), abs=1e-9)
        if node.choice is None or peer.children_left[j] < 0:
            continue
        same = (node.choice.candidate.attribute, node.choice.candidate.threshold)
        if same == (peer.feature[j], peer.threshold[j]):
            waiting += [(i + 1, peer.children_left[j]), (i + 1 + size[i + 1], peer.children_right[j])]
        else:
            left, right = peer.children_left[j], peer.children_right[j]
            n = peer.weighted_n_node_samples
            theirs = (
                peer.impurity[j] - (n[left] * peer.impurity[left] + n[right] * peer.impurity[right]) / n[j]
            )
            assert node.gain == pytest.approx(theirs, rel=1e-6, abs=1e-9)
    return compared


UNEQUAL = {0: 1.0, 1: 2.5, 2: 0.3}


@pytest.mark.parametrize(
    ("criterion", "class_weight"),
    [*((c, v) for c in ("gini", "entropy") for v in (None, "balanced", UNEQUAL)), ("variance", None)],
)
@settings(max_examples=max(20, settings.default.max_examples // 10))  # type: ignore[union-attr]
@given(st.integers(0, 2**32 - 1))
def test_scikit_learn_agrees_about_weights(criterion: str, class_weight: Any, seed: int) -> None:
    source = np.random.default_rng(seed)
    n = int(source.integers(5, 40))
    X = source.integers(-20, 20, (n, 3)).astype(float)
    w = source.choice([0.5, 1.0, 1.7, 3.0], n) if class_weight != "balanced" else np.ones(n)
    columns = [Column(f"x{i}", "float", tuple(map(float, X[:, i]))) for i in range(3)]
    target: Classes | Targets
    if criterion == "variance":
        y = source.integers(0, 100, n).astype(float)
        target = Targets(tuple((float(v),) for v in y))
        peer: Any = DecisionTreeRegressor(random_state=0)
    else:
        y = source.integers(0, 3, n)
        target = Classes(tuple(int(v) for v in y))
        peer = DecisionTreeClassifier(criterion=criterion, random_state=0, class_weight=class_weight)
    if isinstance(class_weight, dict):
        class_weight = {k: v for k, v in class_weight.items() if k in set(y.tolist())}
        peer.set_params(class_weight=class_weight)
    growth = Growth.of(columns, target, AllParameters(criterion, class_weight=class_weight), weights=list(w))
    assert follow(growth.grow(), peer.fit(X, y, sample_weight=w).tree_, growth) > 0
