"""From rows to a scored tree: choose the task, hold rows out, grow, score."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import hornbeam
from hornbeam.anytime.course import SearchCourse
from hornbeam.boat.grown import SourceGrowth
from hornbeam.errors import DataError
from hornbeam.estimators.store import CLASSIFIER, REGRESSOR, StoredModel
from hornbeam.growth import (
    ClassCosts,
    ClassTarget,
    Forest,
    NumericTarget,
    grow_and_prune,
    hold_out,
)
from hornbeam.model import Tree
from hornbeam.report import Errors, Points, Score, count_errors, sample_points, score_classes, score_numbers
from hornbeam.table import Table, conform, from_data
from hornbeam.validation import Estimate, deal_classes, deal_rows, estimate_by_folds
from hornbeam.validation.scores import means_of
from hornbeam.validation.search_record import SearchRecord

from .plan import Plan, Report, Settings, read_weights, settle
from .targets import read_classes, read_numbers


@dataclass(frozen=True)
class Learned:
    """The grown tree, the rows it was grown from, and how well it answers."""

    model: StoredModel
    table: Table
    plan: Plan
    score: Score
    seconds: float
    drawn: bool = False
    errors: Errors | None = None
    points: Points | None = None
    estimate: Estimate | None = None
    search: SearchRecord | None = None
    """What the tree was chosen from."""
    course: SearchCourse | None = None
    """How it became what it is, where it was improved."""
    growth: SourceGrowth | None = None
    """Where the rows came from a source: what was seen of them; the table is a sample then."""

    @property
    def tree(self) -> Tree:
        return self.model.tree

    @property
    def n_rows(self) -> int:
        """The rows that the tree was grown from."""
        return self.table.n_rows if self.growth is None else self.growth.rows

    @property
    def task(self) -> str:
        return "classification" if self.model.is_classifier else "regression"

    @property
    def target(self) -> str:
        return ", ".join(self.plan.targets)

    @property
    def seed(self) -> int | None:
        """None where nothing was drawn."""
        return self.plan.seed if self.drawn else None


def learn(data: pa.Table, plan: Plan, report: Report = None) -> Learned:
    """Grow and score a tree; `report` hears how far the growth is."""
    task, attributes, settings = settle(data, plan, report)
    if task == "classification":
        return _learn_classes(data, attributes, plan, settings)
    return _learn_numbers(data, attributes, plan, settings)


def rows_for(
    groups: NDArray[np.int32], share: float | None, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows to grow from and rows to score; without a share all and none."""
    if share is None:
        return np.arange(len(groups)), np.arange(0)
    grown, held = hold_out(groups, share, seed)
    if len(held) == 0:
        raise DataError(
            f"--test {share} of {len(groups)} rows leaves no row to score; use a larger share or leave it out"
        )
    return grown, held


def _learn_classes(data: pa.Table, attributes: pa.Table, plan: Plan, settings: Settings) -> Learned:
    codes, classes = read_classes(data, plan.targets[0])
    grown, held = rows_for(codes, plan.test, plan.seed)
    table = table_of(attributes, grown, plan)
    costs = ClassCosts.checked(plan.class_weight, None, classes)
    target = ClassTarget(codes[grown], classes, read_weights(data, plan, grown), costs)
    tree, unpruned, estimate, seconds = _grow(table, target, settings)
    scored = conform(attributes.take(held), tree.schema) if len(held) else table
    actual = codes[held] if len(held) else codes[grown]
    answered = tree.predict_codes(scored, plan.threads)
    most_common = int(np.bincount(codes[grown]).argmax())
    score = score_classes(actual, answered, most_common, bool(len(held)))
    errors = count_errors(actual, answered, tuple(str(label) for label in classes.tolist()))
    model = model_of(CLASSIFIER, tree, unpruned, settings)
    return Learned(model, table, plan, score, seconds, settings.draws, errors=errors, estimate=estimate)


def _learn_numbers(data: pa.Table, attributes: pa.Table, plan: Plan, settings: Settings) -> Learned:
    values = read_numbers(data, plan.targets)
    grown, held = rows_for(np.zeros(len(values), dtype=np.int32), plan.test, plan.seed)
    table = table_of(attributes, grown, plan)
    target = NumericTarget(np.ascontiguousarray(values[grown]), plan.targets, read_weights(data, plan, grown))
    tree, unpruned, estimate, seconds = _grow(table, target, settings)
    scored = conform(attributes.take(held), tree.schema) if len(held) else table
    actual = values[held] if len(held) else values[grown]
    answered = tree.predict_means(scored, plan.threads)
    score = score_numbers(actual, answered, means_of(values[grown]), bool(len(held)))
    points = sample_points(actual, answered, plan.targets[0])
    model = model_of(REGRESSOR, tree, unpruned, settings)
    return Learned(model, table, plan, score, seconds, settings.draws, points=points, estimate=estimate)


def table_of(attributes: pa.Table, rows: NDArray[np.int64], plan: Plan) -> Table:
    """Some rows of the attributes, read."""
    chosen = attributes if len(rows) == attributes.num_rows else attributes.take(rows)
    return from_data(
        chosen, nominal_features=list(plan.nominal_features) if plan.nominal_features else "from_dtype"
    )


def _grow(
    table: Table, target: ClassTarget | NumericTarget, settings: Settings
) -> tuple[Tree, Tree | None, Estimate | None, float]:
    """The tree, what it was before pruning (None: the same), what folds say of it, and the seconds of all."""
    start = time.perf_counter()
    if settings.plan.cv is not None:
        forest, estimate = _grow_folds(table, target, settings, settings.plan.cv)
        tree, grown = forest.pair(0)
        return tree, None if tree is grown else grown, estimate, time.perf_counter() - start
    tree, grown = grow_and_prune(
        table,
        target,
        settings.parameters,
        settings.pruning,
        random=np.random.RandomState(settings.plan.seed),  # as the estimator with this random_state
        threads=settings.plan.threads,
        memory_limit=settings.memory_limit,
        report=settings.report,
    )
    return tree, None if tree is grown else grown, None, time.perf_counter() - start


def _grow_folds(
    table: Table, target: ClassTarget | NumericTarget, settings: Settings, k: int
) -> tuple[Forest, Estimate]:
    """The trees of all rows and of k folds, dealt by the seed."""
    seed = settings.plan.seed
    if isinstance(target, ClassTarget):
        folds = deal_classes(target.codes, k, seed)
    else:
        folds = deal_rows(target.n_rows, k, seed)
    return estimate_by_folds(
        table,
        target,
        settings.parameters,
        folds,
        pruning=settings.pruning,
        seed=seed,
        threads=settings.plan.threads,
        memory_limit=settings.memory_limit,
        report=settings.report,
    )


def model_of(estimator: str, tree: Tree, unpruned: Tree | None, settings: Settings) -> StoredModel:
    """The model file of the tree: an estimator with these parameters would have grown it."""
    plan, stored = settings.plan, estimator_parameters(settings)
    if settings.pruning.holds_out:
        stored["random_state"] = plan.seed
    notes = {"target": ", ".join(plan.targets), "version": hornbeam.__version__}
    return StoredModel(estimator, stored, tree, notes, unpruned)


def estimator_parameters(settings: Settings) -> dict[str, Any]:
    """The parameters of an estimator that grows such a tree."""
    plan = settings.plan
    found = asdict(settings.parameters) | asdict(settings.pruning)
    found |= {"nominal_features": list(plan.nominal_features) or "from_dtype"}
    if plan.class_weight is not None:
        found["class_weight"] = plan.class_weight
    return found
