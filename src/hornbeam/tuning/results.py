"""What a search gives back: `cv_results_` as scikit-learn lays it out, and the record of the choice."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.model_selection._search import _yield_masked_array_for_each_param

from hornbeam.tuning.findings import Findings
from hornbeam.tuning.records import SearchRecord, SettingResult
from hornbeam.tuning.scores import Marks, Scores
from hornbeam.tuning.select import Rule


def cv_results(
    params: Sequence[Mapping[str, Any]],
    test: Mapping[str, Marks],
    train: Mapping[str, Marks],
    *,
    mean: str,
    fitting: float,
    scoring: float,
) -> dict[str, Any]:
    """The dict of arrays. All settings share the work, so each has its part of the seconds. Trimmed means are
    given too where they are compared, and ranked by."""
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


def record_of(findings: Findings, marks: Marks, rule: Rule) -> SearchRecord:
    """Every setting with what it scored, and the choice among them."""
    leaves = findings.leaves[0].tolist()[: marks.n_settings]
    standing = rule.standing(marks, leaves)
    choice = rule.choose(standing)
    compared = marks.means.tolist() if rule.mean == "mean" else list(map(float, standing.estimates))
    each = zip(
        rule.params,
        compared,
        marks.errors.tolist(),
        marks.scores.tolist(),
        leaves,
        findings.depth.tolist()[: marks.n_settings],
        strict=True,
    )
    return SearchRecord(
        measure=rule.measure,
        results=tuple(
            SettingResult(params, score, error, tuple(scores), n_leaves, depth)
            for params, score, error, scores, n_leaves, depth in each
        ),
        chosen=choice.chosen,
        best=choice.best,
        select=rule.select,
        mean=rule.mean,
        folds=marks.folds,
        repeats=marks.repeats,
        reason=choice.reason,
    )
