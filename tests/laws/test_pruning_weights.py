"""Rows, classes and mistakes that weigh differently: pruned trees are the oracle's, to the last bit."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, event, example, given, settings
from hypothesis import strategies as st

from hornbeam import _core
from hornbeam.growth import (
    ClassTarget,
    Parameters,
    Pruning,
    complexity_path,
    grow_in_order,
    prune_tree,
)
from hornbeam.model import Tree
from hornbeam.table import conform, from_data
from tests import strategies
from tests.agreement import agree
from tests.laws.engine_tables import generated
from tests.laws.random_cases import random_case, random_cases
from tests.laws.reading import fields, form_of, frame, preorder
from tests.laws.test_pruning import ANY_CONFIDENCE, CONFIDENCES, noisy_case, target_of, task_of, what_happened
from tests.laws.test_weights import SEED, fitted, present, weights_of, with_costs
from tests.oracle.canonical import Form, canonical_form
from tests.oracle.complexity import cost_complexity, steps
from tests.oracle.grow import grow
from tests.oracle.growth import Growth, TreeNode
from tests.oracle.prune import error_based, extra_errors, reduced_error
from tests.oracle.quality import nearest
from tests.oracle.table import AllParameters, Classes, Sample
from tests.strategies import Case

EXAMPLES = settings.default.max_examples  # type: ignore[union-attr]
CLASSES = st.one_of(
    strategies.classification(), random_cases.filter(lambda case: isinstance(case.target, Classes))
)
ANY = st.one_of(strategies.cases(), random_cases)
Weights = list[float] | None
Expected = Callable[[Growth, list[TreeNode]], Any]
Found = Callable[[], Any]


def weighed(case: Case, seed: int) -> tuple[Case, Weights]:
    """The case with weights, class weights and costs, and C4.5 among its criteria."""
    weights = weights_of(seed, case.n)
    assume(present(case, weights))
    case = with_costs(case, seed)
    if isinstance(case.target, Classes) and seed % 4 == 0:
        case = case.having(criterion="c45")
    return case, weights


def pruned(case: Case, weights: Weights, model: Any, **options: Any) -> Tree:
    target = target_of(case, getattr(model, "classes_", None))
    target = replace(target, weights=None if weights is None else np.array(weights))
    pruning = Pruning(**options).checked(task_of(case))
    table = from_data(frame(case.columns))
    return prune_tree(model.tree_, pruning, table, target, criterion=model.criterion)


WeightedNode = tuple[int, float, float, float, int]
PrunedForm = tuple[Form, list[WeightedNode]]


def pruned_form(tree: Tree) -> PrunedForm:
    """A tree with all its numbers and the classes of its nodes."""
    Tree(tree.schema, tree.arrays, classes=tree.classes, targets=tree.targets, costs=tree.costs)
    found, label = fields(tree), None if tree.classes is None else tree.leaf_class
    numbers = [
        (
            int(found.rows[i]),
            float(found.weight[i]),
            float(found.impurity[i]),
            float(found.gain[i]),
            -1 if label is None else int(label[i]),
        )
        for i in preorder(found)
    ]
    return form_of(found), numbers


def oracles_pruned_form(case: Case, nodes: Sequence[TreeNode]) -> PrunedForm:
    has_classes = isinstance(case.target, Classes)
    numbers = [
        (
            node.stats.rows,
            nearest(node.stats.n),
            node.impurity,
            node.gain,
            node.label if has_classes else -1,
        )
        for node in nodes
    ]
    return canonical_form(nodes, case.columns, case.target), numbers


def agree_if_finite(case: Case, weights: Weights, model: Any, expected: Expected, found: Found) -> None:
    """Compares what is made of the fitted tree; where a number in it is not finite, that this is so."""
    tree = model.tree_.arrays
    is_finite = all(np.isfinite(tree[name]).all() for name in ("impurity", "gain", "weight"))

    def oracles() -> Any:
        nodes = grow(case.columns, case.target, case.parameters, None, weights)
        if not all(math.isfinite(x) for node in nodes for x in (node.impurity, node.gain, node.mass)):
            return None
        return expected(Growth.of(case.columns, case.target, case.parameters, None, weights), nodes)

    agree((case, weights), found() if is_finite else None, oracles)


def assert_pruned_by_errors(case: Case, seed: int, confidence: float) -> None:
    case, weights = weighed(case, seed)
    model = fitted(case, weights)

    def expected(growth: Growth, nodes: list[TreeNode]) -> PrunedForm:
        left = error_based(growth, nodes, confidence)
        event(what_happened(nodes, left))
        return oracles_pruned_form(case, left)

    def found() -> PrunedForm:
        return pruned_form(pruned(case, weights, model, prune="error_based", confidence=confidence))

    agree_if_finite(case, weights, model, expected, found)


@pytest.mark.agreed
@settings(max_examples=2 * EXAMPLES)
@given(CLASSES, SEED, CONFIDENCES)
def test_pruning_by_errors_is_the_oracles(case: Case, seed: int, confidence: float) -> None:
    assert_pruned_by_errors(case, seed, confidence)


@pytest.mark.agreed
@settings(max_examples=max(12, EXAMPLES // 8), deadline=None)
@given(SEED, CONFIDENCES)
def test_pruning_by_errors_of_noisy_tables_is_the_oracles(seed: int, confidence: float) -> None:
    assert_pruned_by_errors(noisy_case(seed), seed, confidence)


@pytest.mark.agreed
@given(CLASSES, SEED)
def test_collapse_is_the_oracles(case: Case, seed: int) -> None:
    case, weights = weighed(case, seed)
    case = case.having(criterion="c45")
    model = fitted(case, weights)

    def expected(growth: Growth, nodes: list[TreeNode]) -> PrunedForm:
        return oracles_pruned_form(case, nodes)

    agree_if_finite(case, weights, model, expected, lambda: pruned_form(model.tree_))


@pytest.mark.agreed
@example(random_case(0), 1585)  # mistakes that all cost 1, rows that weigh 0.1 to 0.7
@given(ANY, SEED)
def test_the_path_of_complexity_is_the_oracles(case: Case, seed: int) -> None:
    case, weights = weighed(case, seed)
    model = fitted(case, weights)

    def found() -> tuple[list[float], list[float], PrunedForm]:
        alphas, impurities = (numbers.tolist() for numbers in complexity_path(model.tree_))
        alpha = random.Random(seed).choice(alphas)
        tree = pruned(case, weights, model, prune="cost_complexity", ccp_alpha=alpha)
        return alphas, impurities, pruned_form(tree)

    def expected(growth: Growth, nodes: list[TreeNode]) -> tuple[list[float], list[float], PrunedForm]:
        path = list(steps(nodes, growth.factors))
        alphas, impurities = [step.alpha for step in path], [step.impurity for step in path]
        alpha = random.Random(seed).choice(alphas)
        left = cost_complexity(nodes, alpha, growth.factors)
        return alphas, impurities, oracles_pruned_form(case, left)

    agree_if_finite(case, weights, model, expected, found)


@pytest.mark.agreed
@given(ANY, SEED)
def test_reduced_error_is_the_oracles(case: Case, seed: int) -> None:
    case, weights = weighed(case, seed)
    source = random.Random(seed + 1)
    out = [int(source.random() < 0.4) for _ in range(case.n)]
    heavy = [1.0] * case.n if weights is None else weights
    assume(0 < sum(out) < case.n)
    assume(any(w > 0 for w, o in zip(heavy, out, strict=True) if o == 0))
    kept, judged = ([row for row in range(case.n) if out[row] == side] for side in (0, 1))
    rows, others = case.rows(kept), case.rows(judged)
    if isinstance(rows.target, Classes) and isinstance(case.target, Classes):
        assume(rows.target.order == case.target.order)
    model = fitted(rows, None if weights is None else [weights[row] for row in kept])
    target = target_of(others, getattr(model, "classes_", None))
    target = replace(target, weights=None if weights is None else np.array(weights)[judged])
    table = conform(frame(others.columns), model.tree_.schema)
    pruning = Pruning(prune="reduced_error").checked(task_of(case))
    tree = prune_tree(model.tree_, pruning, table, target, criterion=model.criterion)
    times = [1 - o for o in out]

    def expected() -> PrunedForm:
        nodes = grow(case.columns, case.target, case.parameters, times, weights)
        growth = Growth.of(case.columns, case.target, case.parameters, times, weights)
        return oracles_pruned_form(case, reduced_error(growth, nodes, Sample.of(case.n, out, weights)))

    agree((case, weights, out), pruned_form(tree), expected)


SIZES = st.one_of(
    st.integers(-60, 60).map(lambda i: 2.0**i),
    st.floats(1e-3, 1e3),
    st.integers(1, 400).map(lambda i: i / 16),
    st.floats(1e-30, 1e30),
)
EDGES = st.sampled_from([1 - 2**-53, 1 - 2**-52, 1 - 2**-30, 0.5 + 2**-53, 2**-0.5, 5e-324])


@pytest.mark.agreed
@settings(max_examples=10 * EXAMPLES)
@given(SIZES, st.one_of(ANY_CONFIDENCE, EDGES))
def test_errors_expected_of_any_weight_are_correctly_rounded(n: float, confidence: float) -> None:
    found = _core.expected_errors(n, 0.0, confidence)
    agree((n, confidence), found, lambda: extra_errors(n, 0.0, confidence))


def test_next_to_a_tie_more_bits_decide() -> None:
    """(1 - CF^4) / 4 for CF = 1 - e is e - 1.5 e^2 + e^3 - ...: the third power says on which side."""
    confidence = 1 - 2**-53
    for n in (0.25, 0.125, 0.5, 2.0**-20, 1 / 3, 3.0, 7.0):
        assert _core.expected_errors(n, 0.0, confidence) == extra_errors(n, 0.0, confidence), n


@pytest.mark.parametrize("rows", [300, 40000])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("criterion", ["gini", "c45"])
def test_the_order_that_the_grower_leaves_is_the_one_that_routing_finds(
    rows: int, threads: int, criterion: str
) -> None:
    table, target = generated(rows, classes=3)
    assert isinstance(target, ClassTarget)
    source = np.random.default_rng(rows)
    by_errors = Pruning("error_based").checked("classification")
    # Large tables are of other entries, whatever the criterion; weighted C4.5 takes seconds for each of them.
    nominals = ("multiway", "value", "subset") if criterion == "gini" or rows < 1000 else ("multiway",)
    for nominal in nominals:
        for weights in (None, source.choice([0.0, 0.5, 3.0], rows)):
            weighted = replace(target, weights=weights)
            parameters = Parameters(criterion, nominal, min_samples_leaf=3)
            tree, order = grow_in_order(table, weighted, parameters, threads=threads)
            leaves = tree.apply(table)[order]
            ends = np.flatnonzero(np.diff(leaves)) + 1
            assert len(ends) + 1 == tree.n_leaves
            known, routed = (
                prune_tree(tree, by_errors, table, weighted, criterion=criterion, order=given)
                for given in (order, None)
            )
            assert known == routed
            assert known.n_nodes <= tree.n_nodes


def test_integer_weights_prune_as_repeated_rows() -> None:
    source = np.random.default_rng(3)
    for seed in range(6):
        case = noisy_case(seed)
        times = source.integers(0, 4, case.n)
        weighted = Case(case.columns, case.target, AllParameters(criterion="gini", nominal="multiway"))
        repeated = weighted.rows(np.repeat(np.arange(case.n), times).tolist())
        weights = [float(t) for t in times]
        first, again = fitted(weighted, weights), fitted(repeated, None)
        for confidence in (0.25, 0.05):
            options = {"prune": "error_based", "confidence": confidence}
            assert pruned(weighted, weights, first, **options) == pruned(repeated, None, again, **options)
        assert np.array_equal(complexity_path(first.tree_), complexity_path(again.tree_))
