"""ID3-k: the test after which k levels of tests can lower the entropy most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hornbeam_experiments.baselines.branches import Branches, Numbers, check_cells
from hornbeam_experiments.baselines.growing import Question, grow_by
from hornbeam_experiments.baselines.learner import Baseline, Model, Task, Watch

TOGETHER = 256  # branches looked at in one product


@dataclass(frozen=True)
class ID3k(Baseline):
    """k-step lookahead by entropy (Norton 1989), as Esmeir and Markovitch use it for comparison.

    entropy-k of a test is the entropy left if each branch gets the test of least entropy-(k - 1), weighted by
    rows; k = 1 is ID3. Among tests of equal entropy-k entropy-(k - 1) decides, and so on, then the first:
    neither paper says. Nominal attributes have a branch for each category, numbers all cuts.
    Made anytime by k = 1, 2, 3, ...; the last k is the number of attributes, or of rows where there are
    numbers: no tree looks further.
    """

    name: ClassVar[str] = "ID3-k"

    def check(self, task: Task) -> None:
        check_cells(task.coded)

    def models(self, task: Task) -> Iterator[tuple[str, Model]]:
        yield "k=1", task.id3()
        coded = task.coded
        look = Lookahead.of(Branches.of(coded), task.watch)
        all_nominal = all(coded.is_nominal(a) for a in range(coded.n_attributes))
        for k in range(2, 1 + (coded.n_attributes if all_nominal else coded.n_rows)):
            yield f"k={k}", grow_by(coded, partial(look.choose, k=k))


@dataclass(frozen=True, eq=False)
class Lookahead:
    """Entropies of rows, not of shares: bits times rows. `xlogs[m]` is m * log2(m)."""

    whole: Branches
    watch: Watch
    xlogs: Numbers

    @classmethod
    def of(cls, whole: Branches, watch: Watch) -> Lookahead:
        m = np.arange(len(whole.rows) + 1, dtype=np.float64)
        return cls(whole, watch, m * np.log2(np.maximum(m, 1.0)))

    def choose(self, rows: npt.NDArray[np.int64], k: int) -> Question | None:
        here = self.whole.part(rows)
        if len(here.tests) == 0:
            return None
        # Sums of rounded logarithms differ in their last bits, which must not decide.
        after = [np.round(self.after(here, depth), 6) for depth in range(1, k + 1)]
        return here.tests[int(np.lexsort(after)[0])]

    def after(self, here: Branches, k: int) -> Numbers:
        """What is left after each test and k - 1 levels of tests below it."""
        self.watch.check()
        if k == 1:
            return here.by_test(self.entropy(np.stack([part.sum(axis=0) for part in here.by_class])))
        if k == 2:
            return here.by_test(self.left_by_pairs(here))
        left = [self.least(here.part(np.flatnonzero(inside)), k - 1) for inside in here.inside.T]
        return here.by_test(np.array(left))

    def least(self, here: Branches, k: int) -> float:
        """What is left of these rows under their best test."""
        counts = np.array([len(part) for part in here.by_class])
        if len(counts) <= 1 or len(here.tests) == 0:
            return float(self.entropy(counts)) if len(counts) else 0.0
        return float(self.after(here, k).min())

    def left_by_pairs(self, here: Branches) -> Numbers:
        """What is left of each branch under its best test: pairs of branches are counted by products."""
        width = here.inside.shape[1]
        left = np.empty(width)
        for begin in range(0, width, TOGETHER):
            self.watch.check()
            some = slice(begin, begin + TOGETHER)
            counts = np.stack([part[:, some].T @ part for part in here.by_class])
            left[some] = here.by_test(self.entropy(counts)).min(axis=-1)
        return left

    def entropy(self, counts: npt.NDArray[Any]) -> Numbers:
        """Of the counts of classes, which run along the first axis."""
        whole = counts.astype(np.int64)
        result: Numbers = self.xlogs[whole.sum(axis=0)] - self.xlogs[whole].sum(axis=0)
        return result
