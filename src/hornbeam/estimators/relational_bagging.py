"""First-order trees of bags of examples: grown together, and asked together."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.arguments import flag, generator, one_of
from hornbeam.ensemble import draw_bags
from hornbeam.ensemble.bagging import ALGORITHMS
from hornbeam.errors import DataError, UsageError
from hornbeam.growth import TrainingSet, TrainingSets
from hornbeam.relational.data import RelationalData
from hornbeam.relational.database import Coded, Examples
from hornbeam.relational.growth import RelationalForest, learn
from hornbeam.relational.tree import RelationalTree
from hornbeam.validation.scores import accuracy, r2

from .model_parameters import class_array
from .relational import (
    RelationalEstimator,
    Report,
    clean,
    codes_of,
    labelled_rows,
    node_answers,
    warn_of_dropped,
)

_OUTSIDE = ("oob_score_", "oob_decision_function_", "oob_prediction_")
TASKS = ("classification", "regression")


@dataclass(kw_only=True, eq=False, repr=False)
class RelationalBagging(RelationalEstimator):
    """First-order trees, each of a bag of examples, that add up the shares or numbers of their leaves.

    Parameters
    ----------
    bias, min_samples_leaf, lookahead, max_depth, confidence, budget, cache_bytes, n_jobs
        As in `RelationalTreeClassifier`.
    n_estimators : int, default=25
        How many bags are drawn.
    task : {"classification", "regression"} or None, default=None
        None is what the target's values suggest: text and truth values are classes.
    criterion : str or None, default=None
        None is "gain_ratio" for classes and "variance" for numbers.
    prune : {"error_based", "safe"} or None, default=None
        How each tree is cut back; trees that vote are mostly left as they grew.
    algorithm : {"auto", "serial", "overlapping"}, default="auto"
        One after the other, or together: the trees are the same.
    max_samples : int, float or None, default=None
        Examples that a bag draws, or their share; None is as many as there are.
    bootstrap : bool, default=True
        Whether examples are drawn with replacement.
    oob_score : bool, default=False
        Whether each example is told by the trees whose bags lack it: `oob_score_`.
    random_state : int, RandomState or None, default=None
        Draws the bags.

    Attributes
    ----------
    trees_ : list of RelationalTree
    forest_ : hornbeam.relational.growth.RelationalForest
    bags_ : hornbeam.ensemble.Bags
    task_ : str
    classes_ : ndarray
        Only for classes.
    oob_score_ : float
        With `oob_score`: accuracy or R² of what trees say of examples outside their bags.
    oob_decision_function_, oob_prediction_ : ndarray
        With `oob_score`: the shares, or numbers, of each labelled example.
    bias_, target_, feature_names_in_
        As in `RelationalTreeClassifier`.
    """

    n_estimators: int = 25
    task: str | None = None
    max_samples: int | float | None = None
    bootstrap: bool = True
    oob_score: bool = False

    def fit(self, db: RelationalData, target: str | None = None) -> Self:
        """Draw bags of the examples of a database, and grow a tree from each of them."""
        return self._fit(db, target, None)

    def _fit(self, db: RelationalData, target: str | None, report: Report) -> Self:
        self._check()
        bias, coded, signature = self._read(db, target, self.task)
        examples, rows = coded.examples, labelled_rows(coded.examples)
        settings = self._settings(examples.task)
        bags = draw_bags(
            len(rows),
            self.n_estimators,
            generator(self.random_state),
            max_samples=self.max_samples,
            bootstrap=self.bootstrap,
        )
        sets = tuple(TrainingSet(examples.n, taken=rows[bags.rows(i)]) for i in range(len(bags)))
        outside = _Outside(examples) if self.oob_score else None
        forest = learn(
            coded,
            bias,
            signature,
            settings,
            TrainingSets(examples.n, sets),
            judge=None if outside is None else outside.hear,
            report=report,
        )
        warn_of_dropped(forest, self.budget)
        clean(self, (*_OUTSIDE, "classes_"))
        self._remember(db, bias, coded)
        self.task_, self.bags_, self.forest_ = examples.task, bags, forest
        if examples.task == "classification":
            self.classes_ = class_array(examples.classes)
        if outside is not None:
            self._keep_outside(outside, rows)
        return self

    def _check(self) -> None:
        one_of("algorithm", self.algorithm, ALGORITHMS)
        if self.task is not None:
            one_of("task", self.task, TASKS, "", ", or None")
        if flag("oob_score", self.oob_score) and not self.bootstrap:
            raise UsageError(
                "oob_score=True with bootstrap=False: examples outside the bags are there with "
                "bootstrap=True",
                parameter="oob_score",
            )

    def _keep_outside(self, outside: _Outside, rows: NDArray[np.int64]) -> None:
        examples, told = outside.examples, rows[outside.heard[rows] > 0]
        if len(told) < len(rows):
            left = len(rows) - len(told)
            warnings.warn(
                f"{left} examples are in every bag, so no tree tells of them; draw more", stacklevel=4
            )
        if len(told) == 0:
            raise DataError("every example is in every bag, so none can be scored outside; draw more bags")
        with np.errstate(invalid="ignore"):
            answers = outside.sums / outside.heard[:, None]
        known = np.asarray(examples.target)
        if examples.task == "classification":
            self.oob_decision_function_ = answers[rows]
            self.oob_score_ = accuracy(known[told], _codes(answers[told], examples.ties_to_last))
        else:
            self.oob_prediction_ = answers[rows, 0]
            self.oob_score_ = r2(known[told][:, None], answers[told])

    @property
    def trees_(self) -> list[RelationalTree]:
        """The tree of each bag."""
        return list(self._forest("trees_").trees)

    @property
    def estimators_samples_(self) -> list[NDArray[np.int64]]:
        """The labelled examples that each bag has drawn, by their place among them, as often as it did."""
        self._forest("estimators_samples_")
        return [self.bags_.rows(i) for i in range(len(self.bags_))]

    def _forest(self, asked: str) -> RelationalForest:
        if "forest_" not in self.__dict__:
            self._not_fitted(asked)
        return self.forest_

    def _said(self, db: RelationalData, asked: str) -> tuple[NDArray[np.float64], Coded]:
        """The mean over trees of what each says of every example: shares of classes, or a number."""
        trees = self._forest(asked).trees
        coded = self._coded_of(db, trees[0])
        total: Any = 0.0
        for tree in trees:
            total = total + node_answers(tree)[self._leaves(coded, tree)]
        return np.asarray(total / len(trees), dtype=np.float64), coded

    def predict(self, db: RelationalData) -> NDArray[Any]:
        """What the trees say together of each example, in the order of the target's table."""
        said, _ = self._said(db, "predict")
        if self.task_ == "regression":
            return said[:, 0]
        labels: NDArray[Any] = self.classes_[_codes(said, self.forest_.tree(0).ties_to_last)]
        return labels

    def predict_proba(self, db: RelationalData) -> NDArray[np.float64]:
        """The mean share of each class, in the order of `classes_`."""
        self._forest("predict_proba")
        if self.task_ == "regression":
            raise UsageError("predict_proba: the trees predict numbers and have no classes; use predict")
        return self._said(db, "predict_proba")[0]

    def score(self, db: RelationalData) -> float:
        """The accuracy, or R², on the examples of a database that holds the target."""
        said, coded = self._said(db, "score")
        examples = coded.examples
        if examples.target is None:
            raise DataError(f"target {self.target_!r} is not in the data, so nothing can be scored")
        rows = labelled_rows(examples)
        if self.task_ == "regression":
            return r2(np.asarray(examples.target, dtype=np.float64)[rows][:, None], said[rows])
        codes = _codes(said[rows], self.forest_.tree(0).ties_to_last)
        return accuracy(codes_of(examples, self.forest_.tree(0).classes)[rows], codes)


class _Outside:
    """What trees say of the examples that their bags lack, added up."""

    def __init__(self, examples: Examples) -> None:
        width = len(examples.classes) if examples.task == "classification" else 1
        self.examples = examples
        self.sums = np.zeros((examples.n, width))
        self.heard = np.zeros(examples.n)

    def hear(
        self, _: int, tree: RelationalTree, outside: NDArray[np.int64], leaves: NDArray[np.int64]
    ) -> None:
        self.sums[outside] += node_answers(tree)[leaves]
        self.heard[outside] += 1


def _codes(shares: NDArray[np.float64], ties_to_last: bool) -> NDArray[np.int64]:
    """The largest share of each row, of equals the first, or the last where the data said so."""
    if not ties_to_last:
        return np.asarray(shares.argmax(axis=1), dtype=np.int64)
    return np.asarray(shares.shape[1] - 1 - shares[:, ::-1].argmax(axis=1), dtype=np.int64)
