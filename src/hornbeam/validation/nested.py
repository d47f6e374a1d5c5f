"""An honest estimate of the whole choice: outer folds judge what was chosen without them.

Inside an outer fold the choice is cross-validated over the other folds of the same partition. The tree
without the rows of folds i and j then serves twice: for the choice inside i it is judged by j, inside j by i.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hornbeam.growth import TrainingSet, TrainingSets
from hornbeam.validation.folds import Rows
from hornbeam.validation.search_record import NestedRecord
from hornbeam.validation.selection import SelectionRule
from hornbeam.validation.splits import Splits

if TYPE_CHECKING:
    from hornbeam.validation.search import Findings


class Trial(NamedTuple):
    """Rows that judge the trees of a training set that does not have them."""

    of: int
    rows: Rows


@dataclass(eq=False)
class TrialPlan:
    """Training sets, each once, and the trials of their trees."""

    sets: list[TrainingSet]
    trials: list[Trial]
    _known: dict[bytes, int] = field(init=False)

    @classmethod
    def of(cls, splits: Splits) -> TrialPlan:
        """The folds of a cross-validation, each judged by its rows."""
        return cls(list(splits.sets), [Trial(i, rows) for i, rows in enumerate(splits.tests, 1)])

    def __post_init__(self) -> None:
        outs = {i: one.left_out for i, one in enumerate(self.sets)}
        self._known = {out.tobytes(): i for i, out in outs.items() if out is not None}

    def without(self, rows: Rows) -> int:
        """The set of all rows but some."""
        out = np.sort(rows)
        place = self._known.setdefault(out.tobytes(), len(self.sets))
        if place == len(self.sets):
            self.sets.append(TrainingSet(self.sets[0].n_rows, left_out=out))
        return place

    def judge(self, of: int, rows: Rows) -> int:
        """A trial, by its number."""
        self.trials.append(Trial(of, rows))
        return len(self.trials) - 1

    def judge_by_own_rows(self, trials: range) -> range:
        """Trials of the same trees by the rows that they were grown from."""
        begin = len(self.trials)
        self.trials += [Trial(self.trials[t].of, self.sets[self.trials[t].of].rows) for t in trials]
        return range(begin, len(self.trials))

    @property
    def training_sets(self) -> TrainingSets:
        return TrainingSets(self.sets[0].n_rows, tuple(self.sets))


@dataclass(frozen=True)
class OuterFold:
    """The set of all rows but its own, the trial of that set, and the trials of the choice inside it."""

    of: int
    trial: int
    inner: tuple[int, ...]
    settings: slice = field(default_factory=lambda: slice(None))
    """Those that it chooses among."""

    def choose(self, findings: Findings, rule: SelectionRule) -> tuple[int, float]:
        """The setting, among its own, that is chosen without its rows, and what that scores on them."""
        scores = findings.scores(self.inner)[rule.metric].among(self.settings)
        leaves = findings.leaves[self.of][self.settings].tolist()
        chosen = rule.choose(rule.estimates(scores, leaves)).chosen
        outer = findings.scores((self.trial,))[rule.metric].among(self.settings)
        return chosen, float(outer.scores[chosen, 0])


def outer_folds(plan: TrialPlan, folds: Sequence[Rows], k: int) -> list[OuterFold]:
    """Add what the outer folds of some partitions, of k folds each, need to a plan."""
    found = []
    for begin in range(0, len(folds), k):
        part = folds[begin : begin + k]
        inner: list[list[int]] = [[] for _ in part]
        for i, j in combinations(range(k), 2):
            both = plan.without(np.concatenate([part[i], part[j]]))
            inner[i].append(plan.judge(both, part[j]))
            inner[j].append(plan.judge(both, part[i]))
        for rows, trials in zip(part, inner, strict=True):
            of = plan.without(rows)
            found.append(OuterFold(of, plan.judge(of, rows), tuple(trials)))
    return found


def nested_record(
    findings: Findings,
    outer: Sequence[OuterFold],
    k: int,
    rule: SelectionRule,
    params: Sequence[Mapping[str, Any]],
) -> NestedRecord:
    """What was chosen inside each outer fold, and how well that did on its rows; `params`: all settings."""
    scores, chosen = [], []
    for fold in outer:
        own = params[fold.settings]
        setting, score = fold.choose(findings, replace(rule, params=own))
        chosen.append(own[setting])
        scores.append(score)
    return NestedRecord(
        scores=tuple(scores),
        params=tuple(chosen),
        score=float(np.mean(scores)),
        error=float(np.std(scores, ddof=1) / math.sqrt(k)),
    )
