"""Trees of several training sets under several settings of what admits a test, in one growth.

min_samples_leaf and min_objs change which test a node chooses, so the tree of one value is no prefix of that
of another. While settings choose alike they grow one tree; where they do not, they part (paper 004 grew every
tree anew).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.errors import UsageError
from hornbeam.growth.grow import Admission, TableGrower, Target
from hornbeam.growth.memory import MemoryPlan, least_rows
from hornbeam.growth.parameters import Engine, Parameters
from hornbeam.growth.sets import MOST_TOGETHER, Rows, TrainingSets
from hornbeam.model import RoutedTable, Tree
from hornbeam.table import Table

Report = Callable[[float], None] | None


class Answers(NamedTuple):
    """Some settings, and the nodes of a training set's trees at which some rows end under each of them:
    `ends[setting, row]` is one of `nodes`, a tree of nothing but leaves."""

    settings: npt.NDArray[np.intp]
    nodes: Tree
    ends: npt.NDArray[np.int32]


class SettingForest:
    """The unpruned trees of training sets under each setting: `tree(i, s)` is what growing set i alone with
    `parameters[s]` would give. Sets are grown, some together, when the first of them is asked for, and are
    best asked for in their order; `release` lets go of what is no longer needed."""

    def __init__(
        self,
        grower: TableGrower,
        settings: Sequence[Admission],
        sets: TrainingSets,
        width: int,
        report: Report = None,
    ) -> None:
        self.grower, self._sets, self._width, self._report = grower, sets, width, report
        self._chains = chains_of(settings) if grower.engine.settings == "together" else _apart(settings)
        self._place = {
            setting: (number, place)
            for number, chain in enumerate(self._chains)
            for place, setting in enumerate(chain)
        }
        self._settings = settings
        self._grown: dict[int, list[_core.Forest]] = {}  # by the first of the sets that grew together

    def tree(self, i: int, s: int, *, collapse: bool = True) -> Tree:
        """The tree of set i under setting s; without `collapse` as it was before C4.5's last step."""
        begin = i - i % self._width
        chain, place = self._place[self._settings[s]]
        return self.grower.tree(self._forests(begin)[chain], i - begin, place, collapse=collapse)

    def nodes(self, i: int, routed: RoutedTable, rows: Rows) -> Iterator[Answers]:
        """Which nodes answer some rows, for all settings of a chain at once."""
        begin = i - i % self._width
        for number, (chain, forest) in enumerate(zip(self._chains, self._forests(begin), strict=True)):
            ends = forest.ends(i - begin, routed.native, rows).reshape(len(chain), -1)
            settings = [s for s, one in enumerate(self._settings) if self._place[one][0] == number]
            places = [self._place[self._settings[s]][1] for s in settings]
            tree = self.grower.nodes(forest, i - begin)
            yield Answers(
                np.array(settings, dtype=np.intp),
                tree,
                ends if places == list(range(len(chain))) else ends[places],
            )

    def release(self, i: int) -> None:
        """Forget the trees of set i."""
        begin = i - i % self._width
        if i + 1 in (begin + self._width, self._sets.n_sets):  # they are asked for in order: all were seen
            self._grown.pop(begin, None)
            return
        for forest in self._grown.get(begin, ()):
            forest.release(i - begin)

    def _forests(self, begin: int) -> list[_core.Forest]:
        known = self._grown.get(begin)
        if known is None:
            end = min(begin + self._width, self._sets.n_sets)
            several = self._sets.multiplicity(begin, end)
            known = [
                self.grower.grow(several, chain, last=False, report=self._report_of(begin, end, number))
                for number, chain in enumerate(self._chains)
            ]
            self._grown[begin] = known
        return known

    def _report_of(self, begin: int, end: int, number: int) -> Report:
        report, many, chains = self._report, self._sets.n_sets, len(self._chains)
        if report is None:
            return None
        return lambda share: report((begin + (end - begin) * (number + share) / chains) / many)


def chains_of(settings: Sequence[Admission]) -> list[list[Admission]]:
    """The different settings in as few chains as simply found, each of which asks for more and more."""
    different = sorted(set(settings), key=lambda one: (one.leaf, one.objs or -1.0))
    of_objs: dict[Any, list[Admission]] = defaultdict(list)
    of_leaf: dict[Any, list[Admission]] = defaultdict(list)
    for one in different:
        of_objs[isinstance(one.leaf, float), one.objs].append(one)
        of_leaf[one.leaf].append(one)
    fewer = of_objs if len(of_objs) <= len(of_leaf) else of_leaf
    return list(fewer.values())


def _apart(settings: Sequence[Admission]) -> list[list[Admission]]:
    return [[one] for one in dict.fromkeys(settings)]


def grow_settings(
    table: Table,
    target: Target,
    parameters: Sequence[Parameters],
    sets: TrainingSets,
    *,
    threads: int = 1,
    engine: Engine | None = None,
    memory_limit: int | None = None,
    report: Report = None,
    like: SettingForest | None = None,
) -> SettingForest:
    """Grow all sets under checked parameters that differ in min_samples_leaf and min_objs alone. The table is
    not encoded again where it was for a forest `like` this one."""
    if not parameters:
        raise UsageError("no settings; give at least one")
    settings = [Admission.of(one) for one in parameters]
    if len({replace(one, min_samples_leaf=1, min_objs=None) for one in parameters}) != 1:
        raise UsageError("settings grown together may differ in min_samples_leaf and min_objs alone")
    engine = engine or Engine()
    sets.checked(engine.algorithm)
    most = 1 if engine.algorithm == "serial" else MOST_TOGETHER
    smallest = min(parameters, key=lambda one: least_rows(one.min_samples_leaf, table.n_rows))
    plan = MemoryPlan(table, target, smallest, memory_limit, len(set(settings)))
    encoded = None if like is None else like.grower.encoded
    grower = TableGrower(table, target, parameters[0], threads=threads, engine=engine, encoded=encoded)
    return SettingForest(grower, settings, sets, plan.width(most), report)
