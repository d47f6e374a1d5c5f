"""Forest: the trees of several training sets of one table, grown together and pruned each for itself."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from hornbeam import _core, arguments
from hornbeam.errors import HornbeamError, NotThere, UsageError
from hornbeam.growth.grow import TableGrower, Target
from hornbeam.growth.memory import MemoryPlan
from hornbeam.growth.parameters import Engine, HowToGrow, Parameters
from hornbeam.growth.prune import Pair, Pruner, Pruning, SetRows, draw_seed
from hornbeam.growth.sets import MOST_TOGETHER, TrainingSets
from hornbeam.growth.stability import Bifurcation, Stability, bifurcations_of, stability_of, tests_by_level
from hornbeam.model import Tree
from hornbeam.table import Table

if TYPE_CHECKING:
    from hornbeam.growth.stability_view import StabilityView

Report = Callable[[float], None] | None
COMPONENTS = ("tests", "statistics", "numeric", "other")


@dataclass(frozen=True, eq=False)
class LevelCosts:
    """What growing cost, by depth of the nodes: seconds [level, component], nodes of the forest, list entries
    that were read, and those that the sets would have read one by one; lists and counted attributes that were
    gone through for several sets at once; nodes that near cuts of several sets share, and those that found no
    room for the rows between such cuts, so that the sets parted."""

    seconds: npt.NDArray[np.float64]
    nodes: npt.NDArray[np.int64]
    entries: npt.NDArray[np.int64]
    own_entries: npt.NDArray[np.int64]
    joint: npt.NDArray[np.int64]
    bands: npt.NDArray[np.int64]
    bands_apart: npt.NDArray[np.int64]
    forest: Forest = field(kw_only=True)
    """Whose growth it was."""

    @property
    def f(self) -> npt.NDArray[np.float64]:
        """f of Blockeel and Struyf, section 3.2: different tests per node, down to the last level that has
        any; after pruning."""
        return self.forest.tests_by_level

    @classmethod
    def of(cls, forest: Forest, growths: Sequence[Mapping[str, Any]]) -> LevelCosts:
        """The sums of what several growths say, whose depths may differ."""
        depth = max((len(one["nodes"]) for one in growths), default=0)
        counts = (
            _sum([one[name] for one in growths], np.zeros(depth, dtype=np.int64))
            for name in ("nodes", "entries", "own_entries", "joint", "bands", "bands_apart")
        )
        seconds = [np.asarray(one["seconds"]).reshape(-1, len(COMPONENTS)) for one in growths]
        return cls(_sum(seconds, np.zeros((depth, len(COMPONENTS)))), *counts, forest=forest)


def _sum(parts: Sequence[npt.NDArray[Any]], total: npt.NDArray[Any]) -> npt.NDArray[Any]:
    for part in parts:
        total[: len(part)] += part
    return total


class Forest:
    """Trees that were grown together, one for each training set. `tree(i)` is what growing and pruning the
    rows of set i alone would give, digest for digest. A tree that did not fit the memory is grown again when
    it is asked for."""

    def __init__(self, grower: TableGrower | None, rows: SetRows | None, plan: MemoryPlan | None) -> None:
        self._grower, self._rows, self._plan = grower, rows, plan
        self._pairs: dict[int, Pair] = {}
        self._homes: dict[int, tuple[_core.Forest, int]] = {}
        self._growths: list[Mapping[str, Any]] = []
        self.n_sets = 0 if rows is None else len(rows.sets.sets)
        self.algorithm = "auto" if grower is None else grower.engine.algorithm
        self.seconds = 0.0
        self.failures: Mapping[int, HornbeamError] = {} if rows is None else rows.failures()

    @classmethod
    def of(cls, pairs: Sequence[Pair]) -> Forest:
        """The forest of trees that are there already."""
        forest = cls(None, None, None)
        forest.n_sets, forest._pairs = len(pairs), dict(enumerate(pairs))
        return forest

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
        return self._pairs[i] if i in self._pairs else self._read(i)

    def _grow(self, chunk: Sequence[int], *, last: bool, report: Report = None) -> None:
        """Grow some sets together and remember where their trees are."""
        assert self._grower is not None
        assert self._rows is not None
        begin = perf_counter()
        native = self._grower.grow(self._rows.times(chunk), last=last, report=report)
        self._homes.update({i: (native, place) for place, i in enumerate(chunk)})
        self._growths.append(native.levels())
        self.seconds += perf_counter() - begin

    def _read(self, i: int) -> Pair:
        """Both trees of set i out of the growth that made them, which forgets them where they may stay."""
        assert self._grower is not None
        assert self._rows is not None
        assert self._plan is not None
        again = i not in self._homes  # the trees did not fit the memory
        if again:
            self._grow([i], last=True)
        begin = perf_counter()
        native, place = self._homes[i]
        grown, grower = self._grower.tree(native, place), self._grower
        pair = Pair(grown, grown)
        if self._rows.pruning.prune is not None:
            pruner = Pruner(self._rows, i, grown, grower.parameters.criterion, grower.threads)
            if self._rows.sets.alone:
                pruner.order_of_growth = native.take_order
            pair = Pair(pruner.pruned(grown, self._rows.pruning), grown)
        if self._plan.take(pair):
            self._pairs[i] = pair
            native.release(place)
        if again or i in self._pairs:
            del self._homes[i]
        self.seconds += perf_counter() - begin
        return pair

    def _trim(self, chunk: Sequence[int]) -> None:
        """Let go of the growth of some sets where memory is short."""
        assert self._plan is not None
        if self._plan.full:
            for i in chunk:
                self._homes.pop(i, None)

    def trees(self) -> Iterator[Tree]:
        """All trees, in the order of their sets; sets that could not be grown are passed over."""
        return (self.tree(i) for i in range(self.n_sets) if i not in self.failures)

    def settled(self, pairs: Sequence[Pair]) -> Forest:
        """The forest with all its trees at hand, those of `pairs`; its table is let go."""
        forest = Forest.of(pairs)
        forest.algorithm, forest.seconds, forest._growths = self.algorithm, self.seconds, self._growths
        return forest

    @property
    def levels(self) -> LevelCosts:
        """What growing cost and how many different tests it found (`f`), by depth."""
        return LevelCosts.of(self, self._growths)

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
        return {**kept, "_grower": None, "_rows": None, "_plan": None, "_homes": {}, "_pairs": pairs}


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
    report: Report = None,
    visit: Callable[[int, Pair], None] | None = None,
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
    plan = MemoryPlan(table, target, parameters, memory_limit)
    grower = TableGrower(table, target, parameters, threads=threads, engine=engine)
    forest = Forest(grower, SetRows(table, target, sets, pruning or Pruning(), random), plan)
    if forest.failures and not keep_failures:
        raise next(iter(forest.failures.values()))
    left = [i for i in range(forest.n_sets) if i not in forest.failures]
    done, many = 0, len(left)
    while left:
        width = 1 if engine.algorithm == "serial" else plan.width(MOST_TOGETHER)
        chunk, left = left[:width], left[width:]

        def report_share(share: float, done: int = done, now: int = len(chunk)) -> None:
            assert report is not None
            report((done + share * now) / many)

        forest._grow(chunk, last=not left, report=None if report is None else report_share)
        for i in chunk if visit is not None or plan.limited else ():
            pair = forest.pair(i)
            if visit is not None:
                visit(i, pair)
        done += len(chunk)
        forest._trim(chunk)
    return forest


def grow_and_prune(
    table: Table,
    target: Target,
    parameters: Parameters,
    pruning: Pruning,
    *,
    random: np.random.RandomState | None = None,
    **how: Unpack[HowToGrow],
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
        visit=lambda _, pair: pairs.append(pair),
        **how,
    )
    return pairs[0]
