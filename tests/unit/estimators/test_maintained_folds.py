"""Folds of a maintained tree that have no rows, or all of them: made, judged, verified and forgotten."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import hornbeam as hb
from hornbeam import MaintainedTree, TreeClassifier
from hornbeam.errors import DataError
from hornbeam.table.sources import fold_of

DRAW = np.random.default_rng(0)
ROWS = pa.table(
    {"x": DRAW.normal(size=60), "y": DRAW.choice(["a", "b"], 60), "key": [i % 6 for i in range(60)]}
)


def of_keys(*keys: int) -> pa.Table:
    return ROWS.filter(pc.is_in(ROWS["key"], pa.array(keys)))


def made(path: Path, rows: pa.Table, **given: Any) -> MaintainedTree:
    options = {"target": "y", "key": "key", "cv": 3, "max_depth": 3} | given
    return MaintainedTree.create(path / "t.tree", hb.source(rows), **options)


def fit(rows: pa.Table) -> str:
    digest: str = TreeClassifier(max_depth=3).fit(rows.select(["x"]), rows["y"]).tree_.digest
    return digest


@pytest.mark.parametrize("algorithm", ["auto", "memory", "boat", "rf_hybrid", "rf_vertical"])
@pytest.mark.parametrize("keys", [(0, 2), (3,)], ids=str)
def test_create_takes_folds_without_rows(keys: tuple[int, ...], algorithm: str, tmp_path: Path) -> None:
    rows = of_keys(*keys)
    folds = fold_of(rows["key"], 3)
    sizes = np.bincount(folds, minlength=3)
    assert 0 in sizes
    with made(tmp_path, rows, algorithm=algorithm) as tree:
        assert tree.tree.digest == fit(rows)
        assert tree.verify()["equal"]
        if max(sizes) < len(rows):
            expected = [fit(rows.filter(pa.array(folds != i))) for i in range(3)]
            assert [tree.forest().tree(1 + i).digest for i in range(3)] == expected
        tree.insert(of_keys(1, 4, 5))
        assert tree.verify()["equal"]
        assert tree.estimate().judged == 3


def test_rows_that_are_read_once_may_leave_folds_empty(tmp_path: Path) -> None:
    rows = hb.source(pa.RecordBatchReader.from_batches(ROWS.schema, of_keys(3).to_batches()))
    options: dict[str, Any] = {"target": "y", "key": "key", "cv": 3, "max_depth": 3}
    with MaintainedTree.create(tmp_path / "t.tree", rows, **options) as tree:
        assert tree.tree.digest == fit(of_keys(3))
        assert tree.verify()["equal"]


def test_an_estimate_says_what_the_folds_with_rows_say(tmp_path: Path) -> None:
    with made(tmp_path, ROWS) as tree:
        full = tree.estimate()
        assert (full.judged, full.folds) == (3, 3)
        folds = {key: int(fold_of(pa.array([key]), 3)[0]) for key in range(6)}
        emptied = folds[0]
        left = [key for key in range(6) if folds[key] != emptied]
        tree.delete(of_keys(*(key for key in range(6) if folds[key] == emptied)))
        found, rows = tree.estimate(), of_keys(*left)
        assert (found.judged, found.folds) == (2, 3)
        for i, score in enumerate(found.scores):
            there = pa.array(fold_of(rows["key"], 3) == i)
            if i == emptied:
                assert math.isnan(score)
                continue
            rest, judges = rows.filter(pc.invert(there)), rows.filter(there)
            model = TreeClassifier(max_depth=3).fit(rest.select(["x"]), rest["y"])
            assert score == model.score(judges.select(["x"]), judges["y"])
        assert found.mean == pytest.approx(np.nanmean(found.scores))


@pytest.mark.parametrize("policy", ["exact", "stable"])
def test_everybody_can_be_forgotten_with_a_certificate(policy: str, tmp_path: Path) -> None:
    with made(tmp_path, ROWS, policy=policy) as tree:
        for key in range(6):
            certificate = tree.forget([key])
            rest = of_keys(*range(key + 1, 6))
            assert (certificate["rows"], certificate["equal"]) == (10, True)
            expected = fit(rest) if rest.num_rows else None
            assert certificate["digest_after"] == certificate["digest_rebuilt"] == expected
        assert tree.verify() == {"digest": None, "rebuilt": None, "equal": True, "intact": True} | (
            {"sound": True} if policy == "stable" else {}
        )
        for asked in (tree.forest, lambda: tree.tree):
            with pytest.raises(DataError, match="has no rows, so there is no tree"):
                asked()
        with pytest.raises(
            DataError, match="no fold can be judged: each of 3 has no row, or all rows; insert"
        ):
            tree.estimate()


def test_rows_that_weigh_nothing_may_be_all_that_is_left(tmp_path: Path) -> None:
    weighing = ROWS.append_column("w", pa.array([float(i % 6 == 0) for i in range(60)]))
    rows = hb.source(weighing, weight="w")
    options: dict[str, Any] = {"target": "y", "key": "key", "cv": 3, "max_depth": 3}
    with MaintainedTree.create(tmp_path / "t.tree", rows, **options) as tree:
        certificate = tree.forget([0])
        assert (certificate["digest_after"], certificate["digest_rebuilt"]) == (None, None)
        assert certificate["equal"]
        assert tree.stats["rows"] == 50
        assert tree.verify()["equal"]
        with pytest.raises(DataError, match="has no row that weighs anything, so there is no tree"):
            _ = tree.tree
        tree.insert(weighing.slice(0, 1))
        assert tree.tree.n_leaves == 1
        assert tree.verify()["equal"]
