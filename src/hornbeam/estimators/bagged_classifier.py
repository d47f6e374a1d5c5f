"""Bagged trees for classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.arguments import one_of
from hornbeam.ensemble import VOTING, Outside
from hornbeam.growth import ClassTarget
from hornbeam.validation.scores import accuracy

from .bagging import BaggedTrees
from .classifier import TreeClassifier
from .table_estimator import ReadsClasses


@dataclass(kw_only=True, eq=False, repr=False)
class BaggedTreesClassifier(ReadsClasses, BaggedTrees):
    """Trees of bootstrap samples, grown together, that predict a class by the mean of what they say.

    Parameters
    ----------
    n_estimators : int, default=25
        How many bags are drawn, a tree for each.
    algorithm : {"auto", "serial", "overlapping"}, default="auto"
        How the trees are grown: one after the other, or together. The trees never depend on it.
    max_samples : int, float or None, default=None
        Rows that a bag draws: a number, a share of all rows (of the sum of weights, where rows weigh), or
        as many as there are.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement.
    oob_score : bool, default=False
        Whether to score the trees by the rows outside their bags.
    voting : {"soft", "hard"}, default="soft"
        "soft" takes the mean of the class shares of the leaves; with "hard" every tree has one vote.
    criterion, nominal, nominal_features, max_depth, min_samples_split, min_samples_leaf,
    min_impurity_decrease, min_objs, prune, confidence, ccp_alpha, validation_fraction, competitors,
    class_weight, cost_matrix
        Of the trees, as in `TreeClassifier`; each tree is pruned by the rows of its bag.
    random_state : int, RandomState or None, default=None
        Draws the bags: those of scikit-learn's BaggingClassifier with the same `random_state`.
    n_jobs : int or None, default=None
        Threads; the trees never depend on them. None is one, -1 all processors.

    Attributes
    ----------
    estimators_ : list of TreeClassifier
        The tree of each bag as an estimator that a fit of the bag's rows alone would give.
    trees_ : list of hornbeam.Tree
    forest_ : Forest
        The trees as they were grown together: `tree(i)`, `bifurcations`, `levels`.
    estimators_samples_ : list of ndarray
        The rows that each bag has drawn.
    bags_ : Bags
        Their seeds, from which they are drawn again.
    oob_score_ : float
        Accuracy on the rows outside the bags; only with `oob_score=True`, as is the next.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        What the trees say of rows outside their bags; NaN where every bag has the row.
    classes_ : ndarray
        The class labels, sorted.
    n_classes_, n_features_in_, n_outputs_ : int
    feature_names_in_ : ndarray of str
        Only if X has column names.
    feature_importances_ : ndarray
        The mean over the trees.
    schema_ : Schema
        Names, kinds and categories of the attributes.
    """

    _tree = TreeClassifier
    _outside = "oob_decision_function_"

    voting: str = "soft"
    class_weight: Any = None
    cost_matrix: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Draw bags from a table X and the class y of each of its rows, and grow a tree from each.

        `sample_weight` says how likely a row is drawn.
        """
        one_of("voting", self.voting, VOTING)
        self._fit(X, y, sample_weight)
        return self

    def _keep_outside(self, outside: Outside, target: ClassTarget) -> None:
        self.oob_decision_function_ = outside.answers
        known = outside.known
        self.oob_score_ = accuracy(target.codes[known], self._committee().codes(outside.answers[known]))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row: the largest of `predict_proba`, or the cheapest; the first among equals."""
        committee, answers = self._answers(X)
        labels: NDArray[Any] = self.classes_.take(committee.codes(answers))
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The mean of the trees' class shares, or the share of their votes, in the order of `classes_`."""
        return self._answers(X)[1]

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The natural logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self._answers(X)[1])
