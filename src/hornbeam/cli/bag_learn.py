"""From rows to a scored committee: draw bags, grow their trees, ask them of the rows outside."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hornbeam.boat.grown import SourceGrowth
from hornbeam.ensemble import Outside, ask_outside, draw_bags, grow_bags
from hornbeam.errors import UsageError
from hornbeam.estimators.stored_bags import BAGGED_CLASSIFIER, BAGGED_REGRESSOR, StoredBag
from hornbeam.growth import ClassTarget, Target
from hornbeam.report import Score, accuracy_error, r2_error, score_classes, score_numbers
from hornbeam.table import Schema
from hornbeam.validation.scores import accuracy, means_of, r2

from .learn import estimator_parameters, notes_of, table_of
from .request import FitRequest, Report, Settings, read_weights, settle
from .targets import read_target


@dataclass(frozen=True)
class BagRequest:
    """What was asked for: a tree, and how often."""

    tree: FitRequest
    trees: int = 25
    max_samples: int | float | None = None
    voting: str = "soft"
    algorithm: str = "auto"

    def check_voting(self, task: str) -> None:
        if task == "regression" and self.voting != "soft":
            raise UsageError(f"--voting {self.voting}: numbers are averaged; leave it out")


@dataclass(frozen=True)
class LearnedBag:
    """The trees, the rows they were grown from, and how well they answer for rows outside their bags."""

    model: StoredBag
    schema: Schema
    rows: int
    seed: int
    score: Score | None
    """None where every bag has every row."""
    error: float | None
    """The standard error of the score; of R² over a source it would take the rows."""
    alone: NDArray[np.float64] | None = None
    """What each tree scores by itself on the rows outside its bag; over a source nobody asks."""
    seconds: float = 0.0
    growth: SourceGrowth | None = None
    """What was seen of the rows of a source."""

    @property
    def task(self) -> str:
        return "classification" if self.model.is_classifier else "regression"

    @property
    def target(self) -> str:
        return str(self.model.notes["target"])


def learn_bag(data: pa.Table, asked: BagRequest, report: Report = None) -> LearnedBag:
    """Grow and score trees; `report` hears how far the growth is."""
    request = asked.tree
    task, attributes, settings = settle(data, request, report)
    asked.check_voting(task)
    order = np.arange(data.num_rows)
    table = table_of(attributes, order, request)
    target = read_target(data, request.targets, task, request.class_weight)
    weights, start = read_weights(data, request, order), time.perf_counter()
    random, samples = np.random.RandomState(request.seed), asked.max_samples
    bags = draw_bags(table.n_rows, asked.trees, random, max_samples=samples, weights=weights)
    forest = grow_bags(
        table,
        target,
        settings.parameters,
        settings.pruning,
        bags,
        algorithm=asked.algorithm,
        threads=request.threads,
        report=report,
    )
    seconds = time.perf_counter() - start
    pairs = tuple(forest.pair(i) for i in range(forest.n_sets))
    model = StoredBag(estimator_name(task), bag_parameters(asked, settings), bags, pairs, notes_of(request))
    outside = ask_outside(model.committee, bags, table, threads=request.threads, score=_judge(target))
    score, error = _score(model, outside, target)
    return LearnedBag(model, table.schema, table.n_rows, request.seed, score, error, outside.alone, seconds)


def estimator_name(task: str) -> str:
    return BAGGED_CLASSIFIER if task == "classification" else BAGGED_REGRESSOR


def _judge(target: Target) -> Callable[[NDArray[np.int64], NDArray[Any]], float]:
    if isinstance(target, ClassTarget):
        codes = target.codes
        return lambda rows, said: accuracy(codes[rows], said)
    values = target.values
    return lambda rows, said: r2(values[rows], said)


def _score(model: StoredBag, outside: Outside, target: Target) -> tuple[Score | None, float]:
    known = outside.known
    if not known.any():
        return None, float("nan")
    answers = outside.answers[known]
    if isinstance(target, ClassTarget):
        said = model.committee.codes(answers).astype(np.int32)
        score = score_classes(target.codes[known], said, int(target.counts.argmax()), True)
        return score, accuracy_error(score)
    actual = target.values[known]
    return score_numbers(actual, answers, means_of(target.values), True), r2_error(actual, answers)


def bag_parameters(asked: BagRequest, settings: Settings) -> dict[str, Any]:
    """An estimator with these parameters would have grown the trees."""
    own = estimator_parameters(settings)
    nominal, weights = own.pop("nominal_features"), own.pop("class_weight", None)
    own |= {"n_estimators": asked.trees, "max_samples": asked.max_samples, "algorithm": asked.algorithm}
    own |= {"nominal_features": nominal, "random_state": asked.tree.seed}
    if settings.parameters.criterion != "variance":
        own["voting"] = asked.voting
    return own if weights is None else own | {"class_weight": weights}
