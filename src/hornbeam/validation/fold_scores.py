"""The scores of all folds, taken while they grow, and the record that is made of them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning

from hornbeam.growth import Forest, Pair
from hornbeam.validation.records import CrossValidation, Timing
from hornbeam.validation.scoring import Judge, Score, by_name
from hornbeam.validation.shared import SharedWork


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
        self._train_score, self._keep, self._verbose = train_score, keep_estimators, verbose
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
        work = self._work
        if not work.score_params:
            quick = self._judge.quick(fold.pair.tree, work.routed, work.target, rows)
            if quick is not None:
                return quick
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
