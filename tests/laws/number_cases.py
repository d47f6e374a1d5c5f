"""Tables for growth over sources where rows, classes and mistakes weigh differently, or numbers are
predicted."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import hornbeam as hb
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.boat.grown import SourceGrowth
from hornbeam.boat.growth import grow_source
from hornbeam.boat.reading import Reading
from hornbeam.boat.task import Sampling, no_costs
from hornbeam.growth import ClassCosts, Parameters
from tests.laws.source_growing import SmallTask

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Case:
    """A table with targets and perhaps a weight, and what growing is told."""

    table: pa.Table
    targets: tuple[str, ...]
    weighted: bool
    parameters: dict[str, Any]
    class_weight: Any
    cost_matrix: Any
    task: dict[str, Any]
    piece: int

    @property
    def classes(self) -> bool:
        return self.targets == ("class",)

    def grow(self, algorithm: str, folds: int | None = None, **given: Any) -> SourceGrowth:
        return grow_source(replace(self.source_task(algorithm), folds=folds, **given))

    def source_task(self, algorithm: str) -> SmallTask:
        weight = "weight" if self.weighted else None
        source = hb.source(lambda: self.table.to_batches(max_chunksize=self.piece), weight=weight)

        def costs(labels: Array) -> ClassCosts:
            return ClassCosts.checked(self.class_weight, self.cost_matrix, labels)

        equal = self.class_weight is None and self.cost_matrix is None
        return SmallTask(
            Reading(source, self.targets, self.classes),
            Parameters(**self.parameters).checked("classification" if self.classes else "regression"),
            costs=no_costs if equal else costs,
            algorithm=algorithm,
            **self.task,
        )

    def fit(self) -> str:
        others = {*self.targets, "weight"}
        X = self.table.select([name for name in self.table.column_names if name not in others])
        weight = self.table["weight"].to_numpy() if self.weighted else None
        if not self.classes:
            model: Any = TreeRegressor(**self.parameters)
            y: Any = self.table.select(list(self.targets))
        else:
            model = TreeClassifier(
                **self.parameters, class_weight=self.class_weight, cost_matrix=self.cost_matrix
            )
            y = self.table["class"]
        digest: str = model.fit(X, y, sample_weight=weight).tree_.digest
        return digest


def random_column(rng: np.random.Generator, rows: int) -> pa.Array:
    gone = rng.random(rows) < rng.choice([0.0, 0.0, 0.05, 0.5])
    kind = rng.integers(5)
    if kind == 0:
        return pa.array(rng.normal(size=rows), mask=gone)
    if kind == 1:
        return pa.array(rng.normal(size=rows).round(1), mask=gone)
    if kind == 2:
        return pa.array(rng.integers(0, 10, rows), mask=gone)
    if kind == 3:
        return pa.array(rng.integers(-(10**6), 10**6, rows), mask=gone)
    n = int(rng.choice([2, 4, 12, 14, 25]))
    return pa.array([f"l{i}" for i in rng.integers(0, n, rows)], pa.string(), mask=gone)


def random_weights(rng: np.random.Generator, rows: int, kind: str) -> Array:
    if kind == "ones":
        found = rng.integers(0, 2, rows).astype(float)
    elif kind == "whole":
        found = rng.integers(0, 5, rows).astype(float)
    elif kind == "parts":
        found = rng.uniform(0, 2, rows) * (rng.random(rows) < 0.9)
    else:
        found = 2.0 ** rng.uniform(-70, 70, rows) * (rng.random(rows) < 0.9)
    found[0] = 1.0
    return found


def random_numbers(rng: np.random.Generator, rows: int, signal: Array) -> Array:
    kind = rng.integers(5)
    if kind == 0:
        return signal.round() + rng.integers(-1, 2, rows)
    if kind == 1:
        return signal + rng.normal(size=rows) * 0.3
    if kind == 2:
        return 1e12 + signal.round(2)
    if kind == 3:
        return np.where(rng.random(rows) < 0.97, 0.0, signal)
    return signal * 2.0 ** rng.integers(-200, 200, rows)


def random_case(seed: int) -> Case:
    rng, draw = np.random.default_rng([seed, 5]), random.Random(seed)
    rows = draw.choice([1, 2, 30]) if draw.random() < 0.1 else draw.randrange(100, 1200)
    columns = {f"x{i}": random_column(rng, rows) for i in range(draw.randrange(1, 5))}
    if draw.random() < 0.3:
        columns["again"] = columns["x0"]
    first = pa.compute.rank(columns["x0"], tiebreaker="dense").to_numpy()
    signal = np.where(first > first.max() * rng.random(), 3.0, 0.0) + (first % 7 == 0)
    table = dict(columns)
    classes = draw.random() < 0.5
    weights = draw.choice(["none", "none", "ones", "whole", "parts", "wide"])
    if classes:
        k = draw.choice([2, 2, 3, 5])
        codes = (signal + (rng.random(rows) < 0.2) * rng.integers(0, k, rows)).astype(int) % k
        targets: tuple[str, ...] = ("class",)
        table["class"] = pa.array([f"c{c}" for c in codes])
        present = sorted(set(table["class"].to_pylist()))
    else:
        targets = ("y", "z", "v")[: draw.choice([1, 1, 2, 3])]
        table |= {name: pa.array(random_numbers(rng, rows, signal)) for name in targets}
        present = []
    if weights != "none":
        table["weight"] = pa.array(random_weights(rng, rows, weights))
    balance: Any = draw.choice([None, "balanced", "some"]) if classes else None
    if balance == "some":
        balance = {name: draw.choice([0.5, 2.5, 0.1]) for name in present[:2]}
    matrix = None
    if classes and draw.random() < 0.3:
        matrix = rng.choice([0.5, 1.0, 3.0, 7.7], (len(present), len(present)))
        np.fill_diagonal(matrix, 0.0)
        matrix = matrix.tolist()
    criteria = ["gini", "entropy", "gain_ratio", "correlation", "c45"] if classes else ["variance"]
    parameters: dict[str, Any] = {
        "criterion": draw.choice(criteria),
        "nominal": draw.choice(["subset", "value", "multiway"]),
        "max_depth": draw.choice([None, None, 2, 5]),
        "min_samples_leaf": draw.choice([1, 1, 3, 0.02]),
        "min_impurity_decrease": draw.choice([0.0, 0.0, 1e-3]),
        "min_objs": draw.choice([None, None, 2.5]),
    }
    task = {
        "memory_limit": draw.choice([3_000, 60_000, 400_000, 10_000_000]),
        "seed": seed,
        "sample": draw.choice([60, 300, 5000]),
        "sampling": Sampling(
            bootstraps=draw.choice([3, 5]),
            rows=draw.choice([50, 200]),
            depth=draw.choice([2, 5]),
            buckets=draw.choice([4, 16, 128]),
            least=20,
            sure=draw.choice([5, 20]),
        ),
    }
    piece = draw.choice([64, 1000])
    return Case(pa.table(table), targets, weights != "none", parameters, balance, matrix, task, piece)
