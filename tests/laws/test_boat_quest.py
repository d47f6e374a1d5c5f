"""QUEST over sources: every algorithm grows the trees of all rows and of folds in memory, at any limit."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from hornbeam import _core
from hornbeam.boat.grown import SourceGrowth
from hornbeam.boat.growth import SCANNING
from hornbeam.boat.plan import PlaceRecord
from hornbeam.boat.task import Sampling
from tests.laws.source_cases import random_case
from tests.laws.source_growing import fitted, grow_case, grow_table, recording

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
    sampling = Sampling(
        bootstraps=draw.choice([3, 5]),
        rows=draw.choice([100, 400]),
        depth=draw.choice([2, 6]),
        buckets=draw.choice([8, 40, 300]),
        least=20,
        sure=draw.choice([5, 20]),
    )
    options: dict[str, Any] = {
        "memory_limit": draw.choice([3_000, 60_000, 300_000, 10**7]),
        "sample": draw.choice([80, 500, 5000]),
        "piece": draw.choice([90, 1000]),
        "avc_entries": draw.choice([None, 20, 2000]),
    }
    return grow_table(table, parameters, algorithm, sampling=sampling, seed=seed, **options | given)


@pytest.mark.parametrize("algorithm", sorted(SCANNING))
@pytest.mark.parametrize("seed", range(60))
def test_the_tree_is_that_of_fit(algorithm: str, seed: int) -> None:
    table, parameters = random_table(seed), random_parameters(seed)
    found = grown(table, parameters, algorithm, seed)
    assert found.trees[0].digest == fitted(table, parameters).digest


@pytest.mark.parametrize("algorithm", sorted(SCANNING))
@pytest.mark.parametrize("seed", range(1000, 1040))
def test_unkind_columns(algorithm: str, seed: int) -> None:
    case = random_case(seed)
    case = replace(case, parameters=case.parameters | {"criterion": "quest", "nominal": "subset"})
    assert grow_case(case, algorithm).trees[0].digest == fitted(case.table, case.parameters).digest


def test_guesses_hold_and_fail() -> None:
    """The cases above are only worth something if they go every way."""
    with recording() as ways:
        for seed in range(60):
            grown(random_table(seed), random_parameters(seed), "boat", seed)
    least = {"guesses": 30, "looked into": 150, "over-large families": 200}
    least["refuted guesses whose rows were kept"] = 1
    assert {way: n for way, n in least.items() if ways[way] < n} == {}


@pytest.mark.parametrize("algorithm", ["rf_hybrid", "rf_read", "rf_write", "rf_vertical"])
@pytest.mark.parametrize("seed", range(8))
def test_the_trees_of_folds_are_those_of_their_rows(algorithm: str, seed: int) -> None:
    table, parameters, folds = random_table(seed), random_parameters(seed), 2 + seed % 3
    whole = grown(table, parameters, "memory", seed, memory_limit=10**9, folds=folds)
    found = grown(table, parameters, algorithm, seed, folds=folds)
    assert [tree.digest for tree in found.trees] == [tree.digest for tree in whole.trees]
    assert found.estimate == whole.estimate


@pytest.mark.parametrize("kind", ["normal", "integer", "vast", "tiny", "wild"])
def test_sums_of_parts_are_merged_as_bytes(kind: str) -> None:
    rng = np.random.default_rng(5)
    classes = rng.integers(0, 3, 900).astype(np.uint16)
    cells = column(rng, classes, kind).fill_null(0).to_numpy()
    layout = _core.RowLayout([(int(cells.dtype.kind == "i"), cells.min(), cells.max())], 3)
    highest = layout.missing_key(0) - 1
    edges = np.array([highest // 3, highest // 2, highest], dtype=np.uint64)
    place = PlaceRecord([0], sums=True).native()
    whole, *parts = (_core.SourceScan(layout, _core.Grid(layout, [edges]), [place]) for _ in range(4))
    whole.add([(cells, None)], classes)
    for i, part in enumerate(parts):
        part.add([(cells[i::3], None)], classes[i::3])
    parts[0].merge_bytes(parts[1].to_bytes())
    parts[0].merge(parts[2])
    found = [settled(scan, layout, classes) for scan in (whole, parts[0])]
    assert found[0] == found[1]
    assert found[0][0] > 0
    with pytest.raises(ValueError, match="no result of a scan"):
        parts[0].merge_bytes(parts[1].to_bytes()[:-8])


def settled(scan: _core.SourceScan, layout: _core.RowLayout, classes: Array) -> tuple[float, list[Any]]:
    """How sure the only attribute is, and the buckets around its cut."""
    counts = np.bincount(classes).tolist()
    settling = _core.Settling(
        criterion="quest",
        nominal="subset",
        layout=layout,
        wholes=[counts],
        max_depth=-1,
        min_samples_split=2,
        min_samples_leaf=1,
        min_objs=None,
        min_impurity_decrease=0.0,
        many_valued=[],
    )
    found = settling.settle(settling.open_root(0), scan, 0)
    return found.quality, found.alive
