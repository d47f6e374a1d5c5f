"""Trees of rows that are scanned, and trees that are kept while rows come and go."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

import hornbeam as hb
from hornbeam import (
    BaggedTreesClassifier,
    BaggedTreesRegressor,
    C45Classifier,
    MaintainedTree,
    TreeClassifier,
    TreeRegressor,
)
from hornbeam.datasets import generate

from .fits import COSTS, others_of
from .tables import ATTRIBUTES, people
from .values import Case, Values, answers_of, checksum, of_model, of_tree, of_trees

RAINFOREST = ("rf_hybrid", "rf_write", "rf_read", "rf_vertical")


def cases() -> dict[str, Case]:
    found = {f"scan, {name}": case for name, case in _scans().items()}
    return found | {f"maintained, {name}": case for name, case in _maintained().items()}


def source_of(*extra: str, weight: str | None = None, rows: int = 1500) -> Any:
    """Persons in pieces, with the columns that a case predicts or weighs by."""
    table = people(rows, seed=2, gaps=0.1).select([*ATTRIBUTES, *extra])
    return hb.source(lambda: table.to_batches(max_chunksize=400), weight=weight)


def _scans() -> dict[str, Case]:
    tree, numbers = TreeClassifier(min_samples_leaf=5), TreeRegressor(min_samples_leaf=20, max_depth=6)
    found: dict[str, Case] = {}
    for algorithm in ("auto", "memory", "boat", *RAINFOREST):
        found[f"gini, {algorithm}"] = partial(_scan, tree, algorithm=algorithm)
    for algorithm in ("boat", "rf_hybrid"):
        for criterion in ("entropy", "gain_ratio", "correlation", "quest"):
            model = TreeClassifier(criterion=criterion, nominal="subset", min_samples_leaf=4, max_depth=7)
            found[f"{criterion}, {algorithm}"] = partial(_scan, model, algorithm=algorithm)
        found[f"weights, {algorithm}"] = partial(_scan, tree, weight="weight", algorithm=algorithm)
        found[f"variance, {algorithm}"] = partial(_scan, numbers, "amount", algorithm=algorithm)
        found[f"two targets, weights, {algorithm}"] = partial(
            _scan, numbers, "amount change", weight="weight", algorithm=algorithm
        )
        costs = TreeClassifier(class_weight="balanced", cost_matrix=COSTS, max_depth=6, nominal="value")
        found[f"balanced, costs, value, {algorithm}"] = partial(_scan, costs, algorithm=algorithm)
    return found | {
        "boat as the paper has it": partial(_scan, tree, algorithm="boat", variant="paper"),
        "c45, rf_hybrid": partial(_scan, C45Classifier(prune=None), algorithm="rf_hybrid"),
        "C45Classifier, memory": partial(_scan, C45Classifier(), algorithm="memory"),
        "multiway, rf_write": partial(
            _scan, TreeClassifier(nominal="multiway", max_depth=5), algorithm="rf_write"
        ),
        "cost_complexity, boat": partial(_scan, TreeClassifier(ccp_alpha=0.003), algorithm="boat"),
        "reduced_error, auto": partial(_scan, TreeClassifier(prune="reduced_error", random_state=1)),
        "folds, rf_hybrid": partial(_scan, TreeClassifier(cv=3, max_depth=6), algorithm="rf_hybrid"),
        "folds by key, memory": partial(
            _scan, TreeClassifier(cv=3, max_depth=6), algorithm="memory", key="id"
        ),
        "folds, variance, rf_vertical": partial(
            _scan, TreeRegressor(cv=3, max_depth=4), "amount", algorithm="rf_vertical"
        ),
        "bags, memory": partial(_bags, BaggedTreesClassifier, "class", algorithm="memory"),
        "bags, rf_hybrid": partial(_bags, BaggedTreesClassifier, "class", algorithm="rf_hybrid"),
        "bags by key, variance": partial(
            _bags, BaggedTreesRegressor, "amount", algorithm="rf_read", key="id"
        ),
        "boat, more rows than its sample": partial(_large, TreeClassifier(max_depth=4), "class"),
        "boat, numbers of more rows than its sample": partial(_large, TreeRegressor(max_depth=3), "loan"),
    }


def _scan(
    model: Any, targets: str = "class", *, weight: str | None = None, key: str | None = None, **how: Any
) -> Values:
    names = targets.split()
    source = source_of(*names, *filter(None, (weight, key)), weight=weight)
    model.fit_source(source, target=names[0] if len(names) == 1 else names, key=key, **how)
    values = of_model(model, others_of("gaps")) | _counted(model)
    if model.cv is not None:
        values["folds"] = of_trees(model.forest_.tree(i + 1) for i in range(model.cv))
    return values


def _counted(model: Any) -> Values:
    """What the scans did, but for bytes, seconds and memory, which are the machine's."""
    stats = model.scan_stats_
    return {
        "algorithm": stats.algorithm,
        "scans": stats.scans,
        "alarms": stats.alarms,
        "held": stats.held_rows,
    }


def _bags(estimator: Any, target: str, *, algorithm: str, key: str | None = None) -> Values:
    source = source_of(target, *filter(None, (key,)))
    model = estimator(n_estimators=3, max_depth=5, random_state=2)
    model.fit_source(source, target=target, algorithm=algorithm, key=key)
    drawn = [row for rows in model.estimators_samples_ for row in rows] if key is None else []
    answers = answers_of(model, others_of("gaps"))
    return {"trees": of_trees(model.trees_), "drawn": checksum(drawn)} | answers


@functools.cache
def _crowd() -> pa.Table:
    batches = generate("agrawal", 70_000, function=7, noise=0.02, seed=1)
    return pa.Table.from_batches(batches).drop_columns(["hvalue", "hyears"])


def _large(model: Any, target: str) -> Values:
    source = hb.source(lambda: _crowd().to_batches(max_chunksize=20_000))
    model.fit_source(source, target=target, algorithm="boat", memory_limit="32MB")
    return of_tree(model.tree_) | _counted(model)


# --- trees that are kept -------------------------------------------------------------------------------


Work = Callable[[MaintainedTree, Callable[[], None]], None]


def _maintained() -> dict[str, Case]:
    return {
        "gini": partial(_kept, "class", max_depth=6),
        "entropy, value": partial(_kept, "class", criterion="entropy", nominal="value", min_samples_leaf=5),
        "gain_ratio, sizes in shares": partial(
            _kept, "class", criterion="gain_ratio", min_samples_leaf=0.02, min_impurity_decrease=0.002
        ),
        "correlation, costs, balanced": partial(
            _kept, "class", criterion="correlation", cost_matrix=COSTS, class_weight="balanced", max_depth=5
        ),
        "weights, cost_complexity": partial(_kept, "class", weight="weight", ccp_alpha=0.004, max_depth=6),
        "variance": partial(_kept, "amount", min_samples_leaf=10, max_depth=5),
        "two targets, weights": partial(_kept, "amount change", weight="weight", max_depth=4),
        "stable": partial(_kept, "class", policy="stable", max_depth=5),
        "folds": partial(_kept, "class", cv=3, max_depth=4),
    }


def _kept(targets: str, *, weight: str | None = None, **parameters: Any) -> Values:
    """Rows come, go, are exchanged, are made those of a source, and are forgotten."""
    names = targets.split()
    columns = ["id", *ATTRIBUTES, *names, *filter(None, (weight,))]
    rows = people(1200, seed=4, gaps=0.05).select(columns)
    digests, nodes = [], []
    with tempfile.TemporaryDirectory() as folder:
        first = hb.source(rows.slice(0, 700), weight=weight)
        target = names[0] if len(names) == 1 else names
        place = Path(folder) / "kept.tree"
        with MaintainedTree.create(
            place, first, target=target, key="id", memory_limit="64MB", **parameters
        ) as kept:
            batches = (
                lambda: kept.insert(rows.slice(700, 300), id="one"),
                lambda: kept.delete(rows.slice(50, 200)),
                lambda: kept.apply(inserted=rows.slice(1000, 100), deleted=rows.slice(300, 100)),
                lambda: kept.sync(hb.source(rows.slice(100, 1000), weight=weight), id="two"),
            )
            for batch in batches:
                changes = batch()
                digests.append(changes.digest_after[:16])
                nodes.append(dict(changes.counts))
            certificate = kept.forget(range(400, 450))
            digests.append(certificate["digest_after"][:16])
            values = of_tree(kept.tree) | {"digests": digests, "nodes": nodes}
            folds = parameters.get("cv", 0)
            if folds:
                values["folds"] = of_trees(kept.forest().tree(i + 1) for i in range(folds))
            return values | answers_of(kept.estimator(), others_of("gaps"))
