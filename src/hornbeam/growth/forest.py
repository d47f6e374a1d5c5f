"""Forest: the trees of several training sets of one table, grown together and pruned each for itself."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hornbeam import _core, arguments
from hornbeam.errors import HornbeamError, NotThere, UsageError
from hornbeam.growth.grow import TableGrower, Target
from hornbeam.growth.memory import MemoryPlan
from hornbeam.growth.parameters import Engine, Parameters
from hornbeam.growth.prune import Pruning, draw_seed
from hornbeam.growth.set_trees import Pair, SetRows, SetTrees
from hornbeam.growth.sets import MOST_TOGETHER, TrainingSets
from hornbeam.growth.stability import Bifurcation, Stability, bifurcations_of, stability_of, tests_by_level
from hornbeam.model import Tree
from hornbeam.table import Table

if TYPE_CHECKING:
    from hornbeam.growth.stability_view import StabilityView


COMPONENTS = ("tests", "statistics", "numeric", "other")
COUNTS = ("nodes", "entries", "own_entries", "bands", "bands_apart")


@dataclass(frozen=True, eq=False)
class LevelCosts:
    """What growing cost, by depth of the nodes: seconds [level, component], nodes of the forest, list entries
    that were read, and those that the sets would have read one by one; nodes that near cuts of several sets
    share, and those that found no room for the rows between such cuts, so that the sets parted."""

    seconds: npt.NDArray[np.float64]
    nodes: npt.NDArray[np.int64]
    entries: npt.NDArray[np.int64]
    own_entries: npt.NDArray[np.int64]
    bands: npt.NDArray[np.int64]
    bands_apart: npt.NDArray[np.int64]
    forest: Forest | None = field(default=None, kw_only=True)
    """Whose growth it was."""

    @property
    def f(self) -> npt.NDArray[np.float64]:
        """f of Blockeel and Struyf, section 3.2: different tests per node, down to the last level that has
        any; after pruning."""
        return np.zeros(0) if self.forest is None else self.forest.tests_by_level

    def of(self, forest: Forest) -> LevelCosts:
        """The same, with a forest to read f from."""
        return replace(self, forest=forest)

    @classmethod
    def none(cls) -> LevelCosts:
        empty = np.zeros(0, dtype=np.int64)
        return cls(np.zeros((0, len(COMPONENTS))), *(empty for _ in COUNTS))

    def plus(self, native: _core.Forest) -> LevelCosts:
        """With what one more growth cost."""
        more: Mapping[str, Any] = native.levels()
        seconds = np.asarray(more["seconds"]).reshape(-1, len(COMPONENTS))
        counts = (_sum(getattr(self, name), more[name]) for name in COUNTS)
        return LevelCosts(_sum(self.seconds, seconds), *counts)


def _sum(mine: npt.NDArray[Any], yours: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The sum of two arrays that may differ in their first length."""
    long, short = (mine, yours) if len(mine) >= len(yours) else (yours, mine)
    total = long.copy()
    total[: len(short)] += short
    return total


class Forest:
    """Trees that were grown together, one for each training set. `tree(i)` is what growing and pruning the
    rows of set i alone would give, digest for digest."""

    def __init__(self, growth: SetTrees | None, n_sets: int) -> None:
        self._growth = growth
        self._pairs: dict[int, Pair] = {}
        self.n_sets = n_sets
        self.algorithm = "auto" if growth is None else growth.grower.engine.algorithm
        self.seconds = 0.0
        self._levels = LevelCosts.none()
        self.failures: Mapping[int, HornbeamError] = {} if growth is None else growth.failures

    def __len__(self) -> int:
        return self.n_sets

    def __repr__(self) -> str:
        first = f", tree 0 with {self.tree(0).n_leaves} leaves" if 0 not in self.failures else ""
        return f"<Forest: {self.n_sets} trees{first}>"

    def tree(self, i: int) -> Tree:
        """The tree of set i; in cross-validation 0 is that of all rows, 1 to k are the folds'."""
        return self.pair(i).tree

    def unpruned_tree(self, i: int) -> Tree:
        """The tree of set i before pruning."""
        return self.pair(i).unpruned

    def pair(self, i: int) -> Pair:
        """Both trees of set i."""
        if not arguments.is_number(i, numbers.Integral) or not 0 <= i < self.n_sets:
            raise NotThere(f"tree {i} of a forest of {self.n_sets}; 0 to {self.n_sets - 1} are there")
        if i in self.failures:
            raise self.failures[i]
        known = self._pairs.get(i)
        if known is None:
            assert self._growth is not None
            known = self._growth.pair(i)
            if self._growth.keeps(i, known):
                self._pairs[i] = known
        return known

    def trees(self) -> Iterator[Tree]:
        """All trees, in the order of their sets; sets that could not be grown are passed over."""
        return (self.tree(i) for i in range(self.n_sets) if i not in self.failures)

    def settled(self, pairs: Sequence[Pair]) -> Forest:
        """The forest with all its trees at hand, those of `pairs`; its table is let go."""
        forest = Forest(None, self.n_sets)
        forest.algorithm, forest.seconds, forest._levels = self.algorithm, self.seconds, self._levels
        forest._pairs = dict(enumerate(pairs))
        return forest

    @property
    def levels(self) -> LevelCosts:
        """What growing cost and how many different tests it found (`f`), by depth."""
        return self._levels.of(self)

    @cached_property
    def tests_by_level(self) -> npt.NDArray[np.float64]:
        """f of Blockeel and Struyf, section 3.2: different tests per node of the forest, by depth."""
        return tests_by_level(list(self.trees()))

    @cached_property
    def bifurcations(self) -> tuple[Bifurcation, ...]:
        """The places where training sets that came together part."""
        return bifurcations_of(list(self.trees()))

    @cached_property
    def _stability(self) -> Stability:
        return stability_of(list(self.trees()))

    def stability(self) -> Stability:
        """For each node of tree 0, how many of the other trees ask the same, and what the others ask."""
        return self._stability

    def show(self) -> StabilityView:
        """The picture of `stability`."""
        return self._stability.show()

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle keeps: the trees and what they cost, not the table."""
        pairs = {i: self.pair(i) for i in range(self.n_sets) if i not in self.failures}
        kept = {name: value for name, value in self.__dict__.items() if name != "_stability"}
        return {**kept, "_growth": None, "_pairs": pairs}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


Visit = Callable[[int, Pair], None]


def grow_sets(
    table: Table,
    target: Target,
    parameters: Parameters,
    sets: TrainingSets,
    *,
    pruning: Pruning | None = None,
    random: Sequence[int] | None = None,
    threads: int = 1,
    engine: Engine | None = None,
    memory_limit: int | None = None,
    report: Callable[[float], None] | None = None,
    visit: Visit | None = None,
    keep_failures: bool = False,
) -> Forest:
    """Grow the trees of all sets over one encoded table, and prune each with the rows of its set.

    `random` holds a seed for each set, for reduced_error (`draw_seed`). `visit` is shown both trees of each
    set as soon as they are there; what does not fit `memory_limit` afterwards is grown again when it is asked
    for. A set that cannot be grown is an error, or with `keep_failures` an entry of `Forest.failures`.
    """
    engine = engine or Engine()
    sets.checked(engine.algorithm)
    if sets.n_rows != table.n_rows:
        raise UsageError(f"training sets of {sets.n_rows} rows for a table of {table.n_rows}; give its own")
    plan = MemoryPlan.of(table, target, parameters, memory_limit)
    grower = TableGrower(table, target, parameters, threads=threads, engine=engine)
    growth = SetTrees(grower, SetRows(table, target, sets, pruning or Pruning(), random), plan)
    if growth.failures and not keep_failures:
        raise next(iter(growth.failures.values()))
    forest = Forest(growth, sets.n_sets)
    left = [i for i in range(sets.n_sets) if i not in growth.failures]
    done, many = 0, len(left)
    while left:
        width = 1 if engine.algorithm == "serial" else plan.width(MOST_TOGETHER)
        chunk, left = left[:width], left[width:]

        def report_share(share: float, done: int = done, now: int = len(chunk)) -> None:
            assert report is not None
            report((done + share * now) / many)

        begin = perf_counter()
        native = growth.grow(chunk, last=not left, report=None if report is None else report_share)
        forest._levels = forest._levels.plus(native)
        forest.seconds += perf_counter() - begin
        for i in chunk if visit is not None or plan.limited else ():
            begin = perf_counter()
            pair = forest.pair(i)
            forest.seconds += perf_counter() - begin
            if visit is not None:
                visit(i, pair)
        done += len(chunk)
        growth.trim(chunk)
    return forest


def grow_and_prune(
    table: Table,
    target: Target,
    parameters: Parameters,
    pruning: Pruning,
    *,
    random: np.random.RandomState | None = None,
    threads: int = 1,
    memory_limit: int | None = None,
    report: Callable[[float], None] | None = None,
) -> Pair:
    """The tree of all rows and what it was before pruning: a growth of one set. `random` draws the rows to
    validate on."""
    pairs: list[Pair] = []
    grow_sets(
        table,
        target,
        parameters,
        TrainingSets.of_all(table.n_rows),
        pruning=pruning,
        random=None if random is None or not pruning.holds_out else [draw_seed(random)],
        threads=threads,
        memory_limit=memory_limit,
        report=report,
        visit=lambda _, pair: pairs.append(pair),
    )
    return pairs[0]
