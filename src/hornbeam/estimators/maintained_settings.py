"""What a maintained tree keeps of how it was made, and how it reads its rows to grow from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hornbeam.boat.growth import grow_source
from hornbeam.boat.maintained.store import LeftOut, Store
from hornbeam.boat.maintained.where import Conditions
from hornbeam.boat.task import LEAST_MEMORY
from hornbeam.errors import UsageError
from hornbeam.model import Tree
from hornbeam.table.sources import Source

from .base import TreeEstimator
from .classifier import TreeClassifier
from .regressor import TreeRegressor

if TYPE_CHECKING:
    from hornbeam.boat.maintained.kept import KeptTree
    from hornbeam.boat.maintained.update import Want
    from hornbeam.boat.task import SourceTask

_DATABASE_PART = 4  # of the memory, one such part is the database's


@dataclass(frozen=True)
class Present:
    """The present rows of a file, or those without a fold, as what a tree grows from. It does not know the
    `MaintainedTree`: whoever lets go of that gives the file free."""

    store: Store
    settings: Mapping[str, Any]
    left_out: LeftOut | None = None

    def __call__(
        self, wants: Sequence[Want], *, algorithm: str = "auto", kept: KeptTree | None = None
    ) -> SourceTask:
        where = [""] if kept is None else Conditions(kept, self.store.schema).where(wants)
        rows = self.store.source(where, self.settings["weight"], self.left_out)
        task = task_of(estimator_of(self.settings), rows, self.settings, algorithm)
        folds = self.settings["cv"]
        if task.memory_limit is None or folds is None:
            return task
        share = task.memory_limit // (1 + folds)  # all trees are warm together
        return replace(task, memory_limit=max(LEAST_MEMORY, share))


def is_class(rows: Source, targets: tuple[str, ...], criterion: Any) -> bool:
    if len(targets) > 1 or criterion == "variance" or targets[0] not in rows.schema.names:
        return criterion != "variance" and len(targets) == 1
    type_ = rows.schema.field(targets[0]).type
    return not pa.types.is_floating(type_) and not pa.types.is_decimal(type_)


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
    try:
        return kind(**parameters)
    except TypeError as error:
        raise UsageError(f"{str(error).split(') ')[-1]}; see {kind.__name__} for its parameters") from None


def task_of(model: TreeEstimator, rows: Source, settings: Mapping[str, Any], algorithm: str) -> SourceTask:
    task = model._source_task(
        rows, settings["targets"], settings["memory_limit"], key=settings["key"], algorithm=algorithm
    )
    if task.needs_rows is not None:
        raise UsageError(f"{task.needs_rows} asks for the rows of each node, which no maintained tree keeps")
    chosen = task.parameters
    if not task.verifiable or chosen.criterion == "quest":
        raise UsageError(
            f"criterion={chosen.criterion!r}, nominal={chosen.nominal!r}: a tree is kept by bounds, which "
            "c45, quest and multiway tests do not have"
        )
    return task


def grown(task: SourceTask) -> list[Tree]:
    """The trees of all rows and of the folds, before pruning."""
    if task.folds is not None and task.algorithm == "boat":  # which guesses one tree
        task = replace(task, algorithm="auto")
    return [pair.unpruned for pair in grow_source(task).pairs]


def database_memory(limit: int | None) -> int | None:
    return None if limit is None else limit // _DATABASE_PART
