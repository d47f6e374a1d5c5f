"""What both estimators of bagged trees share: drawing bags, growing them, and asking the rows outside."""

from __future__ import annotations

import inspect
import warnings
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hornbeam.arguments import flag, generator, threads_of
from hornbeam.ensemble import Answering, Bags, Committee, Outside, ask_outside, draw_bags, grow_bags
from hornbeam.errors import UsageError
from hornbeam.growth import Forest, Target
from hornbeam.model import Tree
from hornbeam.table import Schema, Table

from .bags_from_source import BagsFromSource
from .reading import TableEstimator, TreeParameters
from .to_source import ToSource, check_proba


@dataclass(kw_only=True, eq=False, repr=False)
class BaggedTrees(TreeParameters, BagsFromSource, ToSource, TableEstimator):
    """Trees of bags drawn from one table. Subclasses add the target: a class or numbers."""

    _instead: ClassVar = {
        "estimator": "the trees' own parameters stand beside n_estimators",
        "bootstrap_features": "every attribute is looked at; leave it out, or choose columns of X",
        "warm_start": "fit again with more n_estimators: the same random_state draws the same first bags",
        "cv": "the rows outside the bags judge the trees: oob_score=True",
    }
    voting = "soft"
    _tree: ClassVar[type]

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
        outside = self._ask_outside(forest, bags, table, threads) if self.oob_score else None
        # Nothing changes before all is there.
        self._remember(table.schema)
        self.bags_, self.forest_ = bags, forest
        self.estimators_ = self._members(forest, self._learn(plain))
        for name in ("oob_score_", self._outside):
            self.__dict__.pop(name, None)
        if outside is not None:
            self._keep_outside(outside, plain)

    def _check_outside(self) -> None:
        if flag("oob_score", self.oob_score) and not self.bootstrap:
            raise UsageError(
                "oob_score=True with bootstrap=False: rows outside the bags are there with bootstrap=True",
                parameter="oob_score",
            )

    def _learn(self, target: Target) -> dict[str, Any]:
        """Keep what the target was, and give it."""
        raise TypeError(f"{type(self).__name__} has no target; use BaggedTreesClassifier")

    def _keep_outside(self, outside: Outside, target: Any) -> None:
        raise TypeError(f"{type(self).__name__} has no target; use BaggedTreesClassifier")

    def _members(self, forest: Forest, learned: dict[str, Any]) -> list[Any]:
        """An estimator around each tree, as if it was fitted to the rows of its bag alone."""
        own = self.get_params(deep=False)
        names = set(inspect.signature(self._tree).parameters) & set(own) - {"random_state"}
        model = self._tree(**{name: own[name] for name in names})
        columns = {
            name: value
            for name, value in vars(self).items()
            if name in ("n_features_in_", "feature_names_in_")
        }
        vars(model).update(columns | learned)
        members = []
        for i, seed in enumerate(self.bags_.seeds.tolist()):
            member, pair = copy(model), forest.pair(i)
            vars(member).update(random_state=seed, tree_=pair.tree, unpruned_tree_=pair.unpruned)
            members.append(member)
        return members

    def _ask_outside(self, forest: Forest, bags: Bags, table: Table, threads: int) -> Outside:
        outside = ask_outside(Committee(list(forest.trees()), self.voting), bags, table, threads=threads)
        if not outside.known.all():
            warnings.warn(
                "Some inputs do not have OOB scores. This probably means too few estimators were used "
                "to compute any reliable oob estimates.",
                UserWarning,
                stacklevel=4,
            )
        return outside

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
