"""The native engine of first-order trees against the oracle, under every algorithm and switch."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbeam.growth import TrainingSets
from hornbeam.relational.database import route, solve, witness
from hornbeam.relational.forest import FirstOrderForest
from hornbeam.relational.growth import FirstOrderParameters, QueryEngine, grow_first_order
from hornbeam.relational.tree import Node
from tests.agreement import agree
from tests.laws.relational_cases import KEY_TYPE, Case, cases, random_database, random_query
from tests.oracle import first_order as oracle
from tests.oracle.facts import Database, holds, match
from tests.oracle.table import Classes, Targets
from tests.relational_coding import bias_of, coded, nodes_of, query_of
from tests.relational_sql import sql_database, sql_of

SWITCHES = [
    QueryEngine(pack=pack, connected=connected, collect=collect, cache=cache)
    for pack, connected, collect, cache in itertools.product((True, False), repeat=4)
]
Sets = Sequence[Sequence[int]]


def parameters_of(settings: oracle.Settings) -> FirstOrderParameters:
    return FirstOrderParameters(
        settings.criterion, settings.min_samples_leaf, settings.max_depth, settings.ftest, settings.accuracy
    )


def training_sets(sets: Sets) -> TrainingSets:
    """How often each example counts in each of some sets."""
    rows = (np.repeat(np.arange(len(times)), times) for times in sets)
    return TrainingSets.of_rows(len(sets[0]), rows)


def grown(case: Case, sets: Sets, algorithm: str = "auto", **how: object) -> FirstOrderForest:
    return grow_first_order(
        coded(case.database, case.target, KEY_TYPE),
        bias_of(case.bias),
        replace(parameters_of(case.settings), algorithm=algorithm, budget=case.settings.budget, **how),
        training_sets(sets),
    )


def nodes(forest: FirstOrderForest) -> list[tuple[Node, ...]]:
    return [forest.tree(i).nodes for i in range(len(forest))]


def expected(case: Case, sets: Sets) -> list[tuple[Node, ...]]:
    """What the oracle grows from each set alone."""
    growths = (
        oracle.Growth.of(case.database, case.bias, case.target, case.settings, times) for times in sets
    )
    return [nodes_of(growth.grow()) for growth in growths]


def everyone(case: Case) -> tuple[int, ...]:
    return (1,) * len(case.database.keys)


def folds(case: Case) -> list[tuple[int, ...]]:
    """All examples, then those outside each fold that leaves any."""
    sets = [tuple(int(fold != f) for fold in case.folds) for f in sorted(set(case.folds))]
    return [everyone(case), *(times for times in sets if any(times))]


def assert_oracles(case: Case, sets: Sets, forests: Sequence[FirstOrderForest]) -> None:
    """Every forest has the oracle's tree of each set."""
    trees = [nodes(forest) for forest in forests]
    assert all(others == trees[0] for others in trees[1:])
    agree((case, sets), trees[0], lambda: expected(case, sets))


@pytest.mark.agreed
@given(cases())
def test_a_tree_is_the_oracles(case: Case) -> None:
    sets = [everyone(case)]
    assert_oracles(case, sets, [grown(case, sets)])


@pytest.mark.agreed
@given(cases())
def test_folds_grown_together_are_the_trees_of_each_alone(case: Case) -> None:
    sets = folds(case)
    partition = ("folds",) if len(sets) > 2 else ()
    algorithms = ("serial", "overlapping", *partition, "auto")
    assert_oracles(case, sets, [grown(case, sets, algorithm) for algorithm in algorithms])


@pytest.mark.agreed
@given(cases())
def test_bags_grown_together_are_the_trees_of_each_alone(case: Case) -> None:
    algorithms = ("serial", "overlapping", "auto")
    assert_oracles(case, case.sets, [grown(case, case.sets, algorithm) for algorithm in algorithms])


@given(cases(), st.sampled_from(SWITCHES), st.sampled_from([1, 2]))
def test_no_switch_changes_a_tree(case: Case, engine: QueryEngine, threads: int) -> None:
    sets = folds(case)
    assert nodes(grown(case, sets, engine=engine, threads=threads)) == nodes(grown(case, sets))


@given(cases())
def test_a_cache_that_forgets_changes_nothing(case: Case) -> None:
    sets = folds(case)
    tiny = grown(case, sets, "serial", engine=QueryEngine(cache_bytes=200))
    assert nodes(tiny) == nodes(grown(case, sets, "serial", engine=QueryEngine(cache=False)))


@pytest.mark.agreed
@given(cases(5), st.integers(1, 15), st.sampled_from(SWITCHES))
def test_a_budget_drops_the_same_tests_whatever_the_way(case: Case, budget: int, engine: QueryEngine) -> None:
    tight = replace(case, settings=replace(case.settings, budget=budget))
    sets = folds(tight)
    algorithms = ("serial", "auto")
    assert_oracles(tight, sets, [grown(tight, sets, algorithm, engine=engine) for algorithm in algorithms])


@given(cases(), st.integers(1, 6))
def test_what_a_budget_drops_is_told(case: Case, budget: int) -> None:
    forest = grown(replace(case, settings=replace(case.settings, budget=budget)), [everyone(case)])
    for dropped in forest.dropped:
        assert dropped.examples >= 1
        assert dropped.sets >= 1
        assert str(dropped)


@pytest.mark.agreed
@given(cases())
def test_examples_go_where_their_queries_send_them(case: Case) -> None:
    sets = folds(case)
    forest, data = grown(case, sets), coded(case.database, case.target, KEY_TYPE)
    leaves = [route(data, forest.tree(i)).tolist() for i in range(len(sets))]
    agree((case, sets), leaves, lambda: [leaves_of(case, times) for times in sets])
    for i, times in enumerate(sets):
        held = forest.held_out(i)
        assert held.examples.tolist() == [e for e, m in enumerate(times) if m == 0]
        assert held.leaf.tolist() == [leaves[i][e] for e in held.examples]


def leaves_of(case: Case, times: Sequence[int]) -> list[int]:
    """To which node, by its number in preorder, the oracle's tree of a set sends each example."""
    root = oracle.Growth.of(case.database, case.bias, case.target, case.settings, times).grow()
    preorder = {id(node): number for number, node in enumerate(root.preorder())}
    return [preorder[id(oracle.route(case.database, root, e))] for e in range(len(case.database.keys))]


@settings(max_examples=min(50, settings.default.max_examples))  # type: ignore[union-attr]
@given(st.integers(0, 2**32), st.integers(1, 6))
def test_queries_are_solved_as_SQL_and_the_oracle_solve_them(seed: int, length: int) -> None:
    source = random.Random(seed)
    database = random_database(source, 6)
    target = Classes(tuple("t" for _ in database.keys))
    data, connection = coded(database, target, KEY_TYPE), sql_database(database)
    for query in (random_query(source, database, length) for _ in range(8)):
        found = solve(data, query_of(query))
        assert found.tolist() == [holds(database, query, e) for e in range(len(database.keys))]
        rows = connection.execute(sql_of(database, query)).fetchall()
        assert set(np.flatnonzero(found).tolist()) == {row[0] for row in rows}


@given(st.integers(0, 2**32), st.integers(1, 5))
def test_a_witness_is_a_solution(seed: int, length: int) -> None:
    source = random.Random(seed)
    database = random_database(source, 6)
    data = coded(database, Classes(tuple("t" for _ in database.keys)), KEY_TYPE)
    query = random_query(source, database, length)
    for e in range(len(database.keys)):
        rows = witness(data, query_of(query), e)
        assert (rows is not None) == holds(database, query, e)
        if rows is not None:
            check_witness(database, query, e, rows)


def check_witness(database: Database, query: object, e: int, rows: Sequence[int | None]) -> None:
    binding = dict(database.start(e))
    for literal, row in zip(query, rows, strict=True):  # type: ignore[call-overload]
        if row is None:
            continue
        relation = database.relations[literal.predicate]
        assert relation.owner is None or relation.owner[row] == e
        found = match(literal.terms, relation.rows[row], binding)
        assert found is not None
        binding = dict(found)


@given(cases())
def test_the_order_of_examples_does_not_matter(case: Case) -> None:
    """Keys, facts and targets permuted alike: the same tree."""
    order = list(range(len(case.database.keys)))[::-1]
    place = {e: i for i, e in enumerate(order)}
    relations = {
        name: replace(r, owner=None if r.owner is None else tuple(place[e] for e in r.owner))
        for name, r in case.database.relations.items()
    }
    keys = tuple(case.database.keys[e] for e in order)
    database = replace(case.database, keys=keys, relations=relations)
    given_target = case.target
    if isinstance(given_target, Classes):
        target: Classes | Targets = Classes(tuple(given_target.labels[e] for e in order))
    else:
        target = Targets(tuple(given_target.rows[e] for e in order))
    turned = replace(case, database=database, target=target)
    assert nodes(grown(turned, [everyone(case)])) == nodes(grown(case, [everyone(case)]))
