"""The drive of a search: every training set's tree is grown once, read by all settings, and let go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter

import numpy as np
import numpy.typing as npt

from hornbeam.errors import DataError
from hornbeam.growth import (
    Engine,
    Parameters,
    Pruning,
    SettingForest,
    TrainingSet,
    TrainingSets,
    grow_settings,
    prune_tree,
    reads_gains,
)
from hornbeam.growth.prune import draw_validation
from hornbeam.growth.rest import rows_in_order
from hornbeam.model import Tree
from hornbeam.tuning.findings import Answered, Findings
from hornbeam.tuning.strands import Family, families_of
from hornbeam.tuning.task import Rows, Task


def examine(task: Task) -> Findings:
    """Grow every set under every setting, each family at once, and write down what they score."""
    findings, forest = Findings(task), None
    for family in families_of(task.candidates.settings, reads_gains(task.target)):
        begin, scoring = perf_counter(), findings.scoring
        growth = FamilyGrowth(task, family, findings, forest)
        forest = growth.forest
        for i in growth.grown:
            if family.only_grows and findings.only_counts(i):
                findings.count(i, growth.answers)
                growth.release(i)
                continue
            for s, strand in enumerate(family.strands):
                tree = growth.tree(i, s)
                rows = RowsOfSet(task, i, growth.held.get(i), tree, strand.parameters)
                for reading in strand.readings(tree, rows.pruned):
                    findings.read(i, reading)
            growth.release(i)
        findings.growing += perf_counter() - begin - (findings.scoring - scoring)
    return findings


class FamilyGrowth:
    """The trees of all sets that can be grown under the settings of a family."""

    def __init__(self, task: Task, family: Family, findings: Findings, like: SettingForest | None) -> None:
        self._family, self._routed = family, task.routed
        self.held: dict[int, Rows] = {}
        self.grown: list[int] = []
        sets = []
        for i in range(task.sets.n_sets):
            try:
                sets.append(self._rows(task, family, i))
            except DataError as error:
                findings.fail(family, i, error)
            else:
                self.grown.append(i)
        together = TrainingSets(task.sets.n_rows, tuple(sets))
        engine = task.engine
        if engine.algorithm == "folds" and together.kind != "folds":
            engine = Engine(algorithm="overlapping")  # rows were kept out, or outer folds are grown too
        self._place = {i: place for place, i in enumerate(self.grown)}
        self.forest = grow_settings(
            task.table,
            task.target,
            family.parameters,
            together,
            threads=task.threads,
            engine=engine,
            memory_limit=task.memory_limit,
            like=like,
        )

    def _rows(self, task: Task, family: Family, i: int) -> TrainingSet:
        failure = task.failure(i)
        if failure is not None:
            raise failure
        if family.holds_out is None:
            return task.sets[i]
        try:
            rows, held = draw_validation(task.sets[i].rows, task.target, family.holds_out, task.seeds[i])
        except DataError as error:
            raise DataError(f"training set {i}: {error}") from None
        self.held[i] = held
        return TrainingSet.of_rows(task.sets.n_rows, rows)

    def tree(self, i: int, s: int) -> Tree:
        return self.forest.tree(self._place[i], s, collapse=False)

    def answers(self, i: int, rows: Rows) -> Iterator[Answered]:
        """Which nodes of set i answer some rows, for settings that only grow."""
        strands = self._family.strands
        for answers in self.forest.nodes(self._place[i], self._routed, rows):
            places = [strands[s].of_cuts for s in answers.settings]
            ends = np.repeat(answers.ends, [len(some) for some in places], axis=0)
            yield Answered(np.concatenate(places), answers.nodes, ends)

    def release(self, i: int) -> None:
        self.forest.release(self._place[i])


@dataclass(eq=False)
class RowsOfSet:
    """The rows that prune the trees of one set: those that it was grown from, or those kept out."""

    task: Task
    i: int
    held: Rows | None
    tree: Tree
    parameters: Parameters

    def pruned(self, grown: Tree, pruning: Pruning) -> Tree:
        """What pruning leaves of a prefix of the tree."""
        task = self.task
        if pruning.prune is None or grown.n_nodes == 1:
            return grown
        rows, order = (task.table, task.target), None
        if self.held is not None:
            rows = task.table.take(self.held), task.target.take(self.held)
        else:
            order = self._order
        criterion = self.parameters.criterion
        return prune_tree(grown, pruning, *rows, criterion=criterion, threads=task.threads, order=order)

    @cached_property
    def _order(self) -> npt.NDArray[np.uint32]:
        """The rows leaf after leaf, those of weight 0 left out: so they lie in every prefix of the tree."""
        task = self.task
        return rows_in_order(self.tree, task.sets[self.i].rows, task.target.weights, task.routed)
