"""Means of runs with their 90 % confidence intervals, as the paper's figures give them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.90


@dataclass(frozen=True)
class Mean:
    """The mean of some runs; half the width of the interval around it, 0 where there was one run."""

    value: float
    half: float
    runs: int

    @classmethod
    def of(cls, values: Sequence[float], confidence: float = CONFIDENCE) -> Mean:
        n = len(values)
        if n == 0:
            raise ValueError("no runs to average; run at least once")
        mean = math.fsum(values) / n
        if n == 1:
            return cls(mean, 0.0, 1)
        spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
        return cls(mean, t_quantile(n - 1, confidence) * spread / math.sqrt(n), n)

    @property
    def low(self) -> float:
        return self.value - self.half

    @property
    def high(self) -> float:
        return self.value + self.half


def t_quantile(degrees: int, confidence: float = CONFIDENCE) -> float:
    """The quantile of Student's t distribution that leaves half of the rest above it."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.5 + confidence / 2))
