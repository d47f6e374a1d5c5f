"""What both estimators of bagged trees share: drawing bags, growing them, and asking the rows outside.

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

from hornbeam.arguments import flag, generator, threads_of
from hornbeam.ensemble import (
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
from hornbeam.growth import Forest
from hornbeam.model import Tree
from hornbeam.table import Schema

from .from_source import FromSource
from .table_estimator import TreeParameters
from .to_source import check_proba

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
