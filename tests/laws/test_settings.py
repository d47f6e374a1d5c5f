"""Growth under many settings at once: every tree is that of a lone growth of its set with its setting."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, currently_in_test_context, event, given, settings
from hypothesis import strategies as st

from hornbeam.errors import UsageError
from hornbeam.growth import Cut, Cuts, Engine, Parameters, TrainingSets, grow_settings
from hornbeam.growth.grow import collapsed
from tests import strategies
from tests.laws.engine_tables import generated
from tests.laws.growing import DEFAULT, Call, Rows, assert_equal, known_call, weighed_call
from tests.laws.random_cases import random_cases
from tests.laws.test_pruning import noisy_case
from tests.oracle.table import Classes
from tests.strategies import Case

EXAMPLES = settings.default.max_examples  # type: ignore[union-attr]
ANY = st.one_of(strategies.cases(), random_cases, random_cases)
SEED = st.integers(0, 2**32 - 1)
LEAST = [1, 1, 2, 3, 4, 5, 7, 10, 12, 20, 40, 61, 10**6, 2**40, 0.01, 0.05, 0.07, 0.1, 0.2, 0.34, 0.5]
OBJECTS = [None, None, None, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 9.0, 15.0, 30.0, 1e6, 1e300, 1e-300]
KINDS = ["folds", "repeats", "bags", "parts", "one"]


def some_settings(source: random.Random, given: Parameters, most: int = 12) -> list[Parameters]:
    """In no order, some of them twice, some beyond the number of rows."""
    many = source.randint(1, most)
    way = source.choice(["leaf", "objects", "both"])
    chosen = [
        replace(
            given,
            min_samples_leaf=given.min_samples_leaf if way == "objects" else source.choice(LEAST),
            min_objs=given.min_objs if way == "leaf" else source.choice(OBJECTS),
        )
        for _ in range(many)
    ]
    return chosen + source.choices(chosen, k=source.randint(0, 3))


def some_sets(source: random.Random, n: int, kind: str, weights: Any) -> list[Rows]:
    """Rows of each set: all and the complements of folds, once or twice; drawn with repeats; any part."""
    if kind == "one":
        sets = [np.arange(n)]
    elif kind == "bags":
        sets = [np.sort(source.choices(range(n), k=n)) for _ in range(3)]
    elif kind == "parts":
        sets = [np.array(sorted(source.sample(range(n), source.randint(1, n)))) for _ in range(4)]
    else:
        sets = [np.arange(n)]
        for _ in range(2 if kind == "repeats" else 1):
            k = source.randint(2, max(2, min(n, 5)))
            fold = np.array([i % k for i in range(n)])
            source.shuffle(fold)  # type: ignore[arg-type]
            sets += [np.flatnonzero(fold != i) for i in range(k)]
    there = np.ones(n, dtype=bool) if weights is None else weights > 0
    return [rows for rows in sets if len(rows) and there[rows].any()]


def assert_lone(
    call: Call, parameters: Sequence[Parameters], sets: Sequence[Rows], source: random.Random, **how: Any
) -> None:
    """Every tree of every set, asked for in any order, some of them more than once."""
    expected = {}
    for i, rows in enumerate(sets):
        for s, one in enumerate(parameters):
            expected[i, s] = replace(call, parameters=one).of(rows).grown()
    forest = grow_settings(
        call.table, call.target, parameters, TrainingSets.of_rows(call.table.n_rows, sets), **how
    )
    asked = [*expected, *source.sample(list(expected), min(3, len(expected)))]
    source.shuffle(asked)
    for i, s in asked:
        assert_equal(forest.tree(i, s), expected[i, s])
    if currently_in_test_context():
        event(f"different trees: {min(4, len({tree.digest for tree in expected.values()}))}")


@settings(max_examples=2 * EXAMPLES)
@given(ANY, SEED, st.sampled_from(KINDS))
def test_a_tree_is_that_of_a_lone_growth(case: Case, seed: int, kind: str) -> None:
    call, source = weighed_call(case, seed), random.Random(seed)
    sets = some_sets(source, case.n, kind, call.target.weights)
    assume(sets)
    assert_lone(call, some_settings(source, call.parameters), sets, source)


@given(strategies.many_categories(), SEED, st.sampled_from(KINDS))
def test_a_tree_of_many_categories_is_that_of_a_lone_growth(case: Case, seed: int, kind: str) -> None:
    call, source = weighed_call(case, seed), random.Random(seed)
    sets = some_sets(source, case.n, kind, call.target.weights)
    assume(sets)
    assert_lone(call, some_settings(source, call.parameters), sets, source)


@given(ANY, SEED, st.sampled_from(["auto", "serial", "overlapping"]), st.integers(1, 2), st.data())
def test_the_way_of_growing_changes_no_tree(
    case: Case, seed: int, algorithm: str, threads: int, data: st.DataObject
) -> None:
    call, source = weighed_call(case, seed), random.Random(seed)
    sets = some_sets(source, case.n, data.draw(st.sampled_from(KINDS)), call.target.weights)
    assume(sets)
    engine = Engine(
        algorithm=algorithm,
        accelerate=data.draw(st.booleans()),
        counting=data.draw(st.sampled_from(["auto", "always", "never"])),
        settings=data.draw(st.sampled_from(["together", "together", "apart"])),
    )
    limit = source.choice([None, 32 * 2**20])
    parameters = some_settings(source, call.parameters, 5)
    assert_lone(call, parameters, sets, source, engine=engine, threads=threads, memory_limit=limit)


@settings(max_examples=max(10, EXAMPLES // 5))
@given(SEED, st.sampled_from(KINDS))
def test_a_tree_of_a_noisy_table_is_that_of_a_lone_growth(seed: int, kind: str) -> None:
    """Two to five classes, up to 90 categories, hundreds of rows, and C4.5 in a third of them."""
    call, source = weighed_call(noisy_case(seed), seed), random.Random(seed)
    sets = some_sets(source, call.table.n_rows, kind, call.target.weights)
    assume(sets)
    assert_lone(call, some_settings(source, call.parameters, 22), sets, source)


@given(ANY, SEED)
def test_c45_collapses_after_all_limits(case: Case, seed: int) -> None:
    """Without collapse it is the tree as it was grown; limits cut that one, and then it collapses."""
    assume(isinstance(case.target, Classes))
    call, source = weighed_call(case, seed // 3 * 3), random.Random(seed)
    call = call.having(max_depth=None, min_samples_split=2, min_impurity_decrease=0.0)
    assert call.parameters.criterion == "c45"
    parameters = some_settings(source, call.parameters, 4)
    sets = some_sets(source, case.n, "folds", call.target.weights)
    assume(sets)
    forest = grow_settings(call.table, call.target, parameters, TrainingSets.of_rows(call.table.n_rows, sets))
    cut = Cut(max_depth=source.choice([None, 1, 2]), min_samples_split=source.choice([2, 5, 0.2]))
    for i, rows in enumerate(sets):
        for s, one in enumerate(parameters):
            alone = replace(call, parameters=one).of(rows)
            limited = alone.having(**vars(cut)).grown()
            raw = forest.tree(i, s, collapse=False)
            assert_equal(raw, alone.before_collapse())
            assert_equal(forest.tree(i, s), collapsed(raw))
            assert_equal(collapsed(Cuts(raw, [cut]).tree(0)), limited)
            event("collapsed" if collapsed(raw).n_nodes < raw.n_nodes else "stays")


@pytest.mark.parametrize(
    ("kind", "criterion", "nominal"),
    [
        ({"classes": 2}, "gini", "subset"),
        ({"classes": 6}, "entropy", "subset"),
        ({"classes": 4}, "correlation", "value"),
        ({"classes": 3}, "gain_ratio", "multiway"),
        ({"classes": 3}, "c45", "multiway"),
        ({"targets": 1}, "variance", "subset"),
        ({"targets": 2}, "variance", "subset"),
    ],
)
def test_trees_of_a_large_table(kind: dict[str, Any], criterion: str, nominal: str) -> None:
    table, target = generated(900, **kind)
    call = Call(table, target, replace(DEFAULT, criterion=criterion, nominal=nominal)).having()
    sets = [np.arange(900), *(np.flatnonzero(np.arange(900) % 3 != i) for i in range(3))]
    by_leaf = [replace(call.parameters, min_samples_leaf=m) for m in (1, 30, 2, 30, 0.1, 400)]
    by_objects = [replace(call.parameters, min_objs=m) for m in (2.0, 1.0, 25.0)]
    for parameters in (by_leaf, by_objects):
        assert_lone(call, parameters, sets, random.Random(3))


def test_more_settings_and_sets_than_grow_together() -> None:
    table, target = generated(150, classes=3)
    call = Call(table, target, DEFAULT)
    parameters = [replace(DEFAULT, min_samples_leaf=1 + i % 40) for i in range(140)]
    sets = [np.delete(np.arange(150), range(2 * i, 2 * i + 2)) for i in range(75)]
    forest = grow_settings(table, target, parameters, TrainingSets.of_rows(150, sets))
    for i, s in [(0, 0), (74, 139), (63, 64), (64, 63), (3, 127), (70, 128), (31, 39), (31, 79)]:
        alone = replace(call, parameters=parameters[s]).of(sets[i]).grown()
        assert_equal(forest.tree(i, s), alone)


def test_a_size_beyond_the_rows_gives_one_leaf() -> None:
    call = known_call()
    chosen = [replace(DEFAULT, min_samples_leaf=m) for m in (1, 4, 5, 9, 10**6)]
    chosen += [replace(DEFAULT, min_objs=m) for m in (1.0, 4.0, 4.5, 1e300)]
    forest = grow_settings(call.table, call.target, chosen, TrainingSets.of_rows(8, [range(8)]))
    assert [forest.tree(0, s).n_leaves for s in range(len(chosen))] == [4, 2, 1, 1, 1, 4, 2, 1, 1]


def test_what_is_forgotten_does_not_take_the_others_along() -> None:
    table, target = generated(200, classes=3)
    parameters = [replace(DEFAULT, min_samples_leaf=m) for m in (1, 5, 20)]
    sets = [np.flatnonzero(np.arange(200) % 4 != i) for i in range(4)]
    forest = grow_settings(table, target, parameters, TrainingSets.of_rows(200, sets))
    for i, rows in enumerate(sets):
        for s, one in enumerate(parameters):
            assert_equal(forest.tree(i, s), Call(table, target, one).of(rows).grown())
        forest.release(i)


def test_no_settings_are_refused() -> None:
    call = known_call()
    with pytest.raises(UsageError, match="no settings"):
        grow_settings(call.table, call.target, [], TrainingSets.of_rows(8, [range(8)]))


@pytest.mark.parametrize("kind", ["folds", "bags"])
@pytest.mark.parametrize(("classes", "targets"), [(2, 0), (0, 1)])
def test_settings_part_in_large_tables_as_in_small_ones(kind: str, classes: int, targets: int) -> None:
    """Nodes are handed to smaller frames, and to other threads, after their settings parted."""
    n, rng = 50_000, np.random.default_rng(classes)
    table, target = generated(n, classes=classes, targets=targets)
    if kind == "bags":
        sets = TrainingSets.of_rows(n, [rng.integers(0, n, n) for _ in range(2)])
    else:
        dealt = rng.integers(0, 3, n)
        sets = TrainingSets.of_rows(n, [np.flatnonzero(dealt != i) for i in range(3)])
    call = Call(table, target, replace(DEFAULT, criterion="gini" if classes else "variance", max_depth=5))
    chain = [call.having(min_samples_leaf=m).parameters for m in (1, 50, 500, 3000, 9000)]

    def digests(threads: int, engine: Engine) -> list[list[str]]:
        forest = grow_settings(table, target, chain, sets, threads=threads, engine=engine)
        return [[forest.tree(i, s).digest for s in range(len(chain))] for i in range(sets.n_sets)]

    apart = digests(1, Engine(settings="apart", algorithm="serial"))
    assert all(len(set(of_set)) > 2 for of_set in apart)  # settings part
    assert digests(1, Engine()) == apart
    assert digests(2, Engine(algorithm="overlapping")) == apart
