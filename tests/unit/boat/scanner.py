"""An algorithm that scans, for tests of what stands around such: it gathers the encoded chunks and grows."""

from __future__ import annotations

import numpy as np

from hornbeam.boat.chunks import Chunks
from hornbeam.boat.columns import wide
from hornbeam.boat.meter import Meter
from hornbeam.boat.survey import Survey
from hornbeam.boat.task import SourceTask
from hornbeam.growth import ClassTarget, NumericTarget, Target, TrainingSets, grow_sets
from hornbeam.model import Tree
from hornbeam.table import Column, Table


def grow_by_chunks(task: SourceTask, survey: Survey, meter: Meter) -> list[Tree]:
    """The trees of all rows and of the folds; two alarms are made up."""
    with meter.scan("gathering") as report:
        chunks = list(Chunks(task.reading, survey, report, task.folds, task.seed))
    meter.alarms += 2
    meter.held_rows += survey.rows
    meter.spilled_bytes += 4096
    columns = zip(*([wide(column) for column in chunk.columns] for chunk in chunks), strict=True)
    table = Table(survey.schema, tuple(map(_joined, columns)), survey.rows)
    weights = [chunk.weights for chunk in chunks if chunk.weights is not None]
    all_weights = np.concatenate(weights) if weights else None
    target: Target
    if task.reading.classification:
        codes = np.concatenate([chunk.classes for chunk in chunks if chunk.classes is not None])
        target = ClassTarget(codes.astype(np.int32), survey.labels, all_weights, task.costs(survey.labels))
    else:
        values = np.concatenate([chunk.values for chunk in chunks if chunk.values is not None])
        target = NumericTarget(values, task.reading.targets, all_weights)
    left: list[np.ndarray] = [np.arange(survey.rows)]
    if task.folds is not None:
        folds = np.concatenate([chunk.folds for chunk in chunks if chunk.folds is not None])
        left += [np.flatnonzero(folds != fold) for fold in range(task.folds)]
    with meter.phase("growing") as share:
        sets = TrainingSets.of_rows(survey.rows, left)
        forest = grow_sets(table, target, task.parameters, sets, report=share)
    return [forest.tree(i) for i in range(forest.n_sets)]


def _joined(columns: tuple[Column, ...]) -> Column:
    values = np.concatenate([column.values for column in columns])
    if all(column.missing is None for column in columns):
        return Column(columns[0].kind, values)
    masks = [
        np.zeros(len(column.values), dtype=np.uint8) if column.missing is None else column.missing
        for column in columns
    ]
    return Column(columns[0].kind, values, np.concatenate(masks))
