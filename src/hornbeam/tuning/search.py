"""The drive of a search: every training set's tree is grown once, read by all settings, and let go."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np

from hornbeam.growth import (
    Engine,
    Pruner,
    Pruning,
    SetRows,
    SettingForest,
    TrainingSets,
    grow_settings,
    reads_gains,
)
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
                pruner = Pruner(growth.rows, i, tree, strand.parameters.criterion, task.threads)
                for reading in strand.readings(tree, pruner.pruned):
                    findings.read(i, reading)
            growth.release(i)
        findings.growing += perf_counter() - begin - (findings.scoring - scoring)
    return findings


class FamilyGrowth:
    """The trees of all sets that can be grown under the settings of a family."""

    def __init__(self, task: Task, family: Family, findings: Findings, like: SettingForest | None) -> None:
        self._family, self._routed = family, task.routed
        self.rows = SetRows(
            task.table, task.target, task.sets, family.holds_out or Pruning(), task.seeds, task.routed
        )
        self.grown: list[int] = []
        for i in range(task.sets.n_sets):
            failure = self.rows.failure(i)
            if failure is None:
                self.grown.append(i)
            else:
                findings.fail(family, i, failure)
        sets = map(self.rows.grown_from, self.grown)
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
