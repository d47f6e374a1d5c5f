"""ADTree: an alternating decision tree, grown by boosting; for two classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hornbeam.errors import DataError
from hornbeam.table import Table
from hornbeam_experiments.baselines.branches import Matrix, Numbers, check_cells
from hornbeam_experiments.baselines.coded import Coded
from hornbeam_experiments.baselines.learner import Baseline, Model, Task, answer_rounds, checked_count


@dataclass(frozen=True)
class Condition:
    """A category, or numbers up to a threshold."""

    attribute: int
    code: int | None = None
    threshold: float | int | None = None

    def holds(self, table: Table) -> npt.NDArray[np.bool_]:
        """For which rows; where a cell is missing or unknown it does not hold."""
        column = table.columns[self.attribute]
        if self.code is not None:
            return np.asarray(column.values == self.code)
        held = np.asarray(column.values <= self.threshold)
        return held if column.missing is None else held & (column.missing == 0)


@dataclass(frozen=True)
class Rule:
    """Below prediction node `above` (0 is the root): what is added where the condition holds, and where not.
    Rule i makes the prediction nodes 2 i + 1 and 2 i + 2."""

    above: int
    condition: Condition
    holding: float
    failing: float


@dataclass(frozen=True, eq=False)
class AlternatingTree:
    """The sum of all predictions that a row reaches decides: above 0 it is the second class."""

    base: float
    rules: tuple[Rule, ...]

    @property
    def n_leaves(self) -> int:
        """Prediction nodes, which are what an alternating tree has for leaves."""
        return 1 + 2 * len(self.rules)

    def scores(self, table: Table) -> Numbers:
        reached = [np.ones(table.n_rows, np.bool_)]
        total = np.full(table.n_rows, self.base)
        for rule in self.rules:
            above, held = reached[rule.above], rule.condition.holds(table)
            reached += [above & held, above & ~held]
            total += np.where(reached[-2], rule.holding, 0.0) + np.where(reached[-1], rule.failing, 0.0)
        return total

    def predict_codes(self, table: Table, threads: int = 1) -> npt.NDArray[Any]:
        return (self.scores(table) > 0.0).astype(np.int32)


@dataclass(frozen=True)
class ADTree(Baseline):
    """ADTree (Freund and Mason 1999) for two classes, one more rule each round.

    The rule c2 below c1 that is added has the least Z = 2 (sqrt(W+(c1 & c2) W-(c1 & c2)) +
    sqrt(W+(c1 & !c2) W-(c1 & !c2))) + W(!c1), over all prediction nodes c1 and all conditions c2, the first
    among equals; it adds a = 0.5 ln((W+ + 1) / (W- + 1)) on both of its sides. Z and the 1 in a are recalled,
    not looked up. Conditions are single categories and cuts of numbers. The paper ran Weka's for up to 1000
    `rounds`.
    """

    name: ClassVar[str] = "ADTree"
    rounds: int = 1000

    def check(self, task: Task) -> None:
        checked_count("rounds", self.rounds, 1, 10**5)
        present = np.count_nonzero(task.target.counts)
        if len(task.target.labels) != 2 or present != 2:
            raise DataError(f"ADTree knows two classes; the target has {present}: use another baseline")
        check_cells(task.coded)

    def models(self, task: Task) -> Iterator[tuple[str, Model]]:
        boost = Boost.begin(task.coded)
        yield "rounds=0", AlternatingTree(boost.base, ())
        if not boost.conditions:
            return
        rules: list[Rule] = []
        for many in answer_rounds(self.rounds):
            while len(rules) < many:
                task.watch.check()
                rules.append(boost.add())
            yield f"rounds={many}", AlternatingTree(boost.base, tuple(rules))


class Boost:
    """The state of boosting: which rows reach each prediction node, and what they weigh."""

    def __init__(self, conditions: list[Condition], held: Matrix, sign: Numbers) -> None:
        self.conditions, self.held, self.sign = conditions, held, sign
        self.weights = np.ones(len(sign))
        self.reached = np.ones((1, len(sign)), np.float32)
        self.nodes = 1
        self.base = vote(float((sign > 0).sum()), float((sign < 0).sum()))
        self.reweigh(self.base)

    @classmethod
    def begin(cls, coded: Coded) -> Boost:
        conditions: list[Condition] = []
        columns: list[npt.NDArray[np.bool_]] = []
        for a in range(coded.n_attributes):
            cells, n = coded.cells[:, a], coded.n_codes(a)
            if coded.is_nominal(a):
                codes = range(n if n > 2 else n - 1)  # of two categories one says it all
                conditions += [Condition(a, code=code) for code in codes]
                columns += [cells == code for code in codes]
            else:
                conditions += [Condition(a, threshold=coded.midpoint(a, r, r + 1)) for r in range(n - 1)]
                columns += [cells <= rank for rank in range(n - 1)]
        held = np.zeros((coded.n_rows, len(columns)), np.float32)
        for i, column in enumerate(columns):
            held[:, i] = column
        return cls(conditions, held, np.where(coded.classes == 1, 1.0, -1.0))

    def reweigh(self, votes: float | Numbers) -> None:
        self.weights = self.weights * np.exp(-self.sign * votes)

    def add(self) -> Rule:
        """The rule of the least Z; weights and prediction nodes follow."""
        for_, against = (np.where(self.sign * side > 0, self.weights, 0.0) for side in (1.0, -1.0))
        reached = self.reached[: self.nodes]
        holding = [reached @ (self.held * w[:, None].astype(np.float32)) for w in (for_, against)]
        whole = [(reached @ w.astype(np.float32))[:, None] for w in (for_, against)]
        failing = [np.maximum(all_ - held, 0.0) for all_, held in zip(whole, holding, strict=True)]
        within = 2.0 * (np.sqrt(holding[0] * holding[1]) + np.sqrt(failing[0] * failing[1]))
        z = within + (self.weights.sum() - whole[0] - whole[1])
        above, which = (int(i) for i in np.unravel_index(np.argmin(z), z.shape))
        at = above, which
        rule = Rule(
            above,
            self.conditions[which],
            vote(float(holding[0][at]), float(holding[1][at])),
            vote(float(failing[0][at]), float(failing[1][at])),
        )
        self.grow(above, self.held[:, which], rule)
        return rule

    def grow(self, above: int, held: npt.NDArray[np.float32], rule: Rule) -> None:
        if self.nodes + 2 > len(self.reached):
            room = np.zeros((2 * len(self.reached) + 2, len(self.sign)), np.float32)
            room[: self.nodes] = self.reached[: self.nodes]
            self.reached = room
        both = np.stack((self.reached[above] * held, self.reached[above] * (1.0 - held)))
        self.reached[self.nodes : self.nodes + 2] = both
        self.nodes += 2
        self.reweigh(both.astype(np.float64).T @ np.array([rule.holding, rule.failing]))


def vote(favour: float, against: float) -> float:
    """What a prediction node adds, from the weights of both classes."""
    return float(0.5 * np.log((favour + 1.0) / (against + 1.0)))
