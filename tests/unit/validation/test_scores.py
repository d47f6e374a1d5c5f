"""Known answers of means, trimmed means and standard errors."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from hornbeam.validation.selection import SettingScores, trimmed_mean


def counted(right: list[list[int]], sizes: list[int], repeats: int = 1) -> SettingScores:
    of, rows = np.array(sizes), np.array(right)
    return SettingScores(rows / of, of, repeats, rows)


@pytest.mark.parametrize(
    ("values", "mean"),
    [
        ((1, 2, 3, 4, 100), 3),
        ((1, 2, 3, 100), Fraction(53, 2)),  # a fifth of four is none
        ((7,), 7),
        (tuple(range(10)), Fraction(9, 2)),
        ((0, 0, 1, 1, 1, 1, 1, 1, 50, 60), 1),
    ],
)
def test_a_fifth_is_dropped_at_each_end(values: tuple[int, ...], mean: Fraction) -> None:
    assert trimmed_mean(tuple(map(Fraction, values))) == mean
    assert trimmed_mean(tuple(map(float, values))) == pytest.approx(float(mean))


def test_the_mean_over_folds_is_exact() -> None:
    marks = counted([[1, 2, 2], [1, 1, 3]], [3, 4, 4])
    assert marks.estimates("mean") == [Fraction(1, 3) / 3 + Fraction(1, 3), Fraction(1, 9) + Fraction(1, 3)]
    assert marks.means.tolist() == [np.average([1 / 3, 0.5, 0.5]), np.average([1 / 3, 0.25, 0.75])]


def test_accuracy_is_compared_without_rounding() -> None:
    # 0.1 + 0.2 and 0.3 differ as doubles.
    marks = counted([[1, 2, 0], [3, 0, 0]], [10, 10, 10])
    assert marks.means[0] != marks.means[1]
    first, second = marks.estimates("mean")
    assert first == second


def test_a_trimmed_mean_pools_each_repetition() -> None:
    sizes = [3, 2] * 5
    marks = counted([[0, 0, 1, 0, 3, 2, 1, 1, 2, 0]], sizes, repeats=5)
    assert marks.estimates("trimmed") == [Fraction(1 + 2 + 2, 5 * 3)]
    plain = SettingScores(np.array([[0.0, 1.0, 0.5, 0.5]]), np.array([3, 1, 2, 2]), 2)
    assert plain.estimates("trimmed") == [pytest.approx((0.25 + 0.5) / 2)]


def test_the_standard_error_is_that_of_the_folds_of_one_repetition() -> None:
    scores = np.array([[0.5, 0.7, 0.6, 0.8]])
    spread = float(np.std(scores, ddof=1))
    assert SettingScores(scores, np.full(4, 9)).errors.tolist() == [pytest.approx(spread / 2)]
    assert SettingScores(scores, np.full(4, 9), 2).errors.tolist() == [pytest.approx(spread / math.sqrt(2))]
    assert math.isnan(SettingScores(scores[:, :1], np.array([9])).errors[0])


def test_squared_errors_are_exact_whatever_the_sizes() -> None:
    sizes = [3, 4, 4, 5, 7, 3]
    marks = counted([[1, 2, 2, 5, 0, 3], [3, 4, 4, 5, 7, 3]], sizes, repeats=2)
    folds = [Fraction(n, size) for n, size in zip([1, 2, 2, 5, 0, 3], sizes, strict=True)]
    middle = sum(folds) / 6
    assert marks.squared_errors() == [sum((x - middle) ** 2 for x in folds) / 5 / 3, 0]
    assert [math.sqrt(float(x)) for x in marks.squared_errors()] == pytest.approx(marks.errors.tolist())
    many = [101, 103, 107, 109, 113, 127, 131, 137, 139, 149]  # their least common multiple needs 69 bits
    wide = counted([[50, 51, 52, 53, 54, 55, 56, 57, 58, 59]], many)
    assert wide.estimates("mean") == [sum(Fraction(50 + i, n) for i, n in enumerate(many)) / 10]
    assert math.sqrt(float(wide.squared_errors()[0])) == pytest.approx(wide.errors[0])
