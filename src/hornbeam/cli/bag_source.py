"""`hornbeam bag` over a source: bags drawn row by row, all trees in the same scans."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import click
import numpy as np

import hornbeam
from hornbeam.boat.grown import SourceGrowth
from hornbeam.boat.growth import grow_source
from hornbeam.ensemble import Committee, OutsideSums, SourceBags, draw_source_bags
from hornbeam.errors import UsageError
from hornbeam.estimators.stored_bags import BAGGED_CLASSIFIER, BAGGED_REGRESSOR, StoredBag

from .bag_learn import BagPlan, stored_parameters
from .bag_results import importances_text, trees_text
from .fit_source import cluster, open_source, settle_source
from .output import print_json, print_pairs, scanning, style

ALGORITHMS = ("memory", "rf_hybrid", "rf_vertical", "rf_write", "rf_read")


@dataclass(frozen=True)
class BaggedSource:
    """The trees of bags over a source, and what the rows outside say."""

    model: StoredBag
    growth: SourceGrowth
    outside: OutsideSums
    target: str

    @property
    def error(self) -> float | None:
        """The standard error of an accuracy; of R² it would take the rows."""
        value = self.outside.score
        known = self.model.is_classifier and self.outside.known > 0
        return float(np.sqrt(value * (1 - value) / self.outside.known)) if known else None


def bag_source(
    data: str,
    sql: str | None,
    asked: BagPlan,
    key: str | None,
    engine: str | None,
    scheduler: str | None,
) -> BaggedSource:
    """Grow and score the trees; whoever waits sees each scan."""
    plan = asked.plan
    if asked.algorithm in ("serial", "overlapping"):
        raise UsageError(
            f"--algorithm {asked.algorithm}: it is for rows in memory; of a source auto, "
            f"{', '.join(ALGORITHMS)} are allowed"
        )
    with scanning() as listener, cluster(engine, scheduler, plan.threads) as workers:
        rows = open_source(data, sql, plan)
        rows.engine = workers
        task, settings = settle_source(rows, plan, key, listener)
        classes = task.reading.classification
        if not classes and asked.voting != "soft":
            raise UsageError(f"--voting {asked.voting}: numbers are averaged; leave it out")
        random = np.random.RandomState(plan.seed)
        draws = draw_source_bags(rows.rows, asked.trees, random, max_samples=asked.max_samples)

        def outside(trees: Any) -> OutsideSums:
            return OutsideSums(Committee(trees, asked.voting), draws, plan.threads)

        growth = grow_source(replace(task, algorithm=asked.algorithm, bags=draws, outside=outside))
    bags = SourceBags.of(draws, growth.rows, key is not None)
    parameters = stored_parameters(replace(asked, algorithm="auto"), settings.parameters, settings.pruning)
    notes = {"target": ", ".join(plan.targets), "version": hornbeam.__version__}
    name = BAGGED_CLASSIFIER if classes else BAGGED_REGRESSOR
    model = StoredBag(name, parameters, bags, growth.pairs, notes)
    assert isinstance(growth.outside, OutsideSums)
    return BaggedSource(model, growth, growth.outside, notes["target"])


def tell_bagged_source(found: BaggedSource, output: str | None, as_json: bool) -> None:
    """The result on stdout."""
    if as_json:
        print_json(_object(found) | {"model": output})
        return
    schema, outside = found.growth.schema, found.outside
    importances = found.model.committee.feature_importances
    used = int(np.count_nonzero(importances))
    measure = "accuracy" if found.model.is_classifier else "R²"
    said = "unknown: every bag has every row"
    if outside.known:
        error = "" if found.error is None else f" ± {found.error:.4f}"
        said = f"{outside.score:.4f}{error} ({outside.known:,} of {outside.rows:,} rows)"
    print_pairs(
        [
            ("trees", style(trees_text(found.model), bold=True)),
            (f"{measure} (out of bag)", style(said, bold=True)),
            ("grown from", f"{found.growth.rows:,} rows, {len(schema)} attributes ({used} used)"),
            ("target", found.target),
        ]
    )
    click.echo("\n" + found.growth.stats.to_text())
    importances_text(schema.names, importances)
    if output:
        click.echo(f"model saved to {output}; use it with: hornbeam predict {output} new.csv")


def _object(found: BaggedSource) -> dict[str, Any]:
    model, outside = found.model, found.outside
    shares = zip(found.growth.schema.names, model.committee.feature_importances.tolist(), strict=True)
    score = {
        "measure": "accuracy" if model.is_classifier else "r2",
        "value": outside.score,
        "standard_error": found.error,
        "rows": outside.known,
    }
    return {
        "task": "classification" if model.is_classifier else "regression",
        "target": found.target,
        "rows": found.growth.rows,
        "attributes": len(found.growth.schema),
        "trees": len(model.trees),
        "leaves": [tree.n_leaves for tree in model.trees],
        "depths": [tree.depth for tree in model.trees],
        "score": score if outside.known else None,
        "importances": {name: share for name, share in shares if share > 0},
        "scan_stats": found.growth.stats.to_record(),
        "digests": [tree.digest for tree in model.trees],
        "version": hornbeam.__version__,
    }
