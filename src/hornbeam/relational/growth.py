"""Trees of several training sets: grown together by the native engine, pruned each for itself, judged.

Estimators call `learn`, which calls `grow_first_order`, which calls the core. A single tree is the forest of
one set:

    grow_first_order(db.coded(bias), bias, FirstOrderParameters("entropy", 2)).tree(0)
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.arguments import is_number, one_of, refuse, whole, whole_or_none
from hornbeam.errors import DataError, UsageError
from hornbeam.growth import MAX_THREADS
from hornbeam.growth.sets import MOST_TOGETHER, TrainingSets
from hornbeam.relational.bias import Bias
from hornbeam.relational.database import Coded, Examples
from hornbeam.relational.forest import BiasCodes, Counters, DroppedTest, FirstOrderForest, FirstOrderLevels
from hornbeam.relational.signature import Signature
from hornbeam.relational.stability import RelationalStability
from hornbeam.relational.tree import RelationalTree, check_pruning, check_share, cut_places, prune
from hornbeam.table import MAX_ROWS

CRITERIA = {"classification": ("gain_ratio", "entropy"), "regression": ("variance",)}
ALIASES = {"gain": "entropy", "log_loss": "entropy", "squared_error": "variance"}
BUDGET = 100_000
"""Join steps for a test and an example: rows that fit their literals before the answer is known."""


@dataclass(frozen=True)
class QueryEngine:
    """Switches that never change an answer: one enumeration for all tests of a node (`pack`), only the part
    of the query that a test is tied to (`connected`), all constants and thresholds of a place at once
    (`collect`), and what was found out of such parts, kept for other nodes and sets (`cache`, bounded by
    `cache_bytes`)."""

    pack: bool = True
    connected: bool = True
    collect: bool = True
    cache: bool = True
    cache_bytes: int = 256 << 20


@dataclass(frozen=True)
class FirstOrderParameters:
    """When a node is split, and how trees are pruned. Sizes count examples.

    `ftest` is the level at which a test of numbers must be significant (None: it need not be), `accuracy` the
    share of the majority from which a node is a leaf. A test that takes more than `budget` join steps for an
    example of a set is not that set's. Neither the algorithm nor the engine nor threads change a tree.
    """

    criterion: str = "gain_ratio"
    min_samples_leaf: int = 2
    max_depth: int | None = None
    ftest: float | None = 0.05
    accuracy: float = 1.0
    prune: str | None = None
    confidence: float = 0.25
    algorithm: str = "auto"
    engine: QueryEngine = field(default_factory=QueryEngine)
    budget: int | None = BUDGET
    threads: int = 1

    def checked(self, task: str) -> FirstOrderParameters:
        """The parameters in plain types; UsageError where one means nothing for the task."""
        criterion = ALIASES.get(str(self.criterion), "")
        if criterion not in CRITERIA[task]:
            criterion = one_of("criterion", self.criterion, CRITERIA[task], f" for {task}")
        least = whole("min_samples_leaf", self.min_samples_leaf, 1, MAX_ROWS)
        depth = whole_or_none("max_depth", self.max_depth, 0, MAX_ROWS)
        if self.ftest is not None:
            check_share("ftest", self.ftest, ", or None for no test")
        check_share("accuracy", self.accuracy)
        check_pruning(task, self.prune, self.confidence)
        budget = whole_or_none("budget", self.budget, 1, 2**63)
        if not is_number(self.threads, numbers.Integral) or not 1 <= self.threads <= MAX_THREADS:
            refuse("threads", self.threads, f"a whole number from 1 to {MAX_THREADS} is allowed")
        return replace(self, criterion=criterion, min_samples_leaf=least, max_depth=depth, budget=budget)


def grow_first_order(
    coded: Coded,
    bias: Bias,
    parameters: FirstOrderParameters,
    sets: TrainingSets | None = None,
    *,
    report: Callable[[float], object] | None = None,
) -> FirstOrderForest:
    """The trees of training sets of examples; None: one set, all examples that have a target.

    `report` is told every tenth of a second which share of the examples rests in a leaf.
    """
    codes = BiasCodes(bias, coded)
    checked = parameters.checked(coded.examples.task)
    target, n_classes, labelled = _target(coded.examples)
    if sets is None:
        sets = TrainingSets.of_rows(coded.examples.n, [np.flatnonzero(labelled)])
    _check(sets, labelled)
    algorithm = sets.checked(checked.algorithm)
    together = 1 if algorithm == "serial" else MOST_TOGETHER
    grown = _core.grow_first_order(
        coded.core,
        codes.core,
        target,
        n_classes,
        (sets.multiplicity(i, i + together) for i in range(0, sets.n_sets, together)),
        criterion=checked.criterion,
        min_samples_leaf=checked.min_samples_leaf,
        max_depth=-1 if checked.max_depth is None else checked.max_depth,
        ftest=0.0 if checked.ftest is None else float(checked.ftest),
        accuracy=float(checked.accuracy),
        algorithm=algorithm,
        **asdict(checked.engine),
        budget=2**63 if checked.budget is None else checked.budget,
        threads=checked.threads,
        n_named=len(codes.thresholds),
        report=report,
    )
    return FirstOrderForest(grown, codes, sets.n_sets)


def _target(examples: Examples) -> tuple[npt.NDArray[Any], int, npt.NDArray[np.bool_]]:
    """What is predicted, as the engine reads it; how many classes; which examples have it."""
    if examples.target is None:
        raise UsageError("the examples have no target; name the column that is to be predicted")
    if examples.task == "regression":
        values = np.ascontiguousarray(examples.target, dtype=np.float64)
        if np.isinf(values).any():
            raise DataError("the target is infinite for some examples; give finite numbers")
        return np.nan_to_num(values), 0, ~np.isnan(values)
    codes = np.asarray(examples.target)
    if len(examples.classes) > np.iinfo(np.uint16).max:
        raise DataError(f"{len(examples.classes)} classes; up to {np.iinfo(np.uint16).max} are allowed")
    return np.maximum(codes, 0).astype(np.uint16), max(len(examples.classes), 1), codes >= 0


def _check(sets: TrainingSets, labelled: npt.NDArray[np.bool_]) -> None:
    if sets.n_rows != len(labelled):
        raise UsageError(f"training sets over {sets.n_rows} rows; the database has {len(labelled)} examples")
    if sets.n_sets == 0:
        raise UsageError("no training set; give one at least")
    some_lack = not labelled.all()
    for i, some in enumerate(sets):
        if len(some) == 0:
            raise UsageError(f"training set {i} has no examples; every set needs at least one")
        if some_lack and (some.times()[~labelled] > 0).any():
            raise DataError(f"training set {i} has examples without a target; leave them out")


@dataclass(frozen=True, eq=False)
class RelationalForest:
    """The trees of training sets; in cross-validation 0 is that of all examples, 1 to k are the folds'."""

    trees: tuple[RelationalTree, ...]
    unpruned: tuple[RelationalTree, ...]
    algorithm: str
    seconds: float = 0.0
    levels: FirstOrderLevels | None = None
    """What growing cost, by depth; None where the trees come from a file."""
    counters: Counters | None = None
    dropped: tuple[DroppedTest, ...] = ()
    """Tests that some examples could not afford; their sets did without them."""

    def __len__(self) -> int:
        return len(self.trees)

    def __repr__(self) -> str:
        return f"<RelationalForest: {len(self)} trees, tree 0 with {self.trees[0].n_leaves} leaves>"

    def tree(self, i: int) -> RelationalTree:
        return self.trees[i]

    def unpruned_tree(self, i: int) -> RelationalTree:
        return self.unpruned[i]

    @property
    def n_sets(self) -> int:
        return len(self.trees)

    @property
    def bifurcations(self) -> int:
        """Nodes at which sets that still were together chose different tests."""
        return 0 if self.counters is None else self.counters.bifurcations

    @cached_property
    def _stability(self) -> RelationalStability:
        return RelationalStability(self.trees)

    def stability(self) -> RelationalStability:
        """For each node of tree 0, how many of the other trees ask the same, and what the others ask."""
        return self._stability


Numbers = npt.NDArray[np.int64]
Judge = Callable[[int, RelationalTree, Numbers, Numbers], None]
"""Is called for each set with its number, its tree, the examples outside it and the leaf of each of them."""


def learn(
    coded: Coded,
    bias: Bias,
    signature: Signature | None,
    parameters: FirstOrderParameters,
    sets: TrainingSets | None = None,
    *,
    judge: Judge | None = None,
    report: Callable[[float], object] | None = None,
) -> RelationalForest:
    """Grow the trees of all sets at once (None: of all examples), and prune each by its own examples."""
    begin = perf_counter()
    grown = grow_first_order(coded, bias, parameters, sets, report=report)
    unpruned = tuple(grown.tree(i).with_signature(signature) for i in range(len(grown)))
    trees = tuple(prune(tree, parameters.prune, parameters.confidence) for tree in unpruned)
    seconds = perf_counter() - begin
    if judge is not None:
        for i, tree in enumerate(trees):
            outside = grown.held_out(i)
            judge(i, tree, outside.examples, cut_places(unpruned[i], tree)[outside.leaf])
    how = parameters.algorithm if sets is None else sets.checked(parameters.algorithm)
    return RelationalForest(trees, unpruned, how, seconds, grown.levels, grown.counters, grown.dropped)
