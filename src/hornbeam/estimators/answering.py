"""What a fitted tree answers: leaves, paths and sizes; classes and their shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.arguments import threads_of
from hornbeam.ensemble import Answering
from hornbeam.errors import DataError
from hornbeam.model import Tree
from hornbeam.table import Schema, Table, encode_classes

from .table_estimator import ReadsClasses, TableEstimator, one_column
from .to_source import check_proba

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class TreeAnswers(TableEstimator):
    """An estimator around one tree."""

    tree_: Tree
    unpruned_tree_: Tree

    def _fitted(self) -> Tree:
        try:
            return self.__dict__["tree_"]  # type: ignore[no-any-return]
        except KeyError:
            self._not_fitted()

    def _answering(self, proba: bool) -> Answering:
        tree = self._fitted()
        check_proba(proba, tree)
        return Answering((tree,), None, proba)

    def _conform(self, X: Any) -> tuple[Tree, Table]:
        tree = self._fitted()
        if isinstance(X, Table):  # rows of the table that the folds were grown from
            return tree, X
        return tree, self._brought(X, tree.schema)

    @property
    def schema_(self) -> Schema:
        """Names, kinds and categories of the attributes."""
        return self._fitted().schema

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of the decrease of impurity by the tests on each attribute; zeros for a single leaf."""
        return self._fitted().feature_importances

    def apply(self, X: Any) -> NDArray[np.int64]:
        """The leaf that each row reaches, as an index of `tree_`."""
        tree, table = self._conform(X)
        return tree.apply(table, threads_of(self.n_jobs)).astype(np.int64)

    def decision_path(self, X: Any) -> csr_matrix:
        """The nodes that each row passes: a sparse indicator matrix of rows by nodes."""
        tree, table = self._conform(X)
        return tree.decision_path(table, threads_of(self.n_jobs))

    def get_depth(self) -> int:
        """The most tests on the way from the root to a leaf."""
        return self._fitted().depth

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        return self._fitted().n_leaves


class ClassAnswers(ReadsClasses, TreeAnswers):
    """An estimator around one tree that says a class."""

    def _codes(self, y: Any, otherwise: str = "") -> NDArray[np.int32]:
        """The classes of further rows, as codes of `classes_`; `otherwise` is what one can do besides."""
        codes, classes = encode_classes(one_column(y, type(self).__name__))
        places = {label: place for place, label in enumerate(self.classes_.tolist())}
        unknown = [label for label in classes.tolist() if label not in places]
        if unknown:
            given = f"y has the class {unknown[0]!r}, which the tree has never seen"
            raise DataError(f"{given}; leave its rows out{otherwise}")
        known = np.array([places[label] for label in classes.tolist()], dtype=np.int32)
        return known[codes]

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row: the heaviest, or cheapest, one in its leaf, among equals the first."""
        tree, table = self._conform(X)
        codes = tree.predict_codes(table, threads_of(self.n_jobs))
        labels: NDArray[Any] = self.classes_.take(codes)
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The share of each class in the leaf of each row, by weight, in the order of `classes_`."""
        tree, table = self._conform(X)
        return tree.predict_shares(table, threads_of(self.n_jobs))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The natural logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
