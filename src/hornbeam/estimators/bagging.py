"""Bagged trees, for classes and for numbers: drawing bags, growing them, and asking the rows outside.

Bags are drawn from a table, or row by row from a source, whose trees grow in the same scans.
"""

from __future__ import annotations

import inspect
import warnings
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.arguments import flag, generator, one_of, threads_of
from hornbeam.ensemble import (
    VOTING,
    Answering,
    Bags,
    Committee,
    Outside,
    OutsideSums,
    SourceBags,
    ask_outside,
    draw_bags,
    draw_source_bags,
    grow_bags,
)
from hornbeam.errors import UsageError
from hornbeam.growth import ClassTarget, Forest, NumericTarget
from hornbeam.model import Tree
from hornbeam.table import Schema
from hornbeam.validation.scores import accuracy, r2

from .from_source import FromSource
from .table_estimator import ReadsClasses, ReadsNumbers
from .to_source import check_proba
from .trees import TreeClassifier, TreeParameters, TreeRegressor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hornbeam.boat.meter import Listener
    from hornbeam.table.sources import Source


@dataclass(kw_only=True, eq=False, repr=False)
class BaggedTrees(TreeParameters, FromSource):
    """Trees of bags drawn from one table. Subclasses add the target: a class or numbers."""

    _instead: ClassVar = {
        "estimator": "the trees' own parameters stand beside n_estimators",
        "bootstrap_features": "every attribute is looked at; leave it out, or choose columns of X",
        "warm_start": "fit again with more n_estimators: the same random_state draws the same first bags",
        "cv": "the rows outside the bags judge the trees: oob_score=True",
    }
    voting = "soft"
    _tree: ClassVar[type]
    _outside: ClassVar[str]
    """The attribute that keeps what the rows outside were told."""

    n_estimators: int = 25
    algorithm: str = "auto"
    max_samples: int | float | None = None
    bootstrap: bool = True
    oob_score: bool = False

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Draw, grow, keep."""
        parameters, pruning = self._checked()
        self._check_outside()
        table, target = self._read(X, y, sample_weight)
        bags = draw_bags(
            table.n_rows,
            self.n_estimators,
            generator(self.random_state),
            max_samples=self.max_samples,
            bootstrap=self.bootstrap,
            weights=target.weights,
        )
        # Bags draw rows by their weights; a row that was drawn counts as one.
        plain = replace(target, weights=None)
        threads = threads_of(self.n_jobs)
        forest = grow_bags(table, plain, parameters, pruning, bags, algorithm=self.algorithm, threads=threads)
        outside = None
        if self.oob_score:
            outside = ask_outside(Committee(list(forest.trees()), self.voting), bags, table, threads=threads)
            if not outside.known.all():
                _warn_of_few(4)
        # Nothing changes before all is there.
        self._keep(forest, bags, plain.labels)
        if outside is not None:
            self._keep_outside(outside, plain)

    def _keep(self, forest: Forest, bags: Bags, labels: NDArray[Any] | None) -> None:
        """Keep the trees of bags; what an earlier fit was told of the rows outside goes."""
        for name in ("oob_score_", self._outside):
            self.__dict__.pop(name, None)
        first = forest.tree(0)
        self._remember(first.schema, labels, first.n_targets or 1)
        self.bags_, self.forest_ = bags, forest
        self.estimators_ = self._members(forest, bags.seeds.tolist(), labels)

    def fit_source(
        self,
        src: Source,
        *,
        target: Any,
        memory_limit: str | int | None = None,
        algorithm: str = "auto",
        key: str | None = None,
        progress: Listener | None = None,
    ) -> Self:
        """Draw bags from the rows of a source (`hornbeam.source`), and grow a tree from each.

        Parameters
        ----------
        src : Source
            `nominal_features` must be names here; a `weight` column is refused.
        target : str or list of str
            The column of the class, or the column or columns of numbers.
        memory_limit : str, int or None, default=None
            What may be allocated: bytes, or a text such as "500MB"; at least 32MB. As many bags grow in the
            same scans as have 32MB each.
        algorithm : str, default="auto"
            "memory", "rf_hybrid", "rf_write", "rf_read" or "rf_vertical" (docs/boat.md), or the one that the
            size of the rows calls for; the trees do not depend on it.
        key : str or None, default=None
            The column that bags draw rows by, those of equal keys together; never an attribute. Without one,
            row numbers do, which frames and queries do not have.
        progress : callable or None, default=None
            Hears of each scan ten times a second: a `hornbeam.boat.meter.Progress`.

        The bags are not those of `fit`: each has every row by Poisson's law, or, without `bootstrap`, by the
        share `max_samples` (docs/bagging.md). `scan_stats_` then says what it took; of the rows outside the
        bags only `oob_score_` is kept.
        """
        from hornbeam.boat.growth import grow_source

        self._check_outside()
        task = self._task_over(src, target, memory_limit, key, algorithm=algorithm, progress=progress)
        draws = draw_source_bags(
            src.rows,
            self.n_estimators,
            generator(self.random_state),
            max_samples=self.max_samples,
            bootstrap=self.bootstrap,
        )

        def outside(trees: Sequence[Tree]) -> OutsideSums:
            return OutsideSums(Committee(trees, self.voting), draws, task.threads)

        growth = grow_source(replace(task, bags=draws, outside=outside if self.oob_score else None))
        # Nothing changes before all is there.
        bags = SourceBags.of(draws, growth.rows, key is not None)
        self._keep(growth.forest, bags, growth.labels)
        self.scan_stats_ = growth.stats
        if isinstance(growth.outside, OutsideSums):
            self.oob_score_ = growth.outside.score
            if growth.outside.known < growth.outside.rows:
                _warn_of_few(3)
        return self

    def _check_outside(self) -> None:
        if flag("oob_score", self.oob_score) and not self.bootstrap:
            raise UsageError(
                "oob_score=True with bootstrap=False: rows outside the bags are there with bootstrap=True",
                parameter="oob_score",
            )

    def _keep_outside(self, outside: Outside, target: Any) -> None:
        raise TypeError(f"{type(self).__name__} has no target; use BaggedTreesClassifier")

    def _members(self, forest: Forest, seeds: list[int], labels: NDArray[Any] | None) -> list[Any]:
        """An estimator around each tree, as if it was fitted to the rows of its bag alone."""
        own = self.get_params(deep=False)
        names = set(inspect.signature(self._tree).parameters) & set(own) - {"random_state"}
        model, members = self._tree(**{name: own[name] for name in names}), []
        for i, seed in enumerate(seeds):
            member = copy(model)
            member.random_state = seed
            member._learn(forest.pair(i), labels)
            members.append(member)
        return members

    def _members_there(self) -> list[Any]:
        if "estimators_" not in self.__dict__:
            self._not_fitted()
        return self.estimators_

    def _committee(self) -> Committee:
        return Committee([member.tree_ for member in self._members_there()], self.voting)

    def _answering(self, proba: bool) -> Answering:
        trees = self.trees_
        check_proba(proba, trees[0])
        return Answering(trees, self.voting, proba)

    def _answers(self, X: Any) -> tuple[Committee, NDArray[np.float64]]:
        committee = self._committee()
        table = self._brought(X, committee.schema)
        return committee, committee.answers(table, threads_of(self.n_jobs))

    @property
    def trees_(self) -> list[Tree]:
        """The tree of each bag, as predictions use it."""
        return [member.tree_ for member in self._members_there()]

    @property
    def estimators_samples_(self) -> list[NDArray[np.int64]]:
        """The rows that each bag has drawn, as often as it did; drawn again each time they are asked for."""
        self._members_there()
        return [self.bags_.rows(i) for i in range(len(self.bags_))]

    @property
    def schema_(self) -> Schema:
        """Names, kinds and categories of the attributes."""
        return self._committee().schema

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The mean share of the decrease of impurity by the tests on each attribute."""
        return self._committee().feature_importances


def _warn_of_few(stacklevel: int) -> None:
    """In scikit-learn's words."""
    warnings.warn(
        "Some inputs do not have OOB scores. This probably means too few estimators were used "
        "to compute any reliable oob estimates.",
        UserWarning,
        stacklevel=stacklevel,
    )


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
