"""The BOAT paper's experiments, run once on tiny sets in this process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from hornbeam_experiments.boat import Plan, growths, probe, run
from hornbeam_experiments.records import Results

TINY = Plan(("F1", "F7"), 0.001, steps=(4_000_000, 10_000_000), noises=(0.02, 0.1), extras=(0, 2), chunks=2)


def answer(question: Mapping[str, Any], module: str | None = None) -> dict[str, Any]:
    """A growth in this process: a new one for each would take most of the time."""
    asked = json.loads(json.dumps(question))
    return {**probe.KINDS[asked["kind"]](asked), "cpu": 1.0, "wall": 1.5, "peak": 200.0, "begun": 100.0}


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growths, "ask", answer)


@pytest.fixture(scope="session")
def results() -> Iterator[Results]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growths, "ask", answer)
        yield run(TINY)
