"""What a command that grows trees was asked for, checked against the rows that it is asked about."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hornbeam.errors import DataError, UsageError
from hornbeam.growth import CRITERIA, Parameters, Pruning, bytes_of
from hornbeam.table import encode_weights, read_path

from .options import split_nominal
from .output import working
from .sources import data_name, naming
from .targets import check_targets, choose_task, near_names

Report = Callable[[float], None] | None
T = TypeVar("T")


@dataclass(frozen=True)
class FitRequest:
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
    memory_limit: str | None = None
    """Of growing."""

    @property
    def nominal(self) -> Any:
        """The `nominal_features` of an estimator."""
        return list(self.nominal_features) or "from_dtype"

    @classmethod
    def asked(cls, options: Mapping[str, Any]) -> FitRequest:
        """What the options of a command say of a tree and its rows."""
        own = {entry.name for entry in fields(cls)} & set(options)
        known = {name: options[name] for name in own}
        tree = (entry.name for kind in (Parameters, Pruning) for entry in fields(kind))
        given = {name: options[name] for name in tree if options.get(name) is not None}
        nominal = tuple(split_nominal(options["nominal_features"]))
        return cls(**known | {"nominal_features": nominal, "parameters": given})


@dataclass(frozen=True)
class Settings:
    """The request, checked: how to grow and prune, and who hears of it."""

    parameters: Parameters
    pruning: Pruning
    request: FitRequest
    report: Report
    memory_limit: int | None = None

    @property
    def draws(self) -> bool:
        """Whether the seed has any say."""
        return self.request.test is not None or self.request.cv is not None or self.pruning.holds_out


def learn_from(data: str, sql: str | None, doing: str, learn: Callable[[pa.Table, Report], T]) -> T:
    """What is learned from the rows of a file; whoever waits sees what is being done."""
    with working(f"reading {data_name(data)}"):
        rows = read_path(data, sql=sql)
    with working(doing) as report, naming(data):
        return learn(rows, report)


def settle(data: pa.Table, request: FitRequest, report: Report) -> tuple[str, pa.Table, Settings]:
    """The task, the columns to learn from, and how; whatever does not fit the rows is refused."""
    check_targets(data, request.targets)
    check_nominal(data, request)
    task = request.task or choose_task(data, request.targets)
    if task == "classification" and len(request.targets) > 1:
        raise UsageError(
            f"{len(request.targets)} targets for classification; give one --target, or --task regression"
        )
    parameters, pruning = tree_parameters(request, task)
    check_weights(data, request, task)
    limit = bytes_of(request.memory_limit)
    no_attributes = request.targets if request.weight is None else (*request.targets, request.weight)
    attributes = data.drop_columns(list(no_attributes))
    return task, attributes, Settings(parameters, pruning, request, report, limit)


def tree_parameters(request: FitRequest, task: str) -> tuple[Parameters, Pruning]:
    """How the tree is grown and pruned."""
    given, own = request.parameters, {entry.name for entry in fields(Pruning)}
    grown = Parameters(**{"criterion": CRITERIA[task][0], **without(given, own)})
    pruned = Pruning(**{name: given[name] for name in own & set(given)})
    return grown.checked(task), pruned.checked(task)


def without(given: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in names}


def check_weights(data: pa.Table, request: FitRequest, task: str) -> None:
    """Refuse a --weight that is no column to weigh by, and a --class-weight that means nothing here."""
    if request.class_weight not in (None, "balanced"):
        raise UsageError(f"--class-weight {request.class_weight!r}: use balanced, or leave it out")
    if request.class_weight is not None and task == "regression":
        raise UsageError("--class-weight balanced: numbers have no classes; leave it out, or --weight rows")
    if request.weight is None:
        return
    if request.weight in request.targets:
        raise UsageError(f"--weight {request.weight!r} is the target; name another column")
    if request.weight in request.nominal_features:
        raise UsageError(f"--weight {request.weight!r} is among --nominal-features; name it once")
    if request.weight not in data.column_names:
        names = [name for name in data.column_names if name not in request.targets]
        raise UsageError(f"--weight {request.weight!r} is not a column; {near_names(request.weight, names)}")
    if data.num_columns == len(request.targets) + 1:
        raise DataError(
            f"zero columns besides the target and the weight {request.weight!r}; attributes are needed"
        )


def read_weights(data: pa.Table, request: FitRequest, rows: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """What the given rows weigh; every weight of the column is judged."""
    if request.weight is None:
        return None
    name = f"weight {request.weight!r}"
    weights = encode_weights(data.column(request.weight).to_numpy(), data.num_rows, name)
    return None if weights is None else encode_weights(weights[rows], len(rows), name)


def check_nominal(data: pa.Table, request: FitRequest) -> None:
    """Refuse --nominal-features that are not attributes."""
    names = [name for name in data.column_names if name not in request.targets]
    for name in request.nominal_features:
        if name in request.targets:
            raise UsageError(f"--nominal-features {name!r} is the target; name attributes only")
        if name not in names:
            raise UsageError(f"--nominal-features {name!r} is not a column; {near_names(name, names)}")
