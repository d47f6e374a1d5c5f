"""Searches in model files that were forged: refused in one line, or harmless; never a crash, never a hang."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hornbeam
from hornbeam import AnytimeTreeClassifier
from hornbeam.errors import HornbeamError
from hornbeam.model import read_document, write_document
from tests.faults.test_model_files import SEEDS, forge
from tests.unit.estimators.test_anytime_trees import people


@pytest.fixture(scope="module", params=["size", "error"])
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    frame, labels = people(60)
    path = tmp_path_factory.mktemp("saved") / request.param
    model = AnytimeTreeClassifier(objective=request.param, max_iter=3, random_state=0, referee="cv")
    hornbeam.save(model.fit(frame, labels), path)
    return path


def use(model: AnytimeTreeClassifier) -> None:
    """Everything that a search can be asked."""
    *_, last = model.improve(seconds=0.02, iterations=2)
    assert last.leaves == model.unpruned_tree_.n_leaves
    assert model.tree_.arrays["rows"][0] == 60
    assert len(model.profile_) >= 0


def refusal(path: Path) -> str | None:
    """What is said of a forged file; None where it is taken, and used."""
    try:
        model = hornbeam.load(path)
        if isinstance(model, AnytimeTreeClassifier):
            use(model)
    except HornbeamError as error:
        return str(error)
    return None


def test_a_forged_search_is_refused_in_one_line_or_harmless(saved: Path, tmp_path: Path) -> None:
    whole: dict[str, Any] = read_document(saved)
    said = []
    for seed in SEEDS:
        payload = copy.deepcopy(whole)
        forge(np.random.default_rng(seed), payload["search"] if seed % 4 else payload)
        try:
            write_document(tmp_path / "m", payload)
        except (ValueError, TypeError):
            continue  # it cannot be written down at all
        said.append(refusal(tmp_path / "m"))
    refusals = [text for text in said if text is not None]
    assert all("\n" not in text for text in refusals)
    assert len(refusals) > 20
    assert len(said) - len(refusals) > 20


def forged(path: Path, tmp_path: Path, **claims: Any) -> Path:
    """The file with other claims in its search."""
    payload: dict[str, Any] = read_document(path)
    payload["search"] |= claims
    write_document(tmp_path / "forged", payload)
    return tmp_path / "forged"


def hidden_parity() -> tuple[Any, Any]:
    """Whose smallest tree has four leaves; the greedy one has many more."""
    table = np.random.default_rng(3).integers(0, 2, (60, 6)).astype(float)
    return table, table[:, [1, 4]].sum(axis=1) % 2


@pytest.fixture(scope="module")
def greedy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("greedy") / "m"
    model = AnytimeTreeClassifier(objective="size", max_time=None, random_state=0)
    model.partial_fit(*hidden_parity())
    assert model.tree_.n_leaves > 4
    hornbeam.save(model, path)
    return path


@pytest.mark.parametrize("proofs", [0, 1, 7])
def test_a_forged_proof_is_a_claim_until_it_is_shown_and_then_it_is_not_there(
    greedy: Path, tmp_path: Path, proofs: int
) -> None:
    leaves = hornbeam.load(greedy).tree_.n_leaves
    state = [0, 0.0, 0.0, 0, leaves, 1.0, None, leaves, True, "proved"]
    path = forged(greedy, tmp_path, status="proved", floor=leaves, proofs=proofs, profile=[state])
    model = hornbeam.load(path)
    assert (model.status_, model.course_.is_proved, model.course_.last.bound) == ("claimed", False, None)
    assert [(one.bound, one.status) for one in model.profile_] == [(None, "claimed")]
    states = list(model.improve(iterations=100))
    assert states[0].status == "running"
    assert (states[-1].status, states[-1].leaves, states[-1].bound) == ("proved", 4, 4)
    assert [(one.bound, one.status) for one in model.profile_[:1]] == [(None, "claimed")]


def test_a_true_proof_is_a_claim_until_it_is_shown_again(tmp_path: Path) -> None:
    model = AnytimeTreeClassifier(objective="size", max_time=None, random_state=0).fit(*hidden_parity())
    assert model.status_ == "proved"
    hornbeam.save(model, tmp_path / "m")
    again = hornbeam.load(tmp_path / "m")
    hornbeam.save(again, tmp_path / "copy")  # what nobody has looked at is handed on as it was
    for path in ("m", "copy"):
        again = hornbeam.load(tmp_path / path)
        assert again.status_ == "claimed"
        (only,) = again.improve()
        assert (only.status, only.bound, only.leaves) == ("proved", 4, 4)
        assert again.profile_ == model.profile_
        assert again.tree_ == model.tree_


def test_a_claim_without_time_to_show_it_stays_a_claim(tmp_path: Path) -> None:
    model = AnytimeTreeClassifier(objective="size", max_time=None, random_state=0).fit(*hidden_parity())
    hornbeam.save(model, tmp_path / "m")
    again = hornbeam.load(tmp_path / "m")
    (only,) = again.improve(seconds=1e-9)
    assert (only.status, only.bound) == ("time", None)
    (only,) = again.improve()
    assert (only.status, only.bound) == ("proved", 4)


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"proofs": 8}, "attempts at a proof that cannot have been made"),
        ({"bound": "proved", "proofs": 1}, "attempts at a proof that cannot have been made"),
        ({"floor": 1000}, "fewer leaves than its bound"),
        ({"profile": [[0, 0.0, 0.0, 0, 5, 1.0, None, "many", True, "time"]]}, "not a list of states"),
        ({"profile": [[0, 0.0, 0.0, 0, 5, 1.0, None, 3, True, "certain"]]}, "not a list of states"),
    ],
)
def test_claims_that_cannot_be_true_are_refused(
    greedy: Path, tmp_path: Path, claims: dict[str, Any], said: str
) -> None:
    with pytest.raises(HornbeamError, match=said):
        hornbeam.load(forged(greedy, tmp_path, **claims))
