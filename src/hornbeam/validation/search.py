"""The drive of a search: each training set's tree is grown once, read by all settings, scored, and let go."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import FitFailedWarning

from hornbeam.errors import HornbeamError
from hornbeam.growth import (
    Answers,
    Engine,
    Pair,
    Pruner,
    Pruning,
    SetRows,
    SettingForest,
    TrainingSets,
    grow_settings,
    reads_gains,
)
from hornbeam.model import Tree
from hornbeam.validation.families import SettingFamily, SettingTrees, families_of
from hornbeam.validation.measures import Measure, Rows
from hornbeam.validation.scoring import Score, by_name
from hornbeam.validation.search_task import SearchTask
from hornbeam.validation.selection import SettingScores


class Findings:
    """What the trees of all sets gave: scores [setting, trial], and the readings of the tree of all rows."""

    def __init__(self, task: SearchTask) -> None:
        shape = len(task.candidates), len(task.trials)
        self._task = task
        counts = task.measure is not None and task.measure.counts
        self._counted: npt.NDArray[Any] = np.zeros(shape, dtype=np.int64 if counts else np.float64)
        self._scored: dict[tuple[int, int], Score] = {}
        self.leaves = {i: np.zeros(shape[0], dtype=np.int64) for i in task.sized}
        self.depth = np.zeros(shape[0], dtype=np.int64)
        self.readings: list[SettingTrees] = []
        self.failures: dict[tuple[int, int], HornbeamError] = {}
        """Settings and sets that have no tree."""
        self._sent: tuple[Tree | None, list[npt.NDArray[np.int32]]] = None, []
        """A tree, and the leaves that the rows of its trials reach: the next reading may be of it too."""
        self.growing = self.scoring = 0.0

    def read(self, i: int, reading: SettingTrees) -> None:
        """Write down what some settings make of set i."""
        if i in self._task.sized:
            self.leaves[i][reading.settings] = reading.n_leaves
        if i == 0:
            self.depth[reading.settings] = reading.depth
            self.readings.append(reading)
        if i in self._task.judged:
            begin = perf_counter()
            if self._task.measure is None:
                self._ask(i, reading)
            else:
                self._count(i, reading, self._task.measure)
            self.scoring += perf_counter() - begin

    def only_counts(self, i: int) -> bool:
        """Whether nothing is asked of the trees of set i but their answers to rows."""
        task = self._task
        return task.measure is not None and i in task.judged and i not in task.sized

    def count(self, i: int, answers: Callable[[int, Rows], Iterable[Answers]]) -> None:
        """Judge the answers of set i's trees."""
        begin, measure = perf_counter(), self._task.measure
        assert measure is not None
        for t in self._task.judged[i]:
            rows = self._task.trials[t].rows
            for settings, nodes, ends in answers(i, rows):
                self._counted[settings, t] = measure(nodes, ends, rows)
        self.scoring += perf_counter() - begin

    def _count(self, i: int, reading: SettingTrees, measure: Measure) -> None:
        """Judge all settings at once."""
        trials = [(t, self._task.trials[t].rows) for t in self._task.judged[i]]
        if self._sent[0] is not reading.tree:
            leaves = [self._task.routed.leaves(reading.tree, rows) for _, rows in trials]
            self._sent = reading.tree, leaves
        for (t, rows), reached in zip(trials, self._sent[1], strict=True):
            self._counted[reading.settings, t] = measure(reading.tree, reading.ends(reached), rows)

    def _ask(self, i: int, reading: SettingTrees) -> None:
        """Have the scorer judge each setting by itself."""
        task = self._task
        for k, setting in enumerate(reading.settings.tolist()):
            model = task.models[setting]._grown(reading.pair(k), task.target, task.sets[i])
            for t in task.judged[i]:
                rows = task.trials[t].rows
                scored = task.judge.score(model, task.X, task.y, task.table, rows, task.score_params)
                self._scored[setting, t] = scored

    def fail(self, family: SettingFamily, i: int, error: HornbeamError) -> None:
        """Write down that the settings of a family have no tree of set i."""
        if i == 0:
            raise error
        for shared in family.trees:
            self.failures |= {(setting, i): error for setting in shared.settings.tolist()}

    def own_scores(self, trials: Sequence[int], repeats: int = 1) -> dict[str, SettingScores]:
        """What the settings that the search itself chooses among scored in some trials."""
        return {name: found.among(self._task.own) for name, found in self.scores(trials, repeats).items()}

    def scores(self, trials: Sequence[int], repeats: int = 1) -> dict[str, SettingScores]:
        """The scores of some trials, by the names of the measures."""
        task = self._task
        sizes = np.array([len(task.trials[t].rows) for t in trials], dtype=np.int64)
        if task.measure is None:
            return {
                name: SettingScores(scores, sizes, repeats) for name, scores in self._named(trials).items()
            }
        # Sums over folds are scikit-learn's to the last bit only if they lie as its scores do.
        found = np.ascontiguousarray(self._counted[:, list(trials)])
        points = found if task.measure.counts and not self.failures else None
        scores = found / sizes if task.measure.counts else found
        for setting, of in self.failures:
            scores[setting, [task.trials[t].of == of for t in trials]] = task.judge.error_score
        return {"score": SettingScores(scores, sizes, repeats, points)}

    def _named(self, trials: Sequence[int]) -> dict[str, npt.NDArray[np.float64]]:
        scores = self._scored
        lost = self._task.judge.of_failed_fit(next(iter(scores.values()), None))
        settings = range(len(self._task.candidates))
        named = by_name([scores.get((setting, t), lost) for setting in settings for t in trials])
        return {name: values.astype(np.float64).reshape(-1, len(trials)) for name, values in named.items()}

    def tell_failures(self) -> None:
        """Warn of trees that could not be grown; raise where none could, or where that was asked for."""
        if not self.failures:
            return
        first, error_score = next(iter(self.failures.values())), self._task.judge.error_score
        total = len(self._task.candidates) * len(self._task.judged)
        if error_score == "raise" or len(self.failures) >= total:
            raise first
        warnings.warn(
            f"{len(self.failures)} fits failed out of a total of {total}; their scores are {error_score}. "
            f"The first of them: {first}",
            FitFailedWarning,
            stacklevel=4,
        )

    def pair(self, setting: int) -> Pair:
        """The tree of all rows under a setting, and what it was before pruning."""
        for reading in self.readings:
            (found,) = np.nonzero(reading.settings == setting)
            if len(found):
                return reading.pair(int(found[0]))
        raise IndexError(setting)


def examine(task: SearchTask) -> Findings:
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
            for s, shared in enumerate(family.trees):
                tree = growth.tree(i, s)
                pruner = Pruner(growth.rows, i, tree, shared.parameters.criterion, task.threads)
                for reading in shared.readings(tree, pruner.pruned):
                    findings.read(i, reading)
            growth.release(i)
        findings.growing += perf_counter() - begin - (findings.scoring - scoring)
    return findings


class FamilyGrowth:
    """The trees of all sets that can be grown under the settings of a family."""

    def __init__(
        self, task: SearchTask, family: SettingFamily, findings: Findings, like: SettingForest | None
    ) -> None:
        self._family, self._routed = family, task.routed
        self.rows = SetRows(
            task.table, task.target, task.sets, family.holds_out or Pruning(), task.seeds, task.routed
        )
        failures = self.rows.failures()
        for i, failure in failures.items():
            findings.fail(family, i, failure)
        self.grown = [i for i in range(len(task.sets)) if i not in failures]
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

    def answers(self, i: int, rows: Rows) -> Iterator[Answers]:
        """Which nodes of set i answer some rows, for settings that only grow."""
        trees = self._family.trees
        for answers in self.forest.nodes(self._place[i], self._routed, rows):
            places = [trees[s].of_cuts for s in answers.settings.tolist()]
            ends = np.repeat(answers.ends, [len(some) for some in places], axis=0)
            yield Answers(np.concatenate(places), answers.nodes, ends)

    def release(self, i: int) -> None:
        self.forest.release(self._place[i])
