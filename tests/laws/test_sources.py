"""The law of sources: the tree of `fit_source` is that of `fit` on all rows, whatever the algorithm."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hornbeam as hb
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.boat import growth
from tests.unit.boat.scanner import grow_by_chunks

KINDS = ["float", "float32", "integer", "small", "uint64", "date", "text", "category", "bool", "null"]


def random_column(rng: np.random.Generator, rows: int, kind: str) -> pa.Array:
    missing = rng.random(rows) < rng.choice([0.0, 0.0, 0.1, 0.6])
    if kind == "float":
        return pa.array(np.where(missing, np.nan, rng.normal(size=rows).round(int(rng.integers(0, 4)))))
    if kind == "float32":
        return pa.array(rng.normal(size=rows).astype(np.float32), mask=missing)
    if kind == "integer":
        return pa.array(rng.integers(-(2**62), 2**62, rows), mask=missing)
    if kind == "small":
        return pa.array(rng.integers(-3, 9, rows).astype(np.int8), mask=missing)
    if kind == "uint64":
        return pa.array(rng.integers(2**63 - 3, 2**63 + 3, rows, dtype=np.uint64), mask=missing)
    if kind == "date":
        return pa.array(rng.integers(0, 400, rows).astype(np.int32), pa.date32(), mask=missing)
    if kind == "bool":
        return pa.array(rng.random(rows) < 0.4, mask=missing)
    if kind == "null":
        return pa.nulls(rows)
    labels = [f"é{i}" if i % 3 else f"Z{i}" for i in range(int(rng.integers(1, 20)))]
    texts = pa.array(rng.choice(labels, rows).tolist(), pa.string(), mask=missing)
    return texts if kind == "text" else texts.dictionary_encode()


def random_table(rng: np.random.Generator) -> pa.Table:
    rows = int(rng.choice([1, 2, 30, 90, 200]))
    kinds = rng.choice(KINDS, int(rng.integers(1, 7)))
    columns = {f"x{i} {kind}": random_column(rng, rows, str(kind)) for i, kind in enumerate(kinds)}
    columns["weight"] = pa.array(rng.choice([0.0, 0.5, 1.0, 3.25], rows) + (np.arange(rows) == 0))
    columns["class"] = pa.array([f"c{i}" for i in rng.integers(0, rng.choice([1, 2, 5, 12]), rows)])
    columns["number"] = pa.array(rng.normal(size=rows).round(1))
    columns["other"] = pa.array(rng.integers(-9, 9, rows))
    order = rng.permutation(list(columns)).tolist()
    return pa.table({name: columns[name] for name in order})


def random_parameters(draw: random.Random, classes: bool) -> dict[str, Any]:
    criteria = ["gini", "entropy", "gain_ratio", "correlation", "c45"] if classes else ["variance"]
    given: dict[str, Any] = {
        "criterion": draw.choice(criteria),
        "nominal": draw.choice(["subset", "value", "multiway"]),
        "max_depth": draw.choice([None, None, 2, 5]),
        "min_samples_leaf": draw.choice([1, 1, 3, 0.05]),
        "prune": draw.choice([None, None, "cost_complexity"]),
        "random_state": draw.randrange(100),
    }
    given["ccp_alpha"] = 0.01 if given["prune"] else 0.0
    if classes:
        given["class_weight"] = draw.choice([None, None, "balanced", {"c0": 2.5}])
    return given


def same(a: Any, b: Any) -> None:
    assert a.tree_.digest == b.tree_.digest
    assert a.unpruned_tree_.digest == b.unpruned_tree_.digest
    assert a.schema_ == b.schema_
    assert a.n_features_in_ == b.n_features_in_
    assert a.n_outputs_ == b.n_outputs_
    assert a.feature_names_in_.tolist() == b.feature_names_in_.tolist()
    if hasattr(b, "classes_"):
        assert a.classes_.dtype == b.classes_.dtype
        assert a.classes_.tolist() == b.classes_.tolist()


@pytest.mark.parametrize("algorithm", ["memory", "chunks"])
@pytest.mark.parametrize("seed", range(40))
def test_the_tree_of_a_source_is_that_of_all_its_rows(
    algorithm: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(growth.SCANNING, "chunks", grow_by_chunks)
    rng, draw = np.random.default_rng(seed), random.Random(seed)
    rows = random_table(rng)
    classes, weighted = draw.random() < 0.6, draw.random() < 0.5
    targets = ["class"] if classes else draw.choice([["number"], ["other", "number"]])
    kept = [name for name in rows.column_names if name.startswith("x")]
    X = rows.select(kept)
    nominal = [name for name in kept if "small" in name or "float32" in name][:1]
    parameters = random_parameters(draw, classes) | {"nominal_features": nominal or "from_dtype"}
    if parameters.get("class_weight") == {"c0": 2.5} and "c0" not in rows["class"].to_pylist():
        parameters["class_weight"] = None
    model: Any = TreeClassifier if classes else TreeRegressor
    y = rows["class"] if classes else rows.select(targets)
    weight = rows["weight"].to_numpy() if weighted else None
    whole = model(**parameters).fit(X, y, sample_weight=weight)
    columns = [*kept, *targets, *(["weight"] if weighted else [])]
    piece = draw.choice([1, 7, 64, 1000])
    source = hb.source(
        lambda: rows.to_batches(max_chunksize=piece), columns=columns, weight="weight" if weighted else None
    )
    grown = model(**parameters).fit_source(source, target=targets, algorithm=algorithm)
    same(grown, whole)
    assert grown.scan_stats_.scans == (1 if algorithm == "memory" else 2)
    assert grown.scan_stats_.rows == grown.scan_stats_.scans * rows.num_rows
