"""The pruned trees of the package are those of the oracle: node by node, to the last bit."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from hornbeam import _core
from hornbeam.growth import ClassTarget, NumericTarget, Pruning, complexity_path, prune_tree
from hornbeam.growth.grow import collapsed
from hornbeam.model import Tree
from hornbeam.table import conform, from_data
from tests import strategies
from tests.agreement import agree
from tests.laws.random_cases import random_cases
from tests.laws.reading import fields, fit, form_of, frame, numbers, preorder, target_array
from tests.oracle.canonical import Form, canonical_form
from tests.oracle.complexity import cost_complexity, steps
from tests.oracle.grow import grow
from tests.oracle.growth import Growth, TreeNode
from tests.oracle.prune import collapse, error_based, extra_errors, reduced_error
from tests.oracle.table import AllParameters, Classes, Column, Parameters, Sample
from tests.strategies import CLASS_CRITERIA, Case

CLASSES = st.one_of(
    strategies.classification(), random_cases.filter(lambda case: isinstance(case.target, Classes))
)
ANY = st.one_of(strategies.cases(), random_cases)
CONFIDENCES = st.sampled_from([0.25, 0.25, 0.25, 0.001, 0.01, 0.1, 0.5, 0.9, 1.0, 1e-9, 1e-300])


def target_of(case: Case, labels: Any) -> ClassTarget | NumericTarget:
    values = target_array(case)
    if isinstance(case.target, Classes):
        return ClassTarget(np.searchsorted(labels, values).astype(np.int32), labels)
    return NumericTarget(values.reshape(case.n, -1), tuple(f"y{i}" for i in range(len(case.target.rows[0]))))


def task_of(case: Case) -> str:
    return "classification" if isinstance(case.target, Classes) else "regression"


def pruned(case: Case, **options: Any) -> Tree:
    """What is left of the tree of a case."""
    model = fit(case)
    table = from_data(frame(case.columns))
    target = target_of(case, getattr(model, "classes_", None))
    pruning = Pruning(**options).checked(task_of(case))
    return prune_tree(model.tree_, pruning, table, target, criterion=model.criterion)


PrunedForm = tuple[Form, list[tuple[int, float, float]], list[float]]


def pruned_form(tree: Tree) -> PrunedForm:
    """A tree with all its numbers."""
    Tree(tree.schema, tree.arrays, classes=tree.classes, targets=tree.targets)  # verified anew
    found = fields(tree)
    return form_of(found), numbers(found), [float(found.weight[i]) for i in preorder(found)]


def oracles_pruned_form(case: Case, nodes: Sequence[TreeNode]) -> PrunedForm:
    form = canonical_form(nodes, case.columns, case.target)
    rows = [(node.stats.rows, node.impurity, node.gain) for node in nodes]
    return form, rows, [float(node.stats.n) for node in nodes]


def assert_pruned_by_errors(case: Case, confidence: float) -> None:
    def expected() -> PrunedForm:
        growth = Growth.of(case.columns, case.target, case.parameters)
        nodes = growth.grow()
        left = error_based(growth, nodes, confidence)
        event(what_happened(nodes, left))
        return oracles_pruned_form(case, left)

    tree = pruned(case, prune="error_based", confidence=confidence)
    agree((case, confidence), pruned_form(tree), expected)


def what_happened(nodes: Sequence[TreeNode], expected: Sequence[TreeNode]) -> str:
    rows = {node.rows for node in nodes}
    if any(node.rows not in rows for node in expected):
        return "raised"
    return "cut" if len(expected) < len(nodes) else "whole"


@pytest.mark.agreed
@settings(max_examples=4 * settings.default.max_examples)  # type: ignore[union-attr]
@given(CLASSES, CONFIDENCES)
def test_pruning_by_errors_is_the_oracles(case: Case, confidence: float) -> None:
    assert_pruned_by_errors(case, confidence)


@pytest.mark.agreed
@given(CLASSES)
def test_competitors_stay_with_the_test_they_competed_with(case: Case) -> None:
    model = fit(case, competitors=5)
    target = target_of(case, model.classes_)
    pruning = Pruning(prune="error_based").checked("classification")
    tree = prune_tree(model.tree_, pruning, from_data(frame(case.columns)), target, criterion=model.criterion)

    def expected() -> tuple[PrunedForm, list[list[tuple[str, float]]]]:
        growth = Growth.of(case.columns, case.target, case.parameters)
        nodes = error_based(growth, growth.grow())
        kept = [node.competitors if node.choice is not None else () for node in nodes]
        names = [[(case.columns[c.candidate.attribute].name, c.quality) for c in others] for others in kept]
        return oracles_pruned_form(case, nodes), names

    found = [
        [(test.attribute, float(test.quality)) for test in tree.competitors(node)]
        for node in preorder(fields(tree))
    ]
    agree(case, (pruned_form(tree), found), expected)


def noisy_column(source: random.Random, n: int, name: str) -> Column:
    """Few values, or some at the ends of their type; more labels than the bits of a word."""
    kind = source.choice(["float", "integer", "nominal"])
    few, gaps = source.random() < 0.6, source.choice([0.0, 0.05])
    cells: list[Any]
    if kind == "nominal":
        labels = "abcd" if few else [chr(ord("A") + i) for i in range(90)]
        return Column(name, kind, tuple(source.choice(labels) for _ in range(n)))
    if kind == "integer":
        lowest = 0 if few else source.choice([-(2**63), 2**63 - 5, 2**64 - 5])
        cells = [lowest + source.randrange(5) for _ in range(n)]
        cells[0] = lowest if few or lowest < 2**63 else 0
    else:
        cells = [float(source.randrange(30)) for _ in range(n)]
        if not few:
            cells = [source.choice([cell, -math.inf, math.inf, -0.0, -cell]) for cell in cells]
    return Column(name, kind, tuple(None if source.random() < gaps else cell for cell in cells))


def part_of(value: float | int | str | None) -> int:
    if value is None or (isinstance(value, float) and math.isinf(value)):
        return 0
    return ord(value) if isinstance(value, str) else int(value) % 64 // 4


def noisy_case(seed: int) -> Case:
    """Larger tables of few values, where branches are raised into each other."""
    source = random.Random(seed)
    n = source.choice([100, 200, 400])
    columns = tuple(noisy_column(source, n, f"x{i}") for i in range(source.choice([3, 4, 6])))
    k, noise = source.choice([2, 3, 5]), source.choice([0.05, 0.2, 0.4, 1.0])
    first, second = columns[0].values, columns[1].values
    codes = [(part_of(a) + 2 * part_of(b)) % k for a, b in zip(first, second, strict=True)]
    labels = [source.randrange(k) if source.random() < noise else code for code in codes]
    criterion, nominal = source.choice(CLASS_CRITERIA), source.choice(["subset", "multiway", "value"])
    parameters = Parameters(criterion, nominal, min_samples_leaf=source.choice([1, 2]))
    return Case(columns, Classes(tuple(labels)), parameters)


@pytest.mark.agreed
@settings(max_examples=max(12, settings.default.max_examples // 8), deadline=None)  # type: ignore[union-attr]
@given(st.integers(0, 2**64 - 1), CONFIDENCES)
def test_pruning_by_errors_of_noisy_tables_is_the_oracles(seed: int, confidence: float) -> None:
    assert_pruned_by_errors(noisy_case(seed), confidence)


@pytest.mark.agreed
@given(ANY, st.integers(0, 2**32 - 1))
def test_the_path_of_complexity_is_the_oracles(case: Case, seed: int) -> None:
    alphas, impurities = (numbers.tolist() for numbers in complexity_path(fit(case).tree_))
    chosen = random.Random(seed).choice(alphas)
    tried = (chosen, math.nextafter(chosen, math.inf), 0.01)

    def expected() -> tuple[list[float], list[float], list[PrunedForm]]:
        nodes = Growth.of(case.columns, case.target, case.parameters).grow()
        path = list(steps(nodes))
        left = [oracles_pruned_form(case, cost_complexity(nodes, alpha)) for alpha in tried]
        return [step.alpha for step in path], [step.impurity for step in path], left

    left = [pruned_form(pruned(case, prune="cost_complexity", ccp_alpha=alpha)) for alpha in tried]
    agree((case, tried), (alphas, impurities, left), expected)


@pytest.mark.agreed
@given(ANY, st.integers(0, 2**32 - 1))
def test_reduced_error_is_the_oracles(case: Case, seed: int) -> None:
    source = random.Random(seed)
    kept_out = [int(source.random() < 0.4) for _ in range(case.n)]
    assume(0 < sum(kept_out) < case.n)
    grown, judged = (case.rows([row for row in range(case.n) if kept_out[row] == out]) for out in (0, 1))
    if isinstance(grown.target, Classes) and isinstance(case.target, Classes):
        assume(grown.target.order == case.target.order)
    model = fit(grown)
    table = conform(frame(judged.columns), model.tree_.schema)
    target = target_of(judged, getattr(model, "classes_", None))
    pruning = Pruning(prune="reduced_error").checked(task_of(case))
    tree = prune_tree(model.tree_, pruning, table, target, criterion=model.criterion)

    def expected() -> PrunedForm:
        growth = Growth.of(case.columns, case.target, case.parameters, times=[1 - out for out in kept_out])
        left = reduced_error(growth, growth.grow(), Sample.of(case.n, kept_out))
        return oracles_pruned_form(case, left)

    agree((case, kept_out), pruned_form(tree), expected)


@pytest.mark.agreed
@given(CLASSES)
def test_collapse_is_the_oracles(case: Case) -> None:
    def expected() -> PrunedForm:
        growth = Growth.of(case.columns, case.target, case.parameters)
        return oracles_pruned_form(case, collapse(growth, growth.grow()))

    grown = fit(case).tree_
    agree(case, pruned_form(collapsed(grown)), expected)
    event(f"{grown.n_nodes - collapsed(grown).n_nodes > 0}")


@pytest.mark.agreed
@given(CLASSES)
def test_c45_collapses_what_it_grew(case: Case) -> None:
    p = AllParameters(**{**vars(case.parameters), "criterion": "c45", "min_objs": 2.0})
    case = Case(case.columns, case.target, p)

    def expected() -> PrunedForm:
        return oracles_pruned_form(case, grow(case.columns, case.target, case.parameters))

    agree(case, pruned_form(fit(case).tree_), expected)


@pytest.mark.parametrize(
    ("n", "e", "upper"), [(6, 0, 0.2063), (9, 0, 0.1428), (1, 0, 0.75), (16, 1, 0.1567), (14, 5, 0.4854)]
)
def test_the_upper_limits_are_those_of_c45(n: float, e: float, upper: float) -> None:
    assert round(_core.expected_errors(n, e, 0.25) / n, 4) == upper


ROWS = st.one_of(st.integers(1, 64), st.integers(1, 2**31)).map(float)
ANY_CONFIDENCE = st.one_of(
    CONFIDENCES, st.floats(0.0, 1.0, exclude_min=True), st.integers(1, 300).map(lambda i: 2.0**-i)
)


@pytest.mark.agreed
@settings(max_examples=10 * settings.default.max_examples)  # type: ignore[union-attr]
@given(ROWS, ANY_CONFIDENCE)
def test_errors_expected_without_an_error_are_correctly_rounded(n: float, confidence: float) -> None:
    found = _core.expected_errors(n, 0.0, confidence)
    agree((n, confidence), found, lambda: extra_errors(n, 0.0, confidence))


@pytest.mark.agreed
@given(st.integers(1, 10**7), CONFIDENCES)
def test_so_are_those_of_a_fraction_of_a_row(tenths: int, confidence: float) -> None:
    found = _core.expected_errors(tenths / 10, 0.0, confidence)
    agree((tenths, confidence), found, lambda: extra_errors(tenths / 10, 0.0, confidence))


@pytest.mark.agreed
@given(st.floats(1.0, 1e6), st.floats(0.0, 1.0), CONFIDENCES)
def test_errors_expected_are_the_oracles(n: float, share: float, confidence: float) -> None:
    errors = (n * share, float(int(n * share)))
    found = [_core.expected_errors(n, e, confidence) for e in errors]
    agree((n, errors, confidence), found, lambda: [e + extra_errors(n, e, confidence) for e in errors])
