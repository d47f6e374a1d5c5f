"""What a maintained tree keeps of how it was made, and how it reads its rows to grow from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hornbeam.boat.task import LEAST_MEMORY
from hornbeam.errors import DataError, UsageError
from hornbeam.maintained.conditions import Conditions
from hornbeam.maintained.rows import LeftOut
from hornbeam.maintained.store import PublishedStore, Store
from hornbeam.table.sources import Source

from .trees import TreeClassifier, TreeEstimator, TreeRegressor

if TYPE_CHECKING:
    from hornbeam.boat.task import SourceTask
    from hornbeam.maintained.conditions import Want
    from hornbeam.maintained.kept import KeptTree

_DATABASE_PART = 4  # of the memory, one such part is the database's


@dataclass(frozen=True)
class Present:
    """The present rows of a file, or those without a fold, as what a tree grows from. It does not know the
    `MaintainedTree`: whoever lets go of that gives the file free."""

    store: Store | PublishedStore
    settings: Mapping[str, Any]
    left_out: LeftOut | None = None

    def __call__(self, wants: Sequence[Want], *, kept: KeptTree | None = None) -> SourceTask:
        where = [""] if kept is None else Conditions(kept, self.store.schema).of(wants)
        rows = self.store.rows.source(where, self.settings["weight"], self.left_out)
        task = task_of(estimator_of(self.settings), rows, self.settings)
        folds = self.settings["cv"]
        if task.memory_limit is None or folds is None:
            return task
        share = task.memory_limit // (1 + folds)  # all trees are warm together
        return replace(task, memory_limit=max(LEAST_MEMORY, share))

    def without(self, fold: LeftOut) -> Present:
        """The same without the rows of a fold."""
        return replace(self, left_out=fold)


def is_class(rows: Source, targets: tuple[str, ...], criterion: Any) -> bool:
    """Whether classes are predicted: as the criterion says, or else the type of the target."""
    if len(targets) > 1:
        return False
    if criterion is not None or targets[0] not in rows.schema.names:
        return bool(criterion != "variance")
    type_ = rows.schema.field(targets[0]).type
    return not pa.types.is_floating(type_) and not pa.types.is_decimal(type_)


def check_values(rows: pa.RecordBatch, settings: Mapping[str, Any], begin: int) -> None:
    """Refuse rows of a batch, of which so many came before, that no tree can be grown from."""
    for name in settings["targets"]:
        column = rows.column(name)
        if settings["classification"]:
            _refuse_row(pc.is_null(column), name, begin, "has no value", "every row needs its class")
        else:
            _refuse_row(pc.is_null(column), name, begin, "has no value", "every row needs its number")
            if pa.types.is_floating(column.type):
                _refuse_row(pc.is_inf(column), name, begin, "is infinite", "give a finite number")
    weight = settings["weight"]
    if weight is not None:
        column = rows.column(weight).cast(pa.float64())
        fine = pc.and_(pc.is_finite(column), pc.greater_equal(column, 0.0))
        wrong = pc.invert(pc.fill_null(fine, False))
        _refuse_row(wrong, weight, begin, "is no weight", "give a finite number from 0 on")


def _refuse_row(wrong: pa.Array, name: str, begin: int, what: str, remedy: str) -> None:
    row = pc.index(wrong, True).as_py()
    if row >= 0:
        raise DataError(f"column {name!r} {what} in row {begin + row + 1:,} of the batch; {remedy}")


def plain_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as JSON has them; a dict of class weights as pairs."""
    refused = {"random_state": "nothing is drawn", "n_jobs": ""}
    for name in given:
        if name in refused:
            raise UsageError(f"{name}= is not for a maintained tree: {refused[name] or 'it has one thread'}")
    plain: dict[str, Any] = {}
    for name, value in given.items():
        if name == "class_weight" and isinstance(value, Mapping):
            value = {"pairs": [[_number(k), _number(v)] for k, v in value.items()]}
        elif isinstance(value, np.ndarray) or name == "cost_matrix":
            value = None if value is None else np.asarray(value).tolist()
        plain[name] = _number(value)
    return plain


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def estimator_of(settings: Mapping[str, Any]) -> TreeEstimator:
    parameters = dict(settings["parameters"])
    weights = parameters.get("class_weight")
    if isinstance(weights, Mapping):
        parameters["class_weight"] = {label: weight for label, weight in weights["pairs"]}
    kind = TreeClassifier if settings["classification"] else TreeRegressor
    return kind(**parameters)


def task_of(
    model: TreeEstimator, rows: Source, settings: Mapping[str, Any], algorithm: str = "auto"
) -> SourceTask:
    task = model._source_task(
        rows, settings["targets"], settings["memory_limit"], key=settings["key"], algorithm=algorithm
    )
    if task.needs_rows is not None:
        raise UsageError(
            f"{task.needs_rows} asks for the rows of each node, which no maintained tree keeps",
            named=("prune", "competitors"),
        )
    chosen = task.parameters
    if not task.verifiable or chosen.criterion == "quest":
        raise UsageError(
            f"criterion={chosen.criterion!r}, nominal={chosen.nominal!r}: a tree is kept by bounds, which "
            "c45, quest and multiway tests do not have",
            named=("criterion", "nominal"),
        )
    return task


def database_memory(limit: int | None) -> int | None:
    return None if limit is None else limit // _DATABASE_PART
