"""Prefixes of a tree are the trees that growing with those limits, or pruning with that alpha, would give."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from hornbeam.growth import (
    ClassCosts,
    ClassTarget,
    Cut,
    Cuts,
    Pruning,
    complexity_path,
    prune_tree,
    reads_gains,
)
from hornbeam.growth.grow import collapsed
from hornbeam.model import Tree
from hornbeam.table import from_data
from tests import strategies
from tests.laws.engine_tables import generated
from tests.laws.growing import DEFAULT, Call, assert_equal, known_call, strangers, weighed_call
from tests.laws.random_cases import random_cases
from tests.laws.test_pruning import noisy_case
from tests.strategies import Case

EXAMPLES = settings.default.max_examples  # type: ignore[union-attr]
ANY = st.one_of(strategies.cases(), random_cases, random_cases)
SEED = st.integers(0, 2**32 - 1)
NO_LIMITS: dict[str, Any] = {"max_depth": None, "min_samples_split": 2, "min_impurity_decrease": 0.0}
Ints = npt.NDArray[np.int64]


def just_about(source: random.Random, value: float) -> float:
    """The value itself more often than its neighbours: that is where a wrong comparison shows."""
    return source.choice([value, value, math.nextafter(value, math.inf), math.nextafter(value, 0.0)])


def some_cuts(source: random.Random, tree: Tree, many: int) -> list[Cut]:
    """Limits around what the nodes of the tree have, and plain ones."""
    rows, total = tree.arrays["rows"].tolist(), int(tree.arrays["rows"][0])
    decrease = (tree.masses / tree.masses[0] * tree.arrays["gain"]).tolist()
    inner = [value for value in decrease if math.isfinite(value)] or [0.0]

    def size() -> int | float:
        near = source.choice(rows) + source.choice([-1, 0, 1])
        share = just_about(source, source.choice(rows) / total)
        sizes: list[int | float] = [2, max(2, near), max(2, near), min(1.0, share), 0.3, 1.0, 10**6]
        return source.choice(sizes)

    def gain() -> float:
        return source.choice([0.0, 0.0, just_about(source, source.choice(inner)), 0.01, 1e-12, 1e9])

    depths = [None, None, 1, 2, 3, max(1, tree.depth), max(1, tree.depth - 1), 10**9]
    return [Cut(source.choice(depths), size(), gain()) for _ in range(many)]


def origin(part: Tree, whole: Tree) -> Ints:
    """The node of the whole tree that each node of its prefix is."""
    found = np.full(part.n_nodes, -1)
    waiting = [(0, 0)]
    while waiting:
        node, at = waiting.pop()
        found[node] = at
        many = int(part.arrays["n_children"][node])
        assert many in (0, int(whole.arrays["n_children"][at]))
        first, below = int(part.arrays["first_child"][node]), int(whole.arrays["first_child"][at])
        waiting += [(first + i, below + i) for i in range(many)]
    return found


def assert_prefix(cuts: Cuts, k: int, expected: Tree, call: Call, seed: int) -> None:
    """Prefix k is the expected tree, and its ends are where that tree sends rows, known and unknown ones."""
    whole, part = cuts.whole, cuts.tree(k)
    assert_equal(part, expected)
    assert (int(cuts.n_leaves[k]), int(cuts.depth[k])) == (expected.n_leaves, expected.depth)
    of_part = origin(part, whole)
    for table in (call.table, strangers(call.table, seed)):
        assert cuts.ends[k, whole.apply(table)].tolist() == of_part[expected.apply(table)].tolist()
    goes_on = {int(of_part[i]) for i in range(part.n_nodes) if part.arrays["n_children"][i] > 0}
    above = parents(whole)
    for node in range(whole.n_nodes):
        end, at = int(cuts.ends[k, node]), node
        while at in goes_on or (at > 0 and above[at] not in goes_on):
            if at in goes_on:
                at = -1
                break
            at = above[at]
        assert end == at


def parents(tree: Tree) -> list[int]:
    found = [0] * tree.n_nodes
    for node in range(tree.n_nodes):
        first, many = int(tree.arrays["first_child"][node]), int(tree.arrays["n_children"][node])
        found[first : first + many] = [node] * many
    return found


def having(call: Call, cut: Cut) -> Call:
    return call.having(**vars(cut))


def laxest(cuts: Sequence[Cut], rows: int) -> dict[str, Any]:
    """Limits that cut nothing which one of the cuts leaves."""
    sizes = [max(2, math.ceil(s * rows)) if isinstance(s, float) else s for s in _sizes(cuts)]
    depths = [cut.max_depth for cut in cuts]
    return {
        "max_depth": None if None in depths else max(depth for depth in depths if depth is not None),
        "min_samples_split": min(sizes),
        "min_impurity_decrease": min(cut.min_impurity_decrease for cut in cuts),
    }


def _sizes(cuts: Sequence[Cut]) -> list[int | float]:
    return [cut.min_samples_split for cut in cuts]


@settings(max_examples=3 * EXAMPLES)
@given(ANY, SEED, st.integers(1, 6), st.booleans())
def test_a_prefix_is_the_tree_grown_with_its_limits(case: Case, seed: int, many: int, lax: bool) -> None:
    """C4.5's collapse comes after all limits, so it is taken from what was before it."""
    call, source = weighed_call(case, seed).having(**NO_LIMITS), random.Random(seed)
    call.grown()
    cuts = some_cuts(source, call.before_collapse(), many)
    if lax:
        call = call.having(**laxest(cuts, int(call.before_collapse().arrays["rows"][0])))
    found = Cuts(call.before_collapse(), cuts)
    assert found.ends.shape == (len(found), found.whole.n_nodes) == (many, found.whole.n_nodes)
    for k, cut in enumerate(cuts):
        alone = having(call, cut)
        assert_prefix(found, k, alone.before_collapse(), call, seed)
        if call.parameters.criterion == "c45":
            assert_equal(collapsed(found.tree(k)), alone.grown())
        else:
            assert_equal(found.tree(k), alone.grown())
        event("cut" if found.n_leaves[k] < found.whole.n_leaves else "whole")


@settings(max_examples=2 * EXAMPLES)
@given(ANY, SEED)
def test_a_prefix_by_alpha_is_the_tree_that_pruning_leaves(case: Case, seed: int) -> None:
    call, source = weighed_call(case, seed).having(**NO_LIMITS), random.Random(seed)
    tree = call.grown()
    path = complexity_path(tree)[0].tolist()
    drawn = [just_about(source, source.choice(path)) for _ in range(4)]
    alphas = [0.0, *(alpha for alpha in drawn if alpha >= 0.0), 0.01, math.inf]
    source.shuffle(alphas)
    found = Cuts(tree, alphas=alphas)
    for k, alpha in enumerate(alphas):
        assert_prefix(found, k, pruned(call, tree, alpha), call, seed)
        event("cut" if found.n_leaves[k] < tree.n_leaves else "whole")


def pruned(call: Call, tree: Tree, alpha: float) -> Tree:
    pruning = Pruning("cost_complexity", ccp_alpha=alpha).checked(call.task)
    return prune_tree(tree, pruning, criterion=call.parameters.criterion)


@given(ANY, SEED)
def test_alphas_after_limits_are_pruning_after_growth(case: Case, seed: int) -> None:
    call, source = weighed_call(case, seed).having(**NO_LIMITS), random.Random(seed)
    cut = some_cuts(source, call.grown(), 1)[0]
    grown = having(call, cut).grown()
    read = Cuts(call.before_collapse(), [cut]).tree(0)
    read = collapsed(read) if call.parameters.criterion == "c45" else read
    alphas = [just_about(source, source.choice(complexity_path(grown)[0].tolist())), 0.01]
    found = Cuts(read, alphas=[alpha for alpha in alphas if alpha >= 0.0])
    for k, alpha in enumerate(alpha for alpha in alphas if alpha >= 0.0):
        assert_equal(found.tree(k), pruned(call, grown, alpha))


@settings(max_examples=max(12, EXAMPLES // 4))
@given(SEED)
def test_prefixes_of_noisy_tables(seed: int) -> None:
    call, source = weighed_call(noisy_case(seed), seed).having(**NO_LIMITS), random.Random(seed)
    call.grown()
    cuts = some_cuts(source, call.before_collapse(), 8)
    found = Cuts(call.before_collapse(), cuts)
    for k, cut in enumerate(cuts):
        assert_prefix(found, k, having(call, cut).before_collapse(), call, seed)


@pytest.mark.parametrize("kind", [{"classes": 2}, {"classes": 7}, {"targets": 1}, {"targets": 3}])
def test_prefixes_of_a_large_table(kind: dict[str, Any]) -> None:
    table, target = generated(3000, **kind)
    criteria = ["gini", "entropy", "gain_ratio", "correlation", "c45"] if "classes" in kind else ["variance"]
    for criterion in criteria:
        nominal = "multiway" if criterion == "c45" else "subset"
        call = Call(table, target, replace(DEFAULT, criterion=criterion, nominal=nominal)).having()
        whole = call.before_collapse()
        cuts = [
            *(Cut(min_samples_split=m) for m in (2, 5, 30, 0.05)),
            *(Cut(max_depth=d) for d in (1, 4, 9)),
            *some_cuts(random.Random(5), whole, 3),
        ]
        found = Cuts(whole, cuts)
        for k, cut in enumerate(cuts):
            assert_prefix(found, k, having(call, cut).before_collapse(), call, k)


def test_known_prefixes() -> None:
    """x = 0 .. 7, classes a b a a b b b b: cuts at 3.5, 1.5 and 0.5, each below the other, by hand."""
    call = known_call()
    found = Cuts(
        call.grown(), [Cut(), Cut(max_depth=1), Cut(max_depth=2), Cut(min_samples_split=5), Cut(2, 4)]
    )
    assert found.n_leaves.tolist() == [4, 2, 3, 2, 3]
    assert found.depth.tolist() == [3, 1, 2, 1, 2]
    only_root = Cuts(call.grown(), [Cut(min_samples_split=9), Cut(min_impurity_decrease=1.0)])
    assert only_root.n_leaves.tolist() == [1, 1]
    assert (only_root.ends == 0).all()
    assert found.tree(0) is found.whole


def four_rows(weights: list[float] | None, class_weight: dict[str, float] | None) -> Call:
    """Sums of these weights and of their products with 0.1 are no doubles."""
    table, labels = from_data(pd.DataFrame({"x": range(4)})), np.array(["u", "v"])
    codes = np.array([0, 0, 1, 0], dtype=np.int32)
    costs = ClassCosts.checked(class_weight, None, labels)
    return Call(
        table, ClassTarget(codes, labels, None if weights is None else np.array(weights), costs), DEFAULT
    )


@pytest.mark.parametrize(
    ("weights", "class_weight"), [(None, None), ([0.1, 0.1, 0.3, 0.7], None), (None, {"u": 0.1})]
)
def test_a_gain_at_the_limit_is_seen_as_growth_sees_it(
    weights: list[float] | None, class_weight: dict[str, float] | None
) -> None:
    call = four_rows(weights, class_weight)
    assert reads_gains(call.target)
    tree = call.grown()
    for value in (tree.masses / tree.masses[0] * tree.arrays["gain"]).tolist():
        for limit in (value, math.nextafter(value, 1.0), math.nextafter(value, 0.0)):
            cut = Cut(min_impurity_decrease=max(0.0, limit))
            assert_equal(Cuts(tree, [cut]).tree(0), having(call, cut).grown())


def test_gains_are_not_read_off_where_rows_and_classes_weigh() -> None:
    """Growth weighs a node by exact sums; what the tree holds of them is rounded, class by class."""
    call = four_rows([0.1, 0.1, 0.3, 0.7], {"u": 0.1})
    assert not reads_gains(call.target)
    tree = call.grown()
    limits = (tree.masses / tree.masses[0] * tree.arrays["gain"]).tolist()
    cuts = [Cut(min_impurity_decrease=max(0.0, limit)) for limit in limits]
    read = [Cuts(tree, [cut]).tree(0).digest for cut in cuts]
    assert read != [having(call, cut).grown().digest for cut in cuts]


def test_cuts_keep_the_competitors_of_the_tests_that_stay() -> None:
    table, target = generated(400, classes=3)
    call = Call(table, target, replace(DEFAULT, competitors=4)).having()
    found = Cuts(call.grown(), [Cut(max_depth=3), Cut(min_samples_split=40)])
    for k, cut in enumerate([Cut(max_depth=3), Cut(min_samples_split=40)]):
        part, alone = found.tree(k), having(call, cut).grown()
        for node in range(part.n_nodes):
            assert part.competitors(node) == alone.competitors(node)
