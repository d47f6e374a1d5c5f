"""By how many standard errors one test is better than another, against the rows themselves."""

from __future__ import annotations

import numpy as np
import pytest

from hornbeam.maintained.chance import Moments, standard_errors, standard_errors_of_numbers


def errors_of(better: np.ndarray) -> float:
    """Of the mean of what each row gains."""
    return float(better.mean() / (better.std() / np.sqrt(len(better))))


def test_of_classes_it_is_that_of_the_rows() -> None:
    rng = np.random.default_rng(1)
    old, new, said = (rng.integers(0, n, 500) for n in (2, 3, 4))
    parts = [
        (a, b, np.bincount(said[(old == a) & (new == b)], minlength=4)) for a in range(2) for b in range(3)
    ]
    shares = [
        np.array([np.mean(said[branches == branches[i]] == said[i]) for i in range(500)])
        for branches in (old, new)
    ]
    assert standard_errors(parts) == pytest.approx(errors_of(shares[1] - shares[0]), rel=1e-9)


def moments(weights: np.ndarray, values: np.ndarray) -> Moments:
    """Of whole numbers, [rows, targets]."""
    sums = [(weights[:, None] * values**power).sum(axis=0) for power in (1, 2)]
    y, yy = (tuple(int(s) for s in given) for given in sums)
    return Moments(len(values), int(weights.sum()), y, yy)


@pytest.mark.parametrize("unit", [1, 7**400], ids=["ones", "huge"])
def test_of_numbers_it_is_that_of_the_rows(unit: int) -> None:
    rng = np.random.default_rng(2)
    old, new, values = rng.integers(0, 2, 400), rng.integers(0, 2, 400), rng.integers(-50, 90, 400)
    values[new == 1] += 15
    parts = []
    for a in range(2):
        for b in range(2):
            here = (old == a) & (new == b)
            found = moments(np.ones(here.sum(), dtype=np.int64), values[here][:, None])
            parts.append(
                (a, b, Moments(found.rows, found.weight, (found.y[0] * unit,), (found.yy[0] * unit**2,)))
            )
    off = [
        (values - np.array([values[branches == branch].mean() for branch in branches])) ** 2
        for branches in (old, new)
    ]
    assert standard_errors_of_numbers(parts) == pytest.approx(errors_of(off[0] - off[1]), rel=1e-9)


def test_several_targets_that_are_the_same_count_as_one() -> None:
    rng = np.random.default_rng(3)
    branches, values = rng.integers(0, 2, (300, 2)), rng.integers(0, 100, 300)

    def parts(columns: int) -> list[tuple[int, int, Moments]]:
        return [
            (a, b, moments(np.ones(here.sum(), dtype=np.int64), np.repeat(values[here][:, None], columns, 1)))
            for a in range(2)
            for b in range(2)
            if (here := (branches == (a, b)).all(axis=1)).any()
        ]

    assert standard_errors_of_numbers(parts(3)) == pytest.approx(standard_errors_of_numbers(parts(1)))


def test_without_rows_or_difference_it_is_0() -> None:
    assert standard_errors([(0, 0, np.zeros(2, dtype=np.int64))]) == 0.0
    assert standard_errors_of_numbers([]) == 0.0
    same = Moments(4, 4, (10,), (30,))
    assert standard_errors_of_numbers([(0, 0, same), (1, 1, same)]) == 0.0


def test_sums_are_read_from_the_words_of_the_core() -> None:
    words = np.array([5, 2**64 - 3, 2**64 - 1, 9, 1], dtype=np.uint64)
    assert Moments.read(2, words, [1, 2, 2]) == Moments(2, 5, (-3,), (9 + 2**64,))
    assert Moments.read(2, words[1:], [2, 2]) == Moments(2, 2, (-3,), (9 + 2**64,))
