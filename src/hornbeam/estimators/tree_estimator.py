"""What both estimators of one tree share: how it grows from a table or a source, and how it is pruned."""

from __future__ import annotations

from dataclasses import dataclass, fields
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import Bunch

from hornbeam.arguments import generator, threads_of
from hornbeam.errors import UnknownName
from hornbeam.growth import (
    Engine,
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
from hornbeam.model import Tree
from hornbeam.table import Table, check_same_length, conform

from .answering import TreeAnswers
from .from_source import FromSource, seed_of
from .table_estimator import TreeParameters, refuse_keywords

if TYPE_CHECKING:
    from hornbeam.boat.meter import Listener
    from hornbeam.boat.task import SourceTask
    from hornbeam.table.sources import Source


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
