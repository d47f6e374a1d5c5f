"""Pruning in the oracle: C4.5's check values, scikit-learn's paths, and every subtree of small trees."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tests.laws.test_oracle_self import chosen, floats, letters, words
from tests.laws.test_oracle_weights import numbers, weighted_cases
from tests.oracle.candidates import Candidate, Choice
from tests.oracle.canonical import canonical_form
from tests.oracle.complexity import cost_complexity, steps
from tests.oracle.growth import Growth, TreeNode
from tests.oracle.prune import ErrorBased, deviate, error_based, extra_errors, reduced_error, validation_loss
from tests.oracle.shape import Subtree, leaf, nested
from tests.oracle.table import AllParameters, ClassCounts, Sample
from tests.strategies import Case

pytestmark = pytest.mark.recorded

FEW = settings(max_examples=max(40, settings.default.max_examples // 4))  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("n", "e", "upper"), [(6, 0, 0.2063), (9, 0, 0.1428), (1, 0, 0.75), (16, 1, 0.1567), (14, 5, 0.4854)]
)
def test_the_upper_limits_are_those_of_c45(n: float, e: float, upper: float) -> None:
    assert round((e + extra_errors(n, e, 0.25)) / n, 4) == upper


def test_the_table_of_deviates_is_interpolated() -> None:
    assert deviate(0.25) == pytest.approx(0.6925, abs=1e-15)
    assert [deviate(cf) for cf in (0.001, 0.05, 0.4, 1.0)] == pytest.approx(
        [3.09, 1.65, 0.25, 0.0], abs=1e-15
    )


def test_between_no_error_and_one_the_limit_is_a_line() -> None:
    none, one = extra_errors(10.0, 0.0, 0.25), extra_errors(10.0, 1.0, 0.25)
    assert none == pytest.approx(10 * (1 - 0.25**0.1), rel=1e-14)
    assert extra_errors(10.0, 0.5, 0.25) == none + 0.5 * (one - none)
    assert extra_errors(3.0, 2.5, 0.25) == 0.67 * 0.5


@given(st.floats(0.01, 1e6), st.floats(0.001, 1.0))
def test_no_errors_are_correctly_rounded(n: float, confidence: float) -> None:
    """To within what a quick check can see; expm1 does not cancel."""
    expected = -n * math.expm1(math.log(confidence) / n)
    assert extra_errors(n, 0.0, confidence) == pytest.approx(expected, rel=1e-13)


def grown(columns: Sequence[Any], target: Any, **parameters: Any) -> tuple[Growth, list[TreeNode]]:
    growth = Growth.of(columns, target, AllParameters(**parameters))
    return growth, growth.grow()


def test_quinlans_subtree_becomes_a_leaf() -> None:
    """Of his votes: 6, 9 and 1 rows without error against 16 with one; 3.273 errors against 2.512."""
    column, target = words("w", "a" * 6 + "b" * 9 + "c"), letters("d" * 15 + "r")
    growth, nodes = grown([column], target, nominal="multiway", criterion="entropy")
    expected = [ErrorBased(growth, 0.25).expected(node) for node in nodes]
    assert [round(x, 3) for x in expected] == [2.507, 1.238, 1.285, 0.75]
    assert [len(error_based(growth, nodes, cf)) for cf in (0.25, 1.0)] == [1, 4]


def forced(growth: Growth, attribute: int) -> list[TreeNode]:
    """A tree whose root asks this nominal attribute, and below grows as it would."""
    root = growth.leaf(0, growth.sample.present())
    labels = sorted({str(growth.columns[attribute].at(row)) for row in root.rows})
    child_of = tuple((label, i) for i, label in enumerate(labels))
    stats = (root.stats,) * len(labels)  # where rows go does not depend on them
    choice = Choice(Candidate("multiway", attribute, stats, None, child_of), 0, stats, 0.0, 0.0)
    nodes = [replace(root, choice=choice)]
    for rows in growth.children(nodes[0], root.rows):
        node = growth.inner(growth.leaf(1, rows))
        below = growth.children(node, rows) if node.choice is not None else []
        nodes += [node, *(growth.leaf(2, part) for part in below)]
    return nodes


def test_a_branch_may_take_its_parents_place() -> None:
    """The first test parts two rows from forty; the second, which tells the classes, is better alone."""
    first, second = words("first", "b" * 2 + "a" * 40), words("second", "pq" + "p" * 20 + "q" * 20)
    growth = Growth.of(
        [first, second], letters("xy" + "x" * 20 + "y" * 20), AllParameters("entropy", "multiway")
    )
    nodes = forced(growth, 0)
    raised = error_based(growth, nodes)
    assert [node.stats.rows for node in raised] == [42, 21, 21]
    assert raised[0].choice == nodes[1].choice
    assert [node.depth for node in raised] == [0, 1, 1]


def test_a_branch_is_raised_where_it_beats_the_leaf_that_beats_the_tree() -> None:
    """Twelve branches of one row expect .75 errors each: more than the leaf, but raising is better yet."""
    first = words("first", "a" * 10 + "bcdefghijklm")
    second = words("second", "p" * 5 + "q" * 5 + "p" * 12)
    target = letters("x" * 5 + "y" * 5 + "x" * 12)
    growth = Growth.of([first, second], target, AllParameters("entropy", "multiway"))
    nodes = forced(growth, 0)
    judge = ErrorBased(growth, 0.25)
    as_leaf, below = judge.expected(nodes[0]), sum(judge.expected(n) for n in nodes if n.choice is None)
    assert as_leaf < below
    raised = error_based(growth, nodes)
    assert [node.stats.rows for node in raised] == [22, 17, 5]


def test_of_equal_branches_the_first_may_be_raised() -> None:
    """Ten rows each way; the first branch asks `second`, the other `third`, and either would do alone."""
    first = words("first", "a" * 10 + "b" * 10)
    second = words("second", "pppppqqqqq" + "pppppqqqqq")
    third = words("third", "pqpqpqpqpq" + "pppppqqqqq")
    target = letters("xxxxxyyyyy" + "xxxxxyyyyy")
    growth = Growth.of([first, third, second], target, AllParameters("entropy", "multiway"))
    nodes = forced(growth, 0)
    assert [chosen(node).candidate.attribute for node in nodes if node.choice] == [0, 2, 1]
    raised = error_based(growth, nodes)
    assert (len(raised), chosen(raised[0]).candidate.attribute) == (3, 2)


@FEW
@given(weighted_cases(min_objs=st.sampled_from([None, 2.0])), st.integers(0, 2**32 - 1))
def test_pruning_by_errors_knows_rows_by_their_weight(case: Case, seed: int) -> None:
    assume(case.parameters.criterion != "variance")
    weights = numbers(seed, case.n, [1, 1, 2, 3])
    repeated = case.rows([row for row, m in enumerate(weights) for _ in range(m)])
    weighted = Growth.of(case.columns, case.target, case.parameters, weights=[float(w) for w in weights])
    plain = Growth.of(repeated.columns, repeated.target, case.parameters)
    trees = [error_based(growth, growth.grow()) for growth in (weighted, plain)]
    forms = [canonical_form(tree, case.columns, case.target) for tree in trees]
    assert forms[0] == forms[1]


@FEW
@given(weighted_cases())
def test_a_pruned_tree_holds_every_row_and_expects_no_more_errors(case: Case) -> None:
    assume(case.parameters.criterion != "variance")
    growth = Growth.of(case.columns, case.target, case.parameters)
    nodes = growth.grow()
    pruned = error_based(growth, nodes)
    judge = ErrorBased(growth, 0.25)
    leaves = [[node for node in tree if node.choice is None] for tree in (nodes, pruned)]
    assert sorted(row for node in leaves[1] for row in node.rows) == list(range(case.n))
    before, after = (sum(map(judge.expected, some)) for some in leaves)
    assert after <= before + 0.1 * len(nodes)
    for node in pruned:
        fresh = growth.leaf(node.depth, node.rows)
        assert (fresh.stats, fresh.impurity, fresh.label) == (node.stats, node.impurity, node.label)


def from_sklearn(tree: Any) -> list[TreeNode]:
    """A tree of scikit-learn's as the oracle's nodes; all that pruning by complexity needs."""
    nothing = ClassCounts(0, (), 0)
    test = Choice(Candidate("numeric", 0, (nothing, nothing)), 0, (nothing, nothing), 0.0, 0.0)
    nodes = []
    for i in range(tree.node_count):  # they are numbered in preorder
        is_leaf = tree.children_left[i] < 0
        mass, impurity = float(tree.weighted_n_node_samples[i]), float(tree.impurity[i])
        nodes.append(TreeNode(0, (), nothing, impurity, mass, -1, None if is_leaf else test))
    return nodes


@pytest.mark.parametrize("kind", ["gini", "entropy", "balanced", "squared_error"])
@settings(max_examples=max(15, settings.default.max_examples // 15))  # type: ignore[union-attr]
@given(st.integers(0, 2**32 - 1))
def test_the_path_of_complexity_is_scikit_learns(kind: str, seed: int) -> None:
    source = np.random.default_rng(seed)
    n = int(source.integers(10, 80))
    X = source.normal(size=(n, 3)).round(1)
    w = source.choice([0.5, 1.0, 2.0, 3.7], n)
    y: Any
    model: Any
    if kind == "squared_error":
        y = (X[:, 0] + source.normal(size=n)).round(1)
        model = DecisionTreeRegressor(random_state=0)
    else:
        y = source.integers(0, 3, n)
        weighing = "balanced" if kind == "balanced" else None
        criterion = "gini" if kind == "balanced" else kind
        model = DecisionTreeClassifier(criterion=criterion, class_weight=weighing, random_state=0)
    nodes = from_sklearn(model.fit(X, y, sample_weight=w).tree_)
    path = model.cost_complexity_pruning_path(X, y, sample_weight=w)
    ours = list(steps(nodes))
    assert [step.alpha for step in ours] == pytest.approx(list(path.ccp_alphas), abs=1e-9)
    assert [step.impurity for step in ours] == pytest.approx(list(path.impurities), abs=1e-9)
    alphas = [a for a, b in itertools.pairwise(path.ccp_alphas) if b - a > 1e-6]
    for alpha in alphas[:: max(1, len(alphas) // 5)]:
        theirs = model.set_params(ccp_alpha=alpha + 5e-7).fit(X, y, sample_weight=w)
        pruned = cost_complexity(nodes, alpha + 5e-7)
        assert sum(node.choice is None for node in pruned) == theirs.get_n_leaves()


def test_complexity_zero_prunes_nothing_and_an_alpha_of_the_path_prunes_its_link() -> None:
    _, nodes = grown([floats("x", *map(float, range(8)))], letters("abbbabba"))
    assert cost_complexity(nodes, 0.0) == nodes
    path = list(steps(nodes))
    for step, following in itertools.pairwise(path):
        if following.alpha > step.alpha > 0.0:
            assert cost_complexity(nodes, step.alpha) == step.tree.preorder()
    assert len(cost_complexity(nodes, path[-1].alpha)) == 1
    assert len(list(steps(nodes[-1:]))) == 1


def test_dust_below_zero_is_no_alpha() -> None:
    nothing = ClassCounts(0, (), 0)
    test = Choice(Candidate("numeric", 0, (nothing, nothing)), 0, (nothing, nothing), 0.0, 0.0)
    root = TreeNode(0, (), nothing, 0.5, 2.0, -1, test)
    child = TreeNode(1, (), nothing, 0.5000001, 1.0, -1)
    assert [step.alpha for step in steps([root, child, child])] == [0.0, 0.0]


@FEW
@given(weighted_cases(), st.integers(0, 2**32 - 1))
def test_the_path_rises_and_its_trees_shrink(case: Case, seed: int) -> None:
    weights = numbers(seed, case.n, [0.1, 0.3, 1.0, 2.5])
    growth = Growth.of(case.columns, case.target, case.parameters, weights=weights)
    path = list(steps(growth.grow()))
    alphas, sizes = [step.alpha for step in path], [len(step.tree.preorder()) for step in path]
    assert alphas[0] == 0.0
    assert alphas == sorted(alphas)
    assert all(a > b for a, b in itertools.pairwise(sizes))
    assert sizes[-1] == 1


def every_pruning(tree: Subtree) -> Iterator[Subtree]:
    yield leaf(tree.node)
    if tree.children:
        for children in itertools.product(*(list(every_pruning(child)) for child in tree.children)):
            yield Subtree(tree.node, tuple(children))


def loss_of(growth: Growth, tree: Subtree, rows: tuple[int, ...], validation: Sample) -> Fraction:
    if not tree.children:
        return validation_loss(growth, tree.node, rows, validation)
    parts = growth.children(tree.node, rows)
    pairs = zip(tree.children, parts, strict=True)
    return sum((loss_of(growth, child, part, validation) for child, part in pairs), Fraction(0))


@FEW
@given(weighted_cases(), st.integers(0, 2**32 - 1))
def test_reduced_error_finds_the_smallest_of_the_best_prunings(case: Case, seed: int) -> None:
    kept_out = numbers(seed, case.n, [0, 0, 1])
    assume(0 < sum(kept_out) < case.n)
    growth = Growth.of(case.columns, case.target, case.parameters, times=[1 - m for m in kept_out])
    weights = numbers(seed + 1, case.n, [1.0, 1.0, 0.1, 0.0, 2.0])
    validation = Sample.of(case.n, kept_out, weights)
    nodes = growth.grow()
    assume(len(nodes) <= 15)
    found = nested(reduced_error(growth, nodes, validation))
    rows = validation.present()
    options = list(every_pruning(nested(nodes)))
    losses = [loss_of(growth, tree, rows, validation) for tree in options]
    best = min(losses)
    assert loss_of(growth, found, rows, validation) == best
    fewest = min(len(t.preorder()) for t, loss in zip(options, losses, strict=True) if loss == best)
    assert len(found.preorder()) == fewest


def test_reduced_error_by_hand() -> None:
    """Grown from eight rows; of the four kept out two speak for the first test, none for the second."""
    x = floats("x", *map(float, range(8)), 0.0, 1.0, 6.0, 7.0)
    target = letters("aaaabbab" + "aabb")
    growth = Growth.of([x], target, AllParameters(), times=[1] * 8 + [0] * 4)
    nodes = growth.grow()
    assert len(nodes) > 3
    validation = Sample.of(12, [0] * 8 + [1] * 4)
    pruned = reduced_error(growth, nodes, validation)
    assert [(node.label, node.stats.rows) for node in pruned] == [(0, 8), (0, 4), (1, 4)]
    nobody = Sample.of(12, [0] * 12)
    assert len(reduced_error(growth, nodes, nobody)) == 1


def test_losses_decide_what_reduced_error_keeps() -> None:
    """Seven rows say a, one says b; on validation b is rare and dear."""
    x = floats("x", *[0.0] * 7, 1.0, *[0.0] * 3, 1.0, 1.0, 1.0, 1.0)
    target = letters("a" * 7 + "b" + "aaa" + "aaab")
    times, kept = [1] * 8 + [0] * 7, [0] * 8 + [1] * 7
    for matrix, n_nodes in ((None, 1), (((0.0, 1.0), (9.0, 0.0)), 3)):
        growth = Growth.of([x], target, AllParameters(cost_matrix=matrix), times=times)
        nodes = growth.grow()
        assert len(nodes) == 3
        assert len(reduced_error(growth, nodes, Sample.of(15, kept))) == n_nodes
