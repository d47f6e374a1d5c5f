"""From rows to a scored committee: draw bags, grow their trees, ask them of the rows outside."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import hornbeam
from hornbeam.ensemble import Bags, Outside, ask_outside, draw_bags, grow_bags
from hornbeam.errors import UsageError
from hornbeam.estimators.stored_bags import BAGGED_CLASSIFIER, BAGGED_REGRESSOR, StoredBag
from hornbeam.growth import ClassCosts, ClassTarget, NumericTarget, Parameters, Pruning
from hornbeam.report import Score, accuracy_error, r2_error, score_classes, score_numbers
from hornbeam.table import Table, from_data
from hornbeam.validation.scores import accuracy, means_of, r2

from .plan import Plan, Report, Settings, read_weights, settle
from .targets import read_classes, read_numbers


@dataclass(frozen=True)
class BagPlan:
    """What was asked for: a tree's plan, and how often."""

    plan: Plan
    trees: int = 25
    max_samples: int | float | None = None
    voting: str = "soft"
    algorithm: str = "auto"


@dataclass(frozen=True)
class LearnedBag:
    """The trees, the table they were grown from, and how well they answer for rows outside their bags."""

    model: StoredBag
    table: Table
    plan: Plan
    score: Score | None
    """None where every bag has every row."""
    error: float
    """The standard error of the score."""
    alone: NDArray[np.float64]
    """What each tree scores by itself on the rows outside its bag."""
    seconds: float

    @property
    def task(self) -> str:
        return "classification" if self.model.is_classifier else "regression"

    @property
    def target(self) -> str:
        return ", ".join(self.plan.targets)


def learn_bag(data: pa.Table, asked: BagPlan, report: Report = None) -> LearnedBag:
    """Grow and score trees; `report` hears how far the growth is."""
    plan = asked.plan
    task, attributes, settings = settle(data, plan, report)
    if task == "regression" and asked.voting != "soft":
        raise UsageError(f"--voting {asked.voting}: numbers are averaged; leave it out")
    nominal = list(plan.nominal_features) or "from_dtype"
    table = from_data(attributes, nominal_features=nominal)
    target = _target(data, plan, task)
    return _learn(table, target, asked, settings)


def _target(data: pa.Table, plan: Plan, task: str) -> ClassTarget | NumericTarget:
    weights = read_weights(data, plan, np.arange(data.num_rows))
    if task == "regression":
        return NumericTarget(read_numbers(data, plan.targets), plan.targets, weights)
    codes, classes = read_classes(data, plan.targets[0])
    return ClassTarget(codes, classes, weights, ClassCosts.checked(plan.class_weight, None, classes))


def _learn(
    table: Table, target: ClassTarget | NumericTarget, asked: BagPlan, settings: Settings
) -> LearnedBag:
    parameters, pruning = settings.parameters, settings.pruning
    plan, start = asked.plan, time.perf_counter()
    bags = _draw(table, target, asked)
    plain = replace(target, weights=None)
    forest = grow_bags(
        table,
        plain,
        parameters,
        pruning,
        bags,
        algorithm=asked.algorithm,
        threads=plan.threads,
        report=settings.report,
    )
    seconds = time.perf_counter() - start
    pairs = tuple(forest.pair(i) for i in range(forest.n_sets))
    name = BAGGED_CLASSIFIER if isinstance(plain, ClassTarget) else BAGGED_REGRESSOR
    notes = {"target": ", ".join(plan.targets), "version": hornbeam.__version__}
    model = StoredBag(name, stored_parameters(asked, parameters, pruning), bags, pairs, notes)
    judge = _judge(plain)
    outside = ask_outside(model.committee, bags, table, threads=plan.threads, score=judge)
    score, error = _score(model, outside, plain)
    return LearnedBag(model, table, plan, score, error, outside.alone, seconds)


def _draw(table: Table, target: ClassTarget | NumericTarget, asked: BagPlan) -> Bags:
    random = np.random.RandomState(asked.plan.seed)
    samples, weights = asked.max_samples, target.weights
    return draw_bags(table.n_rows, asked.trees, random, max_samples=samples, weights=weights)


def _judge(target: ClassTarget | NumericTarget) -> Callable[[NDArray[np.int64], NDArray[Any]], float]:
    if isinstance(target, ClassTarget):
        codes = target.codes
        return lambda rows, said: accuracy(codes[rows], said)
    values = target.values
    return lambda rows, said: r2(values[rows], said)


def _score(
    model: StoredBag, outside: Outside, target: ClassTarget | NumericTarget
) -> tuple[Score | None, float]:
    known = outside.known
    if not known.any():
        return None, float("nan")
    answers = outside.answers[known]
    if isinstance(target, ClassTarget):
        most_common = int(np.bincount(target.codes).argmax())
        said = model.committee.codes(answers).astype(np.int32)
        score = score_classes(target.codes[known], said, most_common, True)
        return score, accuracy_error(score)
    actual = target.values[known]
    return score_numbers(actual, answers, means_of(target.values), True), r2_error(actual, answers)


def stored_parameters(asked: BagPlan, parameters: Parameters, pruning: Pruning) -> dict[str, Any]:
    """An estimator with these parameters would have grown the trees."""
    plan = asked.plan
    stored = asdict(parameters) | asdict(pruning)
    stored |= {"n_estimators": asked.trees, "max_samples": asked.max_samples, "algorithm": asked.algorithm}
    stored |= {"nominal_features": list(plan.nominal_features) or "from_dtype", "random_state": plan.seed}
    if parameters.criterion != "variance":
        stored["voting"] = asked.voting
    if plan.class_weight is not None:
        stored["class_weight"] = plan.class_weight
    return stored
