"""Columns that span all 64 bits leave no number for missing cells: all routes give the tree of `fit`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hornbeam as hb
from hornbeam import MaintainedTree, TreeClassifier, TreeRegressor
from hornbeam.boat.growth import SCANNING, grow_source
from hornbeam.boat.survey import _SELDOM
from hornbeam.distributed.scanner import ClusterScanner
from hornbeam.errors import DataError
from tests.depth import seeds
from tests.laws.cluster_growing import UnkindEngine, in_parts, random_cuts
from tests.laws.source_growing import fitted, grow_table, source_task

LOWEST, HIGHEST = -(2**63), 2**63 - 1
ENDS = [LOWEST, LOWEST + 1, HIGHEST - 1, HIGHEST]
TYPES = [
    pa.int64(),
    pa.uint64(),
    pa.timestamp("s"),
    pa.timestamp("ns"),
    pa.timestamp("ms", "UTC"),
    pa.timestamp("us", "UTC"),
    pa.duration("s"),
    pa.duration("ns"),
    pa.date64(),
    pa.decimal128(19, 2),
]
"""Those that have 64 bits, or whose scaled numbers have."""


def as_type(codes: np.ndarray[Any, Any], type_: pa.DataType, missing: np.ndarray[Any, Any]) -> pa.Array:
    """Whole numbers of 64 bits as values of a type, in their order."""
    whole = pa.array(codes, mask=missing)
    if pa.types.is_uint64(type_):
        return pa.array((codes.view(np.uint64) ^ np.uint64(2**63)), mask=missing)
    if pa.types.is_date64(type_):  # whole days, in milliseconds
        return pa.array(codes - np.fmod(codes, 86_400_000), mask=missing).view(type_)
    if pa.types.is_decimal(type_):
        words = np.stack([codes, codes >> 63], axis=1).tobytes()
        return pa.Array.from_buffers(type_, len(codes), [whole.buffers()[0], pa.py_buffer(words)])
    return whole.view(type_)


def drawn(seed: int, rows: int = 600) -> pa.Table:
    """Columns with both ends, their neighbours, and what is looked for between; classes by them."""
    rng = np.random.default_rng([seed, 64])
    table: dict[str, pa.Array] = {}
    codes = np.empty((0, rows), dtype=np.int64)
    for i in range(3):
        pool = [*ENDS, *rng.choice(_SELDOM, 3).tolist(), *rng.integers(LOWEST, HIGHEST, 5).tolist(), 0, 1]
        some = rng.choice(np.array(pool[: int(rng.integers(4, len(pool) + 1))]), rows)
        near, far = rng.integers(-50, 50, rows), rng.integers(LOWEST, HIGHEST, rows, endpoint=True)
        column = np.choose(rng.choice(3, rows, p=rng.dirichlet([1.0, 1.0, 1.0])), [some, near, far])
        column[rng.choice(rows, 2, replace=False)] = LOWEST, HIGHEST
        missing = rng.random(rows) < rng.choice([0.0, 0.0, 0.1])
        codes = np.vstack([codes, column])
        table[f"x{i}"] = as_type(column, TYPES[int(rng.integers(len(TYPES)))], missing)
    cuts = [rng.choice(column) for column in codes]
    said = sum((column > cut).astype(int) for column, cut in zip(codes, cuts, strict=True))
    said = np.where(rng.random(rows) < 0.1, rng.integers(0, 4, rows), said)
    return pa.table(table | {"class": [f"c{s}" for s in said], "key": rng.integers(0, 30, rows)})


def parameters_of(seed: int) -> dict[str, Any]:
    criteria = ["gini", "entropy", "gain_ratio", "correlation"]
    return {"criterion": criteria[seed % 4], "min_samples_leaf": 1 + 3 * (seed % 2)}


@pytest.mark.parametrize("seed", seeds(0, 12, 200))
def test_every_algorithm_gives_the_tree_of_fit(seed: int) -> None:
    table, parameters = drawn(seed).drop_columns(["key"]), parameters_of(seed)
    digest = fitted(table, parameters).digest
    for algorithm in ("auto", *SCANNING):
        limit = 40_000 if seed % 2 else 10**8
        grown = grow_table(table, parameters, algorithm, memory_limit=limit, sample=200, seed=seed)
        assert grown.trees[0].digest == digest, algorithm


@pytest.mark.parametrize("seed", seeds(100, 6, 60))
def test_quest_gives_the_tree_of_fit(seed: int) -> None:
    table, parameters = drawn(seed).drop_columns(["key"]), {"criterion": "quest", "max_depth": 4}
    digest = fitted(table, parameters).digest
    for algorithm in SCANNING:
        limit = 40_000 if seed % 2 else 10**8
        grown = grow_table(table, parameters, algorithm, memory_limit=limit, sample=200, seed=seed)
        assert grown.trees[0].digest == digest, algorithm


@pytest.mark.parametrize("seed", seeds(200, 6, 60))
def test_a_cluster_gives_the_tree_of_fit(seed: int) -> None:
    table, parameters = drawn(seed).drop_columns(["key"]), parameters_of(seed)
    source = in_parts(table, random_cuts(seed, table.num_rows))
    digest = fitted(table, parameters).digest
    for algorithm in ("auto", *SCANNING):
        task = source_task(table, parameters, algorithm, memory_limit=40_000, sample=200, seed=seed)
        task = replace(
            task,
            reading=replace(task.reading, source=source),
            scanner=ClusterScanner(UnkindEngine(seed, workers=1 + seed % 3)),
        )
        assert grow_source(task).trees[0].digest == digest, algorithm


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_a_file_keeps_all_values_of_a_type(type_: pa.DataType, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    codes = rng.integers(LOWEST, HIGHEST, 300, endpoint=True)
    codes[:2] = LOWEST, HIGHEST
    x = as_type(codes, type_, rng.random(300) < 0.1)
    rows = pa.table({"x": x, "class": np.where(codes > codes[7], "a", "b"), "n": range(300)})

    def digest(present: pa.Table) -> str:
        return fitted(present, {}).digest

    with MaintainedTree.create(tmp_path / "t.tree", hb.source(rows.slice(0, 200)), target="class") as tree:
        assert tree.insert(rows.slice(200)).digest_after == digest(rows)
        assert tree.delete(rows.slice(0, 60)).digest_after == digest(rows.slice(60))
        with pytest.raises(DataError, match=r"no such row to delete: row 1 of the batch, x=.*; nothing was"):
            tree.delete(rows.slice(0, 1))
    with MaintainedTree.open(tmp_path / "t.tree") as tree:
        present = pa.Table.from_batches(tree.source().scan()).sort_by("n")
        assert present["x"].combine_chunks().equals(x.slice(60))
        assert tree.verify() | {"digest": "", "rebuilt": ""} == {
            "digest": "",
            "rebuilt": "",
            "equal": True,
            "intact": True,
        }


@pytest.mark.parametrize("seed", seeds(300, 10, 100))
def test_a_maintained_tree_is_that_of_fit(seed: int, tmp_path: Path) -> None:
    rng, table = np.random.default_rng(seed), drawn(seed)
    numbers = seed % 3 == 2
    parameters = {"max_depth": 4} if numbers else parameters_of(seed)
    if numbers:
        at = table.schema.get_field_index("class")
        table = table.set_column(at, "class", pa.array(rng.normal(size=table.num_rows).round(1)))
    model = (TreeRegressor if numbers else TreeClassifier)(**parameters)

    def digest(rows: pa.Table) -> str:
        found: str = model.fit(rows.drop_columns(["class", "key"]), rows["class"]).tree_.digest
        return found

    rows = table.slice(0, 300)
    with MaintainedTree.create(
        tmp_path / "t.tree", hb.source(rows), target="class", key="key", **parameters
    ) as tree:
        assert tree.tree.digest == digest(rows)
        rows = pa.concat_tables([rows, table.slice(300, 200)])
        assert tree.insert(table.slice(300, 200)).digest_after == digest(rows)
        rows = rows.slice(150)
        assert tree.delete(table.slice(0, 150)).digest_after == digest(rows)
    with MaintainedTree.open(tmp_path / "t.tree") as tree:
        swapped = pa.concat_tables([rows.slice(40), table.slice(500, 60)])
        assert tree.apply(inserted=table.slice(500, 60), deleted=rows.slice(0, 40)).digest_after == digest(
            swapped
        )
        wanted = pa.concat_tables([swapped.slice(30), table.slice(560)])
        assert tree.sync(hb.source(wanted)).digest_after == digest(wanted)
        key = wanted["key"][0].as_py()
        certificate = tree.forget([key])
        left = wanted.filter(pa.compute.not_equal(wanted["key"], key))
        assert certificate["equal"]
        assert certificate["digest_after"] == digest(left)
        assert tree.verify()["equal"]


def test_the_ends_come_and_go_with_batches(tmp_path: Path) -> None:
    """The one after the other, and at last the number that was taken for one that no row has."""
    rng, n = np.random.default_rng(1), 400
    x = rng.integers(-5, 5, n)
    table = pa.table({"x": x, "y": np.where(x > 1, "a", "b")})

    def row(value: int) -> pa.Table:
        return pa.table({"x": [value], "y": ["a" if value % 3 else "b"]})

    def digest(rows: pa.Table) -> str:
        return TreeClassifier().fit(rows.select(["x"]), rows["y"]).tree_.digest

    with MaintainedTree.create(tmp_path / "t.tree", hb.source(table), target="y") as tree:
        for value in (*ENDS, *_SELDOM[::-1]):
            if value == _SELDOM[0]:
                break
            table = pa.concat_tables([table, row(value)])
            assert tree.insert(row(value)).digest_after == digest(table)
        with pytest.raises(DataError, match="too many between them; leave it out, or give it as floats"):
            tree.insert(row(_SELDOM[0]))
        assert tree.verify()["equal"]
        tree.delete(row(HIGHEST))
        tree.delete(row(HIGHEST - 1))
        tree.insert(row(_SELDOM[0]))
        assert tree.verify()["equal"]
