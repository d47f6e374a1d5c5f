"""Searches made by hand, for tests of what is shown of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hornbeam.validation.search_record import NestedRecord, SearchRecord, SettingResult

PATH = ((77, 0.70), (40, 0.72), (13, 0.78), (7, 0.75), (4, 0.77), (2, 0.72), (1, 0.66))


def result(params: dict[str, Any], score: float, leaves: int, error: float = 0.02) -> SettingResult:
    """A setting whose ten folds have the given mean and standard error."""
    fold = error * np.sqrt(9.0) * np.array([1.0, -1.0] * 5)
    scores = tuple((score + fold).tolist())
    return SettingResult(params, score, error, scores, leaves, max(leaves - 1, 0).bit_length())


def search(
    results: Sequence[SettingResult], measure: str = "accuracy", select: str = "1se", **more: Any
) -> SearchRecord:
    """The best, and by `select` the smallest within a standard error of it."""
    places = range(len(results))
    best = max(places, key=lambda i: (np.nan_to_num(results[i].score, nan=-9.0), -results[i].leaves))
    near = [i for i in places if results[i].score >= results[best].score - results[best].error]
    chosen = best if select == "best" else min(near, key=lambda i: (results[i].leaves, -results[i].score))
    given = {"mean": "mean", "folds": 10, "repeats": 1, "reason": "It is the smallest.", **more}
    return SearchRecord(measure, tuple(results), chosen, best, select, **given)


def path_search(**more: Any) -> SearchRecord:
    """A short cost-complexity path: 13 leaves are best, 4 are chosen."""
    alphas = [0.0, *(0.001 * 2.0**i for i in range(len(PATH) - 1))]
    return search([result({"ccp_alpha": a}, s, n) for a, (n, s) in zip(alphas, PATH, strict=True)], **more)


def grid_search(**more: Any) -> SearchRecord:
    """Two parameters; depths from 4 on give the same trees."""
    settings = []
    for criterion in ("gini", "entropy"):
        for depth in (1, 2, 4, 8, None):
            leaves = 2 ** min(depth or 9, 4)
            score = 0.6 + 0.02 * min(depth or 9, 4) + (0.01 if criterion == "gini" else 0.0)
            settings.append(result({"criterion": criterion, "max_depth": depth}, score, leaves))
    return search(settings, **more)


def nested(params: Sequence[dict[str, Any]] = ({"ccp_alpha": 0.1}, {"ccp_alpha": 0.2})) -> NestedRecord:
    return NestedRecord((0.7,) * len(params), tuple(params), 0.7, 0.03)
