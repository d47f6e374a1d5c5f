"""ID3-k and Skewing: what they can learn, and their numbers by hand."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest

from hornbeam.datasets import Dataset, make_numeric_xor, make_tictactoe, make_xor
from hornbeam.growth import Parameters, grow_tree
from hornbeam_experiments.baselines import ID3k, SequentialSkewing, Skewing
from hornbeam_experiments.baselines.branches import Branches
from hornbeam_experiments.baselines.coded import Coded
from hornbeam_experiments.baselines.growing import grow_by
from hornbeam_experiments.baselines.id3k import Lookahead
from hornbeam_experiments.baselines.learner import Watch
from hornbeam_experiments.baselines.skewing import favours, gains, weights_of

from .baseline_tasks import Problem, accuracy, after, problem, problem_of


def looking(given: Problem) -> tuple[Coded, Lookahead]:
    coded = Coded.of(*given)
    return coded, Lookahead.of(Branches.of(coded), Watch(1.0))


@pytest.mark.parametrize(
    "data", [make_tictactoe(300), make_xor(200), make_numeric_xor(100, dimensions=2)], ids=lambda d: d.name
)
def test_one_step_ahead_is_the_greedy_tree_of_the_package(data: Dataset) -> None:
    given = problem_of(data)
    coded, look = looking(given)
    tree = grow_by(coded, partial(look.choose, k=1))
    assert tree == grow_tree(*given, Parameters("entropy", "multiway"))


def plain_entropy(rows: Sequence[tuple[int, ...]]) -> float:
    n = len(rows)
    return -sum(c * math.log2(c / n) for c in Counter(row[-1] for row in rows).values())


def plain_left(rows: Sequence[tuple[int, ...]], attributes: Sequence[int], k: int) -> float:
    """The least entropy, times rows, that k levels of tests leave."""
    if k == 0 or not rows:
        return plain_entropy(rows) if rows else 0.0
    totals = [
        sum(plain_left([r for r in rows if r[a] == v], attributes, k - 1) for v in {r[a] for r in rows})
        for a in attributes
    ]
    return min(totals)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_entropies_ahead_are_those_of_plain_recursion(k: int) -> None:
    rng = np.random.default_rng(k)
    cells = rng.integers(0, 3, (40, 4))
    classes = rng.integers(0, 3, 40)
    _, look = looking(problem(cells, classes.tolist(), [0, 1, 2, 3]))
    rows = [(*map(int, row), int(c)) for row, c in zip(cells, classes, strict=True)]
    expected = [
        sum(plain_left([r for r in rows if r[a] == v], range(4), k - 1) for v in range(3)) for a in range(4)
    ]
    assert look.after(look.whole, k) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_two_steps_ahead_see_a_parity_of_two_among_irrelevant_bits(seed: int) -> None:
    data = make_xor(200, bits=2, irrelevant=6, seed=seed)
    tree = after(ID3k(), problem_of(data), "k=2")
    assert tree.n_leaves == 4
    others = problem_of(make_xor(500, bits=2, irrelevant=6, seed=seed, start=200))
    assert accuracy(tree, others) == 1.0


def test_a_parity_of_numbers_is_found_two_steps_ahead() -> None:
    tree = after(ID3k(), problem_of(make_numeric_xor(120, dimensions=2, irrelevant=1)), "k=2")
    assert tree.n_leaves <= 8 < after(ID3k(), problem_of(make_numeric_xor(120, dimensions=2)), "k=1").n_leaves


def test_equal_entropies_ahead_are_decided_by_fewer_steps() -> None:
    """With three steps every test ends the parity of two; the irrelevant one must not be taken."""
    rows = list(itertools.product([0, 1], repeat=3))
    given = problem(np.array(rows), [b ^ c for _, b, c in rows], [0, 1, 2])
    assert [after(ID3k(), given, f"k={k}").n_leaves for k in (1, 2, 3)] == [8, 4, 4]


@pytest.mark.parametrize("kind", [Skewing, SequentialSkewing])
@pytest.mark.parametrize("seed", range(3))
def test_skewing_sees_a_parity_of_two_in_many_rows(
    kind: type[Skewing] | type[SequentialSkewing], seed: int
) -> None:
    data = make_xor(4000, bits=2, irrelevant=6, seed=seed)
    tree = after(kind(), problem_of(data), "w=32" if kind is Skewing else "k=1")
    assert tree.n_leaves == 4
    others = problem_of(make_xor(500, bits=2, irrelevant=6, seed=seed, start=4000))
    assert accuracy(tree, others) == 1.0


def test_skewed_gains_of_a_parity_worked_by_hand() -> None:
    """x = 0 weighs 3, x = 1 weighs 1, in all 8: y = 0 then has 3 of class 0 and 1 of class 1. The class
    distribution stays even, and the gain of y is 1 - H(1/4) = 0.1887 bits, that of x is 0."""
    here = Branches.of(Coded.of(*problem([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], [0, 1])))
    weights = np.array([[3.0], [3.0], [1.0], [1.0]], np.float32)
    gain, entropy = gains(here, weights)
    assert entropy == pytest.approx([1.0])
    assert gain[0] == pytest.approx([0.0, 0.18872187554], abs=1e-9)
    plain, _ = gains(here, np.ones((4, 1), np.float32))
    assert plain[0] == pytest.approx([0.0, 0.0], abs=1e-12)


def test_weights_are_products_of_favoured_values() -> None:
    """Two binary attributes: rows weigh 9, 3, 3 and 1 times the least, in some order."""
    here = Branches.of(Coded.of(*problem([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], [0, 1])))
    weights = weights_of(here, favours(here, 0.75, 50, np.random.default_rng(0)))
    assert np.sort(weights, axis=0) * 9 == pytest.approx(np.tile([[1.0], [3.0], [3.0], [9.0]], 50), rel=1e-5)
    assert len({tuple(column) for column in weights.argsort(axis=0)[[0, 3]].T.tolist()}) == 4


def test_weights_of_numbers_favour_a_side_of_a_cut() -> None:
    here = Branches.of(Coded.of(*problem([[1.0], [2.0], [3.0]], [0, 1, 0])))
    weights = weights_of(here, favours(here, 0.75, 50, np.random.default_rng(0)))
    found = {tuple(column) for column in np.round(3 * weights).astype(int).T.tolist()}
    assert found == {(3, 1, 1), (1, 3, 3), (3, 3, 1), (1, 1, 3)}


def test_cuts_that_part_rows_alike_are_one_test() -> None:
    whole = Branches.of(Coded.of(*problem([[1.0, 5.0], [2.0, 5.0], [3.0, 6.0], [4.0, 6.0]], [0, 1, 0, 1])))
    assert [(test.attribute, test.code) for test in whole.tests] == [(0, 0), (0, 1), (0, 2), (1, 0)]
    part = whole.part(np.array([0, 3]))
    assert [(test.attribute, test.code) for test in part.tests] == [(0, 0), (1, 0)]
    assert part.inside.tolist() == [[1, 0, 1, 0], [0, 1, 0, 1]]
