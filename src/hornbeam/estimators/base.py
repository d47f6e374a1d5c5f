"""What both tree estimators share: parameters, growing and pruning."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import Bunch

from hornbeam.arguments import threads_of
from hornbeam.errors import UnknownName
from hornbeam.growth import (
    Pair,
    Pruning,
    Target,
    complexity_path,
    grow_tree,
    prune_tree,
)
from hornbeam.model import Tree
from hornbeam.table import Table, check_same_length, conform

from .answering import TreeAnswers
from .from_source import FromSource
from .growing import Growing
from .reading import TreeParameters


@dataclass(kw_only=True, eq=False, repr=False)
class TreeEstimator(TreeParameters, FromSource, Growing, TreeAnswers):
    """A decision tree over one table. Subclasses add the target: a class or numbers."""

    cv: Any = None

    def _encode(self, y: Any, tree: Tree, sample_weight: Any = None) -> Target:
        """The target of further rows, in the codes of a grown tree."""
        raise TypeError(f"{type(self).__name__} has no target; use TreeClassifier or TreeRegressor")

    def _learn(self, pair: Pair, labels: NDArray[Any] | None) -> None:
        """Keep the trees and, for classes, their labels; what an earlier fit left and is not true goes."""
        self.__dict__.pop("scan_stats_", None)
        self.tree_, self.unpruned_tree_ = pair
        self._remember(pair.tree.schema)

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
