"""Scores and settings in plain words: an error where less is better, values as a person writes them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hornbeam.drawing.text import number_text


@dataclass(frozen=True)
class Words:
    """How a measure is told: `start + sign * score`, under a name."""

    name: str
    """Of the column."""
    about: str
    """What the numbers are."""
    start: float = 0.0
    sign: float = -1.0
    percent: bool = False

    @property
    def more_is_better(self) -> bool:
        return self.sign > 0

    @property
    def subject(self) -> str:
        """The measure in a sentence."""
        return self.about if self.about.startswith("the ") else f"the {self.name}"

    def value(self, score: float) -> float:
        """A score as it is told."""
        return self.start + self.sign * score

    def text(self, value: float, digits: int) -> str:
        """A told value."""
        if not math.isfinite(value):
            return "none"
        return f"{value * 100:.{digits}f}\u00a0%" if self.percent else f"{value:.{digits}f}"

    def spread_text(self, spread: float, digits: int) -> str:
        """A standard error; in percent its sign is already there."""
        if not math.isfinite(spread):
            return "?"
        return f"{spread * (100 if self.percent else 1):.{digits}f}"

    def digits(self, spreads: Sequence[float]) -> int:
        """So many decimals that a typical standard error can be told; in percent at least one."""
        known = sorted(s for s in spreads if math.isfinite(s) and s > 0)
        if not known:
            return 1 if self.percent else 3
        typical = known[len(known) // 2]
        if self.percent:
            return max(1, math.ceil(-math.log10(typical * 100 / 0.3)) + 1)
        return max(0, math.ceil(-math.log10(typical)) + 1)


def words_of(measure: str) -> Words:
    """The words of a measure; scikit-learn's negated scores are told without their sign."""
    if measure == "accuracy":
        return Words("error", "the share of rows answered wrongly", 1.0, percent=True)
    if measure == "r2":
        return Words("unexplained", "the share of the variance left unexplained", 1.0, percent=True)
    if measure == "cost":
        return Words("cost", "the mean cost of an answer")
    name = measure.replace("_", " ")
    if measure.startswith("neg_"):
        return Words(name[4:], "less is better")
    return Words(name, "more is better", sign=1.0)


def value_text(value: Any) -> str:
    """A value of a parameter as the command reads it."""
    if value is None:
        return "none"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    return str(value) if isinstance(value, int) else number_text(float(value), 3)


def values_text(values: Sequence[Any], whole: Sequence[Any]) -> str:
    """Several values of a parameter; numbers that follow each other in the `whole` grid are a range."""
    if len(values) == 1:
        return value_text(values[0])
    if not all(rank_of(value) is not None for value in whole):
        return ", ".join(map(value_text, values))
    order = sorted(set(map(_rank, whole)))
    ranks = sorted(map(_rank, values))
    texts = {_rank(value): value_text(value) for value in values}
    low, high = texts[ranks[0]], texts[ranks[-1]]
    if order.index(ranks[-1]) - order.index(ranks[0]) + 1 == len(set(ranks)):
        return low if low == high else f"{low} to {high}"
    return ", ".join(texts[rank] for rank in ranks)


def _rank(value: Any) -> float:
    rank = rank_of(value)
    assert rank is not None
    return rank


def rank_of(value: Any) -> float | None:
    """The number that a value is; none means no bound. None where it is no number."""
    if value is None:
        return math.inf
    if isinstance(value, bool) or not hasattr(value, "__float__") or isinstance(value, str):
        return None
    return float(value)
