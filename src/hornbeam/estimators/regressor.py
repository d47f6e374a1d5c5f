"""The decision tree for numbers, one or several at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.arguments import threads_of
from hornbeam.errors import DataError
from hornbeam.growth import NumericTarget
from hornbeam.model import Tree
from hornbeam.table import encode_targets, encode_weights

from .table_estimator import ReadsNumbers
from .tree_estimator import TreeEstimator


@dataclass(kw_only=True, eq=False, repr=False)
class TreeRegressor(ReadsNumbers, TreeEstimator):
    """One decision tree that predicts one or several numbers, grown exactly and deterministically.

    Parameters
    ----------
    criterion : {"variance"}, default="variance"
        What a test is chosen by, summed over targets; "squared_error" is another name of it.
    nominal, nominal_features, max_depth, min_samples_split, min_samples_leaf, min_impurity_decrease,
    min_objs, ccp_alpha, validation_fraction, competitors, cv, random_state, n_jobs
        As in `TreeClassifier`.
    prune : {"cost_complexity", "reduced_error"} or None, default=None
        How the grown tree is cut back; reduced_error draws the rows that it keeps out among all rows.
    confidence : float, default=0.25
        Has no use here.

    Attributes
    ----------
    tree_ : hornbeam.Tree
        The immutable tree: text, JSON, digest.
    unpruned_tree_ : hornbeam.Tree
        The tree before pruning; `pruned` cuts it otherwise.
    cv_results_, forest_
        As in `TreeClassifier`, with R² for accuracy.
    n_features_in_, n_outputs_ : int
    feature_names_in_ : ndarray of str
        Only if X has column names.
    feature_importances_ : ndarray
    schema_ : Schema
        Names, kinds and categories of the attributes.
    scan_stats_ : hornbeam.boat.stats.SourceStats
        After `fit_source`: what it took.
    """

    criterion: str = "variance"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree from a table X, the number, or row of numbers, y of each row, and what rows weigh."""
        return self._fit(X, y, sample_weight)

    def _encode(self, y: Any, tree: Tree, sample_weight: Any = None) -> NumericTarget:
        values = encode_targets(y)
        if values.shape[1] != tree.n_targets:
            raise DataError(
                f"y has {values.shape[1]} columns; the tree predicts {tree.n_targets}: give as many"
            )
        return NumericTarget(values, tree.targets or (), encode_weights(sample_weight, len(values)))

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The mean of each target in the leaf of each row."""
        tree, table = self._conform(X)
        means = tree.predict_means(table, threads_of(self.n_jobs))
        return means[:, 0] if self.n_outputs_ == 1 else means
