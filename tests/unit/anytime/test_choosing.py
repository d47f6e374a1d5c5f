"""Costs, benefits and the choice of a node: worked by hand, and exact where doubles are not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from hornbeam.anytime import OBJECTIVES, Budget, Improvement, Lookahead, TreeSize, expected
from hornbeam.anytime.choosing import Chooser
from hornbeam.anytime.effort import Effort, Efforts, next_r
from hornbeam.growth import ClassTarget
from hornbeam.table import from_data


def parity(relevant: int, irrelevant: int) -> Lookahead:
    """All rows of so many bits; the last ones decide."""
    n = relevant + irrelevant
    bits = (np.arange(2**n)[:, None] >> np.arange(n)[::-1]) & 1
    frame = pd.DataFrame(bits.astype(str), columns=[f"a{i}" for i in range(n)])
    codes = (bits[:, irrelevant:].sum(axis=1) % 2).astype(np.int32)
    return Lookahead(from_data(frame), ClassTarget(codes, np.array(["even", "odd"])))


def test_r_is_one_and_then_doubles() -> None:
    assert [next_r(r) for r in (0, 1, 2, 4, 2**40)] == [1, 2, 4, 8, 2**41]


def test_the_first_choices_of_figure_three_worked_by_hand() -> None:
    search = Improvement.begin(parity(2, 2), TreeSize(), granularity=0.05)
    chooser, now = search.chooser, search.now
    first = [0, *(int(np.flatnonzero(now.sketch.depths == depth)[0]) for depth in (1, 2, 3))]
    # r = 1, rows, attributes squared, tests: 16 * 16 * 4, 8 * 9 * 3, 4 * 4 * 2, 2 * 1 * 1
    assert [chooser.cost(now, node) for node in first] == [1024, 216, 32, 2]
    # 16, 8, 4 and 2 leaves; four are needed wherever both bits are open
    assert [int(now.values[node]) - int(chooser.least(now, node)) for node in first] == [12, 4, 0, 0]
    chosen = chooser.choose(now)
    assert chosen is not None
    # 4 / 216 beats 12 / 1024, and 216 is a fifth of the root's cost; both halves tie
    assert (chosen.node, chosen.r, chosen.cost) == (1, 1, 216)
    sizes = [state.leaves for state in search.run(Budget())]
    assert sizes == [16, 12, 8, 4]
    assert search.status == "proved"


def test_granularity_is_the_decimal_that_was_written() -> None:
    """The child costs 0.1 of the root exactly; the double 0.1 is a little more."""
    search = Improvement.begin(parity(2, 2), TreeSize(), granularity=0.1)
    whole, child = search.chooser.cost(search.now, 0), search.chooser.cost(search.now, 1)
    exact = Fraction(child, whole)
    for share, node in ((exact, 1), (exact + Fraction(1, 10**30), 0)):
        chooser = replace(search.chooser, granularity=share)
        chosen = chooser.choose(search.now)
        assert chosen is not None
        assert chosen.node == node


def test_equal_utilities_are_told_apart_exactly() -> None:
    """Costs beyond 2^53 that doubles would round to the same number."""
    search = Improvement.begin(parity(2, 2), TreeSize(), granularity=0.0)
    now, many = search.now, 2**40
    halves = [1, int(np.flatnonzero(search.now.sketch.depths == 1)[1])]

    class Known(Chooser):
        def cost(self, now: object, node: int) -> int:
            return {0: many**2, halves[0]: many**2 // 3 + 1, halves[1]: many**2 // 3}.get(node, 10**40)

    chooser = Known(search.lookahead, search.objective, Fraction(0))
    for half in halves:
        now.least[half] = 4.0
    now.least[0] = 15.0
    chosen = chooser.choose(now)
    assert chosen is not None
    assert chosen.node == halves[1]


def test_efforts_count_usable_attributes_tests_and_cuts() -> None:
    frame = pd.DataFrame(
        {
            "float": [1.0, 2.0, 2.0, np.nan, -0.0, 0.0],
            "whole": [1, 1, 1, 1, 1, 1],
            "text": ["a", "b", "c", None, "a", "b"],
            "two": ["p", "q", "p", "q", "p", "q"],
        }
    )
    table = from_data(frame)
    rows = np.arange(6)
    assert Efforts(table, "value").of(rows) == Effort(3, 3 + 1, (2,), 2, 4)
    assert Efforts(table, "multiway").of(rows) == Effort(3, 2, (2,), 2, 2)
    assert Efforts(table, "subset").of(rows) == Effort(3, 3 + 1, (2,), 2, 4)
    assert Efforts(table, "value").of(np.array([3])) == Effort(0, 0, (), 1, 0)
    effort = Effort(2, 5, (3, 100), 2, 5)
    assert [effort.tests(r) for r in (1, 2, 20)] == [5 + 3 + 8, 5 + 3 + 16, 5 + 3 + 100]
    assert effort.cost(10, 2) == 2 * 10 * 4 * (5 + 3 + 16)


def test_nine_categories_have_fewer_subsets_than_eight() -> None:
    table = from_data(pd.DataFrame({"x": list("abcdefghi")}))
    of = Efforts(table, "subset").of
    assert (of(np.arange(9)).nominal_tests, of(np.arange(8)).nominal_tests) == (8, 127)
    assert of(np.arange(9)).nominal_below == 127


def test_expected_errors_are_those_of_c45() -> None:
    assert [round(expected.of_leaf(*pair) / pair[0], 4) for pair in ((6, 0), (9, 0), (1, 0), (16, 1))] == [
        0.2063,
        0.1428,
        0.75,
        0.1567,
    ]


def test_expected_errors_of_inner_nodes_are_sums_of_their_children() -> None:
    random = np.random.default_rng(1)
    table = from_data(random.normal(size=(120, 4)))
    lookahead = Lookahead(table, ClassTarget(random.integers(0, 3, 120).astype(np.int32), np.arange(3)))
    sketch = lookahead.id3(lookahead.all_rows)
    values = expected.of_subtrees(sketch)
    for node in range(sketch.n_nodes):
        children = list(sketch.children(node))
        wanted = sum(values[children]) if children else expected.of_leaf(int(sketch["rows"][node]), 0)
        assert values[node] == pytest.approx(wanted, rel=1e-12)
    assert expected.of_tree(sketch) == pytest.approx(values[0])
    assert expected.least(sketch, 0) < values[0]


def test_objectives_go_by_their_names() -> None:
    assert {name: one.name for name, one in OBJECTIVES.items()} == {"size": "size", "error": "error"}
    assert OBJECTIVES["error"].better(1.0, 1.0 + 2e-9)
    assert not OBJECTIVES["error"].better(1.0, 1.0 + 5e-10)
    assert not OBJECTIVES["size"].better(3, 3)
