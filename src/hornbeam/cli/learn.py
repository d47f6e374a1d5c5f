"""From rows to a scored tree: choose the task, hold rows out, grow, score."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import hornbeam
from hornbeam.errors import DataError, UsageError
from hornbeam.estimators.store import CLASSIFIER, REGRESSOR, StoredModel
from hornbeam.growth import (
    CRITERIA,
    ClassCosts,
    ClassTarget,
    Forest,
    NumericTarget,
    Parameters,
    Pruning,
    grow_and_prune,
    hold_out,
)
from hornbeam.model import Tree
from hornbeam.report import Errors, Points, Score, count_errors, sample_points, score_classes, score_numbers
from hornbeam.table import Table, conform, encode_weights, from_data
from hornbeam.validation import Estimate, deal_classes, deal_rows, estimate_by_folds

from .targets import check_targets, choose_task, near_names, read_classes, read_numbers

Report = Callable[[float], None] | None


@dataclass(frozen=True)
class Plan:
    """What was asked for."""

    targets: tuple[str, ...]
    task: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Those of the tree that were given; the others have their defaults."""
    nominal_features: tuple[str, ...] = ()
    test: float | None = None
    cv: int | None = None
    """How many folds to cross-validate by."""
    seed: int = 0
    threads: int = 1
    weight: str | None = None
    """The column that says what each row weighs."""
    class_weight: str | None = None


@dataclass(frozen=True)
class Settings:
    """The plan, checked: how to grow and prune, and who hears of it."""

    parameters: Parameters
    pruning: Pruning
    plan: Plan
    report: Report

    @property
    def draws(self) -> bool:
        """Whether the seed has any say."""
        return self.plan.test is not None or self.plan.cv is not None or self.pruning.holds_out


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

    @property
    def tree(self) -> Tree:
        return self.model.tree

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
    check_targets(data, plan.targets)
    check_nominal(data, plan)
    task = plan.task or choose_task(data, plan.targets)
    if task == "classification" and len(plan.targets) > 1:
        raise UsageError(
            f"{len(plan.targets)} targets for classification; give one --target, or --task regression"
        )
    options = {entry.name for entry in fields(Pruning)}
    parameters = check_parameters(without(plan.parameters, options), task)
    pruning = check_pruning(without(plan.parameters, set(plan.parameters) - options), task)
    check_weights(data, plan, task)
    settings = Settings(parameters, pruning, plan, report)
    attributes = data.drop_columns([*plan.targets, *([plan.weight] if plan.weight is not None else [])])
    if task == "classification":
        return _learn_classes(data, attributes, plan, settings)
    return _learn_numbers(data, attributes, plan, settings)


def without(given: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in names}


def check_weights(data: pa.Table, plan: Plan, task: str) -> None:
    """Refuse a --weight that is no column to weigh by, and a --class-weight that means nothing here."""
    if plan.class_weight not in (None, "balanced"):
        raise UsageError(f"--class-weight {plan.class_weight!r}: use balanced, or leave it out")
    if plan.class_weight is not None and task == "regression":
        raise UsageError("--class-weight balanced: numbers have no classes; leave it out, or --weight rows")
    if plan.weight is None:
        return
    if plan.weight in plan.targets:
        raise UsageError(f"--weight {plan.weight!r} is the target; name another column")
    if plan.weight in plan.nominal_features:
        raise UsageError(f"--weight {plan.weight!r} is among --nominal-features; name it once")
    if plan.weight not in data.column_names:
        names = [name for name in data.column_names if name not in plan.targets]
        raise UsageError(f"--weight {plan.weight!r} is not a column; {near_names(plan.weight, names)}")
    if data.num_columns == len(plan.targets) + 1:
        raise DataError(
            f"zero columns besides the target and the weight {plan.weight!r}; attributes are needed"
        )


def read_weights(data: pa.Table, plan: Plan, rows: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """What the given rows weigh; every weight of the column is judged."""
    if plan.weight is None:
        return None
    try:
        weights = encode_weights(data.column(plan.weight).to_numpy(), data.num_rows)
        return encode_weights(None if weights is None else weights[rows], len(rows))
    except DataError as error:
        raise DataError(str(error).replace("sample_weight", f"weight {plan.weight!r}")) from None


def check_nominal(data: pa.Table, plan: Plan) -> None:
    """Refuse --nominal-features that are not attributes."""
    names = [name for name in data.column_names if name not in plan.targets]
    for name in plan.nominal_features:
        if name in plan.targets:
            raise UsageError(f"--nominal-features {name!r} is the target; name attributes only")
        if name not in names:
            raise UsageError(f"--nominal-features {name!r} is not a column; {near_names(name, names)}")


def check_parameters(given: Mapping[str, Any], task: str) -> Parameters:
    """The parameters of the tree; a wrong one is named as the option that it came from."""
    try:
        return Parameters(**{"criterion": CRITERIA[task][0], **given}).checked(task=task)
    except UsageError as error:
        name, _, rest = str(error).partition("=")
        raise UsageError(f"--{name.replace('_', '-')} {rest}") from None


def check_pruning(given: Mapping[str, Any], task: str) -> Pruning:
    """How the tree is pruned; a wrong option is named as it was given."""
    try:
        return Pruning(**given).checked(task)
    except UsageError as error:
        name, _, rest = str(error).partition("=")
        raise UsageError(f"--{name.replace('_', '-')} {rest}") from None


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
    table = _table(attributes, grown, plan)
    costs = ClassCosts.checked(plan.class_weight, None, classes)
    target = ClassTarget(codes[grown], classes, read_weights(data, plan, grown), costs)
    tree, unpruned, estimate, seconds = _grow(table, target, settings)
    scored = conform(attributes.take(held), tree.schema) if len(held) else table
    actual = codes[held] if len(held) else codes[grown]
    answered = tree.predict_codes(scored, plan.threads)
    most_common = int(np.bincount(codes[grown]).argmax())
    score = score_classes(actual, answered, most_common, bool(len(held)))
    errors = count_errors(actual, answered, tuple(str(label) for label in classes.tolist()))
    model = _model(CLASSIFIER, tree, unpruned, settings)
    return Learned(model, table, plan, score, seconds, settings.draws, errors=errors, estimate=estimate)


def _learn_numbers(data: pa.Table, attributes: pa.Table, plan: Plan, settings: Settings) -> Learned:
    values = read_numbers(data, plan.targets)
    grown, held = rows_for(np.zeros(len(values), dtype=np.int32), plan.test, plan.seed)
    table = _table(attributes, grown, plan)
    target = NumericTarget(np.ascontiguousarray(values[grown]), plan.targets, read_weights(data, plan, grown))
    tree, unpruned, estimate, seconds = _grow(table, target, settings)
    scored = conform(attributes.take(held), tree.schema) if len(held) else table
    actual = values[held] if len(held) else values[grown]
    answered = tree.predict_means(scored, plan.threads)
    score = score_numbers(actual, answered, values[grown].mean(axis=0), bool(len(held)))
    points = sample_points(actual, answered, plan.targets[0])
    model = _model(REGRESSOR, tree, unpruned, settings)
    return Learned(model, table, plan, score, seconds, settings.draws, points=points, estimate=estimate)


def _table(attributes: pa.Table, rows: NDArray[np.int64], plan: Plan) -> Table:
    chosen = attributes if len(rows) == attributes.num_rows else attributes.take(rows)
    return from_data(
        chosen, nominal_features=list(plan.nominal_features) if plan.nominal_features else "from_dtype"
    )


def _grow(
    table: Table, target: ClassTarget | NumericTarget, settings: Settings
) -> tuple[Tree, Tree | None, Estimate | None, float]:
    """The tree, what it was before pruning (None: the same), what folds say of it, and the seconds of all."""
    start, pruning, threads = time.perf_counter(), settings.pruning, settings.plan.threads
    if settings.plan.cv is not None:
        forest, estimate = _grow_folds(table, target, settings, settings.plan.cv)
        tree, grown = forest.pair(0)
        return tree, None if tree is grown else grown, estimate, time.perf_counter() - start
    random = np.random.RandomState(settings.plan.seed)  # as the estimator with this random_state
    grown, tree = grow_and_prune(
        table, target, settings.parameters, pruning, random=random, threads=threads, report=settings.report
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
        report=settings.report,
    )


def _model(estimator: str, tree: Tree, unpruned: Tree | None, settings: Settings) -> StoredModel:
    """The model file of the tree: an estimator with these parameters would have grown it."""
    plan = settings.plan
    stored = asdict(settings.parameters) | asdict(settings.pruning)
    stored |= {"nominal_features": list(plan.nominal_features) or "from_dtype"}
    if settings.pruning.holds_out:
        stored["random_state"] = plan.seed
    if plan.class_weight is not None:
        stored["class_weight"] = plan.class_weight
    notes = {"target": ", ".join(plan.targets), "version": hornbeam.__version__}
    return StoredModel(estimator, stored, tree, notes, unpruned)
