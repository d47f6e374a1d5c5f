"""Which setting is chosen, and why: pure functions of estimates and of the sizes of trees."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hornbeam.tuning.scores import Exact, Marks

SELECT = ("best", "1se", "smallest")


@dataclass(frozen=True)
class Choice:
    """The setting that is chosen, that of the highest score, and why the chosen one was."""

    chosen: int
    best: int
    reason: str


@dataclass(frozen=True)
class Rule:
    """How a setting is chosen of the `params` of a grid."""

    params: Sequence[Mapping[str, Any]]
    metric: str
    """Among the names of what was scored."""
    measure: str
    """The same for people."""
    mean: str
    select: str

    def standing(self, marks: Marks, leaves: Sequence[int]) -> Standing:
        """What it goes by."""
        return Standing.of(marks, self.mean, leaves, rounds=self.select == "smallest")

    def choose(self, standing: Standing) -> Choice:
        """By one of SELECT."""
        best = standing.best()
        told = _Told(standing, self, best)
        if self.select == "1se":
            chosen, near = standing.simplest_near(best)
            return Choice(chosen, best, told.one_error(chosen, near))
        if self.select == "smallest" and standing.rounds:
            chosen = standing.smallest()
            return Choice(chosen, best, told.smallest(chosen))
        return Choice(best, best, told.best())


@dataclass(frozen=True)
class Standing:
    """What a choice is made by: an estimate for each setting, the square of its standard error, and the
    leaves of its tree of all rows; `rounds` are the estimates of each repetition alone."""

    estimates: Sequence[Exact]
    squared_errors: Sequence[Exact]
    leaves: Sequence[int]
    rounds: Sequence[Sequence[Exact]] = ()

    @classmethod
    def of(cls, marks: Marks, mean: str, leaves: Sequence[int], *, rounds: bool = True) -> Standing:
        several = range(marks.repeats) if rounds and marks.repeats > 1 else ()
        each = [marks.of(repetition).estimates(mean) for repetition in several]
        return cls(marks.estimates(mean), marks.squared_errors(), leaves, each)

    def best(self, estimates: Sequence[Exact] | None = None) -> int:
        """The highest estimate; of equal ones the tree of fewer leaves, then the first."""
        of = self.estimates if estimates is None else estimates
        return min(range(len(of)), key=lambda k: (-_comparable(of[k]), self.leaves[k], k))

    def simplest_near(self, best: int) -> tuple[int, int]:
        """The tree of fewest leaves among those within a standard error of the best, and how many they are;
        of equal ones the higher estimate, then the first."""
        top, far = _comparable(self.estimates[best]), self.squared_errors[best]
        gaps = [top - _comparable(estimate) for estimate in self.estimates]
        near = [k for k, gap in enumerate(gaps) if k == best or gap * gap <= far]
        return min(near, key=lambda k: (self.leaves[k], -_comparable(self.estimates[k]), k)), len(near)

    def smallest(self) -> int:
        """Each repetition chooses its best; of these the tree of fewest leaves, then the best estimate, then
        the first."""
        winners = [self.best(estimates) for estimates in self.rounds]
        return min(winners, key=lambda k: (self.leaves[k], -_comparable(self.estimates[k])))


def _comparable(estimate: Exact) -> Exact:
    """A score that is not a number is the worst."""
    return -math.inf if isinstance(estimate, float) and math.isnan(estimate) else estimate


@dataclass(frozen=True)
class _Told:
    """The reason for a choice, in a sentence."""

    standing: Standing
    rule: Rule
    best_at: int

    def best(self) -> str:
        top = self.standing.estimates[self.best_at]
        equal = sum(estimate == top for estimate in self.standing.estimates)
        if equal < 2:
            return f"{shown(self.rule.params[self.best_at])} has {self._top()}."
        return f"Of {equal} settings that share {self._top()}, {self._simplest(self.best_at)}."

    def one_error(self, chosen: int, near: int) -> str:
        which = f"{near} settings" if near > 1 else "the only setting"
        error = math.sqrt(self.standing.squared_errors[self.best_at])
        return (
            f"Of {which} within one standard error ({error:.4f}) of {self._top()}, {self._simplest(chosen)}."
        )

    def smallest(self, chosen: int) -> str:
        return (
            f"Of the settings that {len(self.standing.rounds)} repetitions chose, each by its own folds, "
            f"{self._simplest(chosen)}."
        )

    def _top(self) -> str:
        """The best score; a loss, which is kept with its sign changed, is shown as it is."""
        name, score = self.rule.measure, float(self.standing.estimates[self.best_at])
        if name != "cost" and not name.startswith("neg_"):
            return f"the highest cross-validated {'R²' if name == 'r2' else name}, {score:.4f}"
        return f"the lowest cross-validated {name.removeprefix('neg_').replace('_', ' ')}, {-score:.4f}"

    def _simplest(self, k: int) -> str:
        leaves = self.standing.leaves[k]
        size = f"{leaves} {'leaf' if leaves == 1 else 'leaves'}"
        return f"{shown(self.rule.params[k])} gives the smallest tree ({size})"


def shown(params: Mapping[str, Any]) -> str:
    """`max_depth=3, min_samples_leaf=5`."""
    return ", ".join(f"{name}={_plain(value)}" for name, value in params.items())


def _plain(value: Any) -> str:
    if hasattr(value, "item"):
        value = value.item()
    return f"{value:.6g}" if isinstance(value, float) else str(value)
