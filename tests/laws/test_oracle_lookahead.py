"""Lookahead in the oracle: sizes that are known, draws by hand, and what follows from brute force."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws.lookahead_cases import everyone, many_valued_cases, parity, searched, small_cases
from tests.laws.test_oracle_self import floats, letters, words
from tests.oracle.canonical import canonical_form
from tests.oracle.draws import draw, mix, unit
from tests.oracle.grow import grow
from tests.oracle.lookahead import BELOW, CUTS, FLOOR, Search
from tests.oracle.optimum import optimum
from tests.oracle.table import Classes, Parameters
from tests.strategies import Case

pytestmark = pytest.mark.recorded

FEW = settings(max_examples=max(40, settings.default.max_examples // 2))  # type: ignore[union-attr]
KEYS = st.integers(0, 2**64 - 1)


def test_mix_is_splitmix64() -> None:
    """The first numbers of Vigna's splitmix64 from seed 0 and, third, from 1234567."""
    assert [mix(0, 0), mix(0, 1)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]
    assert mix(1234567, 0) == 6457827717110365317
    assert mix(7, 2**40) == 0x9DB20060659AB50C


def test_unit_takes_the_upper_53_bits() -> None:
    assert [unit(0), unit(2**11 - 1), unit(2**63), unit(2**64 - 1)] == [0.0, 0.0, 0.5, 1 - 2.0**-53]
    assert unit(mix(0, 0)) == 0.8833108082136426


def test_a_draw_takes_the_first_running_sum_beyond_it() -> None:
    weights = [0.25, 0.5, 0.25]
    assert [draw(weights, u) for u in (0.0, 0.2499, 0.25, 0.7499, 0.75, 1 - 2.0**-53)] == [0, 0, 1, 1, 2, 2]
    assert draw(weights, 1.0) == 2


@pytest.mark.parametrize("nominal", ["value", "multiway", "subset"])
@pytest.mark.parametrize(("relevant", "irrelevant", "leaves"), [(2, 2, 4), (3, 1, 8), (1, 1, 2), (0, 2, 1)])
def test_the_smallest_tree_of_a_parity_is_known(
    relevant: int, irrelevant: int, leaves: int, nominal: str
) -> None:
    columns, target = parity(relevant, irrelevant)
    search, rows = Search.of(columns, target, nominal), everyone(target)
    assert optimum(search, rows) == leaves
    assert search.bound(rows) == min(leaves, 4 if relevant == 2 else 3)


def test_greedy_trees_of_a_parity_split_by_the_first_column() -> None:
    columns, target = parity(2, 2)
    search = Search.of(columns, target)
    assert len(list(search.lsid3(everyone(target), 0, 0).leaves())) == 16
    assert len(list(search.lsid3(everyone(target), 0, 1).leaves())) == 4


def test_contradictory_rows_end_in_one_leaf() -> None:
    columns, target = [words("x", "aabb"), floats("y", 1, 1, 1, 1)], letters("01_0")
    search, rows = Search.of(columns, target), (0, 1, 2, 3)
    assert [optimum(search, rows), search.sid3(rows, 5), search.bound(rows)] == [2, 2, 2]
    assert [optimum(search, (0, 1)), search.sid3((0, 1), 5), search.bound((0, 1))] == [1, 1, 1]
    assert not search.at((0, 1)).is_pure
    assert not search.is_consistent(rows)


def test_as_many_leaves_as_classes_are_proved_where_nothing_contradicts() -> None:
    columns, target = [floats("x", 1, 2, 3, 4, 5)], letters("abcde")
    search, rows = Search.of(columns, target), (0, 1, 2, 3, 4)
    assert search.bound(rows) == optimum(search, rows) == 5
    with_gap = Search.of([floats("x", 1, 2, 3, 4, None)], target)
    assert with_gap.bound(rows) == 3


def test_the_tests_of_a_node_come_in_order() -> None:
    columns = [floats("x", 3, 1, 2, 1), words("two", "baab"), words("one", "cccc"), words("three", "bcab")]
    tests = Search.of(columns, letters("0101")).at((0, 1, 2, 3)).tests
    assert [(t.candidate.attribute, t.candidate.threshold) for t in tests[:2]] == [(0, 1.5), (0, 2.5)]
    assert [(t.candidate.attribute, t.candidate.child_of) for t in tests[2:]] == [
        (1, (("a", 0), ("b", 1))),
        (3, (("a", 0), ("b", 1), ("c", 1))),
        (3, (("a", 1), ("b", 0), ("c", 1))),
        (3, (("a", 1), ("b", 1), ("c", 0))),
    ]


@pytest.mark.parametrize(("categories", "tests"), [(2, 1), (3, 3), (8, 127), (9, 8), (13, 12)])
def test_subsets_are_all_tests_up_to_eight_categories_and_prefixes_beyond(
    categories: int, tests: int
) -> None:
    column = words("x", "abcdefghijklm"[:categories])
    search = Search.of([column], letters("0110101011010"[:categories]), "subset")
    assert len(search.at(tuple(range(categories))).tests) == tests


# x gains 1 bit: {A, B} and {C, C}; z gains 1/2: {A, C} and {B, C}.
THREE = [words("x", "aabb"), words("z", "cdcd")]
ABCC = letters("ABCC")


def test_a_draw_worked_by_hand() -> None:
    """Weights 1.001 and 0.501: below 1.001 / 1.502 = 0.6664 x is drawn, for 3 leaves, else z, for 4."""
    search, rows = Search.of(THREE, ABCC, endings=False), (0, 1, 2, 3)
    assert [choice.gain for choice in search.at(rows).candidates] == [1.0, 0.5]
    assert [unit(mix(key, 0)) < 0.6664 for key in (0, 1, 2)] == [False, True, True]
    assert [search.sid3(rows, key) for key in (0, 1, 2)] == [4, 3, 3]


def test_a_draw_among_tests_without_gain_worked_by_hand() -> None:
    """Three equal weights; the irrelevant attribute comes first and costs 8 leaves, the others 4."""
    columns, target = parity(2, 1)
    search, rows = Search.of(columns, target, endings=False), everyone(target)
    for key in range(20):
        assert search.sid3(rows, key) == (8 if unit(mix(key, 0)) < 1 / 3 else 4)


def test_a_perfect_test_is_drawn_evenly() -> None:
    """Of a pair that ends with two branches and one of three, by the same number."""
    columns, target = [words("x", "aabc"), words("y", "ddee")], letters("0011")
    search, rows = Search.of(columns, target, "multiway"), (0, 1, 2, 3)
    for key in range(20):
        assert search.sid3(rows, key) == (3 if unit(mix(key, 0)) < 0.5 else 2)


def test_endings_find_three_leaves_before_four() -> None:
    search = Search.of(THREE, ABCC)
    assert [search.sid3((0, 1, 2, 3), key) for key in range(8)] == [3] * 8
    columns, target = parity(2, 3)
    assert Search.of(columns, target).ending(everyone(target)) == 4


@pytest.mark.parametrize("why", ["missing", "three branches", "rows", "tests"])
def test_endings_are_not_sought(why: str) -> None:
    if why == "missing":
        search = Search.of([*THREE, words("gap", ".abb")], ABCC)
    elif why == "three branches":
        search = Search.of([*THREE, words("three", "abca")], ABCC, "multiway")
    elif why == "rows":
        columns, target = parity(2, 5)
        search = Search.of(columns, target)
    else:
        columns, target = parity(2, 4)
        search = Search.of([*columns, floats("many", *(float(i % 61) for i in range(64)))], target)
    assert search.ending(tuple(range(len(search.growth.columns[0].values)))) is None


def test_totals_and_the_choice_worked_by_hand() -> None:
    """Test 0 (x) leaves {A, B} and a pure branch, test 1 (z) two pairs: each pair ends perfectly."""
    search, rows = Search.of(THREE, ABCC, endings=False), (0, 1, 2, 3)
    assert search.totals(rows, 9, 2) == {0: 3, 1: 4}
    assert search.choose(rows, 9, 2).candidate.attribute == 0


def test_lookahead_keys_name_test_branch_and_repetition() -> None:
    columns, target = parity(3, 1)
    search, rows, key = Search.of(columns, target, endings=False), everyone(target), 77
    totals = search.totals(rows, key, 3)
    for j, choice in enumerate(search.at(rows).tests):
        least = [
            min(search.sid3(part, mix(mix(mix(key, j), i), t)) for t in range(3))
            for i, part in enumerate(search.parts(choice, rows))
        ]
        assert totals[j] == sum(least)
    tree = search.lsid3(rows, key, 1)
    part = tree.children[1].node.rows
    assert tree.children[1] == search.lsid3(part, mix(key, BELOW + 1), 1)


def test_the_smaller_total_then_the_gain_then_the_number_decides() -> None:
    columns, target = [words("z", "cdcd"), words("x", "aabb"), words("w", "aabb")], ABCC
    search = Search.of(columns, target)
    assert search.totals((0, 1, 2, 3), 1, 1) == {0: 4, 1: 3, 2: 3}
    assert search.choose((0, 1, 2, 3), 1, 1).candidate.attribute == 1
    columns, target = [floats("x", 1, 2, 3), floats("y", 1, 3, 2)], letters("aba")
    search = Search.of(columns, target)
    assert search.totals((0, 1, 2), 1, 1) == {0: 3, 1: 3, 2: 3, 3: 2}


STEPS = floats("x", *map(float, range(6)))


def test_drawn_cuts_worked_by_hand() -> None:
    """Half of six rows: three draws; those that are never drawn are no candidates."""
    search, rows, key = Search.of([STEPS], letters("010010"), sample_fraction=0.5), tuple(range(6)), 4
    tests = search.at(rows).tests
    weights = [choice.gain + FLOOR for choice in tests]
    drawn = [draw(weights, unit(mix(mix(key, CUTS), q))) for q in range(3)]
    totals = search.totals(rows, key, 2)
    assert set(totals) == set(drawn)
    for j in totals:
        seen = [
            search.total(tests[j], rows, mix(key, j), range(2 * q, 2 * q + 2))
            for q in range(3)
            if drawn[q] == j
        ]
        assert totals[j] == min(seen)


def test_few_cuts_are_all_evaluated_where_draws_are_counted() -> None:
    target, rows = letters("010010"), tuple(range(6))
    every = Search.of([STEPS], target).totals(rows, 3, 1)
    assert Search.of([STEPS], target, draws=5).totals(rows, 3, 1) == every
    assert len(Search.of([STEPS], target, draws=4).totals(rows, 3, 1)) <= 4


def test_one_cut_is_never_drawn() -> None:
    target, column = letters("0110"), floats("x", 1, 1, 2, 2)
    every = Search.of([column], target).totals((0, 1, 2, 3), 3, 2)
    assert Search.of([column], target, sample_fraction=0.01).totals((0, 1, 2, 3), 3, 2) == every


def test_cost_counts_rows_attributes_and_tests() -> None:
    target = letters("010010")
    columns = [STEPS, words("a", "aabbcc"), words("b", "aaaaaa")]
    assert Search.of(columns, target).cost(tuple(range(6)), 2) == 2 * 6 * 2**2 * (5 + 3)
    assert Search.of(columns, target, draws=4).cost(tuple(range(6)), 2) == 2 * 6 * 2**2 * (4 + 3)
    assert Search.of(columns, target, "multiway").paper_bound(tuple(range(6))) == 4
    assert Search.of(columns[1:], target, "multiway").paper_bound(tuple(range(6))) == 9


@given(small_cases(40, 16))
def test_lsid3_without_lookahead_is_the_greedy_tree(case: Case) -> None:
    assert isinstance(case.target, Classes)
    nodes = searched(case).lsid3(everyone(case.target), 0, 0).preorder()
    expected = grow(case.columns, case.target, Parameters("entropy", case.parameters.nominal))
    forms = [canonical_form(tree, case.columns, case.target) for tree in (nodes, expected)]
    assert forms[0] == forms[1]


@FEW
@given(small_cases(), KEYS, st.booleans())
def test_bounds_and_sizes_lie_on_their_sides_of_the_optimum(case: Case, key: int, endings: bool) -> None:
    assert isinstance(case.target, Classes)
    search, rows = searched(case, endings=endings), everyone(case.target)
    least = optimum(search, rows)
    assert search.bound(rows) <= least <= search.sid3(rows, key)
    assert least <= len(list(search.lsid3(rows, key, 1).leaves()))


@FEW
@given(small_cases())
def test_endings_are_optimal_and_pure(case: Case) -> None:
    assert isinstance(case.target, Classes)
    search, rows = searched(case), everyone(case.target)
    place, ending = search.at(rows), search.ending(rows)
    is_perfect = any(all(b.is_pure() for b in c.branches) for c in place.candidates)
    if ending is not None and not place.is_finished and not is_perfect:
        assert ending == optimum(search, rows)
        assert search.is_consistent(rows)


@FEW
@given(many_valued_cases(), KEYS)
def test_no_tree_of_many_categories_has_fewer_leaves_than_its_bound(case: Case, key: int) -> None:
    assert isinstance(case.target, Classes)
    search, rows = searched(case), everyone(case.target)
    bound = search.bound(rows)
    assert bound <= search.sid3(rows, key)
    for r in (0, 1):
        assert bound <= len(list(search.lsid3(rows, key, r).leaves()))


@FEW
@given(small_cases(24), KEYS, st.sampled_from([0.1, 0.5, 1.5]))
def test_every_leaf_is_pure_or_cannot_be_parted(case: Case, key: int, fraction: float) -> None:
    assert isinstance(case.target, Classes)
    search = searched(case, sample_fraction=fraction)
    tree = search.lsid3(everyone(case.target), key, 2)
    assert all(search.at(node.rows).is_finished for node in tree.leaves())
