"""The index of correlation and the competitors of a node, by hand and by what others compute."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from tests.laws.test_oracle_self import chosen, floats, letters, words
from tests.laws.test_oracle_weights import form, weighted_cases
from tests.oracle.grow import grow
from tests.oracle.quality import correlation, gini_gain, gini_impurity
from tests.oracle.table import AllParameters, ClassCounts, Column
from tests.strategies import Case

pytestmark = pytest.mark.recorded

FEW = settings(max_examples=max(40, settings.default.max_examples // 4))  # type: ignore[union-attr]


def counts(table: list[list[int]]) -> tuple[ClassCounts, list[ClassCounts]]:
    branches = [ClassCounts(sum(row), tuple(row), sum(row)) for row in table]
    node = branches[0]
    for branch in branches[1:]:
        node = node + branch
    return node, branches


@given(st.integers(2, 5), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_the_index_is_chi_squared_over_n(n_branches: int, n_classes: int, seed: int) -> None:
    table = np.random.default_rng(seed).integers(0, 30, (n_branches, n_classes))
    assume(table.sum(axis=0).all() and table.sum(axis=1).all())
    expected = chi2_contingency(table, correction=False).statistic / table.sum()
    assert correlation(*counts(table.tolist())) == pytest.approx(expected, rel=1e-12, abs=1e-14)


@given(st.lists(st.integers(1, 40), min_size=4, max_size=4))
def test_for_two_classes_it_is_the_squared_correlation(cells: list[int]) -> None:
    node, branches = counts([cells[:2], cells[2:]])
    x, y = np.repeat([0, 0, 1, 1], cells), np.repeat([0, 1, 0, 1], cells)
    index = correlation(node, branches)
    assert index == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2, rel=1e-9, abs=1e-12)
    assert index == pytest.approx(gini_gain(node, branches) / gini_impurity(node), rel=1e-9, abs=1e-12)


def test_independence_is_exactly_nothing() -> None:
    assert correlation(*counts([[3, 5, 7], [6, 10, 14]])) == 0.0
    assert correlation(*counts([[3, 5], [6, 10], [9, 15]])) == 0.0
    assert correlation(*counts([[4, 0, 0], [0, 9, 0], [0, 0, 2]])) == pytest.approx(2.0)  # classes less one


@FEW
@given(weighted_cases(("correlation",)))
def test_two_classes_choose_as_by_gini_up_to_ties(case: Case) -> None:
    """The quality is the gain over the impurity of the node, and both splits go on without gain."""
    assume(case.parameters.criterion == "correlation")
    for node in grow(case.columns, case.target, case.parameters):
        stats = node.stats
        assert isinstance(stats, ClassCounts)
        if node.choice is not None and len(stats.present) == 2:
            assert node.choice.quality == pytest.approx(node.gain / node.impurity, rel=1e-9, abs=1e-11)
    assert len(form(case)) > 0


def test_xor_splits_by_correlation_at_zero() -> None:
    columns = [floats("x", 0.0, 0.0, 1.0, 1.0), floats("y", 0.0, 1.0, 0.0, 1.0)]
    assert len(grow(columns, letters("abba"), AllParameters("correlation"))) == 7


def test_rare_classes_count_more_by_correlation_than_by_gini() -> None:
    """One attribute finds the three rows of a rare class, one parts the two large ones half-way."""
    target = letters("a" * 20 + "b" * 20 + "c" * 3)
    rare = words("rare", "n" * 40 + "y" * 3)
    half = words("half", "nnnnnnnnnnnnnnnyyyyy" + "yyyyyyyyyyyyyyynnnnn" + "nyn")
    assert chosen(grow([rare, half], target, AllParameters("gini"))[0]).candidate.attribute == 1
    assert chosen(grow([rare, half], target, AllParameters("correlation"))[0]).candidate.attribute == 0


def attributes(choices: object) -> list[int]:
    return [choice.candidate.attribute for choice in choices]  # type: ignore[attr-defined]


def test_competitors_are_the_best_tests_of_the_other_attributes() -> None:
    target = letters("aaaabbbb")
    worst, good, best = words("w", "uvuvuvuv"), words("g", "uuuvvvvv"), floats("b", *map(float, range(8)))
    node = grow([worst, good, best, good], target)[0]
    assert chosen(node).candidate.attribute == 2
    assert attributes(node.competitors) == [1, 3, 0]
    assert node.competitors[0].quality > node.competitors[2].quality == 0.0
    assert attributes(grow([good, good, best], target, AllParameters("gain_ratio"))[0].competitors) == [0, 1]
    assert attributes(grow([worst, best], target, AllParameters("gain_ratio"))[0].competitors) == []


def test_there_are_at_most_five_and_none_at_a_leaf() -> None:
    columns = [Column(f"x{i}", "float", tuple(map(float, range(4)))) for i in range(8)]
    nodes = grow(columns, letters("aabb"))
    assert (chosen(nodes[0]).candidate.attribute, attributes(nodes[0].competitors)) == (0, [1, 2, 3, 4, 5])
    assert all(not node.competitors for node in nodes if node.choice is None)


def test_c45_lists_first_what_passed_its_filter() -> None:
    """A tiny split has the best ratio but too little gain; it stands behind the weaker ratio that passed."""
    target = letters("x" * 10 + "y" * 10)
    tiny = words("tiny", "b" + "a" * 19)
    good = words("good", "b" * 8 + "aa" + "bb" + "a" * 8)
    best = words("best", "b" * 9 + "a" + "b" + "a" * 9)
    node = grow([tiny, good, best], target, AllParameters("c45", "multiway"))[0]
    assert chosen(node).candidate.attribute == 2
    assert attributes(node.competitors) == [1, 0]


@FEW
@given(weighted_cases())
def test_a_competitor_never_beats_the_test(case: Case) -> None:
    for node in grow(case.columns, case.target, case.parameters):
        listed = [choice for choice in (node.choice, *node.competitors) if choice is not None]
        assert len(set(attributes(listed))) == len(listed) <= 6
        if case.parameters.criterion != "c45":
            keys = [(-choice.quality, choice.candidate.attribute) for choice in listed]
            assert keys == sorted(keys)
