"""Weights of rows and classes, losses, correlation: the package grows the oracle's tree, node by node."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests import strategies
from tests.agreement import agree
from tests.laws.random_cases import random_cases
from tests.laws.reading import fields, form_of, frame, needs_package, preorder, target_array
from tests.laws.test_core_identity import ANY, bags, core, folds, native_column
from tests.oracle.canonical import Form, canonical_form
from tests.oracle.growth import Growth
from tests.oracle.table import AllParameters, Classes, Label
from tests.strategies import Case

pytestmark = needs_package
CLASS_CRITERIA = ("gini", "entropy", "gain_ratio", "correlation")
EXAMPLES = settings.default.max_examples  # type: ignore[union-attr]
HALF = settings(max_examples=max(20, EXAMPLES // 2))

# What weights are drawn from: ties, integers, zeros, powers of two, doubles with all their bits, wild ranges.
POOLS: list[list[float]] = [
    [0.1, 0.3, 0.7],
    [0.0, 1.0, 2.0, 3.0],
    [1.0, 1.0 + 2**-52, 1.0 - 2**-53],
    [2.0**e for e in range(-30, 31, 6)],
    [0.0, 0.25, 0.5, 1e-12, 1e6],
    [1e-70, 1e-30, 1.0, 1e30, 1e70],
    [5e-324, 1e-300, 1e-150, 0.1, 1.0, 1e80, 1e150, 1.7e306],
    [],
]
CLASS_POOLS: list[list[float]] = [[1.0, 2.0, 0.5], [0.1, 0.3, 7.0], [1e-20, 1.0, 1e20], []]


def weights_of(seed: int, n: int) -> list[float] | None:
    source = random.Random(seed)
    if source.random() < 0.2:
        return None
    pool = source.choice(POOLS) or [source.random() for _ in range(n)]
    return [source.choice(pool) for _ in range(n)]


def with_costs(case: Case, seed: int) -> Case:
    """Another criterion, class weights and costs, where the target is a class."""
    source = random.Random(seed)
    p = AllParameters.of(case.parameters)
    if not isinstance(case.target, Classes):
        return Case(case.columns, case.target, p)
    order = case.target.order
    pool = source.choice(CLASS_POOLS) or [source.random() + 0.01 for _ in order]
    given: dict[Label, float] = {label: source.choice(pool) for label in order if source.random() < 0.8}
    matrix = tuple(
        tuple(0.0 if i == j else source.choice(pool) for j in range(len(order))) for i in range(len(order))
    )
    return Case(
        case.columns,
        case.target,
        replace(
            p,
            criterion=source.choice(CLASS_CRITERIA),
            class_weight=source.choice([None, None, "balanced", given]),
            cost_matrix=source.choice([None, None, matrix]),
        ),
    )


def grow_forest(
    case: Case,
    weights: list[float] | None,
    times: list[list[int]] | None,
    *,
    min_objs: float | None = None,
    **how: Any,
) -> list[SimpleNamespace]:
    """The trees of the core: those of the sets that `times` gives for each row, or of one plain set."""
    columns, attributes = zip(*map(native_column, case.columns), strict=True)
    p = AllParameters.of(case.parameters)
    order: tuple[Label, ...] = ()
    if isinstance(case.target, Classes):
        order = case.target.order
        target: Any = np.array([order.index(label) for label in case.target.labels], dtype=np.uint16)
    else:
        target = np.array(case.target.rows, dtype=np.float64)
    given = p.class_weight
    for members in [[1] * case.n] if times is None else [list(column) for column in zip(*times, strict=True)]:
        costs = Growth.of(case.columns, case.target, p, members, weights).costs
        assume(costs is None or all(0.0 < costs.factor[k] < math.inf for k in costs.present))
    forest = core().grow(
        core().encode(list(columns), case.n),
        target,
        len(order),
        criterion=p.criterion,
        nominal=p.nominal,
        max_depth=-1 if p.max_depth is None else p.max_depth,
        min_samples_split=p.min_samples_split,
        settings=[(p.min_samples_leaf, min_objs)],
        min_impurity_decrease=p.min_impurity_decrease,
        multiplicity=None if times is None else np.array(times, dtype=np.uint8),
        weights=None if weights is None else np.array(weights),
        class_weight=given
        if given is None or isinstance(given, str)
        else np.array([given.get(label, 1.0) for label in order]),
        costs=None if p.cost_matrix is None else np.array(p.cost_matrix).ravel(),
        **how,
    )
    schema = SimpleNamespace(attributes=attributes)
    return [
        SimpleNamespace(**forest.tree(i), schema=schema, classes=order, v=forest.class_weight(i))
        for i in range(forest.n_sets)
    ]


def plain(x: float) -> float | str:
    """NaN equals NaN here."""
    return "nan" if math.isnan(x) else x


WeightedNode = tuple[int, float | str, float | str]


def weighted_node(rows: int, impurity: float, gain: float) -> WeightedNode:
    return int(rows), plain(float(impurity)), plain(float(gain))


def assert_identical(
    case: Case, tree: SimpleNamespace, weights: list[float] | None, times: list[int] | None = None
) -> None:
    """Nodes, their numbers, and what each class weighs, where the tree has it."""

    def expected() -> tuple[Form, list[WeightedNode], tuple[float, ...]]:
        growth = Growth.of(case.columns, case.target, case.parameters, times, weights)
        nodes = growth.grow()
        numbers = [weighted_node(node.stats.rows, node.impurity, node.gain) for node in nodes]
        weighs = growth.costs.weight if growth.costs is not None and len(found[2]) else found[2]
        return canonical_form(nodes, case.columns, case.target), numbers, tuple(weighs)

    numbers = [weighted_node(tree.rows[i], tree.impurity[i], tree.gain[i]) for i in preorder(tree)]
    found = form_of(tree), numbers, tuple(map(float, tree.v))
    agree((case, weights, times), found, expected)


def present(case: Case, weights: list[float] | None) -> bool:
    return weights is None or any(weights)


SEED = st.integers(0, 2**32 - 1)


@pytest.mark.agreed
@settings(max_examples=2 * EXAMPLES)
@given(ANY, SEED)
def test_a_weighted_tree_is_the_oracles(case: Case, seed: int) -> None:
    weights = weights_of(seed, case.n)
    assume(present(case, weights))
    case = with_costs(case, seed)
    assert_identical(case, grow_forest(case, weights, None)[0], weights)


@pytest.mark.agreed
@HALF
@given(strategies.many_categories(), SEED)
def test_a_weighted_tree_of_many_categories_is_the_oracles(case: Case, seed: int) -> None:
    weights = weights_of(seed, case.n)
    assume(present(case, weights))
    case = with_costs(case, seed)
    assert_identical(case, grow_forest(case, weights, None)[0], weights)


@pytest.mark.agreed
@HALF
@given(ANY, SEED, st.booleans(), st.sampled_from([1, 2]))
def test_shortcuts_and_threads_change_no_weighted_tree(
    case: Case, seed: int, accelerate: bool, threads: int
) -> None:
    weights = weights_of(seed, case.n)
    assume(present(case, weights))
    case = with_costs(case, seed)
    tree = grow_forest(case, weights, None, accelerate=accelerate, threads=threads)[0]
    assert_identical(case, tree, weights)


@pytest.mark.agreed
@HALF
@given(ANY, st.data(), st.sampled_from([folds, bags]), SEED)
def test_every_tree_of_a_weighted_forest_is_the_tree_of_its_set(
    case: Case, data: st.DataObject, draw: Any, seed: int
) -> None:
    weights = weights_of(seed, case.n)
    case = with_costs(case, seed)
    times = draw(data, case.n)
    sets = [list(column) for column in zip(*times, strict=True)]
    there = [True] * case.n if weights is None else [w > 0 for w in weights]
    kept = [i for i, s in enumerate(sets) if any(m and w for m, w in zip(s, there, strict=True))]
    assume(kept)
    times = [[row[i] for i in kept] for row in times]
    for i, tree in zip(kept, grow_forest(case, weights, times), strict=True):
        assert_identical(case, tree, weights, sets[i])


def test_xlog_of_any_double_is_the_oracles() -> None:
    from tests.oracle.quality import xlog_of_double

    source = random.Random(7)
    near = [1.0 + source.uniform(-1, 1) * 2.0 ** -source.randrange(1, 53) for _ in range(2000)]
    wild = [2.0 ** source.uniform(-1074, 1013) for _ in range(2000)]
    tiny = [5e-324 * source.randrange(2**40) for _ in range(500)]
    for x in [0.0, math.inf, *near, *wild, *tiny, *(source.random() for _ in range(2000))]:
        assert core().xlog(x) == xlog_of_double(x), x.hex()


def fitted(case: Case, weights: list[float] | None) -> Any:
    """The estimator with all parameters; weights beyond doubles are refused, and there is nothing to see."""
    import hornbeam
    from hornbeam.errors import DataError

    given = {name: value for name, value in vars(case.parameters).items() if name != "min_objs"}
    if isinstance(case.target, Classes):
        model: Any = hornbeam.TreeClassifier(**given)
    else:
        given = {name: value for name, value in given.items() if name not in ("class_weight", "cost_matrix")}
        model = hornbeam.TreeRegressor(**given)
    try:
        return model.fit(frame(case.columns), target_array(case), sample_weight=weights)
    except DataError as error:
        assume("range of doubles" not in str(error))
        assume(any(value is not None for column in case.columns for value in column.values))
        raise


@pytest.mark.agreed
@settings(max_examples=EXAMPLES)
@given(st.one_of(strategies.cases(), random_cases), SEED)
def test_the_estimator_predicts_as_the_law_says(case: Case, seed: int) -> None:
    weights = weights_of(seed, case.n)
    assume(present(case, weights))
    case = with_costs(case, seed)
    growth = Growth.of(case.columns, case.target, case.parameters, None, weights)
    model = fitted(case, weights)
    tree = fields(model.tree_)
    costs, labels, shares = growth.costs, list[int](), list[list[float]]()
    if costs is not None:
        at = preorder(tree)
        labels = [int(model.tree_.leaf_class[i]) for i in at]
        shares = model.tree_.probabilities(at).tolist()

    def expected() -> tuple[Form, list[int], list[list[float]]]:
        nodes = growth.grow()
        form = canonical_form(nodes, case.columns, case.target)
        if costs is None:
            return form, [], []
        return form, [node.label for node in nodes], [costs.shares(node.stats) for node in nodes]  # type: ignore[arg-type]

    agree((case, weights), (form_of(tree), labels, shares), expected)
    if costs is None:
        return
    again = type(model.tree_).from_json(model.tree_.to_json())
    assert again.leaf_class.tolist() == model.tree_.leaf_class.tolist()
    assert again.digest == model.tree_.digest


def branching(tree: SimpleNamespace) -> list[Any]:
    return [(node.get("test"), node.get("default")) for node in form_of(tree)]


def free(case: Case, seed: int, criteria: tuple[str, ...] = CLASS_CRITERIA) -> Case:
    """Any criterion of these, without sizes in rows, class weights or costs."""
    p = AllParameters(case.parameters.criterion, case.parameters.nominal, case.parameters.max_depth)
    if isinstance(case.target, Classes):
        p = replace(p, criterion=criteria[seed % len(criteria)])
    return Case(case.columns, case.target, p)


@HALF
@given(random_cases, SEED, st.sampled_from([None, "balanced"]))
def test_an_integer_weight_is_as_many_rows(case: Case, seed: int, balance: str | None) -> None:
    case = free(case, seed)
    if isinstance(case.target, Classes):
        case = case.having(class_weight=balance)
    weights = random.Random(seed).choices([0, 1, 1, 2, 3, 5], k=case.n)
    assume(any(weights))
    repeated = case.rows([row for row in range(case.n) for _ in range(weights[row])])
    if isinstance(case.target, Classes) and isinstance(repeated.target, Classes):
        assume(case.target.order == repeated.target.order)
    tree = grow_forest(case, [float(w) for w in weights], None)[0]
    assert form_of(tree) == form_of(grow_forest(repeated, None, None)[0])


@HALF
@given(random_cases, SEED)
def test_rows_of_weighted_tables_may_come_in_any_order(case: Case, seed: int) -> None:
    case, weights = with_costs(case, seed), weights_of(seed, case.n)
    assume(present(case, weights))
    order = random.Random(seed).sample(range(case.n), case.n)
    moved = None if weights is None else [weights[row] for row in order]
    tree = grow_forest(case, weights, None)[0]
    assert form_of(grow_forest(case.rows(order), moved, None)[0]) == form_of(tree)


@HALF
@given(random_cases, SEED, st.integers(-40, 40))
def test_weights_times_a_power_of_two_change_no_test(case: Case, seed: int, power: int) -> None:
    case = free(case, seed, ("gini", "correlation"))
    if not isinstance(case.target, Classes):
        assume(all(y == 0 or 1e-60 < abs(y) < 1e60 for row in case.target.rows for y in row))
    weights = random.Random(seed).choices([0.1, 0.3, 1.0, 2.5, 7.0], k=case.n)
    scaled = [math.ldexp(w, power) for w in weights]
    tree = grow_forest(case, weights, None)[0]
    assert branching(grow_forest(case, scaled, None)[0]) == branching(tree)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio"])
def test_bounds_in_doubles_pass_no_cut_over(criterion: str) -> None:
    """Larger tables than the oracle's, with and without the shortcut: ties, gaps, all kinds of weights."""
    from hornbeam.growth import ClassCosts, ClassTarget, Engine, Parameters, grow_tree
    from tests.laws.engine_tables import assert_same, generated

    for classes in (2, 5):
        table, target = generated(400, classes=classes, nominal=False)
        assert isinstance(target, ClassTarget)
        rng = np.random.default_rng(classes)
        pools = [rng.random(400), rng.choice([0.1, 0.3], 400), 2.0 ** rng.integers(-30, 30, 400), None]
        for weights in pools:
            for balance in ("balanced", None):
                costs = ClassCosts.checked(balance, None, target.labels)
                weighted = replace(target, weights=weights, costs=costs)
                trees = [
                    grow_tree(table, weighted, Parameters(criterion), engine=Engine(accelerate=fast))
                    for fast in (True, False)
                ]
                assert_same(*trees, what=(criterion, classes, balance))
