"""The first step of an exported pipeline: from a table of any kind to the numbers that its tree asks for.

Imports scikit-learn, so nothing imports it but the export itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin

from hornbeam.model.binary import LARGEST
from hornbeam.model.tree import Tree
from hornbeam.table import conform


class TreeColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Floats and integers as they are, and a column of 1, 0 and NaN for every other test of a tree.

    It takes what Hornbeam's estimators take, and has nothing to learn. Infinities, which scikit-learn's trees
    refuse, become the largest numbers that they know.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def fit(self, X: Any = None, y: Any = None) -> TreeColumns:
        """Nothing."""
        return self

    def transform(self, X: Any) -> npt.NDArray[np.float64]:
        """A matrix with a column for each of `get_feature_names_out`."""
        table = conform(X, self.tree.schema, estimator=type(self).__name__)
        return np.clip(self.tree.binary.matrix(table), -LARGEST, LARGEST)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of attributes, and the texts of tests."""
        return np.array([column.name for column in self.tree.binary.columns], dtype=object)

    @property
    def n_features_in_(self) -> int:
        return len(self.tree.schema)

    def __sklearn_is_fitted__(self) -> bool:
        return True
