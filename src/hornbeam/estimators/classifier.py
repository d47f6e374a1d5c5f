"""The decision tree for classes."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import DataConversionWarning

from hornbeam.errors import DataError
from hornbeam.growth import ClassTarget
from hornbeam.model import Tree
from hornbeam.table import Table, check_same_length, encode_classes, from_data

from .base import TreeEstimator, threads_of


class TreeClassifier(ClassifierMixin, TreeEstimator):  # type: ignore[misc]
    """One decision tree that predicts a class, grown exactly and deterministically.

    Parameters
    ----------
    criterion : {"gini", "entropy", "gain_ratio"}, default="gini"
        What a test is chosen by; "log_loss" is another name of "entropy".
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
    prune : {"error_based", "cost_complexity", "reduced_error"} or None, default=None
        How the grown tree is cut back: by C4.5's expected errors, by its complexity, or by rows kept out.
    confidence : float, default=0.25
        Of error_based, above 0 up to 1: the smaller, the smaller the tree.
    ccp_alpha : float, default=0.0
        Of cost_complexity: what a leaf costs. Above 0 it needs no `prune`.
    validation_fraction : float, default=0.33
        Of reduced_error: the share of the rows of each class that is kept out of growing and judges.
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
    classes_ : ndarray
        The class labels, sorted.
    n_classes_, n_features_in_, n_outputs_ : int
    feature_names_in_ : ndarray of str
        Only if X has column names.
    feature_importances_ : ndarray
    schema_ : Schema
        Names, kinds and categories of the attributes.
    """

    _task = "classification"
    classes_: NDArray[Any]
    n_classes_: int
    n_outputs_: int

    def fit(self, X: Any, y: Any) -> Self:
        """Grow the tree from a table X and the class y of each of its rows."""
        parameters, pruning = self._checked()
        table, target = self._read(X, y)
        self._grow(table, target, parameters, pruning)
        self.classes_ = target.labels
        self.n_classes_ = len(target.labels)
        self.n_outputs_ = 1
        return self

    def _read(self, X: Any, y: Any) -> tuple[Table, ClassTarget]:
        self._require_target(y)
        table = from_data(X, nominal_features=self.nominal_features)
        codes, classes = encode_classes(one_column(y, type(self).__name__))
        check_same_length(table.n_rows, len(codes))
        return table, ClassTarget(codes, classes)

    def _encode(self, y: Any, tree: Tree) -> ClassTarget:
        codes, classes = encode_classes(one_column(y, type(self).__name__))
        places = {label: place for place, label in enumerate(self.classes_.tolist())}
        unknown = [label for label in classes.tolist() if label not in places]
        if unknown:
            raise DataError(
                f"y has the class {unknown[0]!r}, which the tree has never seen; leave its rows out"
            )
        known = np.array([places[label] for label in classes.tolist()], dtype=np.int32)
        return ClassTarget(known[codes], self.classes_)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row: the most frequent one in its leaf, among equals the first."""
        tree, table = self._conform(X)
        codes = tree.predict_codes(table, threads_of(self.n_jobs))
        labels: NDArray[Any] = self.classes_.take(codes)
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The share of each class in the leaf of each row, in the order of `classes_`."""
        tree, table = self._conform(X)
        return tree.predict_shares(table, threads_of(self.n_jobs))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The natural logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


def one_column(y: Any, estimator: str) -> Any:
    """The labels as one column; a table of one column is taken with a warning, of several refused."""
    shape = getattr(y, "shape", None)
    if shape is None or len(shape) < 2:
        return y
    if len(shape) == 2 and shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Use y.ravel() or a single column.",
            DataConversionWarning,
            stacklevel=3,
        )
        return np.asarray(y)[:, 0]
    raise DataError(
        f"y has shape {tuple(shape)}; {estimator} predicts one class: fit a tree for each column, "
        "for instance with sklearn.multioutput.MultiOutputClassifier"
    )
