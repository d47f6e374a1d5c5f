"""QUEST over sources: every algorithm grows the trees of all rows and of folds in memory, at any limit."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

import hornbeam as hb
from hornbeam import TreeClassifier
from hornbeam.boat.coarse import Sampling
from hornbeam.boat.grown import SourceGrowth
from hornbeam.boat.growth import grow_source
from hornbeam.boat.reading import Reading
from hornbeam.boat.task import SourceTask
from hornbeam.growth import Parameters

RAINFOREST = ["rf_hybrid", "rf_read", "rf_write", "rf_vertical"]
KINDS = [
    "normal",
    "normal",
    "rounded",
    "integer",
    "vast",
    "tiny",
    "wild",
    "whole",
    "date",
    "spread",
    "labels",
]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class SmallTask(SourceTask):
    """A task that may be given any sample."""

    sample: int = 200

    @property
    def sample_rows(self) -> int:
        return self.sample


def column(rng: np.random.Generator, classes: Array, kind: str) -> pa.Array:
    """Values that lean on the classes, with gaps."""
    rows, lean = len(classes), rng.normal(size=13)[classes] * rng.choice([0.0, 0.3, 1.0, 4.0])
    x = rng.normal(size=rows) + lean
    missing = rng.random(rows) < rng.choice([0.0, 0.0, 0.1, 0.5])
    if kind == "labels":
        n = int(rng.choice([2, 3, 7, 15, 30]))
        codes = np.clip(x * n / 4 + n / 2, 0, n - 1).astype(np.int64)
        return pa.array([f"{'ab'[i % 2]}{i}" for i in codes], mask=missing)
    if kind == "date":
        return pa.array((x * 5000).astype(np.int32), pa.date32(), mask=missing)
    if kind == "spread":  # some classes have one value only, and some values are far away
        x = np.where(classes % 2 == 0, 1.5, x) * np.where(rng.random(rows) < 0.01, 1e6, 1.0)
    values: dict[str, Any] = {
        "normal": lambda: x,
        "rounded": lambda: x.round(1),
        "integer": lambda: (x * 1e5).astype(np.int64),
        "vast": lambda: (np.clip(x, -7, 7) * 2.0**60).astype(np.int64),
        "tiny": lambda: x * 2.0**-1040,
        "wild": lambda: np.sign(x) * 2.0 ** np.clip(x * 300, -1070, 1020),
        "whole": lambda: np.clip(x * 3, -8, 8).astype(np.int8),
        "spread": lambda: x,
    }
    return pa.array(values[kind](), mask=missing)


def random_table(seed: int) -> pa.Table:
    rng = np.random.default_rng([seed, 61])
    rows, k = int(rng.choice([60, 700, 2500])), int(rng.choice([2, 2, 3, 5, 13]))
    classes = np.sort(rng.integers(0, k, rows)) if seed % 5 == 0 else rng.integers(0, k, rows)
    kinds = rng.choice(KINDS, int(rng.integers(1, 6)))
    columns = {f"x{i} {kind}": column(rng, classes, str(kind)) for i, kind in enumerate(kinds)}
    if rng.random() < 0.3:
        columns["twin"] = next(iter(columns.values()))
    return pa.table(columns | {"class": pa.array([f"c{c:02}" for c in classes])})


def random_parameters(seed: int) -> dict[str, Any]:
    draw = random.Random(seed)
    return {
        "criterion": "quest",
        "max_depth": draw.choice([None, None, 2, 5]),
        "min_samples_leaf": draw.choice([1, 1, 5, 0.02]),
        "min_samples_split": draw.choice([2, 2, 30, 0.1]),
        "min_impurity_decrease": draw.choice([0.0, 0.0, 1e-3]),
        "min_objs": draw.choice([None, None, 3.5]),
    }


def grown(
    table: pa.Table, parameters: dict[str, Any], algorithm: str, seed: int, **given: Any
) -> SourceGrowth:
    draw = random.Random(f"{seed}{algorithm}")
    key = given.pop("key", None)
    sampling = Sampling(
        bootstraps=draw.choice([3, 5]),
        rows=draw.choice([100, 400]),
        depth=draw.choice([2, 6]),
        buckets=draw.choice([8, 40, 300]),
        least=20,
        sure=draw.choice([5, 20]),
    )
    source = hb.source(lambda: table.to_batches(max_chunksize=draw.choice([90, 1000])))
    defaults: dict[str, Any] = {"memory_limit": draw.choice([3_000, 60_000, 300_000, 10**7])}
    return grow_source(
        SmallTask(
            Reading(source, ("class",), True, key=key),
            Parameters(**parameters).checked("classification"),
            algorithm=algorithm,
            sampling=sampling,
            seed=seed,
            sample=draw.choice([80, 500, 5000]),
            avc_entries=draw.choice([None, 20, 2000]),
            **defaults | given,
        )
    )


@pytest.mark.parametrize("algorithm", ["boat", *RAINFOREST])
@pytest.mark.parametrize("seed", range(60))
def test_the_tree_is_that_of_all_rows(algorithm: str, seed: int) -> None:
    table, parameters = random_table(seed), random_parameters(seed)
    whole = TreeClassifier(**parameters).fit(table.drop_columns(["class"]), table["class"]).tree_
    found = grown(table, parameters, algorithm, seed)
    assert found.trees[0].digest == whole.digest


@pytest.mark.parametrize("algorithm", RAINFOREST)
@pytest.mark.parametrize("seed", range(8))
def test_the_trees_of_folds_are_those_of_their_rows(algorithm: str, seed: int) -> None:
    rng, table = np.random.default_rng(seed), random_table(seed)
    table = table.append_column("key", pa.array(rng.integers(0, 10**6, table.num_rows)))
    parameters, folds = random_parameters(seed), 2 + seed % 3
    given: dict[str, Any] = {"folds": folds, "key": "key"}
    whole = grown(table, parameters, "memory", seed, memory_limit=10**9, **given)
    found = grown(table, parameters, algorithm, seed, **given)
    assert [tree.digest for tree in found.trees] == [tree.digest for tree in whole.trees]
    assert found.estimate == whole.estimate
