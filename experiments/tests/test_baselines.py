"""The one interface of all baselines: answers in time, the same for the same seed, refusals in one line."""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hornbeam.datasets import make_numeric_xor, make_tictactoe, make_xor
from hornbeam.errors import DataError, HornbeamError, UsageError
from hornbeam.growth import ClassTarget, NumericTarget
from hornbeam.model import Tree
from hornbeam_experiments.baselines import (
    BASELINES,
    ADTree,
    BaggedID3,
    Baseline,
    GATree,
    ID3k,
    SequentialSkewing,
    Skewing,
)
from hornbeam_experiments.baselines.learner import TimeUp, Watch, answer_rounds

from .baseline_tasks import Problem, accuracy, after, first, made, problem, problem_of

XOR3 = problem_of(make_xor(60, bits=3))
NUMBERS = problem_of(make_numeric_xor(16, dimensions=2))
EVERY = pytest.mark.parametrize("kind", BASELINES.values(), ids=list(BASELINES))
OF_ONE_TREE = pytest.mark.parametrize("kind", [ID3k, Skewing, SequentialSkewing, GATree])


@EVERY
@pytest.mark.parametrize("given", [XOR3, NUMBERS], ids=["bits", "numbers"])
def test_every_answer_predicts_and_time_goes_on(kind: type[Baseline], given: Problem) -> None:
    answers = first(made(kind), given, 3)
    assert [answer.elapsed for answer in answers] == sorted(answer.elapsed for answer in answers)
    assert [answer.cpu for answer in answers] == sorted(answer.cpu for answer in answers)
    assert len({answer.setting for answer in answers}) == len(answers)
    for answer in answers:
        assert answer.model.n_leaves >= 1
        assert 0.0 <= accuracy(answer.model, given) <= 1.0


@EVERY
@pytest.mark.parametrize("given", [XOR3, NUMBERS], ids=["bits", "numbers"])
def test_the_seed_alone_decides_the_answers(kind: type[Baseline], given: Problem) -> None:
    once, again = first(made(kind), given, 3, seed=3), first(made(kind), given, 3, seed=3)
    assert [answer.setting for answer in once] == [answer.setting for answer in again]
    for one, other in zip(once, again, strict=True):
        assert one.model.n_leaves == other.model.n_leaves
        assert (one.model.predict_codes(given[0]) == other.model.predict_codes(given[0])).all()


@pytest.mark.parametrize("kind", [Skewing, GATree, BaggedID3])
def test_another_seed_gives_other_answers(kind: type[Baseline]) -> None:
    given, (others, _) = (problem_of(make_xor(200, bits=5, start=start)) for start in (0, 200))
    found = {tuple(first(made(kind), given, 2, seed)[-1].model.predict_codes(others)) for seed in range(5)}
    assert len(found) > 1


@EVERY
def test_a_hair_of_time_still_gives_the_first_answer(kind: type[Baseline]) -> None:
    answers = list(made(kind).improve(*problem_of(make_xor(200, bits=5)), seconds=1e-9))
    assert len(answers) == 1


def test_the_watch_stands_still_while_somebody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: 10 * now[0])
    monkeypatch.setattr(time, "process_time", lambda: now[0])
    watch = Watch(5.0)
    watch.resume()
    now[0] = 7.0
    watch.check()  # there is no answer yet, so there is no stop
    watch.pause()
    assert watch.spent == (70.0, 7.0)
    watch.seconds, watch.can_stop = 9.0, True
    now[0] = 100.0
    watch.resume()
    now[0] = 101.5
    watch.check()
    now[0] = 102.0
    with pytest.raises(TimeUp):
        watch.check()


@OF_ONE_TREE
def test_trees_are_the_package_s_own(kind: type[Baseline]) -> None:
    for answer in first(made(kind), XOR3, 3):
        assert isinstance(answer.model, Tree)
        assert Tree.from_json(answer.model.to_json()) == answer.model
        assert answer.model.counts(0).tolist() == XOR3[1].counts.tolist()


@pytest.mark.parametrize("kind", [ID3k, Skewing, SequentialSkewing])
@pytest.mark.parametrize("given", [XOR3, NUMBERS, problem_of(make_tictactoe(100))])
def test_grown_trees_are_consistent(kind: type[Baseline], given: Problem) -> None:
    for answer in first(made(kind), given, 3):
        assert accuracy(answer.model, given) == 1.0


@EVERY
def test_one_class_is_a_single_leaf_or_one_line(kind: type[Baseline]) -> None:
    given = problem(np.arange(6.0)[:, None], ["a"] * 6)
    if kind is ADTree:
        with pytest.raises(DataError, match="two classes; the target has 1"):
            kind().improve(*given, seconds=1.0)
        return
    for answer in first(made(kind), given, 2):
        assert accuracy(answer.model, given) == 1.0


@EVERY
def test_contradictory_rows_and_constant_columns_do_no_harm(kind: type[Baseline]) -> None:
    given = problem(pd.DataFrame({"same": [1.0] * 4, "x": list("aabb")}), ["n", "y", "y", "y"])
    for answer in first(made(kind), given, 3):
        assert accuracy(answer.model, given) >= 0.5
    constant = problem(pd.DataFrame({"same": [1.0] * 4}), ["n", "y", "y", "y"])
    assert accuracy(first(made(kind), constant, 2)[-1].model, constant) in (0.25, 0.75)


@EVERY
@pytest.mark.parametrize("seconds", [0, -1.0, float("nan"), float("inf"), "10", None, True])
def test_a_budget_is_a_number_above_nothing(kind: type[Baseline], seconds: Any) -> None:
    with pytest.raises(UsageError, match=r"seconds=.*: a finite number above 0 is allowed"):
        kind().improve(*XOR3, seconds=seconds)


@EVERY
@pytest.mark.parametrize("seed", [-1, 2**32, 1.5, "x"])
def test_a_seed_is_a_whole_number(kind: type[Baseline], seed: Any) -> None:
    with pytest.raises(UsageError, match="seed="):
        kind().improve(*XOR3, seconds=1.0, seed=seed)


@EVERY
def test_targets_are_classes_of_these_rows_without_weights(kind: type[Baseline]) -> None:
    table, target = XOR3
    with pytest.raises(UsageError, match="learn classes"):
        kind().improve(table, NumericTarget(np.zeros((60, 1)), ("y",)), 1.0)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no weights"):
        kind().improve(table, ClassTarget(target.codes, target.labels, np.ones(60)), 1.0)
    with pytest.raises(DataError, match="60 rows and the target 59"):
        kind().improve(table, target.take(np.arange(59)), 1.0)


MISSING = problem(pd.DataFrame({"x": ["a", None, "b"], "y": [1.0, 2.0, 3.0]}), [0, 1, 0])


@pytest.mark.parametrize("kind", [ID3k, Skewing, SequentialSkewing, GATree, ADTree])
def test_missing_cells_are_refused_in_one_line(kind: type[Baseline]) -> None:
    with pytest.raises(DataError, match=r"'x' has missing cells; .* fill them"):
        kind().improve(*MISSING, seconds=1.0)


def test_bagging_takes_missing_cells_as_the_grower_does() -> None:
    assert first(BaggedID3(), MISSING, 2)[-1].model.n_leaves >= 2


@pytest.mark.parametrize("kind", [ID3k, Skewing, SequentialSkewing, ADTree])
def test_too_many_different_numbers_are_refused(kind: type[Baseline]) -> None:
    wide = problem(np.random.default_rng(0).random((12_000, 2)), [0, 1] * 6000)
    with pytest.raises(DataError, match="12000 rows with 47996 branches"):
        kind().improve(*wide, seconds=1.0)


@pytest.mark.parametrize(
    "baseline",
    [
        Skewing(skew=0.5),
        Skewing(skew=1.0),
        Skewing(share=0.0),
        SequentialSkewing(skew=2.0),
        GATree(population=1),
        GATree(mutation=-0.1),
        GATree(largest=2),
        ADTree(rounds=0),
        BaggedID3(trees=0),
    ],
    ids=repr,
)
def test_parameters_out_of_range_are_refused(baseline: Baseline) -> None:
    with pytest.raises(HornbeamError, match="is allowed"):
        baseline.improve(*XOR3, seconds=1.0)


def test_answers_come_a_tenth_apart_and_the_last_is_the_most() -> None:
    rounds = list(answer_rounds(1000))
    assert rounds[:12] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    assert rounds[-1] == 1000
    assert all(b == a + 1 or b <= 1.1 * a for a, b in itertools.pairwise(rounds))


def test_bags_are_those_of_the_ensemble_room() -> None:
    """The first bags do not depend on how many follow."""
    few = after(BaggedID3(trees=3), XOR3, "trees=3", seed=7)
    many = after(BaggedID3(trees=50), XOR3, "trees=3", seed=7)
    assert (few.predict_codes(XOR3[0]) == many.predict_codes(XOR3[0])).all()
    assert few.n_leaves == many.n_leaves
