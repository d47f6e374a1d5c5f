"""Weights of rows and classes, and losses, as the oracle has them: known answers, laws, scikit-learn."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.laws.random_cases import random_cases
from tests.laws.test_oracle_self import chosen, floats, letters, log2_by_squaring, words
from tests.oracle.canonical import Form, canonical_form
from tests.oracle.costs import costs_of
from tests.oracle.grow import grow
from tests.oracle.quality import gini_gain, nearest, xlog_of_double
from tests.oracle.table import AllParameters, ClassCounts, Classes, Sample, Targets
from tests.strategies import Case

pytestmark = pytest.mark.recorded

FEW = settings(max_examples=max(40, settings.default.max_examples // 4))  # type: ignore[union-attr]
CLASS_CRITERIA = ("gini", "entropy", "gain_ratio", "correlation", "c45")
WILD = [5e-324, 1e-300, 1e-150, 1e-80, 1e-30, 0.1, 1.0, 3.0, 1e30, 1e80, 1e160, 1e305]  # sums stay doubles


def form(case: Case, weights: list[float] | None = None, times: list[int] | None = None) -> Form:
    nodes = grow(case.columns, case.target, case.parameters, times, weights)
    return canonical_form(nodes, case.columns, case.target)


def branching(case: Form) -> list[Any]:
    return [(node.get("test"), node.get("default"), node.get("children")) for node in case]


@st.composite
def weighted_cases(draw: st.DrawFn, /, criteria: tuple[str, ...] = CLASS_CRITERIA, **also: Any) -> Case:
    """A random case with any criterion, without sizes in rows."""
    case = draw(random_cases)
    drawn = {name: draw(values) for name, values in also.items()}
    p = AllParameters(case.parameters.criterion, case.parameters.nominal, case.parameters.max_depth, **drawn)
    if isinstance(case.target, Classes):
        p = replace(p, criterion=draw(st.sampled_from(criteria)))
    elif p.class_weight is not None:
        p = replace(p, class_weight=None)
    return Case(case.columns, case.target, p)


def numbers(seed: int, n: int, values: list[Any]) -> list[Any]:
    source = random.Random(seed)
    return [source.choice(values) for _ in range(n)]


def log2_of_double(x: float) -> Fraction:
    m, e = math.frexp(x)
    return log2_by_squaring(int(m * 2**53)) + e - 53


@given(st.one_of(st.floats(5e-324, 1e300), st.floats(0.5, 2.0), st.floats(1.0, 1e6)))
def test_xlog_of_any_double_is_correctly_rounded(x: float) -> None:
    assert xlog_of_double(x) == float(Fraction(x) * log2_of_double(x))


def test_xlog_knows_these() -> None:
    # Near 1 x log2 x is (h + h^2 / 2) / ln 2 with h = x - 1: here 1.4426950408889634074 h and 1.6e-16 h more.
    expected = math.nextafter(1.4426950408889634, 2.0)
    assert xlog_of_double(1.0 + 2.0**-52) == math.ldexp(expected, -52)
    assert [xlog_of_double(x) for x in (0.0, 0.25, 0.5, 1.0, 2.0)] == [0.0, -0.5, -0.5, 0.0, 2.0]


def test_a_weighted_cut_has_the_gain_of_its_sums() -> None:
    weights = [0.5, 0.25, 0.25]
    node = grow([floats("x", 1.0, 2.0, 3.0)], letters("abb"), AllParameters(), weights=weights)[0]
    assert (node.impurity, node.gain, chosen(node).candidate.threshold) == (0.5, 0.5, 1.5)
    assert (node.stats.n, node.stats.rows) == (1, 3)


def test_a_tenth_is_not_rounded_on_the_way() -> None:
    """0.1 + 0.2 is not 0.3 in doubles, and not here either; ten tenths are a little more than 1."""
    stats = letters("a" * 10).statistics(range(10), Sample.of(10, weights=[0.1] * 10))
    assert stats.n == 10 * Fraction(0.1) != 1
    assert nearest(stats.n) == 1.0
    node = grow([floats("x", *[1.0] * 5, *[2.0] * 5)], letters("a" * 5 + "b" * 5), weights=[0.1] * 10)[0]
    assert node.gain == pytest.approx(0.5, rel=1e-15)


def test_sizes_count_rows_and_not_weights() -> None:
    columns, target, heavy = [floats("x", 1.0, 2.0, 3.0, 4.0)], letters("abbb"), [100.0, 1.0, 1.0, 1.0]
    by_rows = grow(columns, target, AllParameters(min_samples_leaf=2), weights=heavy)
    assert chosen(by_rows[0]).candidate.threshold == 2.5
    assert len(grow(columns, target, AllParameters(min_samples_split=5), weights=heavy)) == 1


def test_min_objs_counts_weights_and_not_rows() -> None:
    columns, target = [floats("x", 1.0, 2.0, 3.0, 4.0)], letters("abbb")
    two = AllParameters(min_objs=2.0)
    assert len(grow(columns, target, two)) == 3  # two and two, and neither has four
    assert chosen(grow(columns, target, two, weights=[2.0, 1.0, 1.0, 1.0])[0]).candidate.threshold == 1.5
    assert len(grow(columns, target, two, weights=[0.9, 1.0, 1.0, 1.0])) == 1  # less than four
    # 103 / 10 / 2 = 5.15 is the least weight of a side: C4.5's floor for cuts.
    assert len(grow(columns, target, two, weights=[100.0, 1.0, 1.0, 1.0])) == 1
    assert len(grow(columns, target, two, weights=[100.0, 2.0, 2.0, 2.0])) == 3


def test_fractions_are_of_the_rows_that_are_there() -> None:
    columns, target = [floats("x", 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)], letters("abbbbb")
    half = AllParameters(min_samples_leaf=0.5)
    assert chosen(grow(columns, target, half)[0]).candidate.threshold == 3.5
    only = [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    assert chosen(grow(columns, target, half, weights=only)[0]).candidate.threshold == 1.5


def test_the_heavier_child_is_the_default() -> None:
    columns, target = [floats("x", 1.0, 2.0, 3.0)], letters("abb")
    assert chosen(grow(columns, target)[0]).default == 1
    assert chosen(grow(columns, target, weights=[2.5, 1.0, 1.0])[0]).default == 0
    assert chosen(grow(columns, target, weights=[2.0, 1.0, 1.0])[0]).default == 0
    many = [words("w", "abbc.")]
    node = grow(many, letters("xyyzz"), AllParameters(nominal="multiway"), weights=[1, 1, 1, 3, 1])[0]
    assert (chosen(node).default, chosen(node).branches[2].n) == (2, 4)


def test_weights_that_are_none_are_refused() -> None:
    columns, target = [floats("x", 1.0, 2.0)], letters("ab")
    for weights in ([-1.0, 1.0], [math.nan, 1.0], [math.inf, 1.0], [0.0, 0.0]):
        with pytest.raises(ValueError, match=r"weight"):
            grow(columns, target, weights=weights)


SIZES: dict[str, Any] = {"min_objs": st.sampled_from([None, None, 1.0, 2.0, 5.0])}
BALANCE: dict[str, Any] = {"class_weight": st.sampled_from([None, None, "balanced"])}


@settings(max_examples=settings.default.max_examples // 2)  # type: ignore[union-attr]
@given(weighted_cases(**SIZES, **BALANCE), st.integers(0, 2**32 - 1))
def test_an_integer_weight_is_as_many_rows(case: Case, seed: int) -> None:
    weights = numbers(seed, case.n, [0, 1, 1, 2, 3, 5])
    assume(any(weights))
    repeated = case.rows([row for row in range(case.n) for _ in range(weights[row])])
    assert form(case, [float(w) for w in weights]) == form(repeated)
    assert form(case, times=weights) == form(repeated)


@FEW
@given(weighted_cases(**SIZES), st.integers(0, 2**32 - 1))
def test_a_row_of_weight_zero_is_absent(case: Case, seed: int) -> None:
    weights = numbers(seed, case.n, [0.0, 0.1, 0.3, 1.0, 2.5])
    there = [row for row in range(case.n) if weights[row] > 0]
    assume(there)
    assert form(case, weights) == form(case.rows(there), [weights[row] for row in there])


@FEW
@given(weighted_cases(("gini", "correlation")), st.integers(0, 2**32 - 1), st.integers(-40, 40))
def test_weights_times_a_power_of_two_change_no_test(case: Case, seed: int, power: int) -> None:
    weights = numbers(seed, case.n, [0.1, 0.3, 1.0, 2.5, 7.0])
    if isinstance(case.target, Targets):
        assume(all(y == 0 or 1e-60 < abs(y) < 1e60 for row in case.target.rows for y in row))
    scaled = [math.ldexp(w, power) for w in weights]
    assert branching(form(case, scaled)) == branching(form(case, weights))


@FEW
@given(weighted_cases(), st.integers(0, 2**32 - 1))
def test_any_weights_give_a_tree(case: Case, seed: int) -> None:
    """Its leaves hold every row once; sums are exact, so they add up."""
    weights = numbers(seed, case.n, WILD)
    nodes = grow(case.columns, case.target, case.parameters, weights=weights)
    leaves = [node for node in nodes if node.choice is None]
    assert sorted(row for node in leaves for row in node.rows) == list(range(case.n))
    assert sum(Fraction(node.stats.n) for node in leaves) == sum(map(Fraction, weights))


@FEW
@given(weighted_cases(("gini", "entropy", "gain_ratio", "correlation")), st.integers(0, 2**32 - 1))
def test_a_class_weight_is_a_weight_of_its_rows(case: Case, seed: int) -> None:
    assume(isinstance(case.target, Classes))
    assert isinstance(case.target, Classes)
    columns = [column for column in case.columns if None not in column.values]
    assume(columns)
    weight = dict(
        zip(case.target.order, numbers(seed, len(case.target.order), [1.0, 2.0, 0.3, 7.0]), strict=True)
    )
    plain = Case(tuple(columns), case.target, case.parameters)
    by_class = plain.having(class_weight=weight)
    by_row = form(plain, [weight[label] for label in case.target.labels])
    assert [test for test, _, _ in branching(form(by_class))] == [test for test, _, _ in branching(by_row)]


@FEW
@given(weighted_cases(("gini", "correlation")), st.integers(0, 2**32 - 1), st.integers(-40, 40))
def test_class_weights_and_losses_times_a_power_of_two_change_nothing(
    case: Case, seed: int, power: int
) -> None:
    assume(isinstance(case.target, Classes))
    assert isinstance(case.target, Classes)
    order = case.target.order
    cells = numbers(seed, len(order) ** 2, [0.3, 1.0, 2.5, 7.0])
    trees = []
    for scale in (1.0, math.ldexp(1.0, power)):
        weight = {label: cells[k] * scale for k, label in enumerate(order)}
        cost = tuple(
            tuple(0.0 if j == k else cells[k * len(order) + j] * scale for j in range(len(order)))
            for k in range(len(order))
        )
        each = [case.having(class_weight=weight), case.having(cost_matrix=cost)]
        trees.append([grow(c.columns, c.target, c.parameters) for c in each])
    for one, other in zip(*trees, strict=True):
        assert canonical_form(one, case.columns, case.target) == canonical_form(
            other, case.columns, case.target
        )
        assert [node.label for node in one] == [node.label for node in other]


def test_balanced_is_a_property_of_the_training_set() -> None:
    target = letters("aaabc")
    everyone = target.statistics([0, 1, 2, 3], Sample.of(5))  # c is absent
    costs = costs_of(target, everyone, AllParameters(class_weight="balanced"))
    assert costs.weight == (4 / (2 * 3), 4 / (2 * 1), 1.0)
    assert costs.label(everyone) == 0  # 3 * 2/3 and 1 * 2: the first
    assert costs.shares(everyone) == [0.5, 0.5, 0.0]


def test_balanced_counts_weights() -> None:
    target = letters("aab")
    everyone = target.statistics(range(3), Sample.of(3, weights=[1.5, 0.5, 3.0]))
    costs = costs_of(target, everyone, AllParameters(class_weight="balanced"))
    assert costs.weight == (5 / (2 * 2), 5 / (2 * 3))


def test_the_share_of_a_node_goes_by_what_qualities_see() -> None:
    """Below the root six rows of a and b hold half of the weight, or 6 / 126 where c weighs 20 a row."""
    columns, target = [floats("x", *map(float, range(12)))], letters("aaabbb" + "cccccc")
    for weight, n_nodes in ((1.0, 5), (20.0, 3)):
        p = AllParameters(class_weight={"c": weight}, min_impurity_decrease=0.04)
        assert len(grow(columns, target, p)) == n_nodes


def test_priors_are_class_weights() -> None:
    """Twenty rows of a, five of b; equal priors, then one to nine."""
    columns, target = [floats("x", *map(float, range(25)))], letters("a" * 20 + "b" * 5)
    equal = AllParameters(class_weight={"a": 0.5 / 20, "b": 0.5 / 5}, max_depth=1)
    assert grow(columns, target, equal)[0].impurity == pytest.approx(0.5)
    skewed = AllParameters(class_weight={"a": 0.1 / 20, "b": 0.9 / 5}, max_depth=1)
    assert grow(columns, target, skewed)[0].impurity == pytest.approx(1 - 0.1**2 - 0.9**2)


MISSING_A_IS_DEAR = ((0.0, 3.0), (1.0, 0.0))


def test_a_leaf_says_what_costs_least() -> None:
    target = letters("aabbbbbb")
    everyone = target.statistics(range(8), Sample.of(8))
    costs = costs_of(target, everyone, AllParameters(cost_matrix=MISSING_A_IS_DEAR))
    assert [costs.expected_loss(everyone, j) for j in (0, 1)] == [6.0, 6.0]
    assert costs.label(everyone) == 0
    fewer = target.statistics([0, 2, 3, 4, 5], Sample.of(8))
    assert costs.label(fewer) == 1
    assert costs.factor == (3.0, 1.0)
    assert costs.shares(everyone) == [0.25, 0.75]


def test_three_classes_may_agree_on_the_one_nobody_holds_most() -> None:
    target = letters("aabbc")
    matrix = ((0.0, 9.0, 1.0), (9.0, 0.0, 1.0), (9.0, 9.0, 0.0))
    everyone = target.statistics(range(5), Sample.of(5))
    costs = costs_of(target, everyone, AllParameters(cost_matrix=matrix))
    assert costs.label(everyone) == 2
    assert costs.factor == (10.0, 10.0, 18.0)


def test_absent_classes_cost_nothing() -> None:
    target = letters("aabbc")
    matrix = ((0.0, 2.0, 90.0), (3.0, 0.0, 90.0), (1.0, 1.0, 0.0))
    some = target.statistics(range(4), Sample.of(5))
    assert costs_of(target, some, AllParameters(cost_matrix=matrix)).factor[:2] == (2.0, 3.0)
    one = target.statistics(range(2), Sample.of(5))
    assert costs_of(target, one, AllParameters(cost_matrix=matrix)).factor[0] == 1.0


@FEW
@given(weighted_cases(("gini", "entropy", "gain_ratio", "correlation")))
def test_two_classes_with_losses_are_two_classes_with_weights(case: Case) -> None:
    assume(isinstance(case.target, Classes) and len(case.target.order) == 2)
    assert isinstance(case.target, Classes)
    a, b = case.target.order
    by_loss = case.having(cost_matrix=MISSING_A_IS_DEAR)
    by_weight = case.having(class_weight={a: 3.0, b: 1.0})
    assert form(by_loss) == form(by_weight)
    nodes = [grow(c.columns, c.target, c.parameters) for c in (by_loss, by_weight)]
    assert [node.label for node in nodes[0]] == [node.label for node in nodes[1]]


@FEW
@given(weighted_cases(("gini", "correlation")), st.sampled_from([0.125, 1.0, 64.0]))
def test_equal_losses_change_nothing(case: Case, loss: float) -> None:
    assume(isinstance(case.target, Classes) and len(case.target.order) in (2, 3, 5))
    assert isinstance(case.target, Classes)
    k = range(len(case.target.order))
    matrix = tuple(tuple(0.0 if i == j else loss for j in k) for i in k)
    assert form(case.having(cost_matrix=matrix)) == form(case)


def test_weights_of_one_give_the_integer_expressions() -> None:
    left, right = ClassCounts(7, (4, 2, 1), 7), ClassCounts(5, (0, 1, 4), 5)
    halves = [
        ClassCounts(Fraction(b.n) / 2, tuple(Fraction(c) / 2 for c in b.counts), b.rows)
        for b in (left, right)
    ]
    assert gini_gain(left + right, [left, right]) == gini_gain(halves[0] + halves[1], halves)
    expected = ((21.0 / 7.0 + 17.0 / 5.0) - 50.0 / 12.0) / 12.0
    assert gini_gain(left + right, [left, right]) == expected
