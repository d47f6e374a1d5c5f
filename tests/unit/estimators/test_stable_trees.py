"""A tree that keeps its tests while chance may be the reason that others are better, as users have it."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hornbeam as hb
from hornbeam import MaintainedTree, TreeClassifier
from hornbeam.datasets import generate
from hornbeam.maintained.changes import KEPT, MOVED, REBUILT, Changes

PARAMETERS: dict[str, Any] = {"max_depth": 5, "min_samples_leaf": 10}


@pytest.fixture(scope="module")
def people() -> pa.Table:
    rows = pa.table(generate("agrawal", 4300, function=7, noise=0.05, seed=3))
    return rows.append_column("person", pa.array([f"p{i // 2}" for i in range(rows.num_rows)]))


@pytest.fixture
def stable(people: pa.Table, tmp_path: Path) -> MaintainedTree:
    rows = hb.source(people.slice(0, 4000))
    path = tmp_path / "stable.tree"
    return MaintainedTree.create(path, rows, target="class", key="person", policy="stable", **PARAMETERS)


def test_a_stable_tree_tells_what_exactness_would_have_changed(
    stable: MaintainedTree, people: pa.Table, tmp_path: Path
) -> None:
    tests = [line.split("  ")[0] for line in stable.tree.to_text().splitlines()[1:]]
    changes = stable.insert(people.slice(4000, 300))
    assert changes.withheld
    assert changes.withheld > 1
    assert f"{changes.withheld} of those kept are not the best" in changes.to_text()
    held = [node for node in changes.nodes if node.withheld]
    assert all(node.state == KEPT and node.before == node.after for node in held)
    assert all(node.standard_errors is not None and node.standard_errors <= 2 for node in held)
    assert f"{held[0].after} stays, the best is {held[0].withheld} (" in changes.to_text()
    assert Changes.from_record(json.loads(json.dumps(changes.to_record()))) == changes
    if not changes.counts[MOVED] and not changes.counts[REBUILT]:
        assert tests == [line.split("  ")[0] for line in stable.tree.to_text().splitlines()[1:]]
    page = stable.show_changes().html()
    assert "What exactness would have changed" in page
    assert all(escape(node.withheld) in page for node in held)
    proof = stable.verify()
    assert proof["sound"]
    assert not proof["equal"]
    alone = TreeClassifier(**PARAMETERS).fit(people.drop_columns(["class", "person"]), people["class"])
    assert proof["rebuilt"] == alone.tree_.digest
    stable.close()
    with MaintainedTree.open(tmp_path / "stable.tree") as again:
        assert again.delete(people.slice(0, 200)).withheld
        assert again.verify()["sound"]


def test_forgetting_leaves_nothing_to_a_stable_tree(stable: MaintainedTree, people: pa.Table) -> None:
    stable.insert(people.slice(4000, 300))
    told = stable.forget(["p7", "p1999"])
    assert told["equal"]
    assert told["digest_after"] == told["digest_rebuilt"] == stable.tree.digest


def test_a_stable_tree_whose_counts_are_wrong_is_not_sound(
    stable: MaintainedTree, people: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = stable.source
    monkeypatch.setattr(stable, "source", lambda: hb.source(people.slice(0, 3999)))
    assert not stable.verify()["sound"]
    monkeypatch.setattr(stable, "source", rows)
    assert stable.verify()["sound"]
