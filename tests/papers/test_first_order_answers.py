"""Published trees of ACE/TILDE and small cases that can be seen through: the oracle's, and the package's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hornbeam.datasets.generators import find_linked
from hornbeam.datasets.generators.streams import Rows
from hornbeam.growth import TrainingSets
from hornbeam.relational.data import RelationalData
from hornbeam.relational.forest import FirstOrderForest
from hornbeam.relational.growth import FirstOrderParameters, QueryEngine, grow_first_order
from hornbeam.relational.tree import RelationalTree, expected_errors, prune
from hornbeam_experiments.relational.sets import bongard
from tests.agreement import agree
from tests.oracle.facts import Const, Literal, Query, Var, holds
from tests.oracle.first_order import Growth, Node, Settings
from tests.oracle.first_order_prune import Labelling
from tests.oracle.quality import entropy_impurity
from tests.oracle.refinement import Bias, Lookahead, Refinement
from tests.oracle.table import ClassCounts
from tests.real_data import ABSENT, find_folder
from tests.relational_coding import bias_of, coded, nodes_of
from tests.relational_sets import (
    Problem,
    bongard_392,
    machines,
    modes,
    mutagenesis_230,
    pattern,
    six_pictures,
    trains_10,
)

needs_data = pytest.mark.skipif(find_folder() is None, reason=ABSENT)


def literal(predicate: str, *terms: int | str) -> Literal:
    """Numbers are variables, text is a constant."""
    return Literal(predicate, tuple(Var(t) if isinstance(t, int) else Const(t) for t in terms))


def growth(problem: Problem, settings: Settings, depth: int | None = None) -> Growth:
    bias = problem.bias if depth is None else replace(problem.bias, max_lookahead=depth)
    return Growth.of(problem.database, bias, problem.classes, settings)


def covered(problem: Problem, *query: Literal) -> set[object]:
    """The keys of the examples for which a query holds."""
    database = problem.database
    return {key for e, key in enumerate(database.keys) if holds(database, query, e)}


def sizes(nodes: Sequence[Node]) -> list[int]:
    return [node.stats.rows for node in nodes]


def queries(root: Node) -> list[Query]:
    return [node.test for node in root.inner]


WORN, NOT_REPLACEABLE = literal("worn", 0, 1), literal("not_replaceable", 1)


@needs_data
def test_worn_parts_cover_the_machines_that_they_should() -> None:
    problem = machines()
    assert len(covered(problem, WORN)) == 12
    assert len(covered(problem, WORN, literal("replaceable", 1))) == 10
    assert len(covered(problem, WORN, NOT_REPLACEABLE)) == 6


@needs_data
def test_no_literal_without_a_variable_of_its_type_is_offered_at_the_root() -> None:
    problem = machines()
    assert Refinement(problem.database, problem.bias, ()).tests() == [(WORN,)]


@needs_data
def test_machines_give_the_published_tree() -> None:
    grown = growth(machines(), Settings("gain_ratio", 2))
    root = grown.grow()
    assert isinstance(root.stats, ClassCounts)
    assert root.stats.counts == (6, 3, 6)  # fix, ok, sendback
    assert entropy_impurity(root.stats) == pytest.approx(1.5219, abs=5e-5)
    assert queries(root) == [(WORN,), (NOT_REPLACEABLE,)]
    assert [leaf.counts for leaf in root.leaves] == [(0, 0, 6), (6, 0, 0), (0, 3, 0)]
    assert root.quality == pytest.approx(1.0, abs=1e-15)
    assert growth(machines(), Settings("gain", 2)).grow().quality == pytest.approx(0.7219, abs=5e-5)
    estimate = Labelling().estimate(root)
    assert estimate == pytest.approx(3.58571211334849, rel=1e-14)
    assert estimate == pytest.approx(2 * 6 * (1 - 0.25 ** (1 / 6)) + 3 * (1 - 0.25 ** (1 / 3)), rel=1e-14)


TRIANGLE, IN, CIRCLE = literal("triangle", 0, 1), literal("in", 0, 1, 2), literal("circle", 0, 2)
UP = literal("config", 0, 1, "up")


@pytest.mark.parametrize(
    ("query", "pictures"),
    [
        ((TRIANGLE,), {1, 2, 3, 4, 5, 6}),
        ((TRIANGLE, IN), {1, 3, 5, 6}),
        ((TRIANGLE, IN, CIRCLE), {1, 5, 6}),
        ((TRIANGLE, IN, literal("circle", 0, 3)), {1, 3, 5, 6}),
        ((TRIANGLE, IN, CIRCLE, UP), {1}),
        ((TRIANGLE, UP), {1, 2, 3, 5, 6}),
    ],
)
def test_a_query_holds_for_the_pictures_that_have_such_objects(query: Query, pictures: set[object]) -> None:
    assert covered(six_pictures(), *query) == pictures


def test_six_pictures_need_one_step_of_lookahead() -> None:
    problem = six_pictures()
    offered = modes(
        "triangle(+P,-S)",
        "circle(+P,+S)",
        "in(+P,+S1,-S2)",
        "config(+P,+S,#t)",
        constants={"t": ("up", "down")},
    )
    seen = (Lookahead(pattern("triangle(P,S)"), (pattern("in(P,S,-T)"),)),)
    bias = Bias("pic", problem.bias.types, offered, seen)
    blind = growth(replace(problem, bias=bias), Settings("gain", 1), depth=0).grow()
    assert not blind.test
    root = growth(replace(problem, bias=bias), Settings("gain", 1), depth=1).grow()
    assert queries(root) == [(TRIANGLE, IN), (CIRCLE,)]
    assert [leaf.counts for leaf in root.leaves] == [(0, 3), (1, 0), (2, 0)]  # neg, pos


@needs_data
def test_ten_trains_by_how_far_the_learner_looks_ahead() -> None:
    car, closed, short = literal("has_car", 0, 1), literal("closed", 1), literal("short", 1)
    blind = growth(trains_10(), Settings("gain", 2), depth=0).grow()
    assert not blind.test
    one = growth(trains_10(), Settings("gain", 2), depth=1).grow()
    assert queries(one)[:2] == [(car, closed), (short,)]
    assert one.yes is not None
    assert one.yes.yes is not None
    assert one.yes.yes.counts == (5, 0)  # east, west
    two = growth(trains_10(), Settings("gain", 2), depth=2).grow()
    assert queries(two) == [(car, short, closed)]
    assert two.quality == 1.0
    assert [leaf.counts for leaf in two.leaves] == [(5, 0), (0, 5)]


@needs_data
def test_the_bongard_sample_gives_the_published_tree() -> None:
    grown = growth(bongard_392(), Settings("gain", 2))
    root = grown.grow()
    predicates = [[x.predicate for x in test] for test in queries(root)]
    assert predicates == [["triangle"], ["in"], ["triangle"], ["circle"], ["in"], ["circle"], ["in"]]
    assert sizes(root.leaves) == [82, 28, 34, 36, 79, 12, 34, 87]
    assert all(leaf.stats.is_pure() for leaf in root.leaves)
    assert Labelling().estimate(root) == pytest.approx(10.8626697437967, rel=1e-14)


@needs_data
def test_mutagenesis_gives_the_published_trees() -> None:
    grown = growth(mutagenesis_230(), Settings("gain", 4))
    root, of = grown.grow(), Labelling(ties_to_last=True)
    assert len(root.inner) == 24
    first = root.test[0]
    assert (len(root.test), first.predicate, first.terms[3]) == (1, "atom", Const(27))
    safe = of.safe(root)
    assert (len(safe.inner), sum(map(len, queries(safe)))) == (12, 13)
    assert of.estimate(safe) == pytest.approx(71.4705074516556, rel=1e-14)
    pruned = of.error_based(root)
    assert nodes_of(pruned) == nodes_of(of.c45(root))
    assert len(pruned.inner) == 8
    assert of.estimate(pruned) == pytest.approx(66.6546112633088, rel=1e-14)
    assert sum(of.errors(leaf) for leaf in pruned.leaves) == 230 - 180


PROBLEMS: dict[str, tuple[Callable[[], Problem], Settings, int | None]] = {
    "machines": (machines, Settings("gain_ratio", 2), None),
    "six pictures": (six_pictures, Settings("gain", 1), None),
    "ten trains, 1 ahead": (trains_10, Settings("gain", 2), 1),
    "ten trains, 2 ahead": (trains_10, Settings("gain", 2), 2),
    "Bongard 392": (bongard_392, Settings("gain", 2), None),
    "Mutagenesis 230": (mutagenesis_230, Settings("gain", 4), None),
}


def packaged(problem: Problem, settings: Settings, depth: int | None, folds: int = 0) -> list[RelationalTree]:
    """The trees of the package: of all examples, then those outside each of some folds."""
    bias = problem.bias if depth is None else replace(problem.bias, max_lookahead=depth)
    n = len(problem.database.keys)
    kept = ([e for e in range(n) if e % folds != f] for f in range(folds))
    forest = grow_first_order(
        coded(problem.database, problem.classes, problem.bias.key_type, ties_to_last=True),
        bias_of(bias),
        FirstOrderParameters(settings.criterion, settings.min_samples_leaf),
        TrainingSets.of_rows(n, kept, all_rows_first=True),
    )
    return [forest.tree(i) for i in range(folds + 1)]


@pytest.mark.agreed
@needs_data
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_package_grows_the_oracles_tree(name: str) -> None:
    make, settings, depth = PROBLEMS[name]
    problem = make()
    (tree,) = packaged(problem, settings, depth)
    agree((problem, settings, depth), tree.nodes, lambda: nodes_of(growth(problem, settings, depth).grow()))


@pytest.mark.agreed
@needs_data
@pytest.mark.parametrize("name", ["machines", "Bongard 392", "Mutagenesis 230"])
def test_the_package_grows_the_oracles_folds(name: str) -> None:
    make, settings, depth = PROBLEMS[name]
    problem, folds = make(), 3
    n = len(problem.database.keys)
    trees = packaged(problem, settings, depth, folds)[1:]

    def expected() -> list[Any]:
        sets = [[int(e % folds != f) for e in range(n)] for f in range(folds)]
        given = problem.database, problem.bias, problem.classes, settings
        return [nodes_of(Growth.of(*given, times).grow()) for times in sets]

    agree((problem, settings), [tree.nodes for tree in trees], expected)


@pytest.mark.agreed
@needs_data
def test_the_package_prunes_to_the_published_trees() -> None:
    problem = mutagenesis_230()
    (tree,) = packaged(problem, Settings("gain", 4), None)
    safe, pruned = prune(tree, "safe"), prune(tree, "error_based")

    def expected() -> tuple[Any, Any]:
        grown, of = growth(problem, Settings("gain", 4)).grow(), Labelling(ties_to_last=True)
        return nodes_of(of.safe(grown)), nodes_of(of.error_based(grown))

    agree(problem, (safe.nodes, pruned.nodes), expected)
    assert expected_errors(safe) == pytest.approx(71.4705074516556, rel=1e-14)
    assert expected_errors(pruned) == pytest.approx(66.6546112633088, rel=1e-14)
    for name, estimate in (("machines", 3.58571211334849), ("Bongard 392", 10.8626697437967)):
        make, settings, depth = PROBLEMS[name]
        (whole,) = packaged(make(), settings, depth)
        assert expected_errors(whole) == pytest.approx(estimate, rel=1e-14)


def generated(theory: str, engine: QueryEngine, algorithm: str, folds: int) -> FirstOrderForest:
    """Generated pictures, ten folds or none."""
    loaded = bongard(theory, theory)
    n = loaded.n_examples
    kept = ([e for e in range(n) if e % folds != f] for f in range(folds))
    sets = TrainingSets.of_rows(n, kept, all_rows_first=True)
    parameters = FirstOrderParameters(loaded.criterion, loaded.min_samples_leaf)
    return grow_first_order(
        loaded.coded, loaded.bias, replace(parameters, algorithm=algorithm, engine=engine), sets
    )


def test_ten_folds_of_the_simple_pictures_ask_as_much_as_one_tree() -> None:
    plain = QueryEngine(cache=False)
    one, folds = (generated("simple", plain, "auto", n) for n in (0, 10))
    assert folds.counters.tests == one.counters.tests
    assert generated("simple", plain, "serial", 10).counters.tests == 10 * one.counters.tests
    assert folds.counters.bifurcations == 0


@pytest.mark.parametrize("theory", ["simple", "complex"])
def test_no_algorithm_changes_the_trees_of_generated_pictures(theory: str) -> None:
    found = [
        generated(theory, QueryEngine(cache=cache), algorithm, 10)
        for algorithm in ("serial", "overlapping", "folds")
        for cache in (False, True)
    ]
    trees = [[forest.tree(i).nodes for i in range(11)] for forest in found]
    assert all(some == trees[0] for some in trees)
    assert found[2].counters.tests <= found[0].counters.tests


def test_generated_facts_of_ACE_give_the_tree_of_the_tables(tmp_path: Path) -> None:
    family = find_linked("bongard", theory="complex")
    tables = family.draw(Rows(7, 0, family.usual_examples))
    (tmp_path / "bongard.kb").write_text("\n".join(family.facts(tables)) + "\n")
    (tmp_path / "bongard.s").write_text(family.settings)
    data = RelationalData.from_ace(tmp_path / "bongard.s")
    assert data.bias is not None
    forest = grow_first_order(data.coded(), data.bias, FirstOrderParameters("entropy", 2))
    assert forest.tree(0).nodes == generated("complex", QueryEngine(), "auto", 0).tree(0).nodes
