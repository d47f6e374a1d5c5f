"""GATree and ADTree: payoffs, crossover, weights and predictions by hand, and what they can learn."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from hornbeam.datasets import make_xor
from hornbeam.errors import DataError
from hornbeam.model import Tree
from hornbeam.model.arrays import NUMERIC, VALUE
from hornbeam.table import conform
from hornbeam_experiments.baselines import ADTree, AlternatingTree, GATree
from hornbeam_experiments.baselines.adtree import Boost, vote
from hornbeam_experiments.baselines.coded import Coded
from hornbeam_experiments.baselines.gatree import Gene, World, found, payoff, planted, replaced, size_of
from hornbeam_experiments.baselines.growing import Question

from .baseline_tasks import accuracy, after, problem, problem_of

A, B = Question(VALUE, 0, 0), Question(NUMERIC, 1, 1)
GENE: Gene = (A, (B, 0, 1), 1)
TABLE = pd.DataFrame({"a": list("xxyy"), "b": [1.0, 2.0, 3.0, 4.0]})


def test_the_payoff_weighs_right_answers_against_size() -> None:
    assert payoff(10, 3) == pytest.approx(100 * 1000 / 1009)
    assert payoff(0, 3) == 0.0
    assert payoff(100, 5) > payoff(100, 7) > payoff(99, 5) - 200
    assert payoff(10, 10, x=100) == 50.0


def test_nodes_are_numbered_in_preorder() -> None:
    assert size_of(GENE) == 5
    assert [found(GENE, at) for at in range(5)] == [GENE, (B, 0, 1), 0, 1, 1]
    assert replaced(GENE, 0, 7) == 7
    assert replaced(GENE, 1, 7) == (A, 7, 1)
    assert replaced(GENE, 3, (B, 5, 6)) == (A, (B, 0, (B, 5, 6)), 1)
    assert replaced(GENE, 4, 7) == (A, (B, 0, 1), 7)


def test_rows_are_counted_as_bits() -> None:
    world = World(Coded.of(*problem(TABLE, [0, 1, 1, 1])), np.random.default_rng(0))
    assert world.everyone == 0b1111
    assert world.holds(A) == 0b0011
    assert world.holds(B) == 0b0011
    assert world.correct(GENE, world.everyone) == 3  # the second row is of class 1, and b is at most 2
    assert world.correct((Question(NUMERIC, 1, 0), 0, 1), world.everyone) == 4


def test_a_planted_tree_has_lost_its_empty_branches() -> None:
    given = problem(TABLE, [0, 1, 1, 1])
    tree = planted(Coded.of(*given), GENE)
    assert tree.n_leaves == 2  # below a = x all b are at most 2
    assert tree.test_text(0) == "a == x"
    cut = planted(Coded.of(*given), (Question(NUMERIC, 1, 0), 1, 0))
    assert cut.test_text(0) == "b <= 1.5"
    assert cut.predict_codes(given[0]).tolist() == [0, 1, 1, 1]  # leaves say what most of their rows are


def test_mutation_changes_one_node() -> None:
    world = World(Coded.of(*problem(TABLE, [0, 1, 1, 1])), np.random.default_rng(0))
    kept = 0
    for _ in range(200):
        changed = world.mutated(GENE)
        assert size_of(changed) == size_of(GENE)
        different = [at for at in range(5) if heads(changed)[at] != heads(GENE)[at]]
        assert len(different) <= 1
        kept += not different
    assert kept < 150


def heads(gene: Gene) -> list[Question | int]:
    """The test or class of each node, in preorder."""
    return [
        part if isinstance(part, int) else part[0] for part in (found(gene, i) for i in range(size_of(gene)))
    ]


def test_breeding_finds_a_conjunction() -> None:
    rows = np.array(list(itertools.product([0, 1], repeat=5)))
    given = problem(rows, (rows[:, 1] & rows[:, 3]).tolist(), range(5))
    answers = list(GATree(generations=150).improve(*given, seconds=1e6, seed=1))
    best = answers[-1].model
    assert isinstance(best, Tree)
    assert (best.n_leaves, accuracy(best, given)) == (3, 1.0)


def test_payoffs_rise_from_answer_to_answer() -> None:
    given = problem_of(make_xor(100, bits=3))
    world = World(Coded.of(*given), np.random.default_rng(0))
    baseline = GATree(population=50, generations=60)
    first = list(baseline.improve(*given, seconds=1e6))
    assert len(first) > 1
    being = baseline.judged(world, GENE[2])
    assert being.payoff == payoff(int(given[1].counts[1]), 1)


def test_votes_are_half_the_logarithm_of_the_odds() -> None:
    assert vote(0.0, 0.0) == 0.0
    assert vote(3.0, 0.0) == pytest.approx(0.5 * math.log(4.0))
    assert vote(1.0, 3.0) == -vote(3.0, 1.0)


def test_the_first_rule_worked_by_hand() -> None:
    """Four rows of either class: the root votes 0. b <= 4 parts them with Z = 0, so its votes are
    0.5 ln(5 / 1) on both sides, and every row then weighs exp(-0.5 ln 5) = 1 / sqrt(5)."""
    table = pd.DataFrame({"a": list("xyxyxyxy"), "b": np.arange(1.0, 9.0)})
    given = problem(table, list("nnnnpppp"))
    boost = Boost.begin(Coded.of(*given))
    assert boost.base == 0.0
    rule = boost.add()
    assert (rule.above, rule.condition.attribute, rule.condition.threshold) == (0, 1, 4.5)
    assert (rule.holding, rule.failing) == pytest.approx((-0.5 * math.log(5), 0.5 * math.log(5)))
    assert boost.weights == pytest.approx(np.full(8, 5**-0.5))
    tree = AlternatingTree(boost.base, (rule,))
    assert tree.scores(given[0]) == pytest.approx([-0.8047] * 4 + [0.8047] * 4, abs=1e-4)
    assert (tree.n_leaves, accuracy(tree, given)) == (3, 1.0)


def test_an_uneven_root_votes_for_the_larger_class() -> None:
    given = problem(pd.DataFrame({"a": list("xyxyx")}), [0, 0, 0, 0, 1])
    boost = Boost.begin(Coded.of(*given))
    assert boost.base == pytest.approx(0.5 * math.log(2 / 5))
    assert boost.weights == pytest.approx([math.exp(boost.base)] * 4 + [math.exp(-boost.base)])


def test_rules_grow_below_others_to_learn_a_parity() -> None:
    given = problem_of(make_xor(200, bits=2, irrelevant=2))
    tree = after(ADTree(), given, "rounds=10")
    assert isinstance(tree, AlternatingTree)
    assert accuracy(tree, given) == 1.0
    assert any(rule.above > 0 for rule in tree.rules)


def test_scores_are_those_that_boosting_weighs_by() -> None:
    given = problem_of(make_xor(100, bits=3))
    boost = Boost.begin(Coded.of(*given))
    rules = tuple(boost.add() for _ in range(12))
    margins = np.where(given[1].codes == 1, 1, -1) * AlternatingTree(boost.base, rules).scores(given[0])
    assert boost.weights == pytest.approx(np.exp(-margins), rel=1e-4)


def test_unknown_categories_and_missing_cells_fail_every_condition() -> None:
    given = problem(pd.DataFrame({"a": list("xyz"), "b": [1, 2, 3]}), ["n", "p", "p"])
    tree = after(ADTree(rounds=3), given, "rounds=3")
    new = conform(pd.DataFrame({"a": ["new", None], "b": pd.array([None, 2], "Int64")}), given[0].schema)
    assert tree.predict_codes(new).shape == (2,)


def test_three_classes_are_refused() -> None:
    with pytest.raises(DataError, match="ADTree knows two classes; the target has 3"):
        ADTree().improve(*problem(TABLE, [0, 1, 2, 2]), seconds=1.0)
