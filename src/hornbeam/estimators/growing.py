"""How an estimator grows: its own tree, with `cv` those of the folds too, or its part of a validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from numpy.typing import NDArray
from sklearn.base import clone

from hornbeam.arguments import generator, threads_of
from hornbeam.errors import UnknownName
from hornbeam.growth import (
    ClassTarget,
    Engine,
    Pair,
    Parameters,
    Pruning,
    Target,
    TrainingSet,
    draw_seed,
    grow_and_prune,
)
from hornbeam.table import Table


class Growing:
    """What cross-validation asks of a tree estimator (hornbeam.validation.shared_growth), and fit itself."""

    cv: Any
    n_jobs: int | None
    random_state: Any

    if TYPE_CHECKING:  # what the estimators add

        def _checked(self) -> tuple[Parameters, Pruning]: ...
        def _read(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Table, Target]: ...
        def _learn(self, pair: Pair, labels: NDArray[Any] | None) -> None: ...

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Grow the tree, and with `cv` the folds' beside it; nothing changes before all is there."""
        parameters, pruning = self._checked()
        table, target = self._read(X, y, sample_weight)
        if self.cv is None:
            self._forget_folds()
            random = generator(self.random_state) if pruning.holds_out else None
            pair = grow_and_prune(
                table, target, parameters, pruning, random=random, threads=threads_of(self.n_jobs)
            )
            self._learn(pair, labels_of(target))
            return self
        from hornbeam.validation.fold_scores import FoldScores
        from hornbeam.validation.scoring import Judge
        from hornbeam.validation.shared_growth import SharedWork
        from hornbeam.validation.splits import rows_of, splits_of, splitter_of

        X, y = rows_of(X, y)
        splits = splits_of(splitter_of(self.cv, y, target), X, y, target, {})
        threads = threads_of(self.n_jobs)
        work = SharedWork(self, X, y, table, target, splits, parameters, pruning, Engine(), None, threads)
        scores = FoldScores(Judge(self, None, float("nan")), work, False, False, 0)
        forest = work.grow(scores.visit, fitting=True)
        results = dict(scores.record(forest))
        self._learn(forest.pair(0), labels_of(target))
        self.cv_results_, self.forest_ = results, forest
        return self

    @property
    def _shares_growth(self) -> bool:
        """Not where a subclass fits in its own way."""
        return type(self).fit.__module__.startswith("hornbeam.estimators.")  # type: ignore[attr-defined, no-any-return]

    @property
    def _answers_itself(self) -> bool:
        """Not where a subclass answers in its own way, and may want to see X."""
        names = ("predict", "predict_proba", "predict_log_proba", "score")
        ways = [getattr(type(self), name) for name in names if hasattr(type(self), name)]
        return all(way.__module__.startswith(("hornbeam.estimators.", "sklearn.base")) for way in ways)

    def _reads(self, X: Any, y: Any, **params: Any) -> tuple[Table, Target]:
        """The table and target of a call to fit."""
        unknown = sorted(set(params) - {"sample_weight"})
        if unknown:
            name = type(self).__name__
            raise UnknownName(f"{name}.fit() got an unexpected keyword argument {unknown[0]!r}")
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

    def _grown(self, pair: Pair, table: Table, target: Target, rows: TrainingSet | None) -> Self:
        """A new estimator fitted with the trees of a training set; None: of all rows."""
        model: Self = clone(self)
        model._learn(*model._of_rows(pair, target, rows))
        return model

    def _of_rows(
        self, pair: Pair, target: Target, rows: TrainingSet | None
    ) -> tuple[Pair, NDArray[Any] | None]:
        """What a fit to those rows alone would have learned."""
        return pair, labels_of(target)

    def _forget_folds(self) -> None:
        """Leave nothing of the folds of an earlier fit."""
        for name in ("cv_results_", "forest_"):
            vars(self).pop(name, None)


def labels_of(target: Target) -> NDArray[Any] | None:
    """The classes of a target; numbers have none."""
    return target.labels if isinstance(target, ClassTarget) else None
