"""The grower of first-order trees: budgets, sets, held-out examples, numbers, records, refusals."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hornbeam import _core
from hornbeam.datasets import make_bongard
from hornbeam.errors import DataError, UsageError
from hornbeam.growth import TrainingSets
from hornbeam.relational.bias import Bias, Mode, Pattern, Placemarker, Sign
from hornbeam.relational.database import Coded, route
from hornbeam.relational.growth import FirstOrderParameters, QueryEngine, grow_first_order
from hornbeam.relational.logic import KEY, Constant, Literal, Variable
from tests.unit.relational.databases import bias_of, coded_of, lookahead, mode
from tests.unit.relational.known_data import mutagenesis, pictures

X, Y = Variable(1), Variable(2)
ONE = FirstOrderParameters("entropy", 1)
PLAIN = QueryEngine(pack=False, connected=False, collect=False, cache=False)


def chained(rows: int = 6) -> tuple[Coded, Bias]:
    """Example 0 has a graph without a way of three edges that ends in a loop; the others have little."""
    edges = [(0, f"v{a}", f"w{b}") for a in range(rows) for b in range(rows)]
    edges += [(0, f"w{b}", f"z{a}") for a in range(rows) for b in range(rows)]
    edges += [(e, "v0", "w0") for e in (1, 2, 3)] + [(4, "v0", "v0"), (5, "v1", "v1")]
    data = coded_of(
        range(6), {"edge": (("key", "node", "node"), edges)}, target=["a", "a", "a", "a", "b", "b"]
    )
    return data, bias_of(data, [mode("edge(+K,-A,-B); edge(+K,B,-C); edge(+K,C,C)")])


def ways() -> list[QueryEngine]:
    return [
        QueryEngine(),
        PLAIN,
        QueryEngine(pack=False),
        QueryEngine(connected=False),
        QueryEngine(cache=False),
    ]


def test_a_test_that_fits_more_rows_than_its_budget_is_dropped_and_named() -> None:
    data, bias = chained()
    needed = steps_of(data)
    for engine in ways():
        enough = [
            not grow_first_order(data, bias, replace(ONE, budget=budget, engine=engine))
            .tree(0)
            .nodes[0]
            .is_leaf
            for budget in (1, 35, 36, 37, needed - 1, needed, needed + 1)
        ]
        assert enough == [False] * 5 + [True] * 2
        assert (
            not grow_first_order(data, bias, replace(ONE, budget=None, engine=engine))
            .tree(0)
            .nodes[0]
            .is_leaf
        )
        forest = grow_first_order(data, bias, replace(ONE, budget=needed - 1, engine=engine))
        (dropped,) = forest.dropped
        assert (dropped.examples, dropped.sets) == (1, 1)
        assert str(dropped) == "edge(V0, V1, V2), edge(V0, V2, V3), edge(V0, V3, V3)"


def steps_of(data: Coded) -> int:
    """Rows that fit in the search for a way of example 0, counted plainly."""
    edge = data.relations["edge"]
    assert edge.owner is not None
    pairs = [
        (int(a), int(b)) for e, a, b in zip(edge.owner, edge.data[1], edge.data[2], strict=True) if e == 0
    ]
    second = [(a, b, d) for a, b in pairs for c, d in pairs if c == b]
    third = [one for one in second for c, d in pairs if c == d == one[2]]
    return len(pairs) + len(second) + len(third)


def test_only_sets_that_have_the_costly_example_do_without_the_test() -> None:
    data, bias = chained()
    sets = TrainingSets.of_rows(6, [[1, 2, 3, 4, 5], [0, 1, 2, 4, 5]], all_rows_first=True)
    for algorithm in ("serial", "overlapping", "auto"):
        forest = grow_first_order(data, bias, replace(ONE, budget=20, algorithm=algorithm), sets)
        assert [forest.tree(i).nodes[0].is_leaf for i in range(3)] == [True, False, True]
        assert forest.held_out(1).leaf.tolist() == [forest.tree(1).nodes[0].no]


def test_examples_without_a_target_ride_along() -> None:
    data, bias = pictures()
    target = np.array([1, 0, 0, 0, 1, -1], dtype=np.int32)
    some = replace(data, examples=replace(data.examples, target=target))
    forest = grow_first_order(some, bias, ONE)
    assert sum(forest.tree(0).nodes[0].counts) == 5
    assert forest.held_out(0).examples.tolist() == [5]
    assert forest.held_out(0).leaf.tolist() == route(some, forest.tree(0), [5]).tolist()
    with pytest.raises(DataError, match="set 0 has examples without a target"):
        grow_first_order(some, bias, ONE, TrainingSets.of_rows(6, [[0, 1, 5]]))


def numbers(n: int = 150) -> tuple[Coded, Bias]:
    source = np.random.default_rng(8)
    sizes = source.integers(0, 20, (n, 3))
    rows = [(e, int(size), "ab"[int(size) % 2]) for e in range(n) for size in sizes[e]]
    target = (sizes.max(axis=1) > 15) * 10.25 + (sizes.min(axis=1) <= 3) * 0.1 + source.random(n) * 1e-3
    data = coded_of(
        range(n), {"part": (("key", "size", "kind"), rows)}, target=target.tolist(), task="regression"
    )
    modes = [mode("part(+K,-S,#); S <= #"), mode("part(+K,-S,_); S > #"), mode("part(+K,+-S,#)")]
    return data, bias_of(data, modes)


def test_numbers_are_predicted_by_significant_tests() -> None:
    data, bias = numbers()
    parameters = FirstOrderParameters("variance", 5)
    tree = grow_first_order(data, bias, parameters).tree(0)
    assert tree.nodes[0].test == (
        Literal("part", (KEY, X, tree.nodes[0].test[0].terms[2])),
        Literal(">", (X, Constant(15))),
    )
    y = np.asarray(data.examples.target)
    n, mean, squares = tree.nodes[0].counts
    assert n == len(y)
    assert mean == pytest.approx(y.mean())
    assert squares == pytest.approx(((y - y.mean()) ** 2).sum())
    strict = grow_first_order(data, bias, replace(parameters, ftest=1e-300)).tree(0)
    loose = grow_first_order(data, bias, replace(parameters, ftest=None)).tree(0)
    assert len(strict.nodes) < len(tree.nodes) < len(loose.nodes)


def test_more_sets_than_grow_together_are_grown_in_turn() -> None:
    data, bias = numbers()
    sets = TrainingSets.of_rows(
        150, [np.setdiff1d(np.arange(150), [e]) for e in range(150)], all_rows_first=True
    )
    parameters = FirstOrderParameters("variance", 5, max_depth=3)
    together = grow_first_order(data, bias, parameters, sets)
    alone = grow_first_order(data, bias, replace(parameters, algorithm="serial", engine=PLAIN), sets)
    assert len(together) == 151
    assert [together.tree(i) for i in range(151)] == [alone.tree(i) for i in range(151)]
    for i in range(1, 151):
        held, tree = together.held_out(i), together.tree(i)
        assert held.examples.tolist() == [i - 1]
        assert held.leaf.tolist() == route(data, tree, [i - 1]).tolist()
        assert held.predicted.tolist() == [tree.nodes[held.leaf[0]].counts[1]]


def test_threads_grow_the_same_trees() -> None:
    data, bias = numbers(3000)
    sets = TrainingSets.of_rows(3000, [np.flatnonzero(np.arange(3000) % 3 != f) for f in range(3)])
    parameters = FirstOrderParameters("variance", 5, max_depth=4)
    one, two = (
        grow_first_order(data, bias, replace(parameters, threads=threads), sets) for threads in (1, 2)
    )
    assert [one.tree(i) for i in range(3)] == [two.tree(i) for i in range(3)]
    assert one.counters == two.counters


def test_accuracy_ends_growth_early() -> None:
    data, bias = mutagenesis()
    parameters = FirstOrderParameters("entropy", 4, accuracy=0.75)
    tree = grow_first_order(data, bias, parameters).tree(0)
    shares = [max(node.counts) / sum(node.counts) for node in tree.nodes if not node.is_leaf]
    assert max(shares) < 0.75
    whole = grow_first_order(data, bias, replace(parameters, accuracy=1.0)).tree(0)
    assert len(tree.nodes) < len(whole.nodes)


def simple_pictures() -> tuple[Coded, Bias]:
    made = make_bongard(theory="simple", seed=7)
    picture, inside = made.tables["picture"].to_pydict(), made.tables["inside"].to_pydict()
    objects = list(zip(*made.tables["object"].to_pydict().values(), strict=True))
    shape = ("key", "obj")
    tables: dict[str, Any] = {
        name: (shape, [(p, o) for o, p, s, _ in objects if s == name])
        for name in ("triangle", "square", "circle")
    }
    tables["config"] = (("key", "obj", "way"), [(p, o, w) for o, p, _, w in objects if w is not None])
    tables["in"] = (("key", "obj", "obj"), list(zip(*inside.values(), strict=True)))
    data = coded_of(picture["picture_id"], tables, target=picture["class"])
    modes = [mode(f"{name}(+P,+-S)", 5) for name in ("triangle", "square", "circle")]
    modes += [mode("in(+P,+A,+-B)", 5), mode("in(+P,+-A,+B)", 5), mode("config(+P,+A,#)", 5)]
    return data, bias_of(data, modes)


def test_folds_of_simple_pictures_cost_one_tree() -> None:
    data, bias = simple_pictures()
    n, parameters = data.examples.n, FirstOrderParameters("entropy", 2)
    place = np.random.default_rng(0).permutation(n)
    folds = [np.flatnonzero(place % 10 != f) for f in range(10)]
    sets = TrainingSets.of_rows(n, folds, all_rows_first=True)
    one = grow_first_order(data, bias, parameters)
    forest = grow_first_order(data, bias, replace(parameters, algorithm="folds"), sets)
    alone = grow_first_order(
        data, bias, replace(parameters, algorithm="serial", engine=QueryEngine(cache=False)), sets
    )
    assert [len(forest.tree(i).nodes) for i in range(11)] == [7] * 11
    assert forest.counters.bifurcations == 0
    assert forest.counters.tests == one.counters.tests
    assert alone.counters.tests == 10 * one.counters.tests
    assert forest.levels.own_entries.sum() == alone.levels.entries.sum()
    assert forest.levels.f.tolist() == [1.0, 1.0, 1.0]
    assert forest.levels.nodes.tolist() == [1, 2, 2, 2]
    target = np.asarray(data.examples.target)
    held = [forest.held_out(i) for i in range(1, 11)]
    assert sum((one.predicted == target[one.examples]).sum() for one in held) == n


def test_sets_that_disagree_bifurcate() -> None:
    data, bias = mutagenesis()
    n = data.examples.n
    folds = [np.flatnonzero(np.arange(n) % 10 != f) for f in range(10)]
    forest = grow_first_order(data, bias, FirstOrderParameters("entropy", 4), TrainingSets.of_rows(n, folds))
    assert forest.counters.bifurcations > 0
    assert forest.levels.f.max() > 1.0
    assert forest.counters.nodes == forest.levels.nodes.sum()
    assert forest.levels.entries.sum() < forest.levels.own_entries.sum()


def test_progress_is_told_and_growth_ends_when_asked() -> None:
    data, bias = mutagenesis()
    n = data.examples.n
    # Long enough to be stopped: each example is left out, one by one, by the plainest means.
    sets = TrainingSets.of_rows(n, [np.setdiff1d(np.arange(n), [e % n]) for e in range(4 * n)])
    told: list[float] = []
    stopper = threading.Timer(0.5, _core.stop_thread, [threading.get_ident()])
    stopper.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            grow_first_order(
                data, bias, replace(ONE, algorithm="serial", engine=PLAIN), sets, report=told.append
            )
    finally:
        stopper.cancel()
        time.sleep(0)
        _core.forget_stop(threading.get_ident())
    assert told
    assert told == sorted(told)
    assert 0.0 <= told[0] <= told[-1] <= 1.0


@pytest.mark.parametrize(
    ("modes", "says"),
    [
        ([mode("square(+K,-X)")], "names 'square', which is no relation"),
        ([mode("tri(+K)")], "1 places; it has 2 columns"),
        ([mode("tri(+K,-X); X <= #; X > #")], "two thresholds"),
        (
            [Mode((Pattern("=", (Placemarker(Sign.NEW, "X"), Placemarker(Sign.CONSTANT))),))],
            "the first is '.'",
        ),
        (
            [Mode((Pattern("tri", (Placemarker(Sign.OLD), Placemarker(Sign.FIXED))),))],
            "needs its one constant",
        ),
        ([Mode(())], "a mode without literals"),
    ],
)
def test_a_bias_that_means_nothing_is_refused(modes: list[Mode], says: str) -> None:
    data, _ = pictures()
    with pytest.raises(UsageError, match=says):
        grow_first_order(data, bias_of(data, modes), ONE)


def test_types_that_mix_domains_are_refused() -> None:
    data, bias = pictures()
    types = {**bias.types, "config": ("key", "conf", "conf")}
    with pytest.raises(UsageError, match="name two types"):
        grow_first_order(data, replace(bias, types=types), ONE)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"criterion": "variance"}, "criterion='variance' for classification"),
        ({"min_samples_leaf": 0}, "min_samples_leaf=0"),
        ({"max_depth": -1}, "max_depth=-1"),
        ({"ftest": 0.0}, "ftest=0.0"),
        ({"accuracy": 1.5}, "accuracy=1.5"),
    ],
)
def test_a_parameter_that_means_nothing_is_refused(changed: dict[str, Any], says: str) -> None:
    data, bias = pictures()
    with pytest.raises(UsageError, match=says):
        grow_first_order(data, bias, replace(ONE, **changed))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"sets": TrainingSets.of_rows(5, [[0]])}, "training sets over 5 rows"),
        ({"sets": TrainingSets.of_rows(6, [])}, "no training set"),
        ({"sets": TrainingSets.of_rows(6, [[0, 1], []])}, "set 1 has no examples"),
        ({"sets": TrainingSets.of_rows(6, [[0, 0, 1]]), "algorithm": "folds"}, "algorithm='folds'"),
        ({"algorithm": "quick"}, "algorithm='quick'"),
        ({"budget": 0}, "budget=0"),
        ({"threads": 0}, "threads=0"),
    ],
)
def test_a_way_of_growing_that_means_nothing_is_refused(given: dict[str, Any], says: str) -> None:
    changed = {name: value for name, value in given.items() if name != "sets"}
    data, bias = pictures()
    with pytest.raises(UsageError, match=says):
        grow_first_order(data, bias, replace(ONE, **changed), given.get("sets"))


def test_lookaheads_fit_the_constants_they_ask_for() -> None:
    data, _ = pictures()
    after = Pattern(
        "config",
        (Placemarker(Sign.OLD, "K"), Placemarker(Sign.OLD, "S"), Placemarker(Sign.FIXED, None, ("up",))),
    )
    ahead = replace(lookahead("tri(K,S)", "in(K,S,-T)"), after=after)
    bias = bias_of(data, [mode("config(+K,-S,#)")], [ahead])
    native = grow_first_order(data, bias, ONE)
    plain = grow_first_order(data, bias, replace(ONE, engine=PLAIN))
    assert native.tree(0) == plain.tree(0)
    assert native.counters.tests > 0


def test_two_lists_of_constants_of_one_place_are_both_offered() -> None:
    data = coded_of(
        range(6),
        {"n": (("key", "kind"), [(0, "a"), (1, "b"), (2, "b"), (3, "c"), (4, "c"), (5, "c")])},
        target=["x", "x", "x", "y", "y", "y"],
    )
    bias = bias_of(data, [mode("n(+K,#L)", L=("a", "b")), mode("n(+K,#L)", L=("b", "c", "c"))])
    for engine in ways():
        tree = grow_first_order(data, bias, replace(ONE, engine=engine)).tree(0)
        assert tree.nodes[0].test == (Literal("n", (KEY, Constant("c"))),)


def test_two_tests_that_ask_the_same_are_kept_once() -> None:
    """Both variables are tied to nothing: `first = #` and `second = #` are one component of the cache."""
    source = np.random.default_rng(2)
    kinds = [
        (e, kind) for e in range(4, 40) for kind in sorted(set(source.choice(list("abcdef"), 3).tolist()))
    ]
    target = [0] * 4 + source.integers(0, 2, 36).tolist()
    data = coded_of(range(40), {"n": (("key", "kind"), kinds)}, target=target)
    bias = bias_of(data, [mode("n(+K,-A); n(+K,-B)"), mode("+X = #")])
    trees = [grow_first_order(data, bias, replace(ONE, engine=engine)).tree(0) for engine in ways()]
    assert all(tree == trees[0] for tree in trees)
    assert len(trees[0].nodes) > 3
