"""The oracle of tuning: folds, means, ties and rules of choice by known answers and by counting."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.test_oracle_self import floats, letters
from tests.oracle.search import Marks, Search, best_of, choose, dealt, mean, trimmed_mean
from tests.oracle.table import AllParameters

pytestmark = pytest.mark.recorded


def marks(*scores: float, leaves: int, folds: int | None = None) -> Marks:
    """Folds of ten rows each with these scores; all in one repetition, or `folds` of them in each."""
    points = [(Fraction(round(10 * score)), 10) for score in scores]
    width = folds or len(points)
    return Marks(tuple(tuple(points[i : i + width]) for i in range(0, len(points), width)), leaves)


def test_the_trimmed_mean_knows_these() -> None:
    assert trimmed_mean([Fraction(x) for x in (1, 2, 3, 4, 100)]) == 3
    assert trimmed_mean([Fraction(x) for x in (100, 4, 3, 2, 1)]) == 3
    assert trimmed_mean([Fraction(x) for x in (1, 2, 3, 10)]) == 4  # of four, none is dropped
    assert trimmed_mean([Fraction(x) for x in (0, 0, 1, 2, 3, 4, 5, 6, 50, 90)]) == Fraction(7, 2)
    assert trimmed_mean([Fraction(7)]) == 7


@given(st.integers(1, 60), st.integers(1, 12), st.integers(1, 4), st.integers(0, 2**32))
def test_dealing_parts_rows_and_classes_evenly(n: int, k: int, classes: int, seed: int) -> None:
    source = random.Random(seed)
    labels = [source.randrange(classes) for _ in range(n)]
    folds = dealt(labels, source.sample(range(n), n), k)
    assert sorted(row for fold in folds for row in fold) == list(range(n))
    for label in range(classes):
        many = [Counter(labels[row] for row in fold)[label] for fold in folds]
        assert max(many) - min(many) <= 1
    sizes = [len(fold) for fold in folds]
    assert max(sizes) - min(sizes) <= 1


def test_dealing_knows_this() -> None:
    """Classes a b a b a, shuffled as 4 3 2 1 0: by class 4 2 0 | 3 1, dealt to two."""
    assert dealt("ababa", [4, 3, 2, 1, 0], 2) == [[0, 1, 4], [2, 3]]
    assert dealt(None, [4, 3, 2, 1, 0], 2) == [[0, 2, 4], [1, 3]]


def test_ties_go_to_fewer_leaves_and_then_to_the_first() -> None:
    third = Fraction(1, 3)
    assert best_of([third, third, third], [5, 4, 4]) == 1
    assert best_of([third, third + Fraction(1, 10**30), third], [1, 9, 1]) == 1


def test_the_means_are_those_of_folds_or_of_repetitions() -> None:
    uneven = Marks((((Fraction(1), 1), (Fraction(0), 3)), ((Fraction(1), 2), (Fraction(1), 2))), 1)
    assert uneven.estimate("mean") == mean([Fraction(1), Fraction(0), Fraction(1, 2), Fraction(1, 2)])
    assert uneven.estimate("trimmed") == mean([Fraction(1, 4), Fraction(1, 2)])


def test_one_standard_error_is_met_exactly() -> None:
    """0.9 and 0.7: the mean is 0.8, its error 0.1, so 0.7 is just near enough; in doubles it would not be."""
    best, equal = marks(0.9, 0.7, leaves=9), marks(0.7, 0.7, leaves=3)
    assert 0.8 - 0.1 > 0.7
    assert choose([best, equal], select="1se") == 1
    assert choose([best, marks(0.7, 0.6, leaves=3)], select="1se") == 0
    assert choose([best, equal, marks(0.8, 0.7, leaves=3)], select="1se") == 2


def test_the_smallest_of_what_repetitions_choose() -> None:
    """The first repetition prefers 0, the second 1; 2 is smaller than both, but nobody's choice."""
    grid = [
        marks(0.9, 0.9, 0.5, 0.5, leaves=7, folds=2),
        marks(0.8, 0.8, 0.6, 0.6, leaves=5, folds=2),
        marks(0.8, 0.8, 0.4, 0.4, leaves=1, folds=2),
    ]
    assert choose(grid, select="smallest") == 1
    assert choose(grid, select="best") == 1
    assert choose(grid[:1] + grid[2:], select="smallest") == 0


def test_a_search_by_hand() -> None:
    """x = 0 .. 5, classes a a b b b a: stumps and whole trees, three folds of two."""
    columns, target = (floats("x", *map(float, range(6))),), letters("aabbba")
    grid = ({"max_depth": 1}, {"max_depth": None}, {"min_samples_split": 99})
    search = Search(columns, target, AllParameters(), grid)
    folds = [[0, 2], [1, 3], [4, 5]]
    found = search.marks([folds])
    assert [m.leaves for m in found] == [2, 3, 1]
    # Without 0 and 2: a b b a at 1 3 4 5; the stump cuts at 2, so 0 is right and 2 is not.
    assert found[0].points[0][0] == (Fraction(1), 2)
    assert all(sum(n for _, n in m.points[0]) == 6 for m in found)
    assert len(search.nested(folds)) == 3


def test_rows_held_out_take_no_part() -> None:
    source = random.Random(4)
    values = [float(source.randrange(9)) for _ in range(30)]
    labels = "".join(source.choice("abc") for _ in range(30))
    grid = ({"max_depth": 2}, {"prune": "error_based"}, {"ccp_alpha": 0.02}, {"criterion": "c45"})
    outside = [3, 8, 20]
    other = [99.0 if row in outside else x for row, x in enumerate(values)]
    swapped = "".join("abc"["cab".index(y)] if row in outside else y for row, y in enumerate(labels))
    rest = frozenset(range(30)) - frozenset(outside)
    for s in range(len(grid)):
        one = Search((floats("x", *values),), letters(labels), AllParameters(), grid).fitted(s, rest)
        two = Search((floats("x", *other),), letters(swapped), AllParameters(), grid).fitted(s, rest)
        assert one.nodes == two.nodes
