"""A learner under the clock: what it had at which CPU second, and how that does on the rows left out.

Models are kept while the learner works and judged afterwards, so judging takes nothing from it. Of all that
come between two of the times at which curves are measured the last is kept: no other is ever looked at.
"""

from __future__ import annotations

import itertools
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

from hornbeam.anytime import Stop
from hornbeam.errors import HornbeamError
from hornbeam.table import Table
from hornbeam_experiments.anytime.sets import Fold
from hornbeam_experiments.baselines import Model

Kept = TypeVar("Kept")
FIRST = -1
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Moment:
    """A model that holds from a time on: its size, and its accuracy in % on the rows left out."""

    cpu: float
    leaves: int
    accuracy: float


@dataclass(frozen=True)
class Trail:
    """What a learner had by when; `end` says why it ended, or what its last answer came of."""

    moments: tuple[Moment, ...]
    end: str

    def at(self, seconds: float) -> Moment:
        """The last model until then; the first one before it was there."""
        place = bisect_left([moment.cpu for moment in self.moments], seconds)
        on_time = place < len(self.moments) and self.moments[place].cpu == seconds
        return self.moments[place if on_time else max(0, place - 1)]


@dataclass
class Keeping(Generic[Kept]):
    """The first of all, and the last of what came before each of some times; what came after all of them is
    let go."""

    times: Sequence[float]
    kept: dict[int, tuple[float, Kept]] = field(default_factory=dict)

    def take(self, cpu: float, model: Kept) -> None:
        place = bisect_left(self.times, cpu) if self.kept else FIRST
        if place < len(self.times):
            self.kept[place] = cpu, model

    def trail(self, fold: Fold, end: str, model_of: Callable[[Kept], Model]) -> Trail:
        """Judged."""
        return Trail(
            tuple(judged(fold, cpu, model_of(one)) for cpu, one in self.kept.values()),
            end,
        )


def judged(fold: Fold, cpu: float, model: Model) -> Moment:
    return Moment(cpu, model.n_leaves, fold.accuracy(model.predict_codes(fold.judge)))


class Alarm:
    """Asks a search to stop once this process has used so many CPU seconds, and remembers whether it did."""

    def __init__(self, stop: Stop, seconds: float) -> None:
        self._stop, self._end = stop, time.process_time() + seconds
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.rang = False

    def _watch(self) -> None:
        # One thread works: CPU time cannot run ahead of the clock on the wall.
        while (left := self._end - time.process_time()) > 0:
            if self._over.wait(max(left, 0.0005)):
                return
        self.rang = True
        self._stop.request()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()


def confirm(holds: bool, what: str) -> None:
    """An answer that is not so ends the experiment: nothing that was measured would mean anything."""
    if not holds:
        raise HornbeamError(f"{what}; this is a fault of Hornbeam, report it")


def confirm_never_grows(values: Sequence[float], what: str, slack: float = 0.0) -> None:
    """Sizes of IIDT-TS and expected errors of IIDT-EE fall or stay."""
    for before, after in itertools.pairwise(values):
        confirm(after <= before + slack, f"{what} grew from {before:g} to {after:g}")


def confirm_consistent(fold: Fold, table: Table, codes: Codes, model: Model) -> None:
    """A consistent tree errs where rows of equal values differ in class, and nowhere else."""
    right = int(np.sum(model.predict_codes(table) == codes))
    most = most_right(table, codes)
    confirm(right == most, f"{fold.title}: a consistent tree has {right} of {most} training rows right")


def most_right(table: Table, codes: Codes) -> int:
    """How many rows a tree can have right: all, but where rows of equal values differ in class."""
    values = np.column_stack([column.values.astype(np.float64) for column in table.columns])
    _, alike = np.unique(values, axis=0, return_inverse=True)
    counts = np.zeros((int(alike.max()) + 1, int(codes.max()) + 1), dtype=np.int64)
    np.add.at(counts, (alike.reshape(-1), codes), 1)
    return int(counts.max(axis=1).sum())
