"""`cv_results_` as scikit-learn's searches lay it out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.model_selection._search import _yield_masked_array_for_each_param

from hornbeam.tuning.scores import Marks, Scores


def cv_results(
    params: Sequence[Mapping[str, Any]],
    test: Mapping[str, Marks],
    train: Mapping[str, Marks],
    *,
    mean: str,
    fitting: float,
    scoring: float,
) -> dict[str, Any]:
    """The dict of arrays. All settings share the work, so each has its part of the seconds. With trimmed means
    these are given too, and ranked by."""
    n, folds = next(iter(test.values())).scores.shape
    results: dict[str, Any] = {}
    for name, seconds in (("fit_time", fitting), ("score_time", scoring)):
        results |= {f"mean_{name}": np.full(n, seconds / (n * folds)), f"std_{name}": np.zeros(n)}
    results |= dict(_yield_masked_array_for_each_param(params))
    results["params"] = list(params)
    for name, marks in test.items():
        results |= _scores(f"test_{name}", marks)
        compared = marks.means
        if mean == "trimmed":
            compared = np.array([float(estimate) for estimate in marks.estimates(mean)])
            results[f"trimmed_test_{name}"] = compared
        results[f"rank_test_{name}"] = _ranks(compared)
        if name in train:
            results |= _scores(f"train_{name}", train[name])
    return results


def _scores(name: str, marks: Marks) -> dict[str, Any]:
    scores, means = marks.scores, marks.means
    if not np.isfinite(means).all():
        kind = name.split("_")[0]
        warnings.warn(f"One or more of the {kind} scores are non-finite: {means}", UserWarning, stacklevel=4)
    found: dict[str, Any] = {f"split{i}_{name}": scores[:, i] for i in range(scores.shape[1])}
    found[f"mean_{name}"] = means
    found[f"std_{name}"] = np.sqrt(np.average((scores - means[:, None]) ** 2, axis=1))
    return found


def _ranks(values: Scores) -> Any:
    """1 is the highest; what is not a number shares the last rank."""
    if np.isnan(values).all():
        return np.ones(len(values), dtype=np.int32)
    known = np.where(np.isnan(values), np.nanmin(values) - 1, values)
    return rankdata(-known, method="min").astype(np.int32)
