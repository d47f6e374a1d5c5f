"""Files of bagged models that were forged: refused in one line, or harmless."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hornbeam
from hornbeam import BaggedTreesClassifier
from hornbeam.errors import DataError, HornbeamError
from hornbeam.model import read_document, write_document
from tests.faults.test_model_files import SEEDS, forge

X = np.array([[0, 1], [1, 0], [2, 2], [3, 1], [4, 0], [5, 5]], dtype=np.float64)


@pytest.fixture(scope="module")
def payload(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A small model, pruned so that everything is there that a file may hold."""
    place = tmp_path_factory.mktemp("bag") / "model"
    model = BaggedTreesClassifier(n_estimators=3, random_state=0, prune="cost_complexity", ccp_alpha=0.2)
    hornbeam.save(model.fit(X, ["a", "b", "a", "b", "b", "a"]), place)
    return read_document(place)


def refusal(payload: dict[str, Any], place: Path) -> str:
    write_document(place, payload)
    with pytest.raises(DataError) as told:
        hornbeam.load(place)
    assert "\n" not in str(told.value)
    return str(told.value)


def without(payload: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in payload.items() if name not in names}


def test_what_is_no_bagged_model_is_refused_with_the_reason(payload: dict[str, Any], tmp_path: Path) -> None:
    place, bags = tmp_path / "model", payload["bags"]
    cases: list[tuple[dict[str, Any], str]] = [
        (without(payload, "bags"), "it has the entries"),
        (payload | {"more": 1}, "it has the entries"),
        (payload | {"trees": payload["trees"][:2]}, "not a tree for each of its bags"),
        (payload | {"trees": {}}, "not a tree for each of its bags"),
        (payload | {"unpruned": payload["unpruned"][:1]}, "not a tree for each of its bags"),
        (payload | {"estimator": "BaggedTreesRegressor"}, "not those of a tree"),
        (payload | {"classes": None, "targets": ["y"]}, "not those of a BaggedTreesClassifier"),
        (payload | {"bags": without(bags, "seeds")}, "its bags are not an object"),
        (payload | {"bags": bags | {"rows": True}}, "its bags are not an object"),
        (payload | {"bags": bags | {"rows": 0}}, "its bags have no rows"),
        (payload | {"bags": bags | {"seeds": [1, 2, -3]}}, "the seeds of its bags"),
        (payload | {"bags": bags | {"seeds": []}}, "the seeds of its bags"),
        (payload | {"parameters": {"voting": "loud"}}, "neither soft nor hard"),
        (payload | {"parameters": {"cv": 3}}, "not those of a tree"),
        (payload | {"trees": [1, 2, 3]}, "not an object of its own"),
        (payload | {"trees": [payload["trees"][0] | {"schema": {}}] * 3}, "not an object of its own"),
        (payload | {"classes": ["a"]}, "class"),
    ]
    for forged, says in cases:
        assert says in refusal(forged, place)


def test_a_forged_file_is_refused_or_answers(payload: dict[str, Any], tmp_path: Path) -> None:
    answered = 0
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        forged = json.loads(json.dumps(copy.deepcopy(payload)))
        forge(rng, forged)
        place = tmp_path / "model"
        try:
            write_document(place, forged)
        except (ValueError, TypeError):
            continue  # not even JSON
        told = outcome(place)
        answered += told is None
        assert told is None or "\n" not in told
    assert 0 < answered < len(SEEDS)


def outcome(place: Path) -> str | None:
    """Why a file is refused; None where it answers."""
    try:
        hornbeam.load(place).predict(X)
    except HornbeamError as error:
        return str(error)
    return None
