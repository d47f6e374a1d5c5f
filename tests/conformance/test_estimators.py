"""scikit-learn's own suite, whole, for every estimator."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from hornbeam import TreeClassifier, TreeRegressor


def expected_failures(estimator: Any) -> dict[str, str]:
    """Check name to reason; each reason stands in docs/estimators.md."""
    return {}


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        TreeClassifier(),
        TreeClassifier(criterion="gain_ratio", nominal="multiway", min_samples_leaf=2),
        TreeClassifier(criterion="entropy", nominal="value", max_depth=3, n_jobs=2),
        TreeClassifier(prune="error_based"),
        TreeClassifier(ccp_alpha=0.005),
        TreeClassifier(prune="reduced_error"),
        TreeRegressor(),
        TreeRegressor(prune="cost_complexity", ccp_alpha=0.01),
        TreeRegressor(prune="reduced_error"),
        TreeRegressor(max_depth=3, min_samples_leaf=0.02, n_jobs=2),
    ],
    expected_failed_checks=expected_failures,
    xfail_strict=True,
)
def test_scikit_learns_suite_is_green(estimator: Any, check: Any) -> None:
    check(estimator)
