"""The decision tree for classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from hornbeam.growth import ClassTarget, Pair, Target, TrainingSet
from hornbeam.model import Tree, narrowed
from hornbeam.table import encode_weights

from .answering import ClassAnswers
from .tree_estimator import TreeEstimator


@dataclass(kw_only=True, eq=False, repr=False)
class TreeClassifier(ClassAnswers, TreeEstimator):
    """One decision tree that predicts a class, grown exactly and deterministically.

    Parameters
    ----------
    criterion : {"gini", "entropy", "gain_ratio", "correlation", "c45", "quest"}, default="gini"
        What a test is chosen by; "log_loss" is another name of "entropy". "c45" chooses as C4.5 does: gain
        ratio, among the attributes of at least average gain. "quest" selects the attribute by its p-value
        and then cuts it by discriminant analysis; without weights (docs/quest.md).
    nominal : {"subset", "value", "multiway"}, default="subset"
        Tests on nominal attributes: one of a set, one value, or a branch for each value.
    nominal_features : "from_dtype" or list of names or positions, default="from_dtype"
        Columns whose values are labels besides those whose type says so.
    max_depth : int or None, default=None
        The most tests on a path.
    min_samples_split : int or float, default=2
        Rows that a node needs to be split; a float is a share of all rows.
    min_samples_leaf : int or float, default=1
        Rows that every branch needs; a float is a share of all rows.
    min_impurity_decrease : float, default=0.0
        A node is split only if that lowers the impurity of the tree by this much.
    min_objs : float or None, default=None
        C4.5's size: a node below twice as many rows is a leaf, a test needs two branches of so many known
        rows, and a numeric cut needs C4.5's floor on both sides.
    prune : {"error_based", "cost_complexity", "reduced_error"} or None, default=None
        How the grown tree is cut back: by C4.5's expected errors, by its complexity, or by rows kept out.
    confidence : float, default=0.25
        Of error_based, above 0 up to 1: the smaller, the smaller the tree.
    ccp_alpha : float, default=0.0
        Of cost_complexity: what a leaf costs. Above 0 it needs no `prune`.
    validation_fraction : float, default=0.33
        Of reduced_error: the share of the rows of each class that is kept out of growing and judges.
    competitors : int, default=0
        How many of the best tests of other attributes each node keeps: `tree_.competitors(node)`.
    cv : int, splitter, iterable of splits or None, default=None
        Cross-validate in the same growth: `cv_results_` and `forest_` (docs/cross-validation.md).
    class_weight : dict, "balanced" or None, default=None
        What classes weigh: a number for each label (1 where none is given), or all alike.
    cost_matrix : array-like or None, default=None
        What it costs to say a class (column) where another is true (row), in the order of `classes_`.
    random_state : int, RandomState or None, default=None
        Draws the rows that reduced_error keeps out; growing makes no random choice.
    n_jobs : int or None, default=None
        Threads; the tree never depends on them. None is one, -1 all processors.

    Attributes
    ----------
    tree_ : hornbeam.Tree
        The immutable tree: text, JSON, digest.
    unpruned_tree_ : hornbeam.Tree
        The tree before pruning; `pruned` cuts it otherwise.
    cv_results_ : dict
        With `cv`: `test_score` (accuracy), `fit_time` and `score_time` of each fold.
    forest_ : hornbeam.growth.Forest
        With `cv`: the trees of all rows (0) and of the folds (from 1), and where they agree.
    classes_ : ndarray
        The class labels, sorted.
    n_classes_, n_features_in_, n_outputs_ : int
    feature_names_in_ : ndarray of str
        Only if X has column names.
    feature_importances_ : ndarray
    schema_ : Schema
        Names, kinds and categories of the attributes.
    scan_stats_ : hornbeam.boat.stats.SourceStats
        After `fit_source`: scans, rows, bytes, alarms, rows held, peak memory, seconds.
    """

    class_weight: Any = None
    cost_matrix: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree from a table X and the class y of each of its rows, and what the rows weigh."""
        return self._fit(X, y, sample_weight)

    def _grown(self, pair: Pair, target: Target, rows: TrainingSet | None) -> Self:
        """Rows that lack a class leave no trace of it."""
        assert isinstance(target, ClassTarget)
        model, labels = clone(self), target.labels
        if rows is not None:
            kept = np.flatnonzero(rows.count(target.codes, len(labels), target.counts))
            if len(kept) < len(labels):
                pair, labels = pair.each(lambda tree: narrowed(tree, kept)), labels[kept]
        model._learn(pair, labels)
        return model  # type: ignore[no-any-return]

    def _encode(self, y: Any, tree: Tree, sample_weight: Any = None) -> ClassTarget:
        codes = self._codes(y)
        return ClassTarget(codes, self.classes_, encode_weights(sample_weight, len(codes)))
