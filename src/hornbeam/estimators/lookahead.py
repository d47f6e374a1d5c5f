"""LSID3: a consistent tree whose tests are judged by trees sampled below them."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar, Self

from hornbeam.anytime import Budget, Lookahead, seed_key
from hornbeam.anytime.budget import MOST_SAMPLES, Contract
from hornbeam.arguments import generator, is_number, one_of, refuse, threads_of, whole
from hornbeam.errors import UsageError
from hornbeam.growth import ClassTarget, draw_seed
from hornbeam.growth.parameters import NOMINAL
from hornbeam.table import Table

from .answering import ClassAnswers
from .table_estimator import refuse_keywords

_CONSISTENT = "a consistent tree is as large as it must be; leave it out, or prune"
_SIZES = ("max_depth", "max_leaf_nodes", "min_samples_leaf", "min_samples_split", "min_weight_fraction_leaf")


class LookaheadEstimator(ClassAnswers):
    """What the estimators that look ahead share: rows count as one, and a seed names the search."""

    nominal: str
    random_state: Any
    class_weight = None
    cost_matrix = None
    _instead: ClassVar = {
        "class_weight": "every row counts as one; repeat rows instead",
        "cost_matrix": "every mistake counts as one; leave it out",
        **dict.fromkeys(_SIZES, _CONSISTENT),
        "max_iter": "looking ahead is done once; AnytimeTreeClassifier goes on",
        "warm_start": "improve() goes on where fit ended",
    }

    def _lookahead(self, X: Any, y: Any, others: dict[str, Any]) -> Lookahead:
        """The table of a call to fit, ready to be searched."""
        refuse_weights(self, others)
        return self._over(*self._read(X, y))

    def _over(self, table: Table, target: ClassTarget) -> Lookahead:
        nominal = one_of("nominal", self.nominal, NOMINAL)
        return Lookahead(table, target, nominal=nominal, threads=threads_of(self.n_jobs))

    def _seed(self) -> int:
        """The seed of the search: random_state itself, or what is drawn from it."""
        if is_number(self.random_state, numbers.Integral):
            return whole("random_state", self.random_state)
        return draw_seed(generator(self.random_state))


@dataclass(kw_only=True, eq=False, repr=False)
class LookaheadTreeClassifier(LookaheadEstimator):
    """One consistent tree that looks ahead: LSID3 (docs/anytime.md).

    At each node every test is tried: trees are sampled below it, half at random, and the test with the
    smallest of them is taken. So it finds what no test shows alone, such as parity.

    Parameters
    ----------
    r : int or "auto", default=5
        Trees sampled below each branch of each test; time grows with it. 0 is ID3, the greedy tree. "auto":
        as many as `max_work` or `max_time` allow.
    nominal : {"value", "subset", "multiway"}, default="value"
        Tests on nominal attributes: one value, one of a set, or a branch for each value.
    nominal_features : "from_dtype" or list of names or positions, default="from_dtype"
        Columns whose values are labels besides those whose type says so.
    sample_fraction : float or None, default=None
        LSID3-MC: of a numeric attribute not all cuts are tried but this many times the node's rows, drawn by
        their gain. Above 1 is allowed.
    max_work : int or None, default=None
        With r="auto": the counted work that the samples may cost. The same r and tree on every machine.
    max_time : float or None, default=None
        With r="auto": seconds of wall time in which r = 0, 1, 2, 4, ... are grown; the last one that was
        finished is kept, the greedy tree at least.
    prune : {"error_based"} or None, default=None
        LSID3-p: what C4.5's pruning leaves of the tree.
    random_state : int, RandomState or None, default=None
        The seed of the samples. The same seed gives the same tree, whatever `n_jobs` is.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all processors.

    Attributes
    ----------
    tree_, unpruned_tree_ : hornbeam.Tree
    r_ : int
        The r of the tree: with the same seed and this r it is the same tree.
    classes_ : ndarray
        The class labels, sorted.
    n_classes_, n_features_in_, n_outputs_ : int
    feature_names_in_ : ndarray of str
        Only if X has column names.
    feature_importances_ : ndarray
    schema_ : Schema
        Names, kinds and categories of the attributes.
    """

    r: int | str = 5
    nominal: str = "value"
    nominal_features: Any = "from_dtype"
    sample_fraction: float | None = None
    max_work: int | None = None
    max_time: float | None = None
    prune: str | None = None
    random_state: Any = None
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any, **others: Any) -> Self:
        """Grow the tree from a table X and the class y of each of its rows."""
        began = perf_counter()
        r, budget, fraction = self._checked_samples(), self._checked_budget(), self._checked_fraction()
        prunes = prunes_of(self.prune)
        lookahead = self._lookahead(X, y, others)
        contract = Contract(lookahead, seed_key(self._seed()), fraction)
        if r is None:
            self.r_, sketch = contract.kept(budget.spent(perf_counter() - began))
        else:
            self.r_, sketch = r, contract.whole(r)
        grown = lookahead.tree(sketch)
        self.tree_ = lookahead.tree(lookahead.pruned(sketch)) if prunes else grown
        self.unpruned_tree_ = grown
        self._remember(lookahead.table.schema, lookahead.target.labels)
        return self

    @property
    def _by_limits(self) -> bool:
        """Whether r is what the limits allow."""
        return isinstance(self.r, str) and self.r == "auto"

    def _checked_samples(self) -> int | None:
        """r; None: as the limits allow."""
        if self._by_limits:
            return None
        if not is_number(self.r, numbers.Integral) or not 0 <= int(self.r) <= MOST_SAMPLES:
            refuse(
                "r",
                self.r,
                "a whole number from 0 is allowed, 0 looks at nothing ahead; or 'auto', with max_work or "
                "max_time",
            )
        return int(self.r)

    def _checked_budget(self) -> Budget:
        budget = Budget.checked(self.max_time, None, self.max_work, ("max_time", "", "max_work"))
        limited = not (self.max_time is self.max_work is None)
        if limited and not self._by_limits:
            raise UsageError(
                f"r={self.r!r} with max_work or max_time: say r='auto' to go by them", parameter="r"
            )
        if self._by_limits and budget == Budget():
            raise UsageError("r='auto' goes by max_work or max_time; give one of them", parameter="r")
        return budget

    def _checked_fraction(self) -> float | None:
        fraction = self.sample_fraction
        if fraction is None:
            return None
        if not is_number(fraction, numbers.Real) or not 0.0 < fraction < math.inf:
            refuse("sample_fraction", fraction, "a number above 0 is allowed, or None for all cuts")
        return float(fraction)


def prunes_of(prune: Any) -> bool:
    """Whether the tree that is handed out is pruned."""
    return prune is not None and bool(one_of("prune", prune, ("error_based",), also=", or None"))


def refuse_weights(estimator: LookaheadEstimator, others: dict[str, Any]) -> None:
    """Refuse what scikit-learn's trees take besides X and y."""
    refuse_keywords(estimator, others, "sample_weight")
    if others.get("sample_weight") is not None:
        raise UsageError(
            f"{type(estimator).__name__} counts rows, and sizes of trees have no weights: leave out "
            "sample_weight, or repeat rows instead"
        )
