"""scikit-learn's own suite, whole, for every estimator."""

from __future__ import annotations

from typing import Any

from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from hornbeam import (
    AnytimeTreeClassifier,
    BaggedTreesClassifier,
    BaggedTreesRegressor,
    C45Classifier,
    CrossValidatedC45,
    LookaheadTreeClassifier,
    TreeClassifier,
    TreeRegressor,
)
from hornbeam.model_selection import TreeSearchCV


def expected_failures(estimator: Any) -> dict[str, str]:
    """Check name to reason; each reason stands in docs/estimators.md."""
    reasons = {}
    if isinstance(estimator, (BaggedTreesClassifier, BaggedTreesRegressor)):
        # As of scikit-learn's own bagging, in its own suite.
        reasons["check_sample_weight_equivalence_on_dense_data"] = "weights say how likely a row is drawn"
        if isinstance(estimator, BaggedTreesClassifier) and estimator.prune != "reduced_error":
            reasons["check_class_weight_classifiers"] = "sizes go by rows, as of the trees"
        return reasons
    if isinstance(estimator, CrossValidatedC45) and estimator.repeats > 1:
        reasons["check_sample_weight_equivalence_on_dense_data"] = (
            "repetitions deal folds of rows, not weights"
        )
    if isinstance(
        estimator, (TreeSearchCV, CrossValidatedC45, LookaheadTreeClassifier, AnytimeTreeClassifier)
    ):
        return reasons
    cut_back = (
        isinstance(estimator, C45Classifier) or estimator.prune == "reduced_error" or estimator.ccp_alpha
    )
    if isinstance(estimator, TreeClassifier) and not cut_back:
        reasons["check_class_weight_classifiers"] = "sizes go by rows: there is no min_weight_fraction_leaf"
    if isinstance(estimator, TreeClassifier) and estimator.prune == "reduced_error":
        reasons["check_sample_weight_equivalence_on_dense_data"] = "a row of weight 2 is drawn as one row"
    return reasons


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        TreeClassifier(),
        TreeClassifier(criterion="gain_ratio", nominal="multiway", min_samples_leaf=2),
        TreeClassifier(criterion="entropy", nominal="value", max_depth=3, n_jobs=2),
        C45Classifier(),
        TreeClassifier(min_objs=3, competitors=5),
        TreeClassifier(criterion="correlation", class_weight="balanced", max_depth=5),
        TreeClassifier(prune="error_based"),
        TreeClassifier(ccp_alpha=0.005),
        TreeClassifier(prune="reduced_error"),
        TreeClassifier(cv=2, max_depth=4),
        TreeRegressor(),
        TreeRegressor(prune="cost_complexity", ccp_alpha=0.01),
        TreeRegressor(prune="reduced_error"),
        TreeRegressor(cv=KFold(2)),
        TreeRegressor(max_depth=3, min_samples_leaf=0.02, n_jobs=2),
        TreeSearchCV(TreeClassifier(), {"max_depth": [1, 3, None]}, cv=2),
        TreeSearchCV(
            TreeClassifier(), {"min_samples_leaf": [1, 5]}, cv=2, repeats=3, mean="trimmed", select="1se"
        ),
        TreeSearchCV(TreeRegressor(), {"ccp_alpha": [0.0, 0.01, 0.1]}, cv=2),
        CrossValidatedC45(cv=2, repeats=1, min_objs=[1, 2, 5]),
        CrossValidatedC45(cv=2, repeats=2, min_objs=[1, 2, 5], rule="min_samples_split", small=True, runs=2),
        LookaheadTreeClassifier(r=1),
        LookaheadTreeClassifier(r=2, nominal="multiway", sample_fraction=0.2, prune="error_based"),
        AnytimeTreeClassifier(max_iter=2),
        AnytimeTreeClassifier(max_iter=2, objective="size", prune="error_based", granularity=1),
        BaggedTreesClassifier(n_estimators=5),
        BaggedTreesClassifier(n_estimators=5, voting="hard", criterion="entropy", algorithm="serial"),
        BaggedTreesClassifier(n_estimators=5, prune="error_based", class_weight="balanced", n_jobs=2),
        BaggedTreesClassifier(n_estimators=5, prune="reduced_error", max_samples=0.8, bootstrap=False),
        BaggedTreesRegressor(n_estimators=5),
        BaggedTreesRegressor(n_estimators=5, algorithm="overlapping", min_samples_leaf=2, n_jobs=2),
    ],
    expected_failed_checks=expected_failures,
    xfail_strict=True,
)
def test_scikit_learns_suite_is_green(estimator: Any, check: Any) -> None:
    check(estimator)
