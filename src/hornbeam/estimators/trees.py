"""The estimators of one tree over a table: how it grows, how it is pruned, and what it predicts.

`TreeClassifier` predicts a class, `C45Classifier` does so with the defaults of C4.5, and `TreeRegressor`
predicts one or several numbers. `TreeEstimator` is what they share.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import Bunch

from hornbeam.arguments import generator, threads_of
from hornbeam.errors import DataError, UnknownName
from hornbeam.growth import (
    ClassTarget,
    Engine,
    NumericTarget,
    Pair,
    Pruning,
    Target,
    TrainingSet,
    complexity_path,
    draw_seed,
    grow_and_prune,
    grow_tree,
    prune_tree,
)
from hornbeam.model import Tree, narrowed
from hornbeam.table import Table, check_same_length, conform, encode_targets, encode_weights

from .answering import ClassAnswers, TreeAnswers
from .from_source import FromSource, seed_of
from .table_estimator import ReadsNumbers, refuse_keywords

if TYPE_CHECKING:
    from hornbeam.boat.meter import Listener
    from hornbeam.boat.task import SourceTask
    from hornbeam.table.sources import Source


@dataclass(kw_only=True, eq=False, repr=False)
class TreeParameters:
    """The parameters by which every tree is grown and pruned, whatever it predicts."""

    criterion: str = "gini"
    nominal: str = "subset"
    nominal_features: Any = "from_dtype"
    max_depth: int | None = None
    min_samples_split: int | float = 2
    min_samples_leaf: int | float = 1
    min_impurity_decrease: float = 0.0
    min_objs: float | None = None
    prune: str | None = None
    confidence: float = 0.25
    ccp_alpha: float = 0.0
    validation_fraction: float = 0.33
    competitors: int = 0
    random_state: Any = None
    n_jobs: int | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class TreeEstimator(TreeParameters, FromSource, TreeAnswers):
    """A decision tree over one table. Subclasses add the target: a class or numbers.

    What begins with an underscore and has no underscore at its end is asked by cross-validation and searches
    too (`hornbeam.validation.shared_growth.SharesGrowth`).
    """

    cv: Any = None

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Grow the tree, and with `cv` the folds' beside it; nothing changes before all is there."""
        parameters, pruning = self._checked()
        table, target = self._read(X, y, sample_weight)
        threads = threads_of(self.n_jobs)
        if self.cv is None:
            random = generator(self.random_state) if pruning.holds_out else None
            pair = grow_and_prune(table, target, parameters, pruning, random=random, threads=threads)
            self._learn(pair, target.labels)
            return self
        from hornbeam.validation.fold_scores import FoldScores
        from hornbeam.validation.scoring import Judge
        from hornbeam.validation.shared_growth import SharedWork
        from hornbeam.validation.splits import rows_of, splits_of, splitter_of

        X, y = rows_of(X, y)
        splits = splits_of(splitter_of(self.cv, y, target), X, y, target, {})
        work = SharedWork(self, X, y, table, target, splits, parameters, pruning, Engine(), None, threads)
        scores = FoldScores(Judge(self, None, float("nan")), work, False, False, 0)
        forest = work.grow(scores.visit, fitting=True)
        results = dict(scores.record(forest))
        self._learn(forest.pair(0), target.labels)
        self.cv_results_, self.forest_ = results, forest
        return self

    def fit_source(
        self,
        src: Source,
        *,
        target: Any,
        memory_limit: str | int | None = None,
        algorithm: str = "auto",
        key: str | None = None,
        variant: str | None = None,
        progress: Listener | None = None,
    ) -> Self:
        """Grow the tree from a source (`hornbeam.source`): the very one that `fit` grows from all its rows.

        Parameters
        ----------
        src : Source
            Its `weight` column says what rows weigh; `nominal_features` must be names here.
        target : str or list of str
            The column of the class, or the column or columns of numbers.
        memory_limit : str, int or None, default=None
            What may be allocated: bytes, or a text such as "500MB"; at least 32MB.
        algorithm : str, default="auto"
            How to grow (docs/boat.md); the tree does not depend on it. "memory" reads all rows once.
        key : str or None, default=None
            The column that deals rows to the folds of an integer `cv`; never an attribute. Without one, row
            numbers do.
        variant : {"paper"} or None, default=None
            Of algorithm "boat": as the paper has it.
        progress : callable or None, default=None
            Hears of each scan ten times a second: a `hornbeam.boat.meter.Progress`.

        `scan_stats_` then says what it took.
        """
        from hornbeam.boat.growth import grow_source

        begin = perf_counter()
        how = {"algorithm": algorithm, "variant": variant, "progress": progress}
        growth = grow_source(self._source_task(src, target, memory_limit, key=key, **how))
        self._learn(growth.pairs[0], growth.labels)
        self.scan_stats_ = growth.stats
        if growth.estimate is not None:
            k = growth.estimate.folds
            self.cv_results_ = {
                "fit_time": np.full(k, (perf_counter() - begin) / k),
                "score_time": np.full(k, growth.stats.seconds.get("judging", 0.0) / k),
                "test_score": np.array(growth.estimate.scores),
            }
            self.forest_ = growth.forest
        return self

    def _source_task(
        self, src: Source, target: Any, memory_limit: str | int | None, *, key: str | None = None, **how: Any
    ) -> SourceTask:
        """What is to be grown from a source, and from its folds."""
        from hornbeam.boat.task import check_cv

        folds, seed = check_cv(self.cv), seed_of(self.random_state)
        return self._task_over(src, target, memory_limit, key, folds=folds, seed=seed, **how)

    @property
    def _shares_growth(self) -> bool:
        """Not where a subclass fits in its own way."""
        return type(self).fit.__module__.startswith("hornbeam.estimators.")  # type: ignore[no-any-return]

    @property
    def _answers_itself(self) -> bool:
        """Not where a subclass answers in its own way, and may want to see X."""
        names = ("predict", "predict_proba", "predict_log_proba", "score")
        ways = [getattr(type(self), name) for name in names if hasattr(type(self), name)]
        return all(way.__module__.startswith(("hornbeam.estimators.", "sklearn.base")) for way in ways)

    def _reads(self, X: Any, y: Any, **params: Any) -> tuple[Table, Target]:
        """The table and target of a call to fit."""
        refuse_keywords(self, params, "sample_weight")
        return self._read(X, y, **params)

    def _seeds(self, n_folds: int, fitting: bool) -> list[int]:
        """What the tree of all rows and those of the folds draw their validation rows by. Folds are fitted by
        clones, and clones do not take from a generator; nor does the tree, but when this estimator is fitted.
        """
        folds = [draw_seed(generator(clone(self.random_state, safe=False))) for _ in range(n_folds)]
        own = self.random_state if fitting else clone(self.random_state, safe=False)
        return [draw_seed(generator(own)), *folds]

    def _threads(self, n_jobs: int | None) -> int:
        """The threads that n_jobs, or without it the estimator's own, stands for."""
        return threads_of(self.n_jobs if n_jobs is None else n_jobs)

    def _grown(self, pair: Pair, target: Target, rows: TrainingSet | None) -> Self:
        """A new estimator fitted with the trees of a training set; None: of all rows."""
        model: Self = clone(self)
        model._learn(pair, target.labels)
        return model

    def _encode(self, y: Any, tree: Tree, sample_weight: Any = None) -> Target:
        """The target of further rows, in the codes of a grown tree."""
        raise TypeError(f"{type(self).__name__} has no target; use TreeClassifier or TreeRegressor")

    def _learn(self, pair: Pair, labels: NDArray[Any] | None) -> None:
        """Keep the trees and, for classes, their labels; what an earlier fit left and is not true goes."""
        for name in ("scan_stats_", "cv_results_", "forest_"):
            self.__dict__.pop(name, None)
        self.tree_, self.unpruned_tree_ = pair
        self._remember(pair.tree.schema, labels, pair.tree.n_targets or 1)

    def pruned(self, X: Any = None, y: Any = None, sample_weight: Any = None, **options: Any) -> Self:
        """A fitted estimator whose tree is `unpruned_tree_` pruned otherwise; nothing is grown again.

        Options are `prune`, `confidence`, `ccp_alpha` and `validation_fraction`; those not given are as they
        are here, but for a `ccp_alpha` that another `prune` has no use for. `prune="error_based"` needs X, y
        and sample_weight that the tree was grown from; `prune="reduced_error"` needs rows that were kept out
        of growing, and judges by all that are given.
        """
        unknown = sorted(set(options) - {entry.name for entry in fields(Pruning)})
        if unknown:
            raise UnknownName(f"pruned has no option {unknown[0]!r}; only pruning can change without growing")
        grown = self._fitted() and self.unpruned_tree_
        if options.get("prune", "cost_complexity") != "cost_complexity":
            options = {"ccp_alpha": 0.0} | options
        model = clone(self).set_params(**options)
        parameters, pruning = model._checked()
        rows: tuple[Table, Target] | tuple[()] = ()
        if X is not None and y is not None and pruning.prune in ("error_based", "reduced_error"):
            table = conform(X, grown.schema, estimator=type(self).__name__)
            target = self._encode(y, grown, sample_weight)
            check_same_length(table.n_rows, target.n_rows)
            rows = table, target
        of_folds = ("cv_results_", "forest_")  # they were pruned as this estimator says
        learned = {name: value for name, value in vars(self).items() if name.endswith("_")}
        learned = {name: value for name, value in learned.items() if name not in of_folds}
        vars(model).update(learned)
        model.tree_ = prune_tree(
            grown, pruning, *rows, criterion=parameters.criterion, threads=threads_of(self.n_jobs)
        )
        return model  # type: ignore[no-any-return]

    def cost_complexity_pruning_path(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Bunch:
        """The trees of cost-complexity pruning: `ccp_alphas`, from which on each of them is the best, and
        their `impurities`. Of the tree that X and y grow; without them of `unpruned_tree_`."""
        if X is None:
            tree = self._fitted() and self.unpruned_tree_
        else:
            parameters, _ = self._checked()
            tree = grow_tree(*self._read(X, y, sample_weight), parameters, threads=threads_of(self.n_jobs))
        alphas, impurities = complexity_path(tree)
        return Bunch(ccp_alphas=alphas, impurities=impurities)


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


@dataclass(kw_only=True, eq=False, repr=False)
class C45Classifier(TreeClassifier):
    """C4.5 Release 8: `TreeClassifier` with the defaults of Quinlan's program (docs/estimators.md, "C4.5").

    Parameters
    ----------
    min_objs : float, default=2
        C4.5's -m: a test needs two branches with so many known rows.
    confidence : float, default=0.25
        C4.5's -c, above 0 up to 1: the smaller, the smaller the tree.
    criterion : default="c45"
    nominal : default="multiway"
    prune : default="error_based"
        None leaves the tree as C4.5 has it before pruning.
    nominal_features, max_depth, min_samples_split, min_samples_leaf, min_impurity_decrease, ccp_alpha,
    validation_fraction, competitors, cv, class_weight, cost_matrix, random_state, n_jobs
        As in `TreeClassifier`.

    Attributes
    ----------
    tree_, unpruned_tree_, cv_results_, forest_, classes_, n_classes_, n_features_in_, n_outputs_,
    feature_names_in_, feature_importances_, schema_, scan_stats_
        As in `TreeClassifier`.
    """

    criterion: str = "c45"
    nominal: str = "multiway"
    min_objs: float | None = 2
    prune: str | None = "error_based"


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
