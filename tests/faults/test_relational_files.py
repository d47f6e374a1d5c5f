"""Model files of linked tables that were forged: refused in one line, or harmless; never a crash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hornbeam
from hornbeam import RelationalBagging, RelationalTreeClassifier
from hornbeam.errors import HornbeamError
from hornbeam.estimators.stored_relational import StoredRelational
from hornbeam.relational.signature import Signature
from tests.faults.test_model_files import SEEDS, document, forge
from tests.relational_shop import shop


@pytest.fixture(scope="module", params=["tree", "bag"])
def payload(request: pytest.FixtureRequest) -> dict[str, Any]:
    data = shop(60)
    if request.param == "tree":
        return StoredRelational.of(RelationalTreeClassifier(prune=None).fit(data)).payload()
    return StoredRelational.of(RelationalBagging(n_estimators=2, random_state=0).fit(data)).payload()


def test_forged_files_are_refused_in_one_line_or_harmless(payload: dict[str, Any], tmp_path: Path) -> None:
    path, other, said = tmp_path / "model", shop(20, 3), []
    for seed in SEEDS:
        forged = json.loads(json.dumps(payload))
        forge(np.random.default_rng(seed), forged)
        path.write_bytes(document(json.dumps(forged).encode("ascii")))
        try:
            model = hornbeam.load(path)
            trees = model.trees_ if isinstance(model, RelationalBagging) else [model.tree_]
            for tree in trees:
                assert all(isinstance(text, str) for text in (tree.to_text(), tree.to_prolog(), tree.digest))
                tree.to_sql()
            model.predict(other)
        except HornbeamError as error:
            said.append(str(error))
    assert said
    assert not any("\n" in line for line in said)


def test_ways_that_part_again_and_again_are_followed_once() -> None:
    """Each of fifty tables comes to its example by two ways through the next: 2**50 ways in all."""
    record = StoredRelational.of(RelationalTreeClassifier().fit(shop(30))).trees[0].signature.to_record()
    plain = dict(record["predicates"]["items"], columns=["a", "b"], types=["a", "b"], fields=[], key=None)
    plain |= {"identity": None, "counts": None, "time": None}
    ways = {f"t{i}": [[0, f"t{i + 1}", 0], [1, f"t{i + 1}", 1]] for i in range(50)}
    record["predicates"] = {name: plain | {"routes": routes} for name, routes in ways.items()}
    record["predicates"]["t50"] = plain | {"routes": []}
    assert len(Signature.from_record(record).predicates) == 51
    record["predicates"]["t50"] = plain | {"routes": [[0, "t0", 0]]}
    with pytest.raises(HornbeamError, match="not an object as"):
        Signature.from_record(record)
