"""Skewing and Sequential Skewing: tests judged under distributions that favour some values of attributes."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hornbeam_experiments.baselines.branches import Branches, Matrix, Numbers, Places, check_cells
from hornbeam_experiments.baselines.coded import Rows
from hornbeam_experiments.baselines.growing import Question, grow_by
from hornbeam_experiments.baselines.learner import Baseline, Model, Task, checked_between

TOGETHER = 32  # weightings that are looked at in one product
DUST = 1e-9  # bits that come of rounding


@dataclass(frozen=True)
class Skewed(Baseline):
    """Trees of 0 (ID3), 1, 2, 4, ... weightings a node, or passes over its attributes.

    `skew` is s: a binary value that is favoured weighs s, the other 1 - s. Of a nominal attribute the values
    weigh ((1 - s) / s) to the power of a random rank; of numbers one side of a random cut is favoured. Both
    are our readings: the algorithm was published for binary attributes.
    """

    skew: float = 0.75
    counts: ClassVar[str]

    def check(self, task: Task) -> None:
        checked_between("skew", self.skew, 0.5, 1.0)
        check_cells(task.coded)

    def models(self, task: Task) -> Iterator[tuple[str, Model]]:
        yield f"{self.counts}=0", task.id3()
        whole = Branches.of(task.coded)
        for n in (2**i for i in itertools.count()):
            yield f"{self.counts}={n}", self.tree(task, whole, n)

    def tree(self, task: Task, whole: Branches, n: int) -> Model:
        random = task.random(n)

        def choose(rows: Rows) -> Question | None:
            here = whole.part(rows)
            return here.tests[self.best(task, here, n, random)] if here.tests else None

        return grow_by(task.coded, choose)

    @abstractmethod
    def best(self, task: Task, here: Branches, n: int, random: np.random.Generator) -> int:
        """The place of the test that a node takes."""


@dataclass(frozen=True)
class Skewing(Skewed):
    """Skewing (Page and Ray 2003), made anytime by doubling the number of weightings w.

    Each weighting favours a random value of every attribute. A test scores a point where its gain is at least
    `share` of the entropy; most points win, then the plain gain, then the first; without a point the plain
    gain decides. The structure is described by Esmeir and Markovitch; skew = 3/4, share = 0.05 and the form
    of the threshold are recalled, not looked up.
    """

    name: ClassVar[str] = "Skewing"
    counts: ClassVar[str] = "w"
    share: float = 0.05

    def check(self, task: Task) -> None:
        super().check(task)
        checked_between("share", self.share, 0.0, 1.0)

    def best(self, task: Task, here: Branches, n: int, random: np.random.Generator) -> int:
        plain, _ = gains(here, np.ones((len(here.rows), 1), np.float32))
        points = np.zeros(len(here.tests), np.int64)
        for begin in range(0, n, TOGETHER):
            task.watch.check()
            many = min(TOGETHER, n - begin)
            gain, entropy = gains(here, weights_of(here, favours(here, self.skew, many, random)))
            tells = entropy > DUST
            points += (gain[tells] >= self.share * entropy[tells, None]).sum(axis=0)
        return int(np.lexsort((-np.round(plain[0], 9), -points))[0])


@dataclass(frozen=True)
class SequentialSkewing(Skewed):
    """Sequential Skewing (Ray and Page 2004), made anytime by doubling the number of passes k.

    A pass skews one attribute after the other, each by a random value of it alone, and judges the tests of
    the others. The largest gain seen wins, the plain one included, then the first. All of it is recalled,
    not looked up; k is Esmeir and Markovitch's.
    """

    name: ClassVar[str] = "Sequential Skewing"
    counts: ClassVar[str] = "k"

    def best(self, task: Task, here: Branches, n: int, random: np.random.Generator) -> int:
        owner = np.repeat(here.attributes, here.lengths)
        seen = gains(here, np.ones((len(here.rows), 1), np.float32))[0][0]
        attributes = np.tile(np.unique(here.attributes), n)
        for begin in range(0, len(attributes), TOGETHER):
            task.watch.check()
            some = attributes[begin : begin + TOGETHER]
            logs = favours(here, self.skew, len(some), random)
            logs[owner[:, None] != some] = 0.0
            gain, _ = gains(here, weights_of(here, logs))
            gain[here.attributes == some[:, None]] = 0.0
            seen = np.maximum(seen, gain.max(axis=0))
        return int(np.argmax(np.round(seen, 9)))


def favours(here: Branches, skew: float, many: int, random: np.random.Generator) -> Matrix:
    """The logarithm of what a row weighs for each branch it goes into, in so many random weightings."""
    ratio = np.log((1.0 - skew) / skew)
    ranks = _ranks(here, random.random((here.inside.shape[1], many)))
    logs: Matrix = (ratio * ranks).astype(np.float32)
    for a in np.unique(here.attributes[here.is_cut]):
        tests = np.flatnonzero(here.attributes == a)
        logs[np.repeat(here.attributes == a, here.lengths)] = 0.0
        cut, side = random.choice(tests, many), random.integers(0, 2, many)
        logs[here.start[cut] + side, np.arange(many)] = ratio
    return logs


def _ranks(here: Branches, drawn: Numbers) -> Places:
    """The place of each branch among those of its test, by the numbers drawn for them."""
    of = np.repeat(np.arange(len(here.tests)), here.lengths)
    order = np.argsort(drawn + of[:, None], axis=0)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, (np.arange(len(of)) - here.start[of])[:, None], axis=0)
    return ranks


def weights_of(here: Branches, logs: Matrix) -> Matrix:
    """What each row weighs: the product over its branches, the heaviest row of each weighting 1."""
    of_rows = here.inside @ logs
    weights: Matrix = np.exp(of_rows - of_rows.max(axis=0))
    return weights


def gains(here: Branches, weights: Matrix) -> tuple[Numbers, Numbers]:
    """Of each weighting (a column of `weights`): the gain of every test, and the entropy, in bits."""
    of_class: Sequence[Matrix] = [weights[places] for places in here.of_class]
    inside = np.stack([w.T @ part for w, part in zip(of_class, here.by_class, strict=True)])
    at_all = np.stack([w.sum(axis=0, dtype=np.float64) for w in of_class])
    total = at_all.sum(axis=0)
    entropy = left(at_all) / total
    after = here.by_test(left(inside.astype(np.float64))) / total[:, None]
    return entropy[:, None] - after, entropy


def left(masses: Numbers) -> Numbers:
    """Mass times entropy, of the masses of classes along the first axis."""
    result: Numbers = xlog(masses.sum(axis=0)) - xlog(masses).sum(axis=0)
    return result


def xlog(x: Numbers) -> Numbers:
    """x * log2(x), 0 at 0."""
    result: Numbers = x * np.log2(np.where(x > 0.0, x, 1.0))
    return result
