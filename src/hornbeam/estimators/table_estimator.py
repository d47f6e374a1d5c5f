"""What every estimator of trees does with what it is given: check parameters, read tables and targets."""

from __future__ import annotations

import inspect
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import DataConversionWarning, NotFittedError, UndefinedMetricWarning

from hornbeam.arguments import NamedParameters
from hornbeam.errors import DataError, UnknownName, UsageError
from hornbeam.growth import (
    ClassCosts,
    ClassTarget,
    NumericTarget,
    Parameters,
    Pruning,
    Target,
)
from hornbeam.table import (
    Schema,
    Table,
    check_same_length,
    conform,
    encode_classes,
    encode_targets,
    encode_weights,
    from_data,
)
from hornbeam.validation.scores import r2

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from hornbeam.ensemble import Answering
    from hornbeam.table.sources import Source


class TableEstimator(NamedParameters, BaseEstimator):  # type: ignore[misc]
    """An estimator that learns from a table by the parameters of a tree."""

    _instead: ClassVar = {
        "splitter": "every split is the best one; leave it out",
        "max_features": "every attribute is looked at; leave it out, or choose columns of X",
        "max_leaf_nodes": "limit the tree by max_depth, min_samples_leaf or min_impurity_decrease",
        "min_weight_fraction_leaf": "use min_samples_leaf with a fraction",
        "monotonic_cst": "monotonic constraints are not supported; leave it out",
    }

    nominal_features: Any
    n_jobs: int | None
    random_state: Any
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    n_outputs_: int
    _task: str

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = False
        return tags

    def _checked(self) -> tuple[Parameters, Pruning]:
        return Parameters.of(self).checked(self._task), Pruning.of(self).checked(self._task)

    def _read(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Table, Target]:
        """The table and the target of a call to fit."""
        raise TypeError(f"{type(self).__name__} has no target; use TreeClassifier or TreeRegressor")

    def _answering(self, proba: bool) -> Answering:
        """The trees that answer."""
        raise TypeError(f"{type(self).__name__} has no target; use TreeClassifier or TreeRegressor")

    def _require_target(self, y: Any) -> None:
        if y is None:
            raise UsageError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None"
            )

    def _remember(self, schema: Schema, labels: NDArray[Any] | None, n_outputs: int = 1) -> None:
        """Keep what the columns were, the classes, or how many numbers are predicted; names of an earlier fit
        go when they no longer hold."""
        self.n_features_in_, self.n_outputs_ = len(schema), n_outputs
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif "feature_names_in_" in self.__dict__:
            del self.feature_names_in_

    def _brought(self, X: Any, schema: Schema) -> Table:
        """X in the schema that was fitted; called by a method that a public method calls."""
        if isinstance(X, np.ndarray) and schema.named:
            name = type(self).__name__
            message = f"X does not have valid feature names, but {name} was fitted with feature names"
            warnings.warn(message, UserWarning, stacklevel=4)
        return conform(X, schema, estimator=type(self).__name__)

    def predict_source(
        self,
        src: Source,
        output: str | os.PathLike[str] | None = None,
        *,
        proba: bool = False,
        keep: Sequence[str] = (),
        format: str = "parquet",
    ) -> Any:
        """Answer for every row of a source (`hornbeam.source`) what `predict` answers, in bounded memory.

        Parameters
        ----------
        src : Source
            Has every column that the model was fitted with, by name; others are ignored.
        output : path or None, default=None
            A file that ends with .parquet or .csv, or a new folder, which gets a file for each part of the
            source. All of it appears when all is written. None gives the answers as Arrow record batches.
        proba : bool, default=False
            Whether to add the share of each class, as `predict_proba` has it.
        keep : list of str, default=()
            Columns of the source that stand before the answers.
        format : {"parquet", "csv"}, default="parquet"
            Of the files in a folder.

        Returns `Predictions(rows, files)`, or without an output an iterator of record batches. Where the
        source has an engine, its workers answer, and write to the folder themselves.
        """
        from .to_source import answer_source

        return answer_source(self, src, output, proba, keep, format)

    def _not_fitted(self) -> NoReturn:
        name = type(self).__name__
        raise NotFittedError(
            f"This {name} instance is not fitted yet: call 'fit' before '{_caller()}'"
        ) from None


class ReadsClasses(ClassifierMixin, TableEstimator):  # type: ignore[misc]
    """The target is a class for each row."""

    class_weight: Any
    cost_matrix: Any
    classes_: NDArray[Any]
    n_classes_: int
    _task = "classification"

    def _read(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Table, ClassTarget]:
        self._require_target(y)
        table = from_data(X, nominal_features=self.nominal_features)
        codes, classes = encode_classes(one_column(y, type(self).__name__))
        check_same_length(table.n_rows, len(codes))
        weights = encode_weights(sample_weight, table.n_rows)
        costs = ClassCosts.checked(self.class_weight, self.cost_matrix, classes)
        return table, ClassTarget(codes, classes, weights, costs)

    def _remember(self, schema: Schema, labels: NDArray[Any] | None, n_outputs: int = 1) -> None:
        super()._remember(schema, labels)
        assert labels is not None
        self.classes_, self.n_classes_ = labels, len(labels)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy of `predict`."""
        from hornbeam.validation.scoring import in_our_words

        with in_our_words("y", y):
            return float(super().score(X, y, sample_weight))


class ReadsNumbers(RegressorMixin, TableEstimator):  # type: ignore[misc]
    """The target is a number, or a row of numbers, for each row."""

    _task = "regression"
    _instead: ClassVar = {
        "class_weight": "numbers have no classes; weigh rows with fit(X, y, sample_weight=...)",
        "cost_matrix": "numbers have no classes; leave it out",
    }

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _read(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Table, NumericTarget]:
        self._require_target(y)
        table = from_data(X, nominal_features=self.nominal_features)
        values = encode_targets(y)
        check_same_length(table.n_rows, len(values))
        weights = encode_weights(sample_weight, table.n_rows)
        return table, NumericTarget(values, target_names(y, values.shape[1]), weights)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predictions, averaged over targets; NaN for fewer than two rows. Its sums are exact, so
        that the order of rows makes no difference."""
        self._require_target(y)
        predicted, values = np.asarray(self.predict(X), dtype=np.float64), encode_targets(y)
        predicted = predicted.reshape(len(predicted), -1)
        check_same_length(len(predicted), len(values))
        if predicted.shape != values.shape:
            raise DataError(
                f"y has {values.shape[1]} columns; {predicted.shape[1]} are predicted: give as many"
            )
        if len(values) < 2:
            message = "R^2 score is not well-defined with less than two samples."
            warnings.warn(message, UndefinedMetricWarning, stacklevel=2)
            return math.nan
        return r2(values, predicted, encode_weights(sample_weight, len(values)))


def refuse_keywords(estimator: TableEstimator, given: Mapping[str, Any], *known: str) -> None:
    """Refuse what a fit does not take besides X and y."""
    unknown = sorted(set(given) - set(known))
    if unknown:
        name = type(estimator).__name__
        raise UnknownName(f"{name}.fit() got an unexpected keyword argument {unknown[0]!r}")


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


def target_names(y: Any, count: int) -> tuple[str, ...]:
    """The names of the targets' columns where they have any, else y or y0, y1, ..."""
    names = getattr(y, "column_names", None)  # Arrow's; its `columns` are the columns themselves
    if names is None:
        names = getattr(y, "columns", None)
    if names is None and isinstance(getattr(y, "name", None), str):
        names = [y.name]
    if names is not None and len(names) == count and all(isinstance(name, str) for name in names):
        return tuple(names)
    return ("y",) if count == 1 else tuple(f"y{index}" for index in range(count))


def _caller() -> str:
    """The public method that found the estimator unfitted, for the message."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_name.startswith("_"):
        frame = frame.f_back
    return frame.f_code.co_name if frame is not None else "predict"
