"""C4.5's choice, C4.5's sizes and the competitors of each node are the oracle's: every path, every set."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from hornbeam.growth import Parameters, grow_tree
from tests import strategies
from tests.agreement import agree
from tests.laws.engine_tables import assert_same, generated
from tests.laws.random_cases import random_cases
from tests.laws.reading import (
    KINDS,
    FormAndNumbers,
    form_and_numbers,
    oracles_form_and_numbers,
    preorder,
)
from tests.laws.test_core_identity import COUNTING, KERNELS, grow_forest
from tests.laws.test_engine import TARGETS
from tests.laws.test_weights import assert_identical as assert_weighted
from tests.laws.test_weights import grow_forest as weighted_forest
from tests.laws.test_weights import weights_of, with_costs
from tests.oracle.candidates import Choice
from tests.oracle.growth import Growth, TreeNode
from tests.oracle.table import AllParameters, Classes, Column
from tests.strategies import CLASS_CRITERIA, Case

OBJECTS: list[float | None] = [None, 0.5, 1.0, 2.0, 2.0, 3.0, 4.5, 9.0]
TABLES = st.one_of(strategies.cases(), random_cases, random_cases)


@st.composite
def c45_cases(draw: st.DrawFn) -> Case:
    """Any table with C4.5's own criterion or another, and mostly with its sizes."""
    case = draw(TABLES)
    min_objs = draw(st.sampled_from(OBJECTS))
    p = AllParameters(**{**vars(case.parameters), "min_objs": min_objs})
    if isinstance(case.target, Classes):
        criterion = draw(st.sampled_from(["c45", "c45", "c45", *CLASS_CRITERIA]))
        p = AllParameters(**{**vars(p), "criterion": criterion})
    return Case(case.columns, case.target, p)


def native_trees(case: Case, times: list[list[int]] | None = None, **how: Any) -> list[Any]:
    assert isinstance(case.parameters, AllParameters)
    return grow_forest(case, times, min_objs=case.parameters.min_objs, **how)


def oracle_nodes(case: Case, times: Sequence[int] | None = None) -> list[TreeNode]:
    """The grown tree, before C4.5's collapse."""
    return Growth.of(case.columns, case.target, case.parameters, times).grow()


def assert_identical(case: Case, tree: Any, times: Sequence[int] | None = None) -> None:
    def expected() -> FormAndNumbers:
        return oracles_form_and_numbers(case, oracle_nodes(case, times))

    agree((case, times), form_and_numbers(tree), expected)
    event(f"{case.parameters.criterion}: {min(len(tree.kind), 32).bit_length()} bits of nodes")


@pytest.mark.agreed
@settings(max_examples=4 * settings.default.max_examples)  # type: ignore[union-attr]
@given(c45_cases())
def test_a_lone_tree_is_the_oracles(case: Case) -> None:
    assert_identical(case, native_trees(case)[0])


@pytest.mark.agreed
@given(c45_cases(), KERNELS, st.booleans(), st.sampled_from([1, 2]), st.sampled_from(COUNTING))
def test_every_path_gives_the_oracles_tree(
    case: Case, kernels: str, accelerate: bool, threads: int, counting: str
) -> None:
    engine = {"kernels": kernels, "accelerate": accelerate, "counting": counting}
    assert_identical(case, native_trees(case, threads=threads, **engine)[0])


def drawn_sets(n: int, seed: int) -> list[list[int]]:
    """For each row how often it is in each of five sets: all rows, two folds less, two bags."""
    source = random.Random(seed)
    times = [[1, source.randrange(3) != 0, source.randrange(4) != 0, 0, 0] for _ in range(n)]
    for s in (3, 4):
        for _ in range(n):
            times[source.randrange(n)][s] += 1
    for s in (1, 2):  # no set may be empty
        times[source.randrange(n)][s] = 1
    return [[int(m) for m in row] for row in times]


@pytest.mark.agreed
@given(c45_cases(), st.integers(0, 2**32 - 1))
def test_each_tree_of_a_forest_is_the_oracles(case: Case, seed: int) -> None:
    times = drawn_sets(case.n, seed)
    for i, tree in enumerate(native_trees(case, times)):
        assert_identical(case, tree, [row[i] for row in times])


def test_min_objs_may_be_beyond_all_rows() -> None:
    case = Case(
        (Column("x", "float", (0.0, 1.0, 2.0, 3.0)),),
        Classes((0, 0, 1, 1)),
        AllParameters(min_objs=1e300),
    )
    assert np.asarray(native_trees(case)[0].kind).tolist() == [0]


# ---- competitors ----


Test = list[Any]


def expected_test(choice: Choice) -> Test:
    """What is stored of a test: attribute, kind, threshold or branches, default, quality, gain."""
    candidate = choice.candidate
    asks: Any = candidate.threshold if candidate.kind == "numeric" else list(candidate.child_of)
    return [candidate.attribute, candidate.kind, asks, choice.default, choice.quality, choice.gain]


def expected_competitors(nodes: Sequence[TreeNode]) -> list[list[Test]]:
    return [[expected_test(choice) for choice in node.competitors] for node in nodes]


def kept_competitors(tree: Any) -> list[list[Test]]:
    """The competitors of each node, in preorder."""
    kept = {name: np.asarray(values).tolist() for name, values in tree.competitors.items()}
    start = kept["start"]
    return [
        [kept_test(tree, kept, i) for i in range(start[place], start[place + 1])] for place in preorder(tree)
    ]


def kept_test(tree: Any, kept: dict[str, Any], i: int) -> Test:
    number, kind = kept["attribute"][i], KINDS[kept["kind"][i]]
    attribute = tree.schema.attributes[number]
    span = slice(kept["branch_start"][i], kept["branch_start"][i + 1])
    asks: Any = [
        (attribute.labels[code], child)
        for code, child in zip(kept["branch_code"][span], kept["branch_child"][span], strict=True)
    ]
    if kind == "numeric":
        lowest = 2**63 if attribute.type == "uint64" else 0
        is_float = attribute.type == "float64"
        asks = kept["threshold"][i] if is_float else kept["threshold_integer"][i] + lowest
    return [number, kind, asks, kept["default_child"][i], kept["quality"][i], kept["gain"][i]]


def assert_competitors(case: Case, tree: Any, times: Sequence[int] | None = None) -> None:
    found = kept_competitors(tree)
    agree((case, times), found, lambda: expected_competitors(oracle_nodes(case, times)))
    event(f"{max(map(len, found))} competitors")


@pytest.mark.agreed
@given(c45_cases(), st.sampled_from([1, 2]), st.booleans())
def test_competitors_are_the_oracles(case: Case, threads: int, accelerate: bool) -> None:
    tree = native_trees(case, competitors=5, threads=threads, accelerate=accelerate)[0]
    assert_identical(case, tree)
    assert_competitors(case, tree)


@pytest.mark.agreed
@given(c45_cases(), st.integers(0, 2**32 - 1))
def test_each_tree_of_a_forest_has_its_own_competitors(case: Case, seed: int) -> None:
    times = drawn_sets(case.n, seed)
    for i, tree in enumerate(native_trees(case, times, competitors=5)):
        assert_identical(case, tree, [row[i] for row in times])
        assert_competitors(case, tree, [row[i] for row in times])


@pytest.mark.parametrize("kind", ["3 classes", "1 number"])
def test_competitors_of_a_large_table_do_not_depend_on_the_engine(kind: str) -> None:
    """Beyond the size where nodes are grown apart and put together again."""
    table, target = generated(40000, **TARGETS[kind])
    for criterion in ("variance",) if kind == "1 number" else ("gini", "c45"):
        parameters = Parameters(criterion, "value", max_depth=6, min_objs=2.0, competitors=5)
        trees = [grow_tree(table, target, parameters, threads=threads) for threads in (1, 2)]
        bare = grow_tree(table, target, replace(parameters, competitors=0))
        for tree in trees:
            assert_same(tree, bare)
        kept = [tree.kept_competitors for tree in trees]
        assert kept[0] is not None and kept[1] is not None  # noqa: PT018
        for name, values in kept[0].arrays.items():
            assert values.tobytes() == kept[1].arrays[name].tobytes(), name
        assert bare.kept_competitors is None
        inner = np.flatnonzero(trees[0].arrays["kind"] != 0)
        assert all(len(trees[0].competitors(int(node))) > 0 for node in inner[:20])


# ---- rows and classes that weigh differently ----

OBJECT_SHARES = [0.01, 0.1, 0.2, 0.34]


@pytest.mark.agreed
@given(TABLES, st.integers(0, 2**32 - 1), st.sampled_from(OBJECT_SHARES))
def test_weighted_trees_and_their_competitors_are_the_oracles(case: Case, seed: int, share: float) -> None:
    weights = weights_of(seed, case.n)
    weighed = with_costs(case, seed)
    assume(weights is None or any(w > 0 for w in weights))
    total = float(case.n) if weights is None else sum(weights)
    assume(0.0 < total * share < float("inf"))
    weighed = weighed.having(min_objs=None if share == OBJECT_SHARES[0] else total * share)
    if isinstance(case.target, Classes) and seed % 3:
        weighed = weighed.having(criterion="c45")
    assert isinstance(weighed.parameters, AllParameters)
    tree = weighted_forest(weighed, weights, None, min_objs=weighed.parameters.min_objs, competitors=5)[0]
    assert_weighted(weighed, tree, weights)

    def expected() -> list[list[Test]]:
        growth = Growth.of(weighed.columns, weighed.target, weighed.parameters, None, weights)
        return expected_competitors(growth.grow())

    agree((weighed, weights), kept_competitors(tree), expected)
    event(f"{min(len(tree.kind), 32).bit_length()} bits of nodes")
