"""Bags: drawn as scikit-learn draws them, again and again alike; copies of rows that are drawn too often."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier

from hornbeam.ensemble import Bags, Copies, draw_bags
from hornbeam.errors import DataError, UsageError


def drawn(bags: Bags) -> list[list[int]]:
    return [bags.rows(i).tolist() for i in range(len(bags))]


def draw(n_rows: int = 20, n_bags: Any = 3, seed: int = 0, **options: Any) -> Bags:
    return draw_bags(n_rows, n_bags, np.random.RandomState(seed), **options)


@pytest.mark.parametrize("columns", [1, 2, 9])
@pytest.mark.parametrize("share", [None, 0.4, 150])
@pytest.mark.parametrize("weighted", [False, True])
def test_bootstrap_samples_are_those_of_scikit_learn(
    columns: int, share: int | float | None, weighted: bool
) -> None:
    rng = np.random.default_rng(columns)
    X, y = rng.normal(size=(60, columns)), rng.integers(0, 2, 60)
    weights = rng.integers(0, 4, 60).astype(np.float64) if weighted else None
    peer = BaggingClassifier(n_estimators=4, random_state=5, max_samples=share).fit(X, y, weights)
    bags = draw(60, 4, 5, max_samples=share, weights=weights)
    assert drawn(bags) == [rows.tolist() for rows in peer.estimators_samples_]


def test_a_bag_is_the_same_whenever_it_is_drawn_and_however_many_follow() -> None:
    bags = draw(n_bags=30)
    assert drawn(bags) == drawn(bags)
    assert drawn(bags)[:7] == drawn(draw(n_bags=7))
    assert len({tuple(rows) for rows in drawn(bags)}) == 30
    assert bags.times(4).tolist() == np.bincount(bags.rows(4), minlength=20).tolist()


@pytest.mark.parametrize("weights", [None, np.r_[np.zeros(5), np.ones(10), np.full(5, 7.0)]])
def test_without_replacement_no_row_is_drawn_twice(weights: Any) -> None:
    for rows in drawn(draw(n_bags=20, bootstrap=False, max_samples=12, weights=weights)):
        assert len(set(rows)) == 12
        assert weights is None or min(rows) >= 5
    every = draw(bootstrap=False, weights=weights)
    assert all(len(set(rows)) == (20 if weights is None else 15) for rows in drawn(every))


def test_heavy_rows_are_drawn_more_often() -> None:
    weights = np.ones(20)
    weights[3] = 40.0
    counts = sum(np.bincount(rows, minlength=20) for rows in drawn(draw(n_bags=200, weights=weights)))
    assert counts[3] > 20 * np.delete(counts, 3).max() / 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n_bags": 0}, "n_estimators=0: a whole number of trees from 1"),
        ({"n_bags": 2.0}, "n_estimators=2.0"),
        ({"n_bags": True}, "n_estimators=True"),
        ({"max_samples": 0}, "max_samples=0: a whole number of rows from 1"),
        ({"max_samples": 0.0}, "max_samples=0.0: a whole number of rows from 1, a share above 0 up to 1.0"),
        ({"max_samples": 1.5}, "max_samples=1.5"),
        ({"max_samples": "all"}, "max_samples='all'"),
        ({"max_samples": True}, "max_samples=True"),
        ({"bootstrap": "yes"}, r"bootstrap='yes': True \(with replacement\) or False"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        draw(**options)


def test_more_rows_than_there_are_cannot_be_drawn_without_replacement() -> None:
    with pytest.raises(DataError, match="21 rows cannot be drawn without replacement from n_samples=20;"):
        draw(bootstrap=False, max_samples=21)
    with pytest.raises(DataError, match="n_samples=1 of weight above 0"):
        draw(bootstrap=False, max_samples=2, weights=np.eye(20)[4])


def test_weights_that_count_a_population_cannot_ask_for_a_bag_of_billions() -> None:
    with pytest.raises(DataError, match=r"2,000,000,000 rows of n_samples=20 would be drawn.*sum of weights"):
        draw(max_samples=1.0, weights=np.full(20, 1e8))
    with pytest.raises(DataError, match=r"1,000,000,000 rows of n_samples=20 .*give max_samples as a whole"):
        draw(max_samples=10**9)
    assert draw(max_samples=0.5, weights=np.full(20, 1e7)).draws == 10**8
    assert draw(weights=np.full(20, 1e8)).draws == 20


def test_rows_of_a_usual_bag_need_no_copies() -> None:
    bags = draw(500, 2)
    copies = Copies.of(bags)
    assert copies.origin.tolist() == list(range(500))
    rows = bags.rows(0)
    assert copies.spread(rows) is rows


def test_copies_take_turns_and_stand_for_their_row() -> None:
    weights = np.ones(300)
    weights[[7, 120]] = 2000.0, 700.0
    bags = draw(300, 5, max_samples=3000, weights=weights)
    copies = Copies.of(bags)
    assert len(copies.origin) > 300
    for i in range(5):
        rows = bags.rows(i)
        spread = copies.spread(rows)
        assert copies.origin[spread].tolist() == rows.tolist()
        assert np.bincount(rows).max() > 1000
        assert np.bincount(spread).max() <= 255
