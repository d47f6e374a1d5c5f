"""The corrected paired t-test: values by hand, against SciPy's plain test, and what it refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_rel

from hornbeam.errors import UsageError
from hornbeam.validation import corrected_mean, corrected_t_test


def test_four_differences_by_hand() -> None:
    """Differences 1, 2, 3, 4 of two repetitions of two folds: mean 2.5, variance 5/3, one test row for each
    training row, so t = 2.5 / sqrt((1/4 + 1) * 5/3) = sqrt(3). With 3 degrees of freedom the distribution has
    F(sqrt(3)) = 1/2 + (1/2 + pi/4) / pi, which leaves p = 1/2 - 1/pi."""
    found = corrected_t_test([2.0, 3.0, 4.0, 5.0], [1.0, 1.0, 1.0, 1.0], folds=2)
    assert found.mean == 2.5
    assert found.t == pytest.approx(math.sqrt(3))
    assert found.degrees == 3
    assert found.p == pytest.approx(0.5 - 1 / math.pi)
    assert found.half == pytest.approx(3.182446305 * math.sqrt(25 / 12))  # the usual table has 3.182
    assert not found.is_significant


def test_ten_folds_by_hand() -> None:
    """Nine times 0.01 and once 0.02: mean 0.011, variance 1e-5; t = 0.011 / sqrt((1/10 + 1/9) * 1e-5)."""
    found = corrected_t_test([0.91] * 9 + [0.92], [0.9] * 10, folds=10)
    assert found.t == pytest.approx(0.011 / math.sqrt((0.1 + 1 / 9) * 1e-5))
    assert found.degrees == 9
    assert found.is_significant


def test_the_correction_is_what_parts_it_from_the_plain_test() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(0.8, 0.05, 100), rng.normal(0.78, 0.05, 100)
    plain = ttest_rel(first, second)
    found = corrected_t_test(first.tolist(), second.tolist(), folds=10)
    assert found.t == pytest.approx(float(plain.statistic) * math.sqrt((1 / 100) / (1 / 100 + 1 / 9)))
    assert found.p > float(plain.pvalue)
    assert found.degrees == 99


def test_the_order_of_learners_turns_the_sign() -> None:
    one = corrected_t_test([1.0, 2.0, 4.0], [0.0, 0.0, 0.0], folds=3)
    other = corrected_t_test([0.0, 0.0, 0.0], [1.0, 2.0, 4.0], folds=3)
    assert (one.mean, one.t, one.p, one.half) == (-other.mean, -other.t, other.p, other.half)


def test_significance_and_the_interval_say_the_same() -> None:
    rng = np.random.default_rng(1)
    seen = set()
    for shift in np.linspace(0.0, 0.1, 40):
        found = corrected_t_test(rng.normal(shift, 0.05, 20).tolist(), [0.0] * 20, folds=10)
        assert found.is_significant == (abs(found.mean) > found.half)
        seen.add(found.is_significant)
    assert seen == {False, True}


def test_equal_scores_differ_in_nothing_and_a_constant_difference_is_certain() -> None:
    same = corrected_t_test([0.5] * 10, [0.5] * 10, folds=10)
    assert (same.t, same.p, same.is_significant) == (0.0, 1.0, False)
    always = corrected_t_test([0.75] * 10, [0.5] * 10, folds=10)
    assert (always.t, always.p, always.is_significant) == (math.inf, 0.0, True)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (([1.0], [1.0], 1), "folds=1"),
        (([1.0, 2.0], [1.0], 2), "2 scores beside 1"),
        (([1.0] * 5, [1.0] * 5, 2), "5 scores of 2 folds"),
        (([], [], 2), "0 scores of 2 folds"),
        (([1.0, math.nan], [1.0, 1.0], 2), "not finite"),
    ],
)
def test_scores_that_are_no_folds_are_refused(given: tuple[Any, Any, int], why: str) -> None:
    first, second, folds = given
    with pytest.raises(UsageError, match=why):
        corrected_t_test(first, second, folds=folds)


def test_a_confidence_lies_between_nothing_and_certainty() -> None:
    with pytest.raises(UsageError, match="confidence=1"):
        corrected_t_test([1.0, 2.0], [0.0, 0.0], folds=2, confidence=1)


def test_a_mean_of_some_folds_is_the_test_of_a_learner_beside_nothing() -> None:
    scores = [0.9, 0.8, 0.85, 0.95]
    assert corrected_mean(scores, folds=4) == corrected_t_test(scores, [0.0] * 4, folds=4)
    some = corrected_mean(scores[:3], folds=4)
    spread = math.sqrt((1 / 3 + 1 / 3) * 0.0025)  # the variance of 0.9, 0.8, 0.85 is 0.05 squared
    assert some.half == pytest.approx(4.302653 * spread)
    assert some.degrees == 2


def test_one_fold_has_no_interval() -> None:
    with pytest.raises(UsageError, match="1 fold"):
        corrected_mean([0.5], folds=10)
