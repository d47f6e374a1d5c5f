"""Bagged trees for numbers, one or several at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.ensemble import Outside
from hornbeam.growth import NumericTarget
from hornbeam.validation.scores import r2

from .bagging import BaggedTrees
from .regressor import TreeRegressor
from .table_estimator import ReadsNumbers


@dataclass(kw_only=True, eq=False, repr=False)
class BaggedTreesRegressor(ReadsNumbers, BaggedTrees):
    """Trees of bootstrap samples, grown together, that predict numbers by the mean of what they say.

    Parameters
    ----------
    n_estimators, algorithm, max_samples, bootstrap, oob_score, random_state, n_jobs
        As in `BaggedTreesClassifier`.
    criterion, nominal, nominal_features, max_depth, min_samples_split, min_samples_leaf,
    min_impurity_decrease, min_objs, prune, confidence, ccp_alpha, validation_fraction, competitors
        Of the trees, as in `TreeRegressor`; each tree is pruned by the rows of its bag.

    Attributes
    ----------
    estimators_ : list of TreeRegressor
        The tree of each bag as an estimator that a fit of the bag's rows alone would give.
    oob_score_ : float
        R² on the rows outside the bags; only with `oob_score=True`, as is the next.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        What the trees say of rows outside their bags; NaN where every bag has the row.
    trees_, forest_, estimators_samples_, bags_, n_features_in_, n_outputs_, feature_names_in_,
    feature_importances_, schema_
        As in `BaggedTreesClassifier`.
    """

    criterion: str = "variance"
    _tree = TreeRegressor
    _outside = "oob_prediction_"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Draw bags from a table X and the number, or row of numbers, y of each row; grow a tree from each.

        `sample_weight` says how likely a row is drawn.
        """
        self._fit(X, y, sample_weight)
        return self

    def _keep_outside(self, outside: Outside, target: NumericTarget) -> None:
        self.oob_prediction_ = outside.answers[:, 0] if self.n_outputs_ == 1 else outside.answers
        known = outside.known
        self.oob_score_ = r2(target.values[known], outside.answers[known])

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The mean of what the trees say of each row."""
        answers = self._answers(X)[1]
        return answers[:, 0] if self.n_outputs_ == 1 else answers
