"""Published first-order trees come out of the native grower, and out of every way of growing folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from hornbeam.growth import TrainingSets
from hornbeam.relational.bias import Bias
from hornbeam.relational.database import Coded
from hornbeam.relational.growth import FirstOrderParameters, QueryEngine, grow_first_order
from hornbeam.relational.logic import KEY, Constant, Literal, Query, Variable
from hornbeam.relational.tree import RelationalTree
from tests.unit.relational.databases import bias_of, lookahead, mode
from tests.unit.relational.known_data import bongard, machines, mutagenesis, pictures, trains

C, D, E = (Variable(i) for i in (1, 2, 3))
GAIN = FirstOrderParameters("entropy", 2)
ONE = FirstOrderParameters("entropy", 1)


def asked_in(tree: RelationalTree) -> list[Query]:
    return [node.test for node in tree.nodes if not node.is_leaf]


def leaves_of(tree: RelationalTree) -> list[tuple[float, ...]]:
    return [node.counts for node in tree.nodes if node.is_leaf]


def test_machines_are_sent_back_for_a_worn_part_that_cannot_be_replaced() -> None:
    coded, bias = machines()
    tree = grow_first_order(coded, bias, FirstOrderParameters()).tree(0)
    assert asked_in(tree) == [(Literal("worn", (KEY, C)),), (Literal("not_replaceable", (C,)),)]
    assert tree.classes == ("fix", "ok", "sendback")
    assert leaves_of(tree) == [(0, 0, 6), (6, 0, 0), (0, 3, 0)]


def test_six_pictures_need_a_look_ahead() -> None:
    coded, bias = pictures()
    assert grow_first_order(coded, replace(bias, max_lookahead=0), ONE).tree(0).nodes[0].is_leaf
    tree = grow_first_order(coded, bias, ONE).tree(0)
    assert asked_in(tree) == [
        (Literal("tri", (KEY, C)), Literal("in", (KEY, C, D))),
        (Literal("circ", (KEY, D)),),
    ]
    assert leaves_of(tree) == [(0, 3), (1, 0), (2, 0)]


def trains_bias(coded: Coded, unary: Sequence[str], depth: int) -> Bias:
    modes = [mode("has_car(+K,-C)"), *(mode(f"{one}(+C)") for one in unary)]
    modes += [mode("shape(+C,#)"), mode("load(+C,#,_)"), mode("wheels(+C,#)")]
    seen = [*(f"{one}(C)" for one in unary), "shape(C,#)", "load(C,#,_)", "wheels(C,#)"]
    ahead = [lookahead("has_car(K,C)", one) for one in seen]
    ahead += [lookahead(f"{a}(C)", f"{b}(C)") for a in unary for b in unary if a != b]
    return bias_of(coded, modes, ahead, max_lookahead=depth)


def test_trains_go_east_with_a_short_closed_car() -> None:
    coded, unary = trains()
    trees = [grow_first_order(coded, trains_bias(coded, unary, depth), ONE).tree(0) for depth in range(3)]
    has, short, closed = Literal("has_car", (KEY, C)), Literal("short", (C,)), Literal("closed", (C,))
    assert [asked_in(tree) for tree in trees] == [[], [(has, closed), (short,)], [(has, short, closed)]]
    assert leaves_of(trees[1]) == [(5, 0), (0, 2), (0, 3)]


def test_the_bongard_sample_has_seven_nodes() -> None:
    coded, bias = bongard()
    tree = grow_first_order(coded, bias, GAIN).tree(0)
    assert len(asked_in(tree)) == 7
    assert asked_in(tree)[:3] == [
        (Literal("triangle", (KEY, C)),),
        (Literal("in", (KEY, C, D)),),
        (Literal("triangle", (KEY, D)),),
    ]
    assert [sum(counts) for counts in leaves_of(tree)] == [82, 28, 34, 36, 79, 12, 34, 87]


def test_mutagenesis_has_24_nodes() -> None:
    coded, bias = mutagenesis()
    tree = grow_first_order(coded, bias, FirstOrderParameters("entropy", 4)).tree(0)
    assert len(asked_in(tree)) == 24
    assert asked_in(tree)[0] == (Literal("atom", (KEY, C, D, Constant(27), E)),)
    assert tree.nodes[0].counts == (138, 92)


KNOWN: list[tuple[Callable[[], tuple[Coded, Bias]], FirstOrderParameters]] = [
    (machines, FirstOrderParameters()),
    (pictures, ONE),
    (bongard, GAIN),
    (mutagenesis, FirstOrderParameters("entropy", 4)),
]


def folds_of(n: int, k: int) -> TrainingSets:
    place = np.random.default_rng(5).permutation(n)
    return TrainingSets.of_rows(n, [np.flatnonzero(place % k != f) for f in range(k)], all_rows_first=True)


@pytest.mark.parametrize(("data", "parameters"), KNOWN)
def test_folds_grow_the_same_trees_by_every_algorithm(
    data: Callable[[], tuple[Coded, Bias]], parameters: FirstOrderParameters
) -> None:
    coded, bias = data()
    sets = folds_of(coded.examples.n, min(10, coded.examples.n))
    plain = QueryEngine(pack=False, connected=False, collect=False, cache=False)
    ways = [
        grow_first_order(coded, bias, replace(parameters, algorithm=algorithm, engine=engine), sets)
        for algorithm, engine in (
            ("serial", plain),
            ("serial", QueryEngine()),
            ("overlapping", QueryEngine(cache=False)),
            ("folds", QueryEngine(cache=False)),
            ("folds", QueryEngine()),
        )
    ]
    trees = [[forest.tree(i) for i in range(len(sets))] for forest in ways]
    assert all(some == trees[0] for some in trees)
    one = grow_first_order(coded, bias, parameters).counters.tests
    assert ways[3].counters.tests <= ways[1].counters.tests
    assert ways[3].counters.tests >= one


@pytest.mark.parametrize(("data", "parameters"), KNOWN)
def test_each_example_left_out_once_grows_the_same_trees(
    data: Callable[[], tuple[Coded, Bias]], parameters: FirstOrderParameters
) -> None:
    coded, bias = data()
    n = min(coded.examples.n, 100)
    sets = TrainingSets.of_rows(
        coded.examples.n,
        [np.setdiff1d(np.arange(coded.examples.n), [left_out]) for left_out in range(n)],
        all_rows_first=True,
    )
    together = grow_first_order(coded, bias, parameters, sets)
    alone = grow_first_order(coded, bias, replace(parameters, algorithm="serial"), sets)
    for i in range(len(sets)):
        assert together.tree(i) == alone.tree(i)
        assert together.held_out(i).examples.tolist() == ([] if i == 0 else [i - 1])
        assert together.held_out(i).leaf.tolist() == alone.held_out(i).leaf.tolist()


@pytest.mark.parametrize(("data", "parameters"), KNOWN)
def test_bags_grow_the_same_trees_together_and_alone(
    data: Callable[[], tuple[Coded, Bias]], parameters: FirstOrderParameters
) -> None:
    coded, bias = data()
    source = np.random.default_rng(3)
    n = coded.examples.n
    sets = TrainingSets.of_rows(n, [source.integers(0, n, n) for _ in range(25)])
    forests = [
        grow_first_order(coded, bias, replace(parameters, algorithm=one), sets)
        for one in ("serial", "overlapping")
    ]
    for i in range(len(sets)):
        assert forests[0].tree(i) == forests[1].tree(i)
        assert forests[0].held_out(i).predicted.tolist() == forests[1].held_out(i).predicted.tolist()
