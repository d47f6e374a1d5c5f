"""The oracle of first-order trees against other ways of saying the same: one by one, SQL, every threshold."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws.relational_cases import Case, cases, random_database, random_query
from tests.oracle.facts import OPEN, Database, Literal, Query, Relation, Var, connected, holds, is_over
from tests.oracle.first_order import Growth, Node, route, succeeding
from tests.oracle.refinement import Refinement
from tests.relational_prolog import ABSENT, ask, find_swipl
from tests.relational_sql import sql_database, sql_of

SEEDS = st.integers(0, 2**32)


def growths(case: Case) -> list[Growth]:
    given_sets = (None, *case.sets)
    return [Growth.of(case.database, case.bias, case.target, case.settings, times) for times in given_sets]


def walk(root: Node, query: Query = ()) -> Iterator[tuple[Node, Query]]:
    """The nodes with their queries."""
    yield root, query
    if root.yes is not None and root.no is not None:
        yield from walk(root.yes, query + root.test)
        yield from walk(root.no, query)


@pytest.mark.recorded
@settings(max_examples=min(50, settings.default.max_examples))  # type: ignore[union-attr]
@given(SEEDS, st.integers(1, 6))
def test_solving_is_EXISTS_in_SQL(seed: int, length: int) -> None:
    source = random.Random(seed)
    database = random_database(source, 6)
    queries = [random_query(source, database, length) for _ in range(4)]
    connection = sql_database(database)
    for query in queries:
        found = {row[0] for row in connection.execute(sql_of(database, query)).fetchall()}
        assert found == {e for e in range(len(database.keys)) if holds(database, query, e)}


@pytest.mark.skipif(find_swipl() is None, reason=ABSENT)
@settings(max_examples=8)
@given(SEEDS)
def test_solving_is_what_Prolog_says(seed: int) -> None:
    source = random.Random(seed)
    database = complete(random_database(source, 6))
    queries = [random_query(source, database, source.randrange(1, 6)) for _ in range(20)]
    examples = range(len(database.keys))
    for query, found in zip(queries, ask(database, queries, examples).found, strict=True):
        assert found == {e for e in examples if holds(database, query, e)}


def complete(database: Database) -> Database:
    """Without the rows that miss a value."""
    relations = {}
    for name, relation in database.relations.items():
        kept = [i for i, row in enumerate(relation.rows) if None not in row]
        owner = None if relation.owner is None else tuple(relation.owner[i] for i in kept)
        relations[name] = Relation(relation.types, tuple(relation.rows[i] for i in kept), owner, relation.key)
    return replace(database, relations=relations)


@pytest.mark.recorded
@given(cases())
def test_a_pack_answers_as_its_queries_one_by_one(case: Case) -> None:
    for growth in growths(case)[:1]:
        for node, query in walk(growth.grow()):
            tests = Refinement(case.database, case.bias, query).tests()[:40]
            closed = [t for t in tests if not any(OPEN in x.terms for x in t)]
            for e in node.examples:
                answers = {i for i, t in enumerate(closed) if holds(case.database, query + t, e)}
                assert succeeding(case.database, query, closed, e) == answers


@pytest.mark.recorded
@given(cases())
def test_the_chosen_tests_hold_for_the_examples_of_yes(case: Case) -> None:
    """Also thresholds, which were found by the least and greatest values."""
    for growth in growths(case):
        root = growth.grow()
        for node, query in walk(root):
            if node.yes is not None:
                passed = tuple(e for e in node.examples if holds(case.database, query + node.test, e))
                assert passed == node.yes.examples
        for leaf in root.leaves:
            assert all(route(case.database, root, e) is leaf for e in leaf.examples)


@pytest.mark.recorded
@given(cases())
def test_where_a_query_holds_its_connected_part_decides(case: Case) -> None:
    for node, query in walk(growths(case)[0].grow()):
        for test in Refinement(case.database, case.bias, query).tests()[:30]:
            if any(OPEN in x.terms for x in test):
                continue
            for e in node.examples:
                short = connected(query, test) + test
                assert holds(case.database, short, e) == holds(case.database, query + test, e)


def shuffled(database: Database, source: random.Random) -> Database:
    relations = {}
    for name, relation in database.relations.items():
        order = source.sample(range(len(relation.rows)), len(relation.rows))
        owner = None if relation.owner is None else tuple(relation.owner[i] for i in order)
        relations[name] = Relation(
            relation.types, tuple(relation.rows[i] for i in order), owner, relation.key
        )
    return replace(database, relations=relations)


@pytest.mark.recorded
@given(cases(), SEEDS)
def test_the_order_of_rows_does_not_matter(case: Case, seed: int) -> None:
    other = replace(case, database=shuffled(case.database, random.Random(seed)))
    for a, b in zip(growths(case), growths(other), strict=True):
        assert a.grow() == b.grow()


@pytest.mark.recorded
@given(cases(5), st.integers(0, 12))
def test_a_budget_only_takes_tests_away(case: Case, budget: int) -> None:
    plenty = replace(case, settings=replace(case.settings, budget=10**6))
    assert [g.grow() for g in growths(plenty)] == [g.grow() for g in growths(case)]
    tight = growths(replace(case, settings=replace(case.settings, budget=budget)))[1]
    for node, query in walk(tight.grow()):
        if node.test:
            closed = [x for x in node.test if x.predicate not in ("<=", ">")]
            if len(closed) == len(node.test):
                assert not any(is_over(case.database, query, node.test, e, budget) for e in node.examples)


def test_steps_are_rows_that_fit() -> None:
    rows = (("e", 1), ("e", 2), ("e", 2), ("e", 3))
    relation = Relation(("k", "i"), rows, (0,) * 4, 0)
    database = Database(("e",), {}, {"p": relation})
    first, twice = Literal("p", (Var(0), Var(1))), Literal("p", (Var(0), Var(1)))
    for budget, over in ((0, True), (1, False)):
        assert is_over(database, (), (first,), 0, budget) is over
    second = Literal("p", (Var(0), Var(2)))
    apart = (first, Literal("=", (Var(1), Var(1))))
    assert not is_over(database, (second,), apart, 0, 1)  # the query is not connected
    open_threshold = (second, Literal("<=", (Var(2), OPEN)))
    for budget, over in ((3, True), (4, False)):
        assert is_over(database, (first,), open_threshold, 0, budget) is over
    assert not is_over(database, (first,), (twice,), 0, 2)


@pytest.mark.parametrize("length", [0])
def test_the_empty_query_holds_everywhere(length: int) -> None:
    database = random_database(random.Random(length), 3)
    assert all(holds(database, (), e) for e in range(len(database.keys)))
