"""What a search found: a result for each setting, which was chosen and why, and an honest outer estimate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SettingResult:
    """How one setting did in cross-validation, and the size of the tree that it gives of all rows."""

    params: Mapping[str, Any]
    score: float
    """What settings are compared by: the mean, or trimmed mean, of `scores`."""
    error: float
    """The standard error of the score, over folds."""
    scores: tuple[float, ...]
    """Of each fold, repetition after repetition."""
    leaves: int
    depth: int


@dataclass(frozen=True)
class NestedRecord:
    """The whole choice, judged by rows that had no part in it: one score for each outer fold."""

    scores: tuple[float, ...]
    params: tuple[Mapping[str, Any], ...]
    """What was chosen inside each outer fold."""
    score: float
    error: float


@dataclass(frozen=True)
class SearchRecord:
    """All settings in the order of the grid, and the choice among them."""

    measure: str
    """"accuracy", "r2", "cost" or the name of a scorer; more is better."""
    results: tuple[SettingResult, ...]
    chosen: int
    best: int
    """The setting of the highest score."""
    select: str
    mean: str
    folds: int
    repeats: int
    reason: str
    """Why the chosen one was chosen, in a sentence."""
    nested: NestedRecord | None = None
