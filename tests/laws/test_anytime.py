"""Searches of the package are those of the oracle: the same steps and trees, whatever happens between."""

from __future__ import annotations

import itertools
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold

from hornbeam.anytime import Budget, Improvement, Lookahead, SearchState
from hornbeam.anytime.lookahead import iteration_key, mix
from hornbeam.anytime.stored import from_record, to_record
from hornbeam.growth import ClassTarget, Parameters, grow_tree
from hornbeam.table import Table
from tests.laws.anytime_cases import (
    GRANULARITIES,
    MEASURES,
    STATES,
    looking,
    oracle_form,
    oracle_steps,
    searching,
    steps_of,
    table_of,
    tree_form,
)
from tests.laws.lookahead_cases import many_valued_cases, parity, small_cases
from tests.laws.reading import fields, form_of
from tests.oracle import draws
from tests.oracle.improve import Improvement as Oracle
from tests.oracle.improve import Settings
from tests.oracle.optimum import optimum
from tests.oracle.referee import Refereed
from tests.oracle.table import Classes
from tests.oracle.table import Parameters as OracleParameters
from tests.strategies import Case

CASES = st.one_of(small_cases(24), small_cases(40, 8), many_valued_cases())
BOUNDS = st.sampled_from(["proved", "searched"])
FEW = settings(max_examples=max(12, settings.default.max_examples // 10))  # type: ignore[union-attr]


def stratified(labels: list[Any], many: int, seed: int) -> list[tuple[list[int], list[int]]]:
    """How scikit-learn deals rows of these classes to folds."""
    dealt = StratifiedKFold(many, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class may have fewer rows than there are folds
        return [(learn.tolist(), judge.tolist()) for learn, judge in dealt.split(labels, labels)]


def oracle_of(case: Case, measure: str, **how: Any) -> Oracle:
    assert isinstance(case.target, Classes)
    return Oracle.begin(case.columns, case.target, Settings(measure, nominal=case.parameters.nominal, **how))


def parity_case(relevant: int, irrelevant: int) -> Case:
    columns, target = parity(relevant, irrelevant)
    return Case(tuple(columns), target, OracleParameters("entropy", "value"))


def test_keys_are_those_of_the_law() -> None:
    assert (mix(0, 0), mix(0, 1)) == (0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4)
    for seed, k in ((0, 0), (7, 3), (2**64 - 1, 10**6)):
        assert iteration_key(seed, k) == draws.mix(draws.mix(draws.mix(seed, 0), 1), k)


@FEW
@given(CASES, MEASURES, GRANULARITIES, STATES)
def test_the_iterations_are_those_of_the_oracle(case: Case, measure: str, g: float, state: int) -> None:
    mine = searching(case, measure, g, state)
    yours = oracle_of(case, measure, granularity=g, random_state=state)
    assert tree_form(mine) == oracle_form(yours)
    found, status = steps_of(mine, iterations=6)
    expected, why = oracle_steps(yours, max_iter=6)
    event(f"{measure}: {status}, {len(found)} iterations")
    assert (len(found), status) == (len(expected), why)
    for one, other in zip(found, expected, strict=True):
        assert one[:-1] == other[:-1]
        if measure == "error":
            assert one[-1] == other[-1]
        else:  # a figure for people: in no particular order
            assert one[-1] == pytest.approx(other[-1], rel=1e-12)
    assert tree_form(mine) == oracle_form(yours)
    assert (mine.now.iterations, mine.now.work) == (yours.iterations, yours.work)


@FEW
@given(small_cases(24), GRANULARITIES, STATES)
def test_the_papers_bound_chooses_as_the_oracle_does(case: Case, g: float, state: int) -> None:
    mine = searching(case, "size", g, state, bound="paper")
    yours = oracle_of(case, "size", granularity=g, random_state=state, bound="paper")
    found, expected = steps_of(mine, iterations=5), oracle_steps(yours, max_iter=5)
    assert [step[:-1] for step in found[0]] == [step[:-1] for step in expected[0]]
    assert found[1] == expected[1]


@FEW
@given(small_cases(24), MEASURES, STATES, st.integers(0, 20000))
def test_work_ends_where_the_oracle_ends(case: Case, measure: str, state: int, work: int) -> None:
    mine, yours = searching(case, measure, 0.1, state), oracle_of(case, measure, random_state=state)
    found, expected = steps_of(mine, work=work, iterations=6), oracle_steps(yours, max_work=work, max_iter=6)
    assert (len(found[0]), found[1]) == (len(expected[0]), expected[1])
    assert mine.now.work == yours.work <= work


@FEW
@given(CASES)
def test_the_first_tree_of_sizes_is_the_growers(case: Case) -> None:
    table, target = table_of(case)
    lookahead = looking(case)
    greedy = grow_tree(table, target, Parameters("entropy", case.parameters.nominal))
    sketch = lookahead.lsid3(lookahead.all_rows, 5, 0)
    assert sketch is not None
    assert lookahead.tree(sketch).digest == greedy.digest == searching(case).handed_out().digest


@FEW
@given(CASES, MEASURES, GRANULARITIES, STATES, BOUNDS)
def test_values_never_grow_and_bounds_never_fall_nor_cross_them(
    case: Case, measure: str, g: float, state: int, bound: str
) -> None:
    search = searching(case, measure, g, state, bound)
    states = list(search.run(Budget(iterations=8)))
    if measure == "size":
        values = [float(one.leaves) for one in states]
        bounds = [one.bound for one in states if one.bound is not None]
        assert len(bounds) == len(states)
        assert bounds == sorted(bounds)
        assert all(low <= high for low, high in zip(bounds, values, strict=True))
    else:
        values = [one.expected_error for one in states]
    assert values == sorted(values, reverse=True)
    assert [one.improved for one in states[1:]] == [
        after < before for before, after in itertools.pairwise(values)
    ]
    assert list(search.profile) == [one for one in states if one.improved]


@FEW
@given(CASES, STATES)
def test_full_granularity_is_sequencing(case: Case, state: int) -> None:
    """LSID3 of all rows with r = 1, 2, 4, ..., the smallest kept."""
    search = searching(case, "size", 1.0, state)
    lookahead, best = search.lookahead, search.now.sketch
    steps, _ = steps_of(search, iterations=4)
    assert [step[1:3] for step in steps] == [((), 2**k) for k in range(len(steps))]
    for k in range(len(steps)):
        tree = lookahead.rebuilt(lookahead.all_rows, iteration_key(state, k), 2**k)
        assert tree is not None
        best = tree if tree.n_leaves < best.n_leaves else best
    assert lookahead.tree(best).digest == search.handed_out().digest


@FEW
@given(CASES, MEASURES, STATES, BOUNDS)
def test_threads_caches_and_switches_do_not_matter(case: Case, measure: str, state: int, bound: str) -> None:
    plain = searching(case, measure, 0.1, state, bound)
    expected = steps_of(plain, iterations=5)
    threads, switches = ({"threads": 2}, {"threads": 3}), ({"aborts": False}, {"fast": False})
    caches = ({"known_bytes": 0}, {"known_bytes": 1000})
    for how in (*threads, *switches, *caches):
        other = searching(case, measure, 0.1, state, bound, **how)
        assert steps_of(other, iterations=5) == expected
        assert other.handed_out().digest == plain.handed_out().digest


def interrupted(search: Improvement, way: str) -> Improvement:
    """The same search after a pause."""
    if way == "pickled":
        return pickle.loads(pickle.dumps(search))  # type: ignore[no-any-return]
    if way == "saved":
        return from_record(to_record(search), search.handed_out())
    return search


@FEW
@given(CASES, MEASURES, STATES, st.sampled_from(["paused", "pickled", "saved"]), st.integers(0, 5))
def test_a_search_in_parts_is_the_search_as_a_whole(
    case: Case, measure: str, state: int, way: str, first: int
) -> None:
    whole, parts = searching(case, measure, 0.1, state), searching(case, measure, 0.1, state)
    expected, why = steps_of(whole, iterations=7)
    found, _ = steps_of(parts, iterations=first)
    parts = interrupted(parts, way)
    more, status = steps_of(parts, iterations=7)
    assert (found + more, status) == (expected, why)
    assert parts.handed_out().digest == whole.handed_out().digest
    assert (parts.now.work, len(parts.profile)) == (whole.now.work, len(whole.profile))


def part_of(case: Case, table: Table, target: ClassTarget, rows: int) -> Lookahead:
    nominal = case.parameters.nominal
    return Lookahead(table.take(np.arange(rows)), target.take(np.arange(rows)), nominal=nominal)


@FEW
@given(small_cases(28, 6), MEASURES, STATES, st.integers(1, 20), st.integers(1, 7))
def test_rows_that_come_later_are_taken_in_as_the_oracle_does(
    case: Case, measure: str, state: int, known: int, batch: int
) -> None:
    assert isinstance(case.target, Classes)
    table, target = table_of(case)
    assume(known < table.n_rows)
    settings_ = Settings(measure, nominal=case.parameters.nominal, random_state=state)
    yours = Oracle.begin(case.columns, case.target, settings_, range(known))
    first = part_of(case, table, target, known)
    mine = Improvement.begin(first, searching(case, measure).objective, seed=state)
    for begin in range(known, table.n_rows, batch):
        end = min(begin + batch, table.n_rows)
        found, expected = steps_of(mine, iterations=mine.now.iterations + 1), None
        expected = oracle_steps(yours, max_iter=yours.iterations + 1)
        assert [step[:-1] for step in found[0]] == [step[:-1] for step in expected[0]]
        mine.take_in(part_of(case, table, target, end), {})
        for row in range(begin, end):
            yours.add(row)
        assert tree_form(mine) == oracle_form(yours)
        if measure == "error":
            assert float(mine.now.values[0]) == yours.expected_error(yours.root)
    assert (mine.now.iterations, mine.now.work) == (yours.iterations, yours.work)


@FEW
@given(small_cases(24), STATES)
def test_what_is_handed_out_pruned_is_the_oracles(case: Case, state: int) -> None:
    mine, yours = searching(case, "size", 0.1, state), oracle_of(case, "size", random_state=state)
    steps_of(mine, iterations=3)
    yours.run(max_iter=3)
    assert form_of(fields(mine.handed_out(pruned=True))) == oracle_form(yours, pruned=True)
    assert tree_form(mine) == oracle_form(yours)


def told(state: SearchState) -> SearchState:
    """What does not depend on the clock, nor on where a search was cut in two."""
    return state._replace(elapsed=0.0, cpu=0.0, improved=False)


@FEW
@given(small_cases(14), STATES, st.integers(0, 4), st.sampled_from(["paused", "pickled", "saved"]))
def test_a_prover_bounds_what_brute_force_finds_and_does_not_mind_interruptions(
    case: Case, state: int, first: int, way: str
) -> None:
    whole, parts = (searching(case, "size", 0.1, state, bound="searched") for _ in range(2))
    *_, last = whole.run(Budget(iterations=6))
    yours = oracle_of(case, "size", random_state=state)
    best = optimum(yours.search, yours.root.rows)
    assert last.bound is not None
    assert last.bound <= best <= last.leaves
    assert (last.status == "proved") == (last.bound == last.leaves)
    assert last.status != "exhausted"  # where no bound leaves anything to gain, that is a proof
    event(last.status)
    list(parts.run(Budget(iterations=first)))
    parts = interrupted(parts, way)
    *_, again = parts.run(Budget(iterations=6))
    assert told(again) == told(last)
    assert parts.handed_out().digest == whole.handed_out().digest


@FEW
@given(small_cases(30), MEASURES, STATES, st.integers(0, 4), st.sampled_from(["paused", "pickled", "saved"]))
def test_a_referee_gives_the_same_verdicts_after_interruptions(
    case: Case, measure: str, state: int, first: int, way: str
) -> None:
    objective = searching(case, measure).objective
    whole, parts, other = (
        Improvement.begin(looking(case, threads), objective, seed=state, referee=True)
        for threads in (1, 1, 2)
    )
    *_, last = whole.run(Budget(iterations=6))
    list(parts.run(Budget(iterations=first)))
    parts = interrupted(parts, way)
    for search in (parts, other):
        *_, again = search.run(Budget(iterations=6))
        assert told(again) == told(last)
        assert search.handed_out().digest == whole.handed_out().digest


@FEW
@given(small_cases(24), MEASURES, STATES, st.one_of(st.none(), st.integers(0, 60000)))
def test_a_referee_and_its_work_are_those_of_the_oracle(
    case: Case, measure: str, state: int, work: int | None
) -> None:
    mine = searching(case, measure, 0.1, state, referee=True)
    assert isinstance(case.target, Classes)
    settings_ = Settings(measure, nominal=case.parameters.nominal, random_state=state)
    yours = Refereed.begin(case.columns, case.target, settings_)
    yours.begin_asking(stratified)
    assert (mine.now.folds_wrong, mine.now.work) == (yours.folds_wrong, yours.work)
    found, expected = steps_of(mine, work=work, iterations=5), oracle_steps(yours, max_work=work, max_iter=5)
    assert [step[:-1] for step in found[0]] == [step[:-1] for step in expected[0]]
    assert found[1] == expected[1]
    event(f"{found[1]}, {sum(step[4] for step in found[0])} of {len(found[0])} taken")
    assert (mine.now.folds_wrong, mine.now.work) == (yours.folds_wrong, yours.work)
    assert work is None or mine.now.iterations == 0 or mine.now.work <= work
    assert tree_form(mine) == oracle_form(yours)


@pytest.mark.parametrize("g", [0.0, 0.1, 1.0])
def test_figure_three_ends_with_the_four_leaves_of_the_concept_and_a_proof(g: float) -> None:
    search = searching(parity_case(2, 2), "size", g)
    assert search.now.sketch.n_leaves == 16
    *_, last = search.run(Budget())
    assert (last.leaves, last.bound, last.status) == (4, 4, "proved")
