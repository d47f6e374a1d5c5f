"""Standard errors of the difference of two tests, against the rows themselves."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from hornbeam.boat.maintained.chance import standard_errors

Array = npt.NDArray[Any]


@pytest.mark.parametrize("seed", range(20))
def test_they_are_those_of_the_rows_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(2, 5)), int(rng.integers(20, 300))
    old, new, classes = rng.integers(0, 2, n), rng.integers(0, 3, n), rng.integers(0, k, n)
    parts = [
        (a, b, np.bincount(classes[(old == a) & (new == b)], minlength=k)) for a in range(2) for b in range(3)
    ]

    def given(branch: Array) -> Array:
        """What the branch of each row gives its class."""
        return np.array([np.mean(classes[branch == b] == c) for b, c in zip(branch, classes, strict=True)])

    better = given(new) - given(old)
    expected = better.mean() / (better.std() / np.sqrt(n))
    assert standard_errors(parts) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_the_same_test_is_no_better() -> None:
    left, right = np.array([30, 4]), np.array([2, 50])
    assert standard_errors([(0, 0, left), (1, 1, right)]) == 0.0
    assert standard_errors([(0, 0, np.zeros(2, dtype=np.int64))]) == 0.0


def test_a_test_that_tells_nearly_everything_is_far_beyond_chance() -> None:
    branches = {(0, 0): [51, 1], (1, 0): [51, 1], (0, 1): [1, 51], (1, 1): [1, 51]}
    assert standard_errors([(a, b, np.array(rows)) for (a, b), rows in branches.items()]) > 10
