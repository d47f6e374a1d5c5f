"""Every test that a batch changes is told with its standard errors, and they are those of the rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hornbeam as hb
from hornbeam import MaintainedTree
from hornbeam.maintained.changes import KEPT, NodeChange, matched, same_subtrees
from hornbeam.model import Tree
from hornbeam.model.arrays import NUMERIC


def people(rng: np.random.Generator, n: int, numbers: bool) -> pd.DataFrame:
    """Whole numbers with ties, labels, missing values, and a target that is mostly noise."""
    x = rng.integers(0, 40, n).astype(float)
    z = rng.choice(list("abcdef"), n)
    y = rng.normal(size=n) + (x > 20) + (z < "c")
    x[rng.random(n) < 0.05] = np.nan
    frame = pd.DataFrame({"x": x, "w": rng.normal(size=n).round(1), "z": z})
    return frame.assign(y=y.round(2) if numbers else np.where(y > 0.8, "yes", "no"))


def branch(tree: Tree, node: int, row: Any) -> int:
    """The branch that a row takes at a node, by the law."""
    if tree.is_leaf(node):
        return 0
    attribute = tree.schema.attributes[tree.arrays["attribute"][node]]
    value, default = row[attribute.name], int(tree.arrays["default_child"][node])
    if pd.isna(value):
        return default
    if tree.arrays["kind"][node] == NUMERIC:
        return int(value > tree.arrays["threshold"][node])
    codes = [tree.branch_codes(node, child).tolist() for child in range(2)]
    found = [child for child in range(2) if attribute.labels.index(value) in codes[child]]
    return found[0] if found else default


def rows_at(tree: Tree, frame: pd.DataFrame) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for i, row in enumerate(frame.to_dict("records")):
        node = 0
        while True:
            found.setdefault(node, []).append(i)
            if tree.is_leaf(node):
                break
            node = tree.children(node)[branch(tree, node, row)]
    return found


def errors(said: np.ndarray, old: np.ndarray, new: np.ndarray) -> float:
    """Of the mean of what each row gains by the new branches."""
    good = []
    for branches in (old, new):
        others = [said[branches == b] for b in branches]
        if said.dtype.kind == "f":
            good.append(np.array([-((y - mine.mean()) ** 2) for y, mine in zip(said, others, strict=True)]))
        else:
            good.append(np.array([np.mean(mine == y) for y, mine in zip(said, others, strict=True)]))
    gain = good[1] - good[0]
    return float(gain.mean() / (gain.std() / np.sqrt(len(gain)))) if gain.std() > 1e-12 else 0.0


@pytest.mark.parametrize("numbers", [False, True], ids=["classes", "numbers"])
@pytest.mark.parametrize("seed", range(6))
def test_every_new_test_has_the_standard_errors_of_its_rows(tmp_path: Path, seed: int, numbers: bool) -> None:
    rng = np.random.default_rng(seed)
    first, more = people(rng, 900, numbers), people(rng, 60, numbers)
    with MaintainedTree.create(tmp_path / "t.tree", hb.source(first), target="y", min_samples_leaf=5) as kept:
        before = kept.tree
        changes = kept.apply(inserted=more, deleted=first.iloc[:40])
        after = kept.tree
    present = pd.concat([first.iloc[40:], more], ignore_index=True)
    at, said = rows_at(after, present), present["y"].to_numpy()
    said = said if numbers else said.astype("U3")
    records, compared = present.to_dict("records"), 0
    pairs = matched(before, after, same_subtrees(before, after))
    for change, (old, new, path, state) in zip(changes.nodes, pairs, strict=True):
        assert (change.path, change.state) == (path, state)
        if not asked(change):
            continue
        rows = at[new]
        was, now = (
            np.array([branch(tree, node, records[i]) for i in rows])
            for tree, node in ((before, old), (after, new))
        )
        assert change.standard_errors == pytest.approx(errors(said[rows], was, now), rel=1e-6, abs=1e-6)
        compared += 1
    assert compared


def asked(change: NodeChange) -> bool:
    """All tests that are not those before."""
    return change.state != KEPT and bool(change.after)
