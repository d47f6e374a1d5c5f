"""What the trees of all sets score and how large they are, written down as they are grown."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam.errors import HornbeamError
from hornbeam.growth import Pair
from hornbeam.model import Tree
from hornbeam.tuning.scores import Marks
from hornbeam.tuning.strands import Family, Reading
from hornbeam.tuning.task import Task
from hornbeam.validation.scoring import Score, by_name


class Findings:
    """What the trees of all sets gave: scores [setting, trial], and the readings of the tree of all rows."""

    def __init__(self, task: Task) -> None:
        shape = len(task.candidates), len(task.trials)
        self._task = task
        counts = task.measure is not None and task.measure.counts
        self._counted: npt.NDArray[Any] = np.zeros(shape, dtype=np.int64 if counts else np.float64)
        self._scored: dict[tuple[int, int], Score] = {}
        self.leaves = np.zeros((shape[0], task.sets.n_sets), dtype=np.int64)
        self.depth = np.zeros(shape[0], dtype=np.int64)
        self.readings: list[Reading] = []
        self.failures: dict[tuple[int, int], HornbeamError] = {}
        """Settings and sets that have no tree."""
        self.growing = self.scoring = 0.0

    def visit(self, i: int, readings: Iterator[Reading]) -> None:
        """Write down what some settings make of set i."""
        task, begin = self._task, perf_counter()
        tree: Tree | None = None
        for reading in readings:
            self.leaves[reading.settings, i] = reading.n_leaves
            if i == 0:
                self.depth[reading.settings] = reading.depth
                self.readings.append(reading)
            if i not in task.judged:
                continue
            if task.measure is None:
                self._ask(i, reading)
                continue
            if reading.tree is not tree:
                tree = reading.tree
                leaves = [task.routed.leaves(tree, task.trials[t].rows) for t in task.judged[i]]
            for t, reached in zip(task.judged[i], leaves, strict=True):
                values = task.measure(tree, reading.ends(reached), task.trials[t].rows)
                self._counted[reading.settings, t] = values
        self.scoring += perf_counter() - begin

    def _ask(self, i: int, reading: Reading) -> None:
        """Have the scorer judge each setting by itself."""
        task = self._task
        whole = reading.pair(0) if reading.cuts is None else None
        for k, setting in enumerate(reading.settings.tolist()):
            pair = whole or reading.pair(k)
            model = task.models[setting]._grown(pair, task.table, task.target, task.sets[i] if i else None)
            for t in task.judged[i]:
                rows = task.trials[t].rows
                scored = task.judge.score(model, task.X, task.y, task.table, rows, task.score_params)
                self._scored[setting, t] = scored

    def fail(self, family: Family, i: int, error: HornbeamError) -> None:
        """Write down that the settings of a family have no tree of set i."""
        if i == 0:
            raise error
        for strand in family.strands:
            self.failures |= {(setting, i): error for setting in strand.settings.tolist()}

    def marks(self, trials: slice, repeats: int = 1) -> dict[str, Marks]:
        """The scores of some trials, by the names of the measures."""
        task = self._task
        sizes = np.array([len(trial.rows) for trial in task.trials[trials]], dtype=np.int64)
        if task.measure is None:
            return {name: Marks(scores, sizes, repeats) for name, scores in self._named(trials).items()}
        found = self._counted[:, trials]
        right = found if task.measure.counts and not self.failures else None
        scores = found / sizes if task.measure.counts else found
        for setting, t in self._lost(trials):
            scores[setting, t - trials.start] = task.judge.error_score
        return {"score": Marks(scores, sizes, repeats, right)}

    def _lost(self, trials: slice) -> list[tuple[int, int]]:
        if not self.failures:
            return []
        numbers = range(len(self._task.trials))[trials]
        every = ((setting, t) for setting in range(len(self._task.candidates)) for t in numbers)
        return [(setting, t) for setting, t in every if (setting, self._task.trials[t].of) in self.failures]

    def _named(self, trials: slice) -> dict[str, npt.NDArray[np.float64]]:
        task, scores, numbers = self._task, self._scored, range(len(self._task.trials))[trials]
        lost = task.judge.of_failed_fit(next(iter(scores.values()), None))
        every = [scores.get((setting, t), lost) for setting in range(len(task.candidates)) for t in numbers]
        named = by_name(every)
        return {name: values.astype(np.float64).reshape(-1, len(numbers)) for name, values in named.items()}

    def pair(self, setting: int) -> Pair:
        """The tree of all rows under a setting, and what it was before pruning."""
        for reading in self.readings:
            (found,) = np.nonzero(reading.settings == setting)
            if len(found):
                return reading.pair(int(found[0]))
        raise IndexError(setting)
