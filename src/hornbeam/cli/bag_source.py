"""`hornbeam bag` over a source: bags drawn row by row, all trees in the same scans."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hornbeam.boat.growth import grow_source
from hornbeam.ensemble import Committee, OutsideSums, SourceBags, draw_source_bags
from hornbeam.errors import UsageError
from hornbeam.estimators.stored_bags import StoredBag
from hornbeam.report import Score, accuracy_error

from .bag_learn import BagRequest, LearnedBag, bag_parameters, estimator_name
from .fit_source import cluster, open_source, settle_source
from .learn import notes_of
from .output import scanning

ALGORITHMS = ("memory", "rf_hybrid", "rf_vertical", "rf_write", "rf_read")


def bag_source(
    data: str,
    sql: str | None,
    asked: BagRequest,
    key: str | None,
    engine: str | None,
    scheduler: str | None,
) -> LearnedBag:
    """Grow and score the trees; whoever waits sees each scan."""
    request = asked.tree
    if asked.algorithm in ("serial", "overlapping"):
        raise UsageError(
            f"--algorithm {asked.algorithm}: it is for rows in memory; of a source auto, "
            f"{', '.join(ALGORITHMS)} are allowed"
        )
    with scanning() as listener, cluster(engine, scheduler, request.threads) as workers:
        rows = open_source(data, sql, request)
        rows.engine = workers
        task, settings = settle_source(rows, request, key, listener)
        kind = "classification" if task.reading.classification else "regression"
        asked.check_voting(kind)
        random = np.random.RandomState(request.seed)
        draws = draw_source_bags(rows.rows, asked.trees, random, max_samples=asked.max_samples)

        def outside(trees: Any) -> OutsideSums:
            return OutsideSums(Committee(trees, asked.voting), draws, request.threads)

        growth = grow_source(replace(task, algorithm=asked.algorithm, bags=draws, outside=outside))
    bags = SourceBags.of(draws, growth.rows, key is not None)
    parameters = bag_parameters(replace(asked, algorithm="auto"), settings)
    model = StoredBag(estimator_name(kind), parameters, bags, growth.pairs, notes_of(request))
    assert isinstance(growth.outside, OutsideSums)
    score, error = _score(kind, growth.outside)
    return LearnedBag(model, growth.schema, growth.rows, request.seed, score, error, growth=growth)


def _score(task: str, outside: OutsideSums) -> tuple[Score | None, float | None]:
    """The score without a baseline, which would take the rows, and its standard error."""
    if not outside.known:
        return None, None
    measure = "accuracy" if task == "classification" else "r2"
    score = Score(measure, outside.score, float("nan"), outside.known, True)
    return score, accuracy_error(score) if measure == "accuracy" else None
