"""From rows to a scored tree: choose the task, hold rows out, grow, score."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import hornbeam
from hornbeam.errors import DataError, UsageError
from hornbeam.estimators.store import CLASSIFIER, REGRESSOR, StoredModel
from hornbeam.growth import CRITERIA, ClassCosts, ClassTarget, NumericTarget, Parameters, grow_tree
from hornbeam.model import Tree
from hornbeam.report import Errors, Points, Score, count_errors, sample_points, score_classes, score_numbers
from hornbeam.table import Table, conform, encode_weights, from_data

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
    seed: int = 0
    threads: int = 1
    weight: str | None = None
    """The column that says what each row weighs."""
    class_weight: str | None = None


@dataclass(frozen=True)
class Learned:
    """The grown tree, the rows it was grown from, and how well it answers."""

    model: StoredModel
    table: Table
    plan: Plan
    score: Score
    seconds: float
    errors: Errors | None = None
    points: Points | None = None

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
        return self.plan.seed if self.plan.test is not None else None


def learn(data: pa.Table, plan: Plan, report: Report = None) -> Learned:
    """Grow and score a tree; `report` hears how far the growth is."""
    check_targets(data, plan.targets)
    check_nominal(data, plan)
    task = plan.task or choose_task(data, plan.targets)
    if task == "classification" and len(plan.targets) > 1:
        raise UsageError(
            f"{len(plan.targets)} targets for classification; give one --target, or --task regression"
        )
    parameters = check_parameters(plan.parameters, task)
    check_weights(data, plan, task)
    attributes = data.drop_columns([*plan.targets, *([plan.weight] if plan.weight is not None else [])])
    if task == "classification":
        return _learn_classes(data, attributes, plan, parameters, report)
    return _learn_numbers(data, attributes, plan, parameters, report)


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


def hold_out(
    groups: NDArray[np.int32], share: float | None, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows to grow from and rows to score, drawn within each group; every group keeps a row to grow from."""
    n = len(groups)
    if share is None:
        return np.arange(n), np.arange(0)
    order = np.random.default_rng(seed).permutation(n)
    ranked = order[np.argsort(groups[order], kind="stable")]
    counts = np.bincount(groups)
    begins = np.cumsum(counts) - counts
    taken = np.minimum((counts * share + 0.5).astype(np.int64), np.maximum(counts - 1, 0))
    place = np.arange(n) - begins[groups[ranked]]
    test = place < taken[groups[ranked]]
    if not test.any():
        raise DataError(
            f"--test {share} of {n} rows leaves no row to score; use a larger share or leave it out"
        )
    return np.sort(ranked[~test]), np.sort(ranked[test])


def _learn_classes(
    data: pa.Table, attributes: pa.Table, plan: Plan, parameters: Parameters, report: Report
) -> Learned:
    codes, classes = read_classes(data, plan.targets[0])
    grown, held = hold_out(codes, plan.test, plan.seed)
    table = _table(attributes, grown, plan)
    costs = ClassCosts.checked(plan.class_weight, None, classes)
    target = ClassTarget(codes[grown], classes, read_weights(data, plan, grown), costs)
    tree, seconds = _grow(table, target, parameters, plan.threads, report)
    scored = conform(attributes.take(held), tree.schema) if len(held) else table
    actual = codes[held] if len(held) else codes[grown]
    answered = tree.predict_codes(scored, plan.threads)
    most_common = int(np.bincount(codes[grown]).argmax())
    score = score_classes(actual, answered, most_common, bool(len(held)))
    errors = count_errors(actual, answered, tuple(str(label) for label in classes.tolist()))
    return Learned(_model(CLASSIFIER, tree, plan, parameters), table, plan, score, seconds, errors=errors)


def _learn_numbers(
    data: pa.Table, attributes: pa.Table, plan: Plan, parameters: Parameters, report: Report
) -> Learned:
    values = read_numbers(data, plan.targets)
    grown, held = hold_out(np.zeros(len(values), dtype=np.int32), plan.test, plan.seed)
    table = _table(attributes, grown, plan)
    target = NumericTarget(np.ascontiguousarray(values[grown]), plan.targets, read_weights(data, plan, grown))
    tree, seconds = _grow(table, target, parameters, plan.threads, report)
    scored = conform(attributes.take(held), tree.schema) if len(held) else table
    actual = values[held] if len(held) else values[grown]
    answered = tree.predict_means(scored, plan.threads)
    score = score_numbers(actual, answered, values[grown].mean(axis=0), bool(len(held)))
    points = sample_points(actual, answered, plan.targets[0])
    return Learned(_model(REGRESSOR, tree, plan, parameters), table, plan, score, seconds, points=points)


def _table(attributes: pa.Table, rows: NDArray[np.int64], plan: Plan) -> Table:
    chosen = attributes if len(rows) == attributes.num_rows else attributes.take(rows)
    return from_data(
        chosen, nominal_features=list(plan.nominal_features) if plan.nominal_features else "from_dtype"
    )


def _grow(
    table: Table,
    target: ClassTarget | NumericTarget,
    parameters: Parameters,
    threads: int,
    report: Report,
) -> tuple[Tree, float]:
    start = time.perf_counter()
    tree = grow_tree(table, target, parameters, threads=threads, report=report)
    return tree, time.perf_counter() - start


def _model(estimator: str, tree: Tree, plan: Plan, parameters: Parameters) -> StoredModel:
    """The model file of the tree: an estimator with these parameters would have grown it."""
    stored = asdict(parameters) | {"nominal_features": list(plan.nominal_features) or "from_dtype"}
    if plan.class_weight is not None:
        stored["class_weight"] = plan.class_weight
    notes = {"target": ", ".join(plan.targets), "version": hornbeam.__version__}
    return StoredModel(estimator, stored, tree, notes)
