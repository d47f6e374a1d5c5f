"""Trees that are large beside the memory: their file is made, follows batches and is opened again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

import hornbeam as hb
from hornbeam import MaintainedTree


def test_a_tree_whose_json_would_not_fit_the_database_is_kept(tmp_path: Path) -> None:
    """Mere noise, grown to its end: a node for each row, and a database that has 64 MB."""
    rng = np.random.default_rng(1)
    rows = pa.table({"x": rng.normal(size=250_000), "y": rng.integers(0, 2, 250_000)})
    news = pa.table({"x": rng.normal(size=100), "y": rng.integers(0, 2, 100)})
    path = tmp_path / "noise.tree"
    with MaintainedTree.create(
        path, hb.source(rows), target="y", criterion="gini", memory_limit="64MB"
    ) as tree:
        assert tree.tree.n_nodes > 200_000
        changes = tree.apply(inserted=news, deleted=rows.slice(0, 100))
        assert len(changes.nodes) > 1000
        assert tree.verify()["equal"]
        with MaintainedTree.open(path, read_only=True) as reader:
            assert reader.tree.digest == tree.tree.digest
            assert reader.changes()[-1] == changes
    with MaintainedTree.open(path) as tree:
        assert tree.tree.digest == changes.digest_after
        assert tree.changes()[-1] == changes
        tree.delete(news)
        assert tree.verify()["equal"]
