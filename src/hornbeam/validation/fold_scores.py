"""The scores of all folds, taken while they grow, and the record of cross-validation made of them."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import FitFailedWarning

from hornbeam import arguments
from hornbeam.growth import ClassTarget, Forest, Pair
from hornbeam.growth.forest import COMPONENTS
from hornbeam.validation.measures import score_of
from hornbeam.validation.scoring import Judge, Score, by_name, measure_of
from hornbeam.validation.shared_growth import SharedWork


@dataclass(frozen=True, eq=False)
class Timing:
    """Seconds of one cross-validation. `reading` is turning X and y into a table, `growing` all trees with
    their pruning, `scoring` all folds; the others are parts of growing, by kind of work and by depth."""

    reading: float
    growing: float
    scoring: float
    forest: Forest | None = None

    @property
    def components(self) -> Mapping[str, float]:
        """Seconds of the native growth by kind of work: tests, statistics, numeric, other."""
        seconds = self.by_level.sum(axis=0)
        return dict(zip(COMPONENTS, seconds.tolist(), strict=True))

    @property
    def by_level(self) -> npt.NDArray[np.float64]:
        """The same seconds by depth: [level, component]."""
        return np.zeros((0, len(COMPONENTS))) if self.forest is None else self.forest.levels.seconds

    @property
    def f(self) -> npt.NDArray[np.float64]:
        """Different tests for each node of the forest, by depth (Blockeel and Struyf, section 3.2)."""
        return np.zeros(0) if self.forest is None else self.forest.tests_by_level


class CrossValidation(dict[str, Any]):
    """The dict of scikit-learn's cross_validate, and beside it the tree of all rows, the forest, the timing.

    `estimator_` is fitted to all rows; `forest` is None, and `algorithm` "serial", where the estimator was
    not one of ours.
    """

    def __init__(
        self,
        results: Mapping[str, Any],
        *,
        forest: Forest | None,
        algorithm: str,
        timing: Timing,
        whole: Callable[[], Any],
    ) -> None:
        super().__init__(results)
        self.forest, self.algorithm, self.timing = forest, algorithm, timing
        self._whole: Callable[[], Any] | None = whole
        self._estimator: Any = None

    @property
    def estimator_(self) -> Any:
        """The estimator fitted to all rows; one of ours was grown together with the folds."""
        if self._whole is not None:
            self._estimator, self._whole = self._whole(), None
        return self._estimator

    def __reduce__(self) -> tuple[Any, ...]:
        kept = {"forest": self.forest, "algorithm": self.algorithm, "timing": self.timing}
        return _restore, (dict(self), kept, self.estimator_)


def _restore(results: dict[str, Any], kept: dict[str, Any], estimator: Any) -> CrossValidation:
    return CrossValidation(results, **kept, whole=lambda: estimator)


@dataclass(eq=False)
class _Fold:
    """The trees of a fold, and the estimator made of them where somebody asks for it."""

    work: SharedWork
    place: int
    pair: Pair

    @cached_property
    def model(self) -> Any:
        return self.work.model(self.place, self.pair)


class FoldScores:
    """Sees each fold's tree once and scores it."""

    def __init__(
        self, judge: Judge, work: SharedWork, train_score: bool, keep_estimators: bool, verbose: int
    ) -> None:
        self._judge, self._work = judge, work
        self._train_score = arguments.flag("return_train_score", train_score)
        self._keep = arguments.flag("return_estimator", keep_estimators)
        if not arguments.is_number(verbose, numbers.Real):
            arguments.refuse("verbose", verbose, "a number is allowed; 0 is silent")
        self._verbose = verbose
        self._measure = measure_of(judge, work.target, work.splits.sets, work.splits.tests, work.score_params)
        self._test: dict[int, Score] = {}
        self._train: dict[int, Score] = {}
        self._seconds: dict[int, float] = {}
        self._models: dict[int, Any] = {}

    def visit(self, i: int, pair: Pair) -> None:
        """Score set i; set 0 has no rows left out."""
        if i == 0:
            return
        work, begin = self._work, perf_counter()
        fold = _Fold(work, i, pair)
        self._test[i] = self._score(fold, work.test_rows(i))
        self._seconds[i] = perf_counter() - begin
        if self._train_score:
            self._train[i] = self._score(fold, work.splits.sets[i].rows)
        if self._keep:
            self._models[i] = fold.model
        if self._verbose > 0:
            print(f"[CV {i}/{work.n_folds}] {_text(self._test[i])}")

    def _score(self, fold: _Fold, rows: Any) -> Score:
        work, measure = self._work, self._measure
        if measure is not None and (len(rows) > 1 or isinstance(work.target, ClassTarget)):
            tree = fold.pair.tree
            return score_of(measure, tree, work.routed.leaves(tree, rows), rows)
        return self._judge.score(fold.model, work.X, work.y, work.table, rows, work.score_params)

    def record(self, forest: Forest) -> CrossValidation:
        """scikit-learn's dict of all folds, with what is ours beside it."""
        self._tell_failures(forest)
        work, k = self._work, self._work.n_folds
        folds = range(1, k + 1)
        total = work.reading + forest.seconds
        results: dict[str, Any] = {
            "fit_time": np.full(k, total / k),
            "score_time": np.array([self._seconds.get(i, 0.0) for i in folds]),
        }
        if self._keep:
            results["estimator"] = [self._models.get(i, work.estimator) for i in folds]
        if work.splits.given:
            train, test = zip(*work.splits.given, strict=True)
            results["indices"] = {"train": train, "test": test}
        tested = self._all(self._test)
        trained = self._all(self._train) if self._train_score else {}
        for name in tested:  # test_<name> and train_<name> side by side, as there
            results[f"test_{name}"] = tested[name]
            results |= {f"train_{name}": trained[name]} if trained else {}
        timing = Timing(work.reading, forest.seconds, sum(self._seconds.values()), forest)
        return CrossValidation(
            results,
            forest=forest,
            algorithm=work.engine.algorithm,
            timing=timing,
            whole=lambda: work.model(0, forest.pair(0)),
        )

    def _all(self, scores: dict[int, Score]) -> dict[str, Any]:
        """The scores in the order of the folds; one without a tree counts as error_score."""
        example = next(iter(scores.values()), None)
        lost = self._judge.of_failed_fit(example)
        return by_name([scores.get(i, lost) for i in range(1, self._work.n_folds + 1)])

    def _tell_failures(self, forest: Forest) -> None:
        if not forest.failures:
            return
        first = next(iter(forest.failures.values()))
        if self._judge.error_score == "raise" or len(forest.failures) >= self._work.n_folds:
            raise first
        warnings.warn(
            f"{len(forest.failures)} fits failed out of a total of {self._work.n_folds}; their scores are "
            f"{self._judge.error_score}. The first of them: {first}",
            FitFailedWarning,
            stacklevel=4,
        )


def _text(score: Score) -> str:
    if isinstance(score, dict):
        return ", ".join(f"{name} {value:.4f}" for name, value in score.items())
    return f"score {score:.4f}"
