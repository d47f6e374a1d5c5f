"""What every baseline shares: one interface, a clock that stops it, and what it is given."""

from __future__ import annotations

import math
import numbers
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from hornbeam.errors import DataError, UsageError
from hornbeam.growth import ClassTarget, Parameters, grow_tree
from hornbeam.model import Tree
from hornbeam.table import Table
from hornbeam_experiments.baselines.coded import Coded

MOST_SEED = 2**32 - 1


class Model(Protocol):
    """What is judged: a hornbeam Tree, a committee of them, an alternating tree."""

    @property
    def n_leaves(self) -> int: ...

    def predict_codes(self, table: Table, threads: int = 1) -> npt.NDArray[Any]: ...


@dataclass(frozen=True, eq=False)
class Answer:
    """The model at hand after so many seconds of work; `setting` says what gave it ("k=2")."""

    elapsed: float
    cpu: float
    model: Model
    setting: str


class TimeUp(Exception):  # noqa: N818 - nothing went wrong
    """The time is up; what is half done is let go."""


class Watch:
    """Counts the time of the learner alone: it stands still while somebody looks at an answer."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.can_stop = seconds, False
        self._elapsed, self._cpu = 0.0, 0.0
        self._since = (0.0, 0.0)

    def resume(self) -> None:
        self._since = time.perf_counter(), time.process_time()

    def pause(self) -> None:
        wall, cpu = self._since
        self._elapsed += time.perf_counter() - wall
        self._cpu += time.process_time() - cpu

    @property
    def spent(self) -> tuple[float, float]:
        """(elapsed seconds, CPU seconds) up to the last pause."""
        return self._elapsed, self._cpu

    def check(self) -> None:
        """TimeUp where the CPU seconds are used up and there is an answer already."""
        if self.can_stop and self._cpu + time.process_time() - self._since[1] >= self.seconds:
            raise TimeUp


@dataclass(frozen=True, eq=False)
class Task:
    """Rows with their classes, a seed, and the watch that a learner looks at from time to time."""

    table: Table
    target: ClassTarget
    seed: int
    watch: Watch

    @cached_property
    def coded(self) -> Coded:
        return Coded.of(self.table, self.target)

    def random(self, *place: int) -> np.random.Generator:
        """Random numbers for one place in the search, whatever was drawn elsewhere."""
        return np.random.default_rng([self.seed, *place])

    def id3(self) -> Tree:
        """The greedy tree, by the package's own grower."""
        return grow_tree(self.table, self.target, Parameters("entropy", "multiway"))


class Baseline(ABC):
    """An interruptible learner: as many answers as the time allows, each from more work than the last."""

    name: ClassVar[str]

    def improve(self, table: Table, target: ClassTarget, seconds: float, seed: int = 0) -> Iterator[Answer]:
        """Answers until the CPU seconds are used up, or the learner can do no more; the first always comes.

        The answers depend on the seed alone, and the time on how many of them there are.
        """
        task = Task(table, target, checked_seed(seed), Watch(checked_seconds(seconds)))
        check_target(table, target)
        self.check(task)
        return self._answers(task)

    def _answers(self, task: Task) -> Iterator[Answer]:
        watch, models = task.watch, self.models(task)
        while True:
            watch.resume()
            try:
                setting, model = next(models)
            except (StopIteration, TimeUp):
                return
            watch.pause()
            watch.can_stop = True
            yield Answer(*watch.spent, model, setting)

    @abstractmethod
    def check(self, task: Task) -> None:
        """Refuse in one line what this learner cannot take."""

    @abstractmethod
    def models(self, task: Task) -> Iterator[tuple[str, Model]]:
        """What was tried and what came of it, from little work to much; it calls `task.watch.check`."""


def answer_rounds(most: int) -> Iterator[int]:
    """1, 2, ... 10, 11, 13, ...: a tenth apart, or judging answers would take longer than finding them."""
    at = 1
    while at < most:
        yield at
        at = max(at + 1, math.floor(1.1 * at))
    yield most


def checked_seconds(seconds: Any) -> float:
    is_number = isinstance(seconds, numbers.Real) and not isinstance(seconds, bool)
    if not is_number or not 0.0 < seconds < math.inf:
        raise UsageError(f"seconds={seconds!r}: a finite number above 0 is allowed")
    return float(seconds)


def checked_seed(seed: Any) -> int:
    return checked_count("seed", seed, 0, MOST_SEED)


def checked_count(name: str, given: Any, low: int, high: int) -> int:
    is_whole = isinstance(given, numbers.Integral) and not isinstance(given, bool)
    if not is_whole or not low <= given <= high:
        raise UsageError(f"{name}={given!r}: a whole number from {low} to {high} is allowed")
    return int(given)


def checked_between(name: str, given: Any, low: float, high: float) -> float:
    is_number = isinstance(given, numbers.Real) and not isinstance(given, bool)
    if not is_number or not low < given < high:
        raise UsageError(f"{name}={given!r}: a number between {low:g} and {high:g} is allowed")
    return float(given)


def check_target(table: Table, target: Any) -> None:
    """Baselines know classes alone, every row as good as another."""
    if not isinstance(target, ClassTarget):
        raise UsageError("the baselines learn classes; give a target of classes")
    if target.weights is not None or target.costs.weights is not None or target.costs.matrix is not None:
        raise UsageError("the baselines know no weights and no costs; leave them out")
    if target.n_rows != table.n_rows:
        raise DataError(
            f"the table has {table.n_rows} rows and the target {target.n_rows}; give one class a row"
        )
