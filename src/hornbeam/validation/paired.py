"""Whether one learner is better than another on the same folds: the t-test that knows that folds overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hornbeam.arguments import refuse
from hornbeam.errors import UsageError


@dataclass(frozen=True)
class PairedTest:
    """The mean difference of two learners over folds. `p` is two-sided; `half` is half the width of the
    interval around the mean that goes with `confidence`."""

    mean: float
    t: float
    degrees: int
    p: float
    half: float
    confidence: float

    @property
    def is_significant(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.p < 1.0 - self.confidence


def corrected_t_test(
    first: Sequence[float], second: Sequence[float], *, folds: int, confidence: float = 0.95
) -> PairedTest:
    """Compare scores of two learners in one or more repetitions of k-fold cross-validation, fold by fold.

    Training sets of folds overlap, so scores vary less than those of fresh samples would, and the plain
    t-test finds differences where there are none. Nadeau and Bengio (2003) add the test rows per training
    row, 1 / (k - 1), to the variance of the mean: t = m / sqrt((1 / n + 1 / (k - 1)) s^2), n = repetitions
    times k, n - 1 degrees of freedom (Bouckaert and Frank 2004 for repeated folds).
    """
    return corrected_mean(_differences(first, second, folds), folds=folds, confidence=confidence)


def corrected_mean(values: Sequence[float], *, folds: int, confidence: float = 0.95) -> PairedTest:
    """The test of a mean over folds against 0: of differences, or of scores where the interval is asked for.
    They may be some of the k folds alone; there are fewer degrees of freedom then."""
    differences = _checked(values, folds, confidence)
    n = len(differences)
    mean = math.fsum(differences) / n
    variance = math.fsum((d - mean) ** 2 for d in differences) / (n - 1)
    error = math.sqrt((1 / n + 1 / (folds - 1)) * variance)
    if error == 0.0:
        t, p = (0.0, 1.0) if mean == 0.0 else (math.copysign(math.inf, mean), 0.0)
        return PairedTest(mean, t, n - 1, p, 0.0, confidence)
    from scipy.special import stdtr, stdtrit  # takes its time to import

    p = 2.0 * float(stdtr(n - 1, -abs(mean / error)))
    half = float(stdtrit(n - 1, 0.5 + confidence / 2)) * error
    return PairedTest(mean, mean / error, n - 1, p, half, confidence)


def _differences(first: Sequence[float], second: Sequence[float], folds: int) -> list[float]:
    if len(first) != len(second):
        raise UsageError(
            f"{len(first)} scores beside {len(second)}; give both learners' scores on the same folds"
        )
    if folds >= 2 and (len(first) == 0 or len(first) % folds):
        raise UsageError(f"{len(first)} scores of {folds} folds; give all folds of each repetition")
    return [float(a) - float(b) for a, b in zip(first, second, strict=True)]


def _checked(values: Sequence[float], folds: int, confidence: float) -> list[float]:
    if folds < 2:
        refuse("folds", folds, "a whole number from 2 is allowed")
    if not 0.0 < confidence < 1.0:
        refuse("confidence", confidence, "a number between 0 and 1 is allowed, such as 0.95")
    if len(values) < 2:
        raise UsageError(f"the score of {len(values)} fold has no interval; give two or more")
    if not all(map(math.isfinite, values)):
        raise UsageError("a score is not finite; leave its repetition out for both learners")
    return [float(value) for value in values]
