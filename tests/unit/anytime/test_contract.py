"""LSID3 as a contract: by r, by counted work, or by time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

import hornbeam
from hornbeam import LookaheadTreeClassifier, TreeClassifier
from hornbeam.errors import UsageError

X, Y = load_iris(return_X_y=True)
BITS = np.random.default_rng(0).integers(0, 2, (120, 8)).astype(float)
PARITY = BITS[:, [1, 3, 4, 6]].sum(axis=1) % 2
COST = 120 * 8**2 * 8  # rows, attributes squared, a test of each


def named(r: int, **parameters: Any) -> LookaheadTreeClassifier:
    return LookaheadTreeClassifier(r=r, random_state=2, **parameters)


def by(**limits: Any) -> LookaheadTreeClassifier:
    return LookaheadTreeClassifier(r="auto", random_state=2, **limits)


@pytest.mark.parametrize(
    ("work", "r"), [(1, 0), (COST - 1, 0), (COST, 1), (3 * COST - 1, 2), (3 * COST, 3), (16 * COST + 5, 16)]
)
def test_work_pays_for_so_many_samples(work: int, r: int) -> None:
    model = by(max_work=work).fit(BITS, PARITY)
    assert model.r_ == r
    assert model.tree_ == named(r).fit(BITS, PARITY).tree_


def test_drawn_cuts_are_cheaper_than_all() -> None:
    limits = {"max_work": 10**7}
    every = by(**limits).fit(X, Y)
    drawn = by(**limits, sample_fraction=0.02).fit(X, Y)
    assert drawn.r_ > every.r_ > 0
    assert drawn.tree_ == named(drawn.r_, sample_fraction=0.02).fit(X, Y).tree_


def test_time_keeps_the_last_tree_that_was_finished() -> None:
    model = by(max_time=0.3).fit(BITS, PARITY)
    assert model.r_ == 0 or model.r_ & (model.r_ - 1) == 0
    assert model.tree_ == named(model.r_).fit(BITS, PARITY).tree_


def test_without_time_for_anything_else_it_is_the_greedy_tree() -> None:
    model = by(max_time=1e-9).fit(X, Y)
    assert model.r_ == 0
    assert model.tree_ == TreeClassifier(criterion="entropy").fit(X, Y).tree_


def test_of_two_limits_the_nearer_one_holds() -> None:
    model = by(max_work=3 * COST, max_time=3600).fit(BITS, PARITY)
    assert model.r_ == 3
    assert by(max_work=10**18, max_time=1e-9).fit(BITS, PARITY).r_ == 0


def test_nothing_to_look_at_needs_no_samples() -> None:
    assert by(max_work=100).fit(X[:5], [1] * 5).r_ == 0
    assert by(max_time=3600).fit(X[:5], [1] * 5).get_n_leaves() == 1


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"r": "auto"}, "give one of them"),
        ({"r": "auto", "max_time": float("inf")}, "give one of them"),
        ({"max_time": 3}, "r=5 with max_work or max_time: say r='auto'"),
        ({"r": 2, "max_work": 10}, "r=2 with max_work or max_time"),
        ({"r": "auto", "max_time": 0}, "max_time=0"),
        ({"r": "auto", "max_work": -1}, "max_work=-1"),
        ({"r": "many"}, "r='many'"),
    ],
)
def test_contracts_that_mean_nothing_are_refused_in_one_line(parameters: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says) as refusal:
        LookaheadTreeClassifier(**parameters).fit(X, Y)
    assert "\n" not in str(refusal.value)


def test_a_contract_is_cloned_and_saved(tmp_path: Path) -> None:
    model = clone(by(max_work=5 * COST)).fit(BITS, PARITY)
    hornbeam.save(model, tmp_path / "model.hornbeam")
    again = hornbeam.load(tmp_path / "model.hornbeam")
    assert again.get_params() == model.get_params()
    assert again.tree_ == model.tree_
