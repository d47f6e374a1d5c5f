"""Trees of all examples and of folds or bags: grown together, pruned each for itself, and judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter

import numpy as np
import numpy.typing as npt

from hornbeam.growth.sets import TrainingSets
from hornbeam.relational.bias import Bias
from hornbeam.relational.engine import Engine
from hornbeam.relational.forest import Counters, DroppedTest, FirstOrderForest, FirstOrderLevels
from hornbeam.relational.growth import BUDGET, FirstOrderParameters, grow_first_order
from hornbeam.relational.prune import check_pruning, prune
from hornbeam.relational.records import Coded
from hornbeam.relational.signature import Signature
from hornbeam.relational.stability import RelationalStability
from hornbeam.relational.tree import RelationalTree

Rows = npt.NDArray[np.int64]
Nodes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Settings:
    """How trees are grown and pruned; neither the algorithm nor the engine nor threads change a tree."""

    parameters: FirstOrderParameters = field(default_factory=FirstOrderParameters)
    prune: str | None = "error_based"
    confidence: float = 0.25
    algorithm: str = "auto"
    engine: Engine = field(default_factory=Engine)
    budget: int | None = BUDGET
    threads: int = 1

    def checked(self, task: str) -> Settings:
        """The same; UsageError where something means nothing for the task."""
        self.parameters.checked(task)
        check_pruning(task, self.prune, self.confidence)
        return self


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


Judge = Callable[[int, RelationalTree, Rows, Nodes], None]
"""Hears of each set its tree, the examples outside it, and the leaf of each of them."""


def learn(
    coded: Coded,
    bias: Bias,
    signature: Signature | None,
    settings: Settings,
    sets: TrainingSets | None = None,
    *,
    judge: Judge | None = None,
    report: Callable[[float], object] | None = None,
) -> RelationalForest:
    """Grow the trees of all sets at once (None: of all examples), and prune each by its own examples."""
    begin = perf_counter()
    grown = grow_first_order(
        coded,
        bias,
        settings.parameters,
        sets,
        algorithm=settings.algorithm,
        engine=settings.engine,
        budget=settings.budget,
        threads=settings.threads,
        report=report,
    )
    unpruned = tuple(grown.tree(i).with_signature(signature) for i in range(len(grown)))
    trees = tuple(prune(tree, settings.prune, settings.confidence) for tree in unpruned)
    seconds = perf_counter() - begin
    if judge is not None:
        _judge(grown, unpruned, trees, judge)
    how = sets.checked(settings.algorithm) if sets is not None else settings.algorithm
    return RelationalForest(trees, unpruned, how, seconds, grown.levels, grown.counters, grown.dropped)


def _judge(
    grown: FirstOrderForest, unpruned: Sequence[RelationalTree], trees: Sequence[RelationalTree], judge: Judge
) -> None:
    for i, tree in enumerate(trees):
        outside = grown.held_out(i)
        places = where_cut(unpruned[i], tree)
        judge(i, tree, outside.examples, places[outside.leaf])


def where_cut(tree: RelationalTree, pruned: RelationalTree) -> Nodes:
    """For each node of a tree the node of what pruning left of it that takes its examples."""
    places = np.zeros(tree.n_nodes, dtype=np.int64)
    waiting = [(0, 0)]
    while waiting:
        node, place = waiting.pop()
        places[node] = place
        held, left = tree.nodes[node], pruned.nodes[place]
        if not held.is_leaf:
            ways = (place, place) if left.is_leaf else (left.yes, left.no)
            waiting += [(held.yes, ways[0]), (held.no, ways[1])]
    return places
