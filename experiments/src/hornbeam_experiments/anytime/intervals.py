"""Means with 95 % intervals: over folds, whose training rows overlap, and over seeds of one division."""

from __future__ import annotations

from collections.abc import Sequence

from hornbeam.validation import corrected_t_test
from hornbeam_experiments.anytime.sets import FOLDS
from hornbeam_experiments.intervals import Mean

CONFIDENCE = 0.95


def over_folds(values: Sequence[float]) -> Mean:
    """Of all folds of some repetitions; corrected as the t-test is, so that it holds for new rows."""
    test = corrected_t_test(values, [0.0] * len(values), folds=FOLDS, confidence=CONFIDENCE)
    return Mean(test.mean, test.half, len(values))


def over_seeds(values: Sequence[float]) -> Mean:
    """Of runs on the same rows: what chance in the learner does, and nothing else."""
    return Mean.of(values, CONFIDENCE)
