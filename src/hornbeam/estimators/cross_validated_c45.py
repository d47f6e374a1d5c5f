"""CVC4.5: C4.5 that chooses its own m by cross-validation (John 1994)."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hornbeam.arguments import flag, generator, is_number, one_of, whole
from hornbeam.errors import UsageError
from hornbeam.validation.tree_search import TreeSearchCV

from .answering import ClassAnswers
from .trees import C45Classifier

PAPER_VALUES = (*range(1, 11), 12, 15, 20, 25, *range(30, 101, 10))
RULES = ("min_objs", "min_samples_split")


@dataclass(kw_only=True, eq=False, repr=False)
class CrossValidatedC45(ClassAnswers):
    """C4.5 with the m that cross-validation finds best, as in John's "Cross-Validated C4.5" (docs/tuning.md).

    Every m is tried in the same folds, the accuracy of the pruned trees compared, and the tree of all rows
    grown with the best.

    Parameters
    ----------
    min_objs : sequence of numbers, default=(1, ..., 10, 12, 15, 20, 25, 30, 40, ..., 100)
        The values of m.
    rule : {"min_objs", "min_samples_split"}, default="min_objs"
        What m means: C4.5's own -m, or the paper's words: a node of fewer than m rows is not split, and
        nothing else (m = 1 and m = 2 are then the same).
    cv : int, default=20
        Folds of each repetition: rows are shuffled, ordered by class and dealt in turn.
    repeats : int, default=5
        With 1 the folds are scikit-learn's, and `cv` may be whatever it takes.
    mean : {"trimmed", "mean"}, default="trimmed"
    select : {"best", "1se", "smallest"}, default="best"
        As in `TreeSearchCV`.
    small : bool, default=False
        Choose `runs` times, each with folds of its own, and keep the smallest tree; among equals that of the
        best estimate, then the first.
    runs : int, default=5
    confidence, criterion, nominal, prune, nominal_features, max_depth, min_samples_leaf,
    min_impurity_decrease, ccp_alpha, validation_fraction, competitors, class_weight, cost_matrix, n_jobs
        As in `C45Classifier`. With a cost matrix mean costs are compared.
    random_state : int, RandomState or None, default=None
        Deals the folds.

    Attributes
    ----------
    best_params_ : dict
        The m that was chosen, by the name of its rule.
    best_score_ : float
        Its estimate.
    search_ : SearchRecord
        Every m with its estimate and its size, and why one was chosen; with `small` that of the run kept.
    searches_ : tuple of SearchRecord
        Of each run.
    best_estimator_ : C45Classifier
        What was chosen, fitted; `hornbeam.save` keeps it.
    tree_, unpruned_tree_, classes_, n_classes_, n_features_in_, n_outputs_, feature_names_in_,
    feature_importances_, schema_
        As in `C45Classifier`.
    """

    min_objs: Sequence[float] = PAPER_VALUES
    rule: str = "min_objs"
    cv: int = 20
    repeats: int = 5
    mean: str = "trimmed"
    select: str = "best"
    small: bool = False
    runs: int = 5
    confidence: float = 0.25
    criterion: str = "c45"
    nominal: str = "multiway"
    prune: str | None = "error_based"
    nominal_features: Any = "from_dtype"
    max_depth: int | None = None
    min_samples_leaf: int | float = 1
    min_impurity_decrease: float = 0.0
    ccp_alpha: float = 0.0
    validation_fraction: float = 0.33
    competitors: int = 0
    class_weight: Any = None
    cost_matrix: Any = None
    random_state: Any = None
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose m, and keep the tree of all rows; weights count as in `TreeSearchCV`."""
        self._require_target(y)
        random, searches = generator(self.random_state), []
        for _ in range(self._n_runs()):
            search = self._search(random)
            weights = {} if sample_weight is None else {"sample_weight": sample_weight}
            searches.append(search.fit(X, y, **weights))
        self._keep(min(searches, key=_size), searches)
        return self

    def _n_runs(self) -> int:
        small, runs = flag("small", self.small), whole("runs", self.runs, 1)
        if small and self.repeats == 1 and is_number(self.cv, numbers.Integral):
            raise UsageError(
                "small=True with repeats=1: every run would have the same folds; use repeats from 2",
                parameter="small",
            )
        return runs if small else 1

    def _search(self, random: np.random.RandomState) -> TreeSearchCV:
        """One run of the choice."""
        kept = set(self.get_params(deep=False)) & set(C45Classifier().get_params(deep=False)) - {
            "min_objs",
            "cv",
        }
        rule = one_of("rule", self.rule, RULES)
        tree = C45Classifier(**{name: getattr(self, name) for name in kept})
        values: Any = self.min_objs
        if rule == "min_samples_split":
            tree.set_params(min_objs=None)
            values = _distinct(values)
        return TreeSearchCV(
            tree,
            {rule: values},
            cv=self.cv,
            repeats=self.repeats,
            mean=self.mean,
            select=self.select,
            random_state=random,
        )

    def _keep(self, best: TreeSearchCV, searches: list[TreeSearchCV]) -> None:
        self.__dict__.pop("feature_names_in_", None)
        self.best_params_, self.best_score_, self.search_ = best.best_params_, best.best_score_, best.search_
        self.searches_, self.best_estimator_ = tuple(one.search_ for one in searches), best.best_estimator_
        learned = vars(best.best_estimator_)
        self.__dict__.update({name: value for name, value in learned.items() if name.endswith("_")})


def _size(search: TreeSearchCV) -> tuple[int, float]:
    """The smaller the better."""
    return search.search_.results[search.best_index_].leaves, -search.best_score_


def _distinct(values: Any) -> Any:
    """The values of m as numbers of rows that a node needs to be split, each once: any node has two."""
    if not isinstance(values, (Sequence, np.ndarray)) or isinstance(values, (str, bytes)):
        return values  # to be refused by the grid
    return list(dict.fromkeys(2 if is_number(m, numbers.Integral) and m == 1 else m for m in values))
