"""One division of a set: the trees of every m, what cross-validation chose, and the bound of the test rows.

The trees of all training rows are grown once for each m; C4.5, CVC4.5 of every run, small CVC4.5 and C4.5*
are all taken from them. The test rows judge trees; they choose for C4.5* alone.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hornbeam import C45Classifier, CrossValidatedC45
from hornbeam_experiments.cvc45.plan import Plan
from hornbeam_experiments.cvc45.sets import Loaded, Split

METHODS = ("C4.5", "CVC4.5", "small CVC4.5", "C4.5*")
DEFAULT_M = 2


@dataclass(frozen=True)
class Outcome:
    """The pruned tree of all training rows under one m: its sizes, and how it does on the test rows."""

    m: int
    leaves: int
    nodes: int
    accuracy: float


@dataclass(frozen=True)
class Choice:
    """What one run of cross-validation chose: the place of m in the grid; the estimates of all m."""

    place: int
    estimates: tuple[float, ...]

    @property
    def estimate(self) -> float:
        return self.estimates[self.place]


@dataclass(frozen=True)
class Division:
    """All that one division of a set gave."""

    outcomes: tuple[Outcome, ...]
    choices: tuple[Choice, ...]

    def by_method(self) -> Mapping[str, tuple[Outcome, ...]]:
        """The trees of each method: of CVC4.5 one a run, of the others one."""
        chosen = tuple(self.outcomes[choice.place] for choice in self.choices)
        return {
            "C4.5": (next(one for one in self.outcomes if one.m == DEFAULT_M),),
            "CVC4.5": chosen,
            "small CVC4.5": (self.outcomes[smallest(self.outcomes, self.choices).place],),
            "C4.5*": (upper_bound(self.outcomes),),
        }

    def spread(self) -> float | None:
        """The standard deviation of the accuracy of CVC4.5 over its runs; None for one run."""
        chosen = [self.outcomes[choice.place].accuracy for choice in self.choices]
        return statistics.stdev(chosen) if len(chosen) > 1 else None


def smallest(outcomes: Sequence[Outcome], choices: Sequence[Choice]) -> Choice:
    """The run with the smallest tree: fewest leaves, then the best estimate, then the first."""
    return min(choices, key=lambda choice: (outcomes[choice.place].leaves, -choice.estimate))


def upper_bound(outcomes: Sequence[Outcome]) -> Outcome:
    """C4.5*: what does best on the test rows, fewest leaves first, then the smallest m. It has seen what it
    is judged by, so it is no estimate of anything: the most that choosing m could have won."""
    return max(outcomes, key=lambda one: (one.accuracy, -one.leaves, -one.m))


def divide(loaded: Loaded, number: int, plan: Plan) -> Division:
    """Division `number` of a set; runs of one division differ in how the folds are dealt."""
    split = loaded.split(number)
    outcomes = tuple(judge(loaded, split, m) for m in plan.values)
    return Division(outcomes, choose(loaded, split, plan, seed=number))


def judge(loaded: Loaded, split: Split, m: int) -> Outcome:
    """The tree of C4.5 -m `m` on the test rows."""
    model = C45Classifier(min_objs=m, nominal_features=list(loaded.nominal) or "from_dtype")
    model.fit(*split.train)
    tree = model.tree_
    return Outcome(m, tree.n_leaves, tree.n_nodes, 100 * float(model.score(*split.test)))


def choose(loaded: Loaded, split: Split, plan: Plan, seed: int) -> tuple[Choice, ...]:
    """What each run chose, from the training rows alone."""
    model = CrossValidatedC45(
        min_objs=plan.values,
        cv=plan.folds,
        repeats=plan.repetitions,
        small=True,
        runs=plan.runs,
        nominal_features=list(loaded.nominal) or "from_dtype",
        random_state=seed,
    )
    return tuple(
        Choice(found.chosen, tuple(result.score for result in found.results))
        for found in model.fit(*split.train).searches_
    )
