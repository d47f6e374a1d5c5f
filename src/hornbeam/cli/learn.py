"""From rows to a scored tree: choose the task, hold rows out, grow, score."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import hornbeam
from hornbeam.errors import DataError
from hornbeam.estimators.store import CLASSIFIER, REGRESSOR, StoredModel
from hornbeam.growth import ClassTarget, Pair, Target, grow_and_prune, hold_out
from hornbeam.report import Study, judge
from hornbeam.table import Table, conform, from_data
from hornbeam.validation import Estimate, deal_folds, estimate_by_folds

from .request import FitRequest, Report, Settings, read_weights, settle
from .targets import read_target


class Learned(NamedTuple):
    """The model file of a tree, and what there is to say of the tree."""

    model: StoredModel
    study: Study


def learn(data: pa.Table, request: FitRequest, report: Report = None) -> Learned:
    """Grow and score a tree; `report` hears how far the growth is."""
    task, attributes, settings = settle(data, request, report)
    whole = read_target(data, request.targets, task, request.class_weight)
    grown, held = rows_for(whole, request.test, request.seed)
    table = table_of(attributes, grown, request)
    target = replace(whole.take(grown), weights=read_weights(data, request, grown))
    start = time.perf_counter()
    pair, estimate = _grow(table, target, settings)
    seconds = time.perf_counter() - start
    scored, actual = table, target
    if len(held):
        scored, actual = conform(attributes.take(held), pair.tree.schema), whole.take(held)
    judged = judge(pair.tree, scored, actual, target, bool(len(held)), request.threads)
    model = model_of(pair, settings)
    return learned_of(model, request, seconds, settings.draws, table=table, estimate=estimate, **judged)


def learned_of(
    model: StoredModel, request: FitRequest, seconds: float, drawn: bool = True, **what: Any
) -> Learned:
    """A model, and its study with what else is known of its tree."""
    seed, target = request.seed if drawn else None, ", ".join(request.targets)
    study = Study(model.tree, target, parameters=model.parameters, seed=seed, seconds=seconds, **what)
    return Learned(model, study)


def rows_for(target: Target, share: float | None, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows to grow from and rows to score, of each class its share; without a share all and none."""
    n_rows = target.n_rows
    if share is None:
        return np.arange(n_rows), np.arange(0)
    groups = target.codes if isinstance(target, ClassTarget) else np.zeros(n_rows, dtype=np.int32)
    grown, held = hold_out(groups, share, seed)
    if len(held) == 0:
        raise DataError(
            f"--test {share} of {n_rows} rows leaves no row to score; use a larger share or leave it out"
        )
    return grown, held


def table_of(attributes: pa.Table, rows: NDArray[np.int64], request: FitRequest) -> Table:
    """Some rows of the attributes, read."""
    chosen = attributes if len(rows) == attributes.num_rows else attributes.take(rows)
    return from_data(chosen, nominal_features=request.nominal)


def _grow(table: Table, target: Target, settings: Settings) -> tuple[Pair, Estimate | None]:
    """The tree, and what folds say of it, where some are asked for."""
    request, grown = settings.request, (table, target, settings.parameters)
    how: Any = {"threads": request.threads, "memory_limit": settings.memory_limit, "report": settings.report}
    if request.cv is None:
        random = np.random.RandomState(request.seed)  # as the estimator with this random_state
        return grow_and_prune(*grown, settings.pruning, random=random, **how), None
    folds = deal_folds(target, request.cv, request.seed)
    forest, estimate = estimate_by_folds(*grown, folds, pruning=settings.pruning, seed=request.seed, **how)
    return forest.pair(0), estimate


def model_of(pair: Pair, settings: Settings) -> StoredModel:
    """The model file of a tree: an estimator with these parameters would have grown it."""
    request, stored = settings.request, estimator_parameters(settings)
    if settings.pruning.holds_out:
        stored["random_state"] = request.seed
    name = CLASSIFIER if pair.tree.classes is not None else REGRESSOR
    return StoredModel(name, stored, pair.tree, notes_of(request), pair.unpruned_alone)


def notes_of(request: FitRequest) -> dict[str, str]:
    """What a model file tells besides."""
    return {"target": ", ".join(request.targets), "version": hornbeam.__version__}


def estimator_parameters(settings: Settings) -> dict[str, Any]:
    """The parameters of an estimator that grows such a tree."""
    request = settings.request
    found = asdict(settings.parameters) | asdict(settings.pruning)
    found |= {"nominal_features": request.nominal}
    if request.class_weight is not None:
        found["class_weight"] = request.class_weight
    return found
